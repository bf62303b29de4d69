//! Every constant that chooses between methods by what they cost: rates, sizes and shares of the time, in one place.
//!
//! Rates are seconds or operations of one thread. Unless something else is said they were measured on one core of an x86-64
//! machine with AVX2, release build, and are right within a factor of about three on others once they are scaled by the
//! [`Speed`](super::Speed) that is measured at the start of a run.

/// Edges per spin above which a graph counts as dense: a tree carries d - 1 of the m edges, so that bounds made of
/// trees work with couplings m/(d - 1) times as large, and matrices over all pairs are mostly full.
pub(crate) const DENSE_EDGES_PER_SPIN: usize = 4;

// The machine that the rates below belong to.

/// Operations of dense linear algebra per second.
pub(crate) const DENSE_RATE: f64 = 2.5e10;
/// What the decomposition that [`Speed`](super::Speed) times takes, in such operations and units of n^3.
pub(crate) const DECOMPOSITION: f64 = 40.0;
/// Entries per second of the sweep over a table that [`Speed`](super::Speed) times.
pub(crate) const TABLE_RATE: f64 = 1.0e9;

// Exact inference.

/// Models up to this many spins are enumerated whenever they are polynomials: it takes milliseconds
/// and gives the moments of all pairs.
pub(crate) const ALWAYS_ENUMERATE: usize = 16;
/// Seconds per table entry of log Z alone, of the sweep back, and of the maximum
/// (measured on grids, complete bipartite graphs and linkage models; the spread is about two either way).
pub(crate) const SUM_SECS: f64 = 2.0e-9;
pub(crate) const MARGINAL_SECS: f64 = 8.0e-9;
pub(crate) const MAXIMUM_SECS: f64 = 4.0e-9;
/// Seconds per bucket, whatever its size.
pub(crate) const BUCKET_SECS: f64 = 2e-6;
/// Seconds per state of enumeration with moments (complete graph of 30 spins: a second), and of log Z alone.
pub(crate) const STATE_SECS: f64 = 1e-9;
pub(crate) const STATE_SUM_SECS: f64 = 2.5e-10;
/// Entries beyond which interchangeable variables are looked for, which takes milliseconds: a second or two.
pub(crate) const COUNTING_ENTRIES: f64 = 1e9;
/// Bytes that enumeration uses per thread.
pub(crate) const ENUMERATION_BYTES: u64 = 4 << 20;
/// Seconds per spin of the large layer and state of the small one of a sum over a layer, and what a state takes besides, in such spins.
pub(crate) const LAYER_SECS: f64 = 1e-9;
pub(crate) const LAYER_STATE: f64 = 10.0;

// Bounds. Operations in units of n^3 unless said otherwise, n the side of the moment matrix, seconds per edge or table entry.

/// Operations of the quantum bound, `scale n^power`: larger products are faster, and fewer steps are full decompositions (complete graphs
/// of 60 to 1000 spins and grids of 100 to 400; a fifth of that where all couplings attract).
pub(crate) const QUANTUM: (f64, f64) = (2.1e4, 2.2);
/// Operations of the log-det bound (5000 to 17,000 at 50 to 100 spins).
pub(crate) const LOGDET_CUBES: f64 = 8000.0;
/// Numbers that they hold, in units of n^2.
pub(crate) const QUANTUM_SQUARES: f64 = 6.0;
pub(crate) const LOGDET_SQUARES: f64 = 30.0;
/// Operations that greedy selection spends on a candidate (1000 to 2300 at 10 to 20 spins).
pub(crate) const CANDIDATE_CUBES: f64 = 1500.0;
/// Newton steps that metric learning takes, whatever the model: 140 to 180.
pub(crate) const METRIC_STEPS: f64 = 160.0;
/// How many times longer the dense steps of metric learning take than as many operations of a product of matrices (8 to 16 spins).
pub(crate) const METRIC_DRAG: f64 = 25.0;
/// Newton steps of the combined bound, and the operations of one in units of N^3, N moments: over all pairs, and over those of
/// a chordal graph, most of whose matrix is zero.
pub(crate) const COMBINED_STEPS: f64 = 50.0;
pub(crate) const COMBINED_NEWTON: (f64, f64) = (0.6, 0.1);
/// Seconds of everything else in a combined bound of N moments, `scale N^power`: the parts, cuts and proofs (8 to 40 spins).
pub(crate) const COMBINED_SECS: (f64, f64) = (6e-5, 1.7);
/// Seconds of trees with optimised weights on m edges of d spins, per md: every edge may get a tree of d spins (40 to 400 spins, grids to
/// complete graphs); the share of that without fields, where few trees do; the power of a mean coupling above one by which they are fewer;
/// and the seconds per edge after which their number ends the search.
pub(crate) const TRW_SECS: f64 = 1.8e-5;
pub(crate) const TRW_SYMMETRIC: f64 = 0.055;
pub(crate) const TRW_COLD: f64 = 0.6;
pub(crate) const TRW_EDGE_SECS: f64 = 1e-2;
/// Spins up to which that is what the combined bound is; above, dense models take `base + scale d^2` seconds up to so many spins (60 to 400:
/// 2 to 28 s), and go on for as long as they are let beyond them, as sparse models do.
pub(crate) const COMBINED_NEWTON_SPINS: usize = 40;
pub(crate) const COMBINED_FIRST: (f64, f64, usize) = (3.0, 1e-4, 400);
/// Seconds per edge of belief propagation and its proof on dense graphs (190 to 20,000 edges).
pub(crate) const BETHE_EDGE_SECS: f64 = 2e-5;
/// On sparse graphs it takes more sweeps the smaller they are: seconds, and seconds per edge, but no more than so many per edge
/// (grids of 100 to 40,000 spins, 3-regular graphs of 1000 and 10,000).
pub(crate) const BETHE_SPARSE: (f64, f64, f64) = (0.4, 4e-6, 3e-3);
/// Seconds per table entry of one pass of one side of mini-buckets, and of a verification, before any was measured.
pub(crate) const PASS_SECS: f64 = 2e-8;
pub(crate) const VERIFY_SECS: f64 = 5e-8;
/// Seconds per table entry of a sweep of mean-field blocks, and of its proof.
pub(crate) const ENTRY_SECS: f64 = 1.5e-8;
pub(crate) const PROOF_SECS: f64 = 4e-7;
/// Entries of mini-buckets with small tables per entry of the model's own tables, and at least per variable (grids and
/// 3-regular graphs of 10^5 spins).
pub(crate) const SMALL_TABLES: (f64, f64) = (4.0, 250.0);

