//! Random models of the families in the paper, from a portable seeded generator.
//!
//! The generator is ChaCha8 keyed by the seed (little-endian in the first eight bytes of the
//! key). Stream 1 draws the graph; stream 0 draws the d fields, then one coupling per edge in
//! lexicographic order. A uniform number is the top 53 bits of a word over 2^53; a normal one is
//! `sqrt(-2 log(1 - U)) cos(2 pi U')`, with the functions of the `libm` crate. No operation
//! depends on the platform, so neither do the bits of a model.

use super::ising::Ising;
use crate::choice::choice;
use crate::error::{Error, Result};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Most couplings that [`generate`] accepts to draw.
const MAX_EDGES: usize = 100_000_000;

/// A distribution of fields and couplings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// Fields and couplings N(0, 1); w is not used.
    Gaussian,
    /// Fields U(-1/4, 1/4), couplings U(0, 2w).
    LogdetAttractive,
    /// Fields U(-1/4, 1/4), couplings U(-w, w).
    LogdetMixed,
    /// Fields U(-1/4, 1/4), couplings U(-2w, 0).
    LogdetRepulsive,
    /// Fields U(-1/20, 1/20), couplings U(0, w).
    TrwAttractive,
    /// Fields U(-1/20, 1/20), couplings U(-w, w).
    TrwMixed,
}

impl Family {
    /// Every family.
    pub const ALL: [Family; 6] = [
        Family::Gaussian,
        Family::LogdetAttractive,
        Family::LogdetMixed,
        Family::LogdetRepulsive,
        Family::TrwAttractive,
        Family::TrwMixed,
    ];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Family::Gaussian => "gaussian",
            Family::LogdetAttractive => "logdet-attractive",
            Family::LogdetMixed => "logdet-mixed",
            Family::LogdetRepulsive => "logdet-repulsive",
            Family::TrwAttractive => "trw-attractive",
            Family::TrwMixed => "trw-mixed",
        }
    }

    /// What is drawn, on one line.
    pub fn about(self) -> &'static str {
        match self {
            Family::Gaussian => "fields and couplings N(0, 1)",
            Family::LogdetAttractive => "fields U(-1/4, 1/4), couplings U(0, 2w)",
            Family::LogdetMixed => "fields U(-1/4, 1/4), couplings U(-w, w)",
            Family::LogdetRepulsive => "fields U(-1/4, 1/4), couplings U(-2w, 0)",
            Family::TrwAttractive => "fields U(-1/20, 1/20), couplings U(0, w)",
            Family::TrwMixed => "fields U(-1/20, 1/20), couplings U(-w, w)",
        }
    }

    /// Whether the coupling strength w matters.
    pub fn needs_strength(self) -> bool {
        self != Family::Gaussian
    }

    fn field(self, draw: &mut Draw) -> f64 {
        match self {
            Family::Gaussian => draw.normal(),
            Family::LogdetAttractive | Family::LogdetMixed | Family::LogdetRepulsive => {
                draw.between(-0.25, 0.25)
            }
            Family::TrwAttractive | Family::TrwMixed => draw.between(-0.05, 0.05),
        }
    }

    fn coupling(self, w: f64, draw: &mut Draw) -> f64 {
        match self {
            Family::Gaussian => draw.normal(),
            Family::LogdetAttractive => draw.between(0.0, 2.0 * w),
            Family::LogdetMixed | Family::TrwMixed => draw.between(-w, w),
            Family::LogdetRepulsive => draw.between(-2.0 * w, 0.0),
            Family::TrwAttractive => draw.between(0.0, w),
        }
    }
}

/// Which pairs are coupled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Graph {
    /// Every pair.
    Complete,
    /// The most square grid with `rows * cols = d`, spins numbered row by row, no wrapping.
    Grid,
    /// `0 - 1 - 2 - ...`.
    Chain,
    /// A uniformly random labelled tree (from a random Pruefer sequence).
    Tree,
    /// Spin 0 joined to every other.
    Star,
    /// No pair.
    Independent,
    /// A uniformly random simple 3-regular graph (pairing with rejection); d even, at least 4.
    Regular,
}

impl Graph {
    /// Every graph.
    pub const ALL: [Graph; 7] = [
        Graph::Complete,
        Graph::Grid,
        Graph::Chain,
        Graph::Tree,
        Graph::Star,
        Graph::Independent,
        Graph::Regular,
    ];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Graph::Complete => "complete",
            Graph::Grid => "grid",
            Graph::Chain => "chain",
            Graph::Tree => "tree",
            Graph::Star => "star",
            Graph::Independent => "independent",
            Graph::Regular => "regular",
        }
    }

    /// Which pairs are coupled, on one line.
    pub fn about(self) -> &'static str {
        match self {
            Graph::Complete => "every pair",
            Graph::Grid => "a rectangle, as square as d allows",
            Graph::Chain => "each spin with the next",
            Graph::Tree => "a random tree",
            Graph::Star => "the first spin with every other",
            Graph::Independent => "no pair",
            Graph::Regular => "a random 3-regular graph; d even",
        }
    }

    /// Edges `i < j` on d spins, in lexicographic order.
    fn edges(self, d: usize, seed: u64) -> Vec<(usize, usize)> {
        let mut edges: Vec<(usize, usize)> = match self {
            Graph::Complete => (0..d).flat_map(|i| (i + 1..d).map(move |j| (i, j))).collect(),
            Graph::Grid => {
                let rows =
                    (1..=d).take_while(|r| r * r <= d).filter(|r| d.is_multiple_of(*r)).last().unwrap_or(1);
                let cols = d / rows;
                let right = (0..d).filter(|i| (i + 1) % cols != 0).map(|i| (i, i + 1));
                right.chain((cols..d).map(|i| (i - cols, i))).collect()
            }
            Graph::Chain => (1..d).map(|i| (i - 1, i)).collect(),
            Graph::Tree => random_tree(d, &mut Draw::new(seed, 1)),
            Graph::Star => (1..d).map(|i| (0, i)).collect(),
            Graph::Independent => Vec::new(),
            Graph::Regular => random_cubic(d, &mut Draw::new(seed, 1)),
        };
        edges.sort_unstable();
        edges
    }
}

