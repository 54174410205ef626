/*
 * curve.h
 *		From a sketch to the size of the working set of any window.
 *
 * The idea.  For every window the sketch holds the whole bitmap of
 * probabilistic counting, and the order in which its bits turned on, looking
 * back.  The pages of the last d seconds, in the order of their last use,
 * youngest first, are a stream of distinct elements with independent hashes,
 * and a cell turns on when the first of its pages appears.  The martingale
 * estimator (also called HIP) needs this order.  A sliding window normally
 * loses it; here one pass serves all windows.  The error is 0.589/sqrt(m),
 * where HyperLogLog's is 1.04/sqrt(m), the curve can only rise, and counts of
 * cells per level and age are all it needs.
 *
 * Ages are taken in steps, since a tick may bring many pages at once.  In one
 * step, let s_k cells of level k turn on and z_k stay off, and let q_k be the
 * share of pages that go to level k.  The likeliest number of new pages is
 * D = m x, where x solves
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
 * The steps are a fixed grid, eight to an octave, and a part step to the end of
 * the window, so the estimates of one state of the sketch rise with the window.
 * This combination is working_set's own; the unit tests check its error.
 *
 * A cell shows the second of its page's last use.  A window that ends within a
 * second has a share of what the second adds, as if uses were evenly spread.
 *
 * References: Flajolet and Martin 1985 (PCSA); Flajolet, Fusy, Gandouet and
 * Meunier 2007 (HyperLogLog); Ting 2014 and Cohen 2015 (martingale estimators);
 * Lang 2017 (information in PCSA); Pettie and Wang 2021 (their limits).
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

/* The curve of one instant: estimates do not look at the sketch again. */
typedef struct WsCurve WsCurve;

/* Bytes of a curve of a sketch of m registers; align its memory to 8. */
extern size_t ws_curve_size(uint32_t m);

/*
 * Take the curve of the tick "now", for windows up to the oldest age.  sketches
 * are one or two of the same geometry; of two, the union is estimated.  Each
 * cell is read once; writers may go on meanwhile.
 */
extern void ws_curve_take(WsCurve *curve, const WsSketch *const *sketches, int nsketches,
						  uint32_t now, uint32_t oldest);

/* Estimate the distinct pages last used at tick now - age or later. */
extern WsEstimate ws_curve_window(WsCurve *curve, uint32_t age);

/* 95 % bounds in whole pages, rounded outward; high: infinity if saturated. */
extern void ws_estimate_bounds(const WsEstimate *e, double *low, double *high);

#endif							/* WS_CURVE_H */
