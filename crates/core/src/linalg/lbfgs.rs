//! Limited-memory BFGS with optional lower bounds on the variables.

use super::dot;
use std::collections::VecDeque;

/// Sufficient decrease of the line search.
const ARMIJO: f64 = 1e-4;

/// Curvature condition of the line search.
const WOLFE: f64 = 0.9;

/// Knobs of [`minimise`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct LbfgsOptions {
    /// Pairs of steps and gradient changes kept.
    pub(crate) memory: usize,
    /// Iteration cap.
    pub(crate) max_iterations: usize,
    /// Stops when the projected gradient's largest entry is below this.
    pub(crate) gradient_tol: f64,
}

impl Default for LbfgsOptions {
    fn default() -> Self {
        LbfgsOptions { memory: 12, max_iterations: 2000, gradient_tol: 0.0 }
    }
}

/// How [`minimise`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LbfgsEnding {
    /// The gradient is below the tolerance.
    Converged,
    /// No step decreases the objective in floating point.
    Stalled,
    /// The iteration cap was reached.
    MaxIterations,
    /// `watch` said so.
    Stopped,
}

/// Minimises a smooth function from `x`, subject to `x >= lower` where given.
///
/// `objective(x, gradient)` fills the gradient and returns the value; `watch(value, x)` is called
/// after every step and stops the run by returning true. `x` ends at the best point. With bounds
/// this is a two-metric projection: variables held at a bound by the gradient are left out of the
/// quasi-Newton direction, and steps are projected.
///
/// **Cost** per iteration one or a few objective calls and O(memory n).
pub(crate) fn minimise(
    objective: &mut dyn FnMut(&[f64], &mut [f64]) -> f64,
    x: &mut [f64],
    lower: Option<&[f64]>,
    options: LbfgsOptions,
    watch: &mut dyn FnMut(f64, &[f64]) -> bool,
) -> LbfgsEnding {
    let n = x.len();
    project(x, lower);
    let mut gradient = vec![0.0; n];
    let mut value = objective(x, &mut gradient);
    let mut history = History { pairs: VecDeque::new(), memory: options.memory };
    for _ in 0..options.max_iterations {
        let free: Vec<bool> =
            (0..n).map(|i| lower.is_none_or(|l| x[i] > l[i] || gradient[i] < 0.0)).collect();
        let size = (0..n).filter(|&i| free[i]).fold(0.0f64, |top, i| top.max(gradient[i].abs()));
        if size <= options.gradient_tol {
            return LbfgsEnding::Converged;
        }
        let mut step = search(objective, x, lower, (value, &gradient), &history.direction(&gradient, &free));
        if step.is_none() && !history.pairs.is_empty() {
            history.pairs.clear();
            step = search(objective, x, lower, (value, &gradient), &history.direction(&gradient, &free));
        }
        let Some((next, next_value, next_gradient)) = step else { return LbfgsEnding::Stalled };
        history.record(x, &next, &gradient, &next_gradient);
        x.copy_from_slice(&next);
        (value, gradient) = (next_value, next_gradient);
        if watch(value, x) {
            return LbfgsEnding::Stopped;
        }
    }
    LbfgsEnding::MaxIterations
}

fn project(x: &mut [f64], lower: Option<&[f64]>) {
    if let Some(lower) = lower {
        x.iter_mut().zip(lower).for_each(|(x, l)| *x = x.max(*l));
    }
}

type Step = (Vec<f64>, f64, Vec<f64>);

