/*
 * curve.h
 *		From a sketch to the size of the working set of any window.
 *
 * The idea.  HyperLogLog keeps the highest level of each register, and its
 * error is 1.04/sqrt(m).  This sketch keeps a time in each cell, so for every
 * window it holds the whole bitmap of probabilistic counting, and more: the
 * order in which its bits turned on, looking back.  Take the pages of the last
 * d seconds in the order of their last use, youngest first.  They are a stream
 * of distinct elements with independent hashes, and a cell turns on when the
 * first of its pages appears.  The martingale estimator (also called HIP,
 * Cohen 2015; Ting 2014) needs this order.  A sliding window normally loses
 * it; here one pass serves all windows.  The error for this sketch is
 * 0.589/sqrt(m) (Pettie and Wang 2021), the curve can only rise, and counts of
 * cells per level and age are all it needs.
 *
 * Ages are taken in steps, since a tick is 100 ms and may bring many pages at
 * once.  In one step, let s_k cells of level k turn on and z_k stay off, and
 * let q_k be the share of pages that go to level k.  The likeliest number of
 * new pages is D = m x, where x solves
 *
 *		SUM s_k q_k / (exp(x q_k) - 1) = SUM z_k q_k
 *
 * and with y_k = x q_k the information that the step holds on log x is
 *
 *		I = SUM (s_k + z_k) y_k^2 / (exp(y_k) - 1)
 *
 * so that the estimate grows by D and its variance by D^2 / I - D.  One single
 * step is the maximum likelihood estimate of PCSA, 0.649/sqrt(m).
 *
 * The steps are a fixed grid, eight to an octave, so that the estimate of a
 * window does not depend on the other windows of a call.  A window that ends
 * between two grid points gets the sum up to the last one and a part step of
 * its own.  For one state of the sketch the estimates therefore rise with the
 * window, in one call or in many.
 *
 * The combination of martingale estimator, full bitmap and windows is
 * working_set's own; the unit tests check its error and its bounds.
 *
 * References: Flajolet and Martin 1985 (PCSA); Flajolet, Fusy, Gandouet and
 * Meunier 2007 (HyperLogLog); Chabchoub and Hebrail 2010 (sliding
 * HyperLogLog); Ting 2014 and Cohen 2015 (martingale estimators); Lang 2017
 * (information in PCSA); Pettie and Wang 2021 (their limits).
 *
 * This module knows nothing of PostgreSQL.
 */
#ifndef WS_CURVE_H
#define WS_CURVE_H

#include "sketch.h"

typedef struct WsEstimate
{
	double		pages;			/* distinct pages, estimated; never negative */
	double		variance;		/* of pages, in pages squared */
	bool		saturated;		/* every cell is on: pages is a lower bound */
} WsEstimate;

/*
 * The curve of one instant: all it takes to estimate any window that ends
 * then.  Later calls do not look at the sketch again, so all answers agree and
 * rise with the window, whatever is used meanwhile.
 */
typedef struct WsCurve WsCurve;

/* Bytes of a curve of a sketch of m registers; align its memory to 8. */
extern size_t ws_curve_size(uint32_t m);

/*
 * Take the curve of the tick "now" in one pass over the cells, for windows up
 * to the oldest age.  sketches are one or two of the same geometry; of two,
 * the union is estimated.  Writers may go on meanwhile; each cell is read
 * once.
 */
extern void ws_curve_take(WsCurve *curve, const WsSketch *const *sketches, int nsketches,
						  uint32_t now, uint32_t oldest);

/*
 * Estimate the distinct pages of a window of this age in ticks: those last
 * used at tick now - age or later.
 */
extern WsEstimate ws_curve_window(WsCurve *curve, uint32_t age);

/* Take a curve and estimate n windows, whose ages are strictly ascending. */
extern void ws_curve_estimate(const WsSketch *const *sketches, int nsketches,
							  uint32_t now, const uint32_t *ages, int n,
							  WsEstimate *out, WsCurve *workspace);

/*
 * The 95 % bounds of an estimate, 1.96 standard errors either way, in whole
 * pages rounded outward.  low is at least 0; high is infinity if saturated.
 */
extern void ws_estimate_bounds(const WsEstimate *e, double *low, double *high);

#endif							/* WS_CURVE_H */
