//! The Gaussian entropies: spins times a normal noise that is cut off at zero (`certify/noise.rs`).
//!
//! The wider the noise, the less is lost on independent spins, and the less is seen of correlations. Which one is best depends on the
//! model: hot ones want half a normal law, cold ones a narrow one.

use crate::certify::Noise;
use std::sync::LazyLock;

/// One noise, and what a solver needs of it.
#[derive(Clone)]
pub(super) struct Gaussian {
    /// The centre of the noise, in standard deviations.
    centre: f64,
    /// The variance s of the noise of mean 1, which joins the diagonal.
    pub(super) variance: f64,
    /// c, what a spin adds to half the log-determinant.
    pub(super) entropy: f64,
}

/// Centres from half a normal law to a narrow one, and between two of them.
const CENTRES: usize = 41;
const BETWEEN: f64 = 0.2;
/// Those of a program that has to do with few of them, and the one to begin with, by number.
const FEW: [usize; 4] = [0, 4, 8, 15];
const FIRST: usize = 5;

/// All of them, made once: branching bounds thousands of models.
static ALL: LazyLock<Vec<Gaussian>> =
    LazyLock::new(|| (0..CENTRES).map(|k| Gaussian::new(BETWEEN * k as f64)).collect());

impl Gaussian {
    /// The noise with this centre.
    pub(super) fn new(centre: f64) -> Self {
        let noise = Noise::normal(centre);
        Gaussian { centre, variance: noise.square() - 1.0, entropy: noise.entropy() }
    }

    /// Some that suit most models.
    pub(super) fn few() -> Vec<Self> {
        FEW.map(|k| ALL[k].clone()).to_vec()
    }

    /// The one to begin with.
    pub(super) fn first() -> Self {
        ALL[FIRST].clone()
    }

    /// The one of least entropy, given the eigenvalues of `W^T W`, W with d rows: the rows of the spins without their means.
    pub(super) fn least(spectrum: &[f64], d: usize) -> Self {
        let values = ALL.iter().map(|gaussian| (gaussian.value(spectrum, d), gaussian));
        let best = values.min_by(|a, b| a.0.total_cmp(&b.0));
        best.map_or_else(Gaussian::first, |best| best.1.clone())
    }

    /// Its noise, for a proof.
    pub(super) fn noise(&self) -> Noise {
        Noise::normal(self.centre)
    }

    /// `(1/2) log det(W W^T + s I) + d c`.
    fn value(&self, spectrum: &[f64], d: usize) -> f64 {
        let logs: f64 = spectrum.iter().map(|v| (v.max(0.0) + self.variance).ln()).sum();
        0.5 * (logs + (d as f64 - spectrum.len() as f64) * self.variance.ln()) + d as f64 * self.entropy
    }
}