/// Bracketing search for a point with sufficient decrease and, if possible, enough curvature.
fn search(
    objective: &mut dyn FnMut(&[f64], &mut [f64]) -> f64,
    x: &[f64],
    lower: Option<&[f64]>,
    (value, gradient): (f64, &[f64]),
    direction: &[f64],
) -> Option<Step> {
    let slope = dot(gradient, direction);
    if !(slope < 0.0 && slope.is_finite()) {
        return None;
    }
    let (mut low, mut high, mut t) = (0.0, f64::INFINITY, 1.0);
    let mut best: Option<Step> = None;
    for _ in 0..40 {
        let mut next: Vec<f64> = x.iter().zip(direction).map(|(x, p)| x + t * p).collect();
        project(&mut next, lower);
        let mut next_gradient = vec![0.0; x.len()];
        let next_value = objective(&next, &mut next_gradient);
        let moved: f64 = gradient.iter().zip(&next).zip(x).map(|((g, y), x)| g * (y - x)).sum();
        // A value that is not a number counts as too high.
        let decreases = next_value <= value + ARMIJO * moved && next_value < value;
        if !decreases {
            high = t;
        } else {
            let curved = dot(&next_gradient, direction) >= WOLFE * slope;
            best = Some((next, next_value, next_gradient));
            if curved || lower.is_some() {
                return best;
            }
            low = t;
        }
        if best.is_some() && high - low <= 1e-3 * high {
            return best;
        }
        t = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * t };
    }
    best
}

struct History {
    /// Steps, gradient changes and the inverse of their product.
    pairs: VecDeque<(Vec<f64>, Vec<f64>, f64)>,
    memory: usize,
}

impl History {
    fn record(&mut self, x: &[f64], next: &[f64], gradient: &[f64], next_gradient: &[f64]) {
        let step: Vec<f64> = next.iter().zip(x).map(|(a, b)| a - b).collect();
        let change: Vec<f64> = next_gradient.iter().zip(gradient).map(|(a, b)| a - b).collect();
        let product = dot(&step, &change);
        if product > 1e-14 * (dot(&step, &step) * dot(&change, &change)).sqrt() {
            if self.pairs.len() == self.memory {
                self.pairs.pop_front();
            }
            self.pairs.push_back((step, change, 1.0 / product));
        }
    }

    /// Two-loop recursion on the free variables.
    fn direction(&self, gradient: &[f64], free: &[bool]) -> Vec<f64> {
        let mask = |v: &mut [f64]| v.iter_mut().zip(free).filter(|(_, f)| !**f).for_each(|(v, _)| *v = 0.0);
        let mut q = gradient.to_vec();
        mask(&mut q);
        let mut alphas = Vec::with_capacity(self.pairs.len());
        for (step, change, inverse) in self.pairs.iter().rev() {
            let alpha = inverse * dot(step, &q);
            q.iter_mut().zip(change).for_each(|(q, y)| *q -= alpha * y);
            alphas.push(alpha);
        }
        let scale = match self.pairs.back() {
            Some((_, change, inverse)) => 1.0 / (inverse * dot(change, change)),
            None => 1.0 / dot(&q, &q).sqrt().max(1.0),
        };
        q.iter_mut().for_each(|q| *q *= scale);
        for ((step, change, inverse), alpha) in self.pairs.iter().zip(alphas.iter().rev()) {
            let beta = inverse * dot(change, &q);
            q.iter_mut().zip(step).for_each(|(q, s)| *q += (alpha - beta) * s);
        }
        mask(&mut q);
        q.iter_mut().for_each(|q| *q = -*q);
        q
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rosenbrock(x: &[f64], g: &mut [f64]) -> f64 {
        let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
        g[0] = -2.0 * a - 400.0 * x[0] * b;
        g[1] = 200.0 * b;
        a * a + 100.0 * b * b
    }

    #[test]
    fn the_rosenbrock_valley_is_followed_to_its_end() {
        let mut x = [-1.2, 1.0];
        let options = LbfgsOptions { gradient_tol: 1e-10, ..LbfgsOptions::default() };
        let ending = minimise(&mut rosenbrock, &mut x, None, options, &mut |_, _| false);
        assert_eq!(ending, LbfgsEnding::Converged);
        assert!((x[0] - 1.0).abs() < 1e-8 && (x[1] - 1.0).abs() < 1e-8, "{x:?}");
    }

    #[test]
    fn a_bound_that_cuts_off_the_minimum_is_active() {
        let mut x = [3.0, 3.0];
        let options = LbfgsOptions { gradient_tol: 1e-10, ..LbfgsOptions::default() };
        let _ = minimise(&mut rosenbrock, &mut x, Some(&[1.5, 0.0]), options, &mut |_, _| false);
        assert!((x[0] - 1.5).abs() < 1e-12 && (x[1] - 2.25).abs() < 1e-7, "{x:?}");
    }
}