choice!(Family, "family", about);
choice!(Graph, "graph", about);

/// What to generate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GenerateSpec {
    /// Distribution of the parameters.
    pub family: Family,
    /// Which pairs are coupled.
    pub graph: Graph,
    /// Number of spins, at least 1.
    pub d: usize,
    /// Coupling strength, finite and >= 0; not used by [`Family::Gaussian`].
    pub w: f64,
    /// Seed: equal seeds give equal models, bit for bit, on every platform.
    pub seed: u64,
}

/// Draws a model: the d fields first, then the couplings in lexicographic order of the edges.
///
/// ```
/// use zbound::generate::{Family, GenerateSpec, Graph, generate};
/// let spec = GenerateSpec { family: Family::LogdetMixed, graph: Graph::Grid, d: 12, w: 0.5, seed: 7 };
/// let model = generate(&spec)?;
/// assert_eq!(model.edges().len(), 17); // 3 rows of 4
/// assert!(model.couplings().iter().all(|v| v.abs() <= 0.5));
/// # Ok::<(), zbound::Error>(())
/// ```
///
/// **Cost** O(d + m).
///
/// # Errors
/// `d = 0`, an odd or too small d for [`Graph::Regular`], a strength that is negative or not
/// finite, or more than 10^8 couplings.
pub fn generate(spec: &GenerateSpec) -> Result<Ising> {
    let GenerateSpec { family, graph, d, w, seed } = *spec;
    let bad = |what: String| Err(Error::Setting(what));
    if d == 0 || d > MAX_EDGES {
        return bad(format!("d = {d}: expected 1 to {MAX_EDGES} spins"));
    }
    if !(w >= 0.0 && w.is_finite()) {
        return bad(format!("w = {w}: expected a finite coupling strength >= 0"));
    }
    if graph == Graph::Regular && (d < 4 || d % 2 == 1) {
        return bad(format!("d = {d}: a 3-regular graph needs an even number of at least 4 spins"));
    }
    if graph == Graph::Complete && d.saturating_mul(d - 1) / 2 > MAX_EDGES {
        return bad(format!("d = {d}: a complete graph of more than {MAX_EDGES} couplings"));
    }
    let mut draw = Draw::new(seed, 0);
    let fields: Vec<f64> = (0..d).map(|_| family.field(&mut draw)).collect();
    let edges = graph.edges(d, seed);
    let couplings: Vec<_> = edges.into_iter().map(|(i, j)| (i, j, family.coupling(w, &mut draw))).collect();
    Ising::new(d, &fields, &couplings)
}

/// The portable source of numbers.
struct Draw(ChaCha8Rng);

impl Draw {
    fn new(seed: u64, stream: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(stream);
        Draw(rng)
    }

    /// Uniform on [0, 1), a multiple of 2^-53.
    fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// Below n, with a bias under `n / 2^64`.
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }
}

/// Decodes a random Pruefer sequence, smallest leaf first.
fn random_tree(d: usize, draw: &mut Draw) -> Vec<(usize, usize)> {
    if d < 2 {
        return Vec::new();
    }
    let sequence: Vec<usize> = (0..d - 2).map(|_| draw.below(d)).collect();
    let mut degree = vec![1; d];
    sequence.iter().for_each(|&i| degree[i] += 1);
    let mut leaves: std::collections::BTreeSet<usize> = (0..d).filter(|&i| degree[i] == 1).collect();
    let mut edges = Vec::with_capacity(d - 1);
    for &i in &sequence {
        let leaf = leaves.pop_first().expect("a tree has leaves");
        edges.push((leaf.min(i), leaf.max(i)));
        degree[i] -= 1;
        if degree[i] == 1 {
            leaves.insert(i);
        }
    }
    let (i, j) = (leaves.pop_first(), leaves.pop_first());
    edges.extend(i.zip(j));
    edges
}

/// Pairs 3d half-edges at random until the graph is simple (about one try in eight).
fn random_cubic(d: usize, draw: &mut Draw) -> Vec<(usize, usize)> {
    let mut stubs: Vec<usize> = (0..3 * d).map(|k| k / 3).collect();
    loop {
        for k in (1..stubs.len()).rev() {
            stubs.swap(k, draw.below(k + 1));
        }
        let mut edges: Vec<_> = stubs.chunks(2).map(|p| (p[0].min(p[1]), p[0].max(p[1]))).collect();
        edges.sort_unstable();
        if edges.iter().all(|(i, j)| i != j) && edges.windows(2).all(|w| w[0] != w[1]) {
            return edges;
        }
    }
}
