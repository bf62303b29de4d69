//! Independent spins and trees from several starts, and the best assignment found.

use super::blocks::Blocks;
use super::layer;
use super::product::Incidence;
use crate::certify::{Certificate, CertifiedBound, Slack, Witness};
use crate::deadline::Deadline;
use crate::model::Polynomial;
use crate::observer::{Monitor, Observer};
use crate::search::{Effort, best_spins};
use crate::settings::{Method, Settings};
use crate::solution::{Solution, StopReason};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Starting points; fewer on models where one sweep is long.
const RESTARTS: usize = 12;

/// Factors read by all sweeps of a start before the number of starts is cut.
const WORK: usize = 5_000_000;

/// Sweeps of one start.
const MAX_SWEEPS: usize = 1000;

/// Change of the means at which a start has converged; the bound is off by about its square.
const SETTLED: f64 = 1e-6;

/// Random assignments that are improved spin by spin for each start.
const CLIMBS: usize = 8;

/// Temperatures on the way down from where spins start to order.
const COOLING_STEPS: usize = 12;

/// Time that the proof of a forest law takes next to that of a product law, on dense graphs (8 to 15 were measured).
const FOREST_PROOF: f64 = 15.0;

/// Starts of [`quick`]: in the fields, nearly disordered, and the best assignment near those.
const QUICK_STARTS: usize = 3;

/// The bound of a few starts without a search for assignments: what a part of something larger can afford.
pub(crate) fn quick(f: &Polynomial, eps: f64, settings: &Settings, observer: &mut dyn Observer) -> Solution {
    let mut monitor = Monitor::new(settings, usize::MAX, observer);
    let mut search = Search::new(f, eps, monitor.deadline());
    let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
    let mut stop = monitor.interrupted();
    for restart in 0..QUICK_STARTS {
        if stop.is_some() {
            break;
        }
        let start = search.start(restart, &mut random);
        stop = search.run(start, &mut monitor);
    }
    search.report(stop, &monitor)
}

/// Independent spins and trees from several starts, and the best assignment found.
pub(super) fn explore(
    f: &Polynomial,
    eps: f64,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> (Solution, Vec<i8>) {
    let mut search = Search::new(f, eps, monitor.deadline());
    let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
    let restarts = (WORK / (50 * search.incidence.work()).max(1)).clamp(3, RESTARTS);
    let found = best_spins(f, &[search.point.1.clone()], Effort::brief(settings), monitor);
    search.point = (f.value(&found), found);
    let mut stop = monitor.interrupted();
    for restart in 0..restarts {
        if stop.is_some() {
            break;
        }
        let start = search.start(restart, &mut random);
        stop = search.run(start, monitor);
        if restart == 0
            && let Some(ising) = f.as_ising()
        {
            search.layer = layer::best(ising, eps, &search.product.1, monitor.deadline());
        }
    }
    let spins = search.point.1.clone();
    (search.report(stop, monitor), spins)
}

/// The best distribution of each kind so far, by plain floating point.
struct Search<'a> {
    f: &'a Polynomial,
    eps: f64,
    incidence: Incidence,
    blocks: Option<Blocks<'a>>,
    product: (f64, Vec<f64>),
    forest: Option<(f64, Polynomial, Vec<f64>)>,
    point: (f64, Vec<i8>),
    layer: Option<layer::Layer>,
    converged: bool,
}

impl<'a> Search<'a> {
    /// Starts with every spin in its own field.
    fn new(f: &'a Polynomial, eps: f64, deadline: &Deadline) -> Self {
        let incidence = Incidence::new(f, deadline);
        let late = incidence.is_late();
        let blocks =
            f.as_ising().filter(|_| !late).map(|ising| Blocks::new(ising, eps)).filter(Blocks::is_structured);
        let odds: Vec<f64> = f.pairwise_part().fields().iter().map(|h| h / eps).collect();
        let means: Vec<f64> = odds.iter().map(|u| u.tanh()).collect();
        let value = incidence.value(&odds, &means, eps);
        let (spins, top) = incidence.local_maximum(&means);
        let mut search = Search {
            f,
            eps,
            incidence,
            blocks,
            product: (value, means),
            forest: None,
            point: (top, spins),
            layer: None,
            converged: true,
        };
        if !late {
            let means = search.product.1.clone();
            search.offer_forest(&means);
        }
        search
    }