// How `auto` and the queries spend their time.

/// Seconds that `auto`, `map` and `marginals` take on any model when no limit is given, and that exact inference may take unasked.
pub(crate) const DEFAULT_SECS: f64 = 60.0;
/// Seconds that `all` gives to a method when there is no time limit.
pub(crate) const PATIENCE_SECS: f64 = 60.0;
/// Exact inference expected to take no longer than this, in seconds, comes before anything else.
pub(crate) const AT_ONCE_SECS: f64 = 0.25;
/// Exact inference is begun when it is expected to fit this many times into the time left: estimates are right within
/// a factor of three, and a run that does not end gives nothing.
pub(crate) const EXACT_CAUTION: f64 = 1.8;
/// Share of the time left that the search for an elimination order may take.
pub(crate) const PLANNING_SHARE: f64 = 0.08;
/// Exact inference of everything that is expected to take longer, in seconds, comes after that of log Z alone, which takes a quarter of the
/// time and a fraction of the memory and closes the bracket.
pub(crate) const LOG_Z_FIRST_SECS: f64 = 1.0;
/// Seconds that everything beyond log Z may be expected to take once log Z is known.
pub(crate) const MARGINALS_SECS: f64 = 10.0;
/// Share of the time left after which exact inference that has not ended gives way to bounds: the machine may be busier than it was, and
/// with twice the time bounds must not be behind what they are alone.
pub(crate) const EXACT_SHARE: f64 = 0.55;
/// ... or when it has taken this many times as long as was expected, and this share of the time left: memory that a system is slow to
/// hand out can make seconds of one.
pub(crate) const EXACT_SURPRISE: (f64, f64) = (3.0, 0.4);
/// The share where work that will not end in time gives itself up early: then little is lost by beginning it.
pub(crate) const PACED_SHARE: f64 = 0.9;
/// Seconds of the first, hasty search for an elimination order of `auto`: nothing is proved meanwhile.
pub(crate) const HASTY_SECS: f64 = 0.1;
/// Exact inference that would take longer, in seconds, is not worth mentioning: a day.
pub(crate) const HOPELESS_SECS: f64 = 86_400.0;
/// Elimination that is expected to take longer, in seconds, lets a search over what hard zeros leave go first, which may take
/// that share of the time left (formulas of 100 to 1200 variables that elimination cannot hold: 0.01 to 2 s, or hours).
pub(crate) const COUNTING_SECS: f64 = 2.0;
pub(crate) const COUNTING_SHARE: f64 = 0.15;
/// How many times faster a sum over a layer, which gives no marginals, has to be to come first.
pub(crate) const LAYERS_GAIN: f64 = 4.0;
/// A sum over a layer that is expected to take more than a second, and so many times what is left of the time, is not begun.
pub(crate) const LAYERS_HOPELESS: f64 = 4.0;
/// Share of the time left that the first, quick methods of `auto` may take each, and its bound in seconds.
pub(crate) const QUICK: (f64, f64) = (0.05, 0.2);
/// Time left, in seconds, below which no further round is begun.
pub(crate) const LAST_ROUND_SECS: f64 = 0.2;

// What pays whatever it costs: found by comparing brackets at equal time.

/// Spins up to which splitting a dense model gains more than a better bound of the whole, whatever the time: at 60, Gaussian, the width
/// falls from 28 to 1 in a minute; and seconds per d^2 from which on it does for larger ones: a combined bound that is right within a
/// thousandth takes a fifteenth of that, the best one ten times as long (140 to 400 spins, 10 to 40 s).
pub(crate) const BRANCH_SPINS: usize = 150;
pub(crate) const BRANCH_SECS: f64 = 3e-4;
/// Spins up to which parts of a split model have bounds with dense matrices.
pub(crate) const BRANCH_MOST_SPINS: usize = 1000;
/// Spins up to which the combined bound of a dense graph is worth its time.
pub(crate) const COMBINED_SPINS: usize = 2000;
/// Variables up to which parts of a model that share no term are put together: exact inference takes no time.
pub(crate) const SMALL_PART: usize = 20;
/// Parts that are solved apart at most: each begins anew.
pub(crate) const MOST_PARTS: usize = 64;
/// Share of the variables in one part above which a model counts as connected.
pub(crate) const LARGEST_PART: f64 = 0.9;
/// Spins up to which the quantum bound of a dense model takes a tenth of a second.
pub(crate) const QUICK_SPINS: usize = 300;
/// Passes of mini-buckets below which a sparse model leaves no time for trials: the combined bound, which begins with
/// them, is given what there is (10^5 spins: one or two seconds a pass and its proof); and below which there is none for
/// its strips either.
pub(crate) const WORTHWHILE_PASSES: f64 = 10.0;
pub(crate) const STRIP_PASSES: f64 = 3.0;
