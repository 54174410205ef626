/*
 * curve.h
 *		From a sketch to the size of the working set of any window.
 *
 * The idea.  HyperLogLog keeps the highest level of each register, and its
 * error is 1.04/sqrt(m).  Our cells have a time each, so for every window we
 * hold the whole bitmap of probabilistic counting, and more: the order in
 * which its bits turned on, looking back.  Take the pages of the last d
 * seconds in the order of their last use, youngest first.  That is a stream
 * of distinct elements with independent hashes, and a cell turns on when the
 * first of its pages comes by.  The martingale estimator (also called HIP,
 * Cohen 2015; Ting 2014) needs just this order, and a sliding window normally
 * has lost it; here one pass serves all windows.  Its error for this sketch
 * is 0.589/sqrt(m) (Pettie and Wang 2021), its curve can only rise, and it
 * needs nothing but counts of cells per level and age.
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
 * The steps are a fixed grid, eight to an octave, so that the answer for a
 * window does not depend on which other windows were asked for: a window
 * ending between two grid points gets the sum up to the last one and a part
 * step of its own.  For one state of the sketch the answers therefore rise
 * with the window, in one call or in many.
 *
 * The combination of martingale estimator, full bitmap and windows is ours;
 * the unit tests show that it keeps its promises.
 *
 * References: Flajolet and Martin 1985 (PCSA); Flajolet, Fusy, Gandouet and
 * Meunier 2007 (HyperLogLog); Chabchoub and Hebrail 2010 (sliding
 * HyperLogLog); Ting 2014 and Cohen 2015 (martingale estimators); Lang 2017
 * (information in PCSA); Pettie and Wang 2021 (their limits).
 *
 * This room knows nothing of PostgreSQL.
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
 * The curve of one instant: what it takes to answer for any window that ends
 * then.  Later calls do not look at the sketch again, so all answers agree and
 * rise with the window, whatever has been used meanwhile.
 */
typedef struct WsCurve WsCurve;

/*
 * Bytes of a curve of a sketch of m registers.  Its memory must be aligned to 8
 * bytes.
 */
extern size_t ws_curve_size(uint32_t m);

/*
 * Take the curve of the instant "now", a tick, in one pass over the cells, for
 * windows up to the oldest age.  sketches are one or two of the same geometry; of
 * two, the union is estimated.  Writers may go on meanwhile; a cell is read
 * once.
 */
extern void ws_curve_take(WsCurve *curve, const WsSketch *const *sketches, int nsketches,
						  uint32_t now, uint32_t oldest);

/*
 * Estimate the distinct pages of a window of this age in ticks: a page counts
 * when it was last used at tick now - age or later.
 */
extern WsEstimate ws_curve_window(WsCurve *curve, uint32_t age);

/*
 * Take a curve and estimate n windows, whose ages are strictly ascending.
 */
extern void ws_curve_estimate(const WsSketch *const *sketches, int nsketches,
							  uint32_t now, const uint32_t *ages, int n,
							  WsEstimate *out, WsCurve *workspace);

/*
 * The 95 % bounds of an estimate, 1.96 standard errors either way, in whole
 * pages rounded outward; low is not below 0.  Of a saturated estimate high is
 * infinity.
 */
extern void ws_estimate_bounds(const WsEstimate *e, double *low, double *high);

#endif							/* WS_CURVE_H */