    /// The first start is every spin in its own field, the second nearly disordered, and both are
    /// cooled; the third is the best assignment known, later ones the best of a few random local maxima of f.
    fn start(&mut self, restart: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
        let d = self.incidence.d();
        let mut draw = || (random.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        match restart {
            0 => self.cooled(self.product.1.clone()),
            1 => {
                let disordered = (0..d).map(|_| 1e-3 * draw()).collect();
                self.cooled(disordered)
            }
            2 => self.point.1.iter().map(|&x| f64::from(x)).collect(),
            _ => {
                let climb = |_| self.incidence.local_maximum(&(0..d).map(|_| draw()).collect::<Vec<_>>());
                let in_time = |_: &usize| !self.incidence.is_late();
                let best = (0..CLIMBS).take_while(in_time).map(climb).max_by(|a, b| a.1.total_cmp(&b.1));
                let (spins, value) = best.unwrap_or_else(|| (self.point.1.clone(), self.point.0));
                let means = spins.iter().map(|&x| f64::from(x)).collect();
                if value > self.point.0 {
                    self.point = (value, spins);
                }
                means
            }
        }
    }

    /// Follows the means from the temperature where spins start to order down to eps.
    fn cooled(&self, mut means: Vec<f64>) -> Vec<f64> {
        let mut odds = vec![0.0; means.len()];
        let heat = (self.incidence.largest_pull() / self.eps).max(1.0);
        for step in 0..COOLING_STEPS {
            if self.incidence.is_late() {
                break;
            }
            let factor = heat.powf(1.0 - step as f64 / COOLING_STEPS as f64);
            self.incidence.sweep(&mut odds, &mut means, self.eps * factor);
        }
        means
    }

    /// Coordinate ascent from `means` for independent spins and then for trees.
    fn run(&mut self, mut means: Vec<f64>, monitor: &mut Monitor<'_>) -> Option<StopReason> {
        let mut odds = vec![0.0; means.len()];
        let settled = (0..MAX_SWEEPS).find_map(|_| {
            let change = self.incidence.sweep(&mut odds, &mut means, self.eps);
            let stop = monitor.iteration(self.product.0, f64::NAN);
            stop.map(Some).or((change <= SETTLED).then_some(None))
        });
        let value = self.incidence.value(&odds, &means, self.eps);
        let better = value > self.product.0 || self.forest.is_none();
        if value > self.product.0 {
            self.product = (value, means.clone());
            self.converged = settled == Some(None);
        }
        let (spins, top) = self.incidence.local_maximum(&means);
        if top > self.point.0 {
            self.point = (top, spins);
        }
        if let Some(Some(stop)) = settled {
            self.offer_forest(&means);
            return Some(stop);
        }
        // Trees take longer than independent spins: only from starts that promise something.
        if better { self.run_blocks(means, monitor) } else { None }
    }

    fn run_blocks(&mut self, mut means: Vec<f64>, monitor: &mut Monitor<'_>) -> Option<StopReason> {
        let blocks = self.blocks.as_ref()?;
        let mut stop = None;
        for _ in 0..MAX_SWEEPS {
            let change = blocks.sweep(&mut means);
            stop = monitor.iteration(self.product.0, f64::NAN);
            if stop.is_some() || change <= SETTLED {
                break;
            }
        }
        self.offer_forest(&means);
        stop
    }

    fn offer_forest(&mut self, means: &[f64]) {
        let Some(Ok((value, g))) = self.blocks.as_ref().map(|blocks| blocks.witness(means)) else { return };
        if self.forest.as_ref().is_none_or(|best| value > best.0) {
            self.forest = Some((value, g, means.to_vec()));
        }
    }

    /// Certifies the best distribution of each kind and keeps the best bound.
    fn report(self, stop: Option<StopReason>, monitor: &Monitor<'_>) -> Solution {
        let unfinished = if self.converged { StopReason::Converged } else { StopReason::MaxIterations };
        let mut solution = Solution::new(Method::MeanField, stop.unwrap_or(unfinished));
        let (product_value, means) = self.product;
        solution.estimate = product_value;
        solution.means = Some(means.clone());
        let mut witnesses = vec![Witness::Product { means }, Witness::Point { spins: self.point.1 }];
        if let Some(layer) = self.layer.filter(|layer| layer.value > solution.estimate) {
            solution.estimate = layer.value;
            witnesses.insert(0, layer.witness);
        }
        if let Some((value, polynomial, means)) = self.forest {
            if value > solution.estimate {
                solution.estimate = value;
                solution.means = Some(means);
            }
            witnesses.push(Witness::Forest { polynomial });
        }
        let mut best: Option<(CertifiedBound, Certificate)> = None;
        let mut longest = 0.0f64;
        for witness in witnesses {
            // Trees take the longest to verify, paths and all: not once the time is up.
            if best.is_some() && monitor.seconds_left().is_some_and(|left| left < FOREST_PROOF * longest) {
                break;
            }
            let begun = monitor.seconds();
            let witness = Some(witness);
            let proof =
                Certificate { eps: self.eps, slack: Slack::default(), components: Vec::new(), witness };
            match proof.verify_lower(self.f) {
                Ok(bound) if best.as_ref().is_none_or(|(b, _)| bound > *b) => best = Some((bound, proof)),
                Ok(_) => {}
                Err(error) => solution.reason = Some(format!("a bound could not be certified: {error}")),
            }
            longest = longest.max(monitor.seconds() - begun);
        }
        if let Some((bound, proof)) = best {
            solution.lower = Some(bound);
            solution.certificate = Some(proof);
            solution.reason = None;
        } else {
            solution.stop = StopReason::NumericalTrouble;
        }
        solution
    }
}
