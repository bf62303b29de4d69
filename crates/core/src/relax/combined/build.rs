//! The program of a model: moments, first inequalities, first entropies.

use super::clusters::Clusters;
use super::entropy::Entropy;
use super::gaussian::Gaussian;
use super::graphs::Graph;
use super::program::{Program, Triple};
use super::separate::triangles;
use super::space::Space;
use super::two_tree::{Base, Joint, TwoTree};
use crate::error::Result;
use crate::features::Features;
use crate::model::{Ising, VarSet};
use crate::relax::forest::Forest;
use crate::relax::trw::spanning::{resistance_mixture, stars};
use crate::tables::order::fewest_pairs;
use std::collections::{HashMap, HashSet};

/// Triples up to which every triangle inequality is present from the start.
const ALL_TRIANGLES: usize = 60_000;

/// Moments above which the Newton system, dense, is not formed.
const MAX_MOMENTS: usize = 6000;
/// Working memory per entry of the Newton matrix.
const BYTES_PER_ENTRY: u64 = 16;
/// Spins up to which all pairs have a moment, however sparse the graph.
pub(super) const ALL_PAIRS: usize = 30;
/// Clusters up to which two-trees are looked for: those of 40 spins. With more the program has those known beforehand.
const MOST_CLUSTERS: usize = 10_000;
/// The pairs of a chordal graph are used when they are fewer than this share of all.
const SPARSE: f64 = 0.6;

/// The program of a model: over all pairs of spins when these are few or the graph is dense, else
/// over the pairs of a chordal extension of the graph; `None` when both are too many.
///
/// A matrix on a chordal graph can be completed to a positive one exactly when its cliques are
/// positive, and triangles within cliques imply all cycles: nothing is lost, except that forests
/// use no other pairs and that the spectral entropies, which need all moments, are left out.
pub(super) fn program(
    ising: &Ising,
    eps: f64,
    spectral: &[Features],
    trw: Option<&[Vec<[u32; 2]>]>,
    known: &[TwoTree],
    gaussians: &[Gaussian],
    memory_limit: u64,
) -> Result<Option<Program>> {
    let d = ising.d();
    let all = d * (d + 1) / 2;
    // The matrix, its gradients and a snapshot.
    let fits =
        |moments: usize| moments <= MAX_MOMENTS && BYTES_PER_ENTRY * (moments as u64).pow(2) <= memory_limit;
    if d > ALL_PAIRS
        && let Some(cliques) = cliques(ising)
    {
        let space = Space::cliques(d, &cliques)?;
        if fits(space.len()) && (space.len() as f64) < SPARSE * all as f64 {
            return Ok(Some(finish(ising, eps, space, Vec::new(), trw, known)));
        }
    }
    if !fits(all) {
        return Ok(None);
    }
    let program = dense(ising, eps, spectral, trw, known, gaussians)?;
    if fits(program.space.len()) {
        return Ok(Some(program));
    }
    // (1, x), always the first, has no moments beyond those of all pairs.
    dense(ising, eps, &spectral[..1], trw, known, gaussians).map(Some)
}

/// Neighbours of every spin, increasing.
fn adjacency(ising: &Ising) -> Vec<Vec<u32>> {
    let mut graph = vec![Vec::new(); ising.d()];
    for &[i, j] in ising.edges() {
        graph[i as usize].push(j);
        graph[j as usize].push(i);
    }
    graph.iter_mut().for_each(|list| list.sort_unstable());
    graph
}

/// The model's own graph as part of a two-tree, with which its bound is exact; `None` when it is wider.
fn own_two_tree(ising: &Ising, clusters: &Clusters) -> Option<TwoTree> {
    if clusters.spins.is_empty() {
        return None;
    }
    let plan = fewest_pairs(adjacency(ising));
    let joint = |p: usize| {
        let spin = plan.order[p];
        let near: Vec<u32> = plan.scopes[p].iter().map(|&q| plan.order[q as usize]).collect();
        Some(Joint { spin, to: Base::joining(clusters, spin, &near)? })
    };
    let joints = (0..ising.d()).rev().map(joint).collect::<Option<_>>()?;
    Some(TwoTree { joints })
}

/// Maximal cliques of a chordal extension of the model's graph; `None` when they have too many pairs.
fn cliques(ising: &Ising) -> Option<Vec<Vec<u32>>> {
    if ising.edges().len() > MAX_MOMENTS {
        return None;
    }
    let plan = fewest_pairs(adjacency(ising));
    if plan.scopes.iter().map(Vec::len).sum::<usize>() > MAX_MOMENTS {
        return None;
    }
    let mut maximal = vec![true; ising.d()];
    for (scope, parent) in plan.scopes.iter().zip(&plan.parent) {
        if let Some(p) = parent
            && scope.len() == plan.scopes[*p as usize].len() + 1
        {
            maximal[*p as usize] = false;
        }
    }
    let clique = |p: usize| {
        let mut clique: Vec<u32> = plan.scopes[p].iter().map(|&q| plan.order[q as usize]).collect();
        clique.push(plan.order[p]);
        clique.sort_unstable();
        clique
    };
    Some(postorder(&plan.parent).into_iter().filter(|&p| maximal[p]).map(clique).collect())
}

/// Positions of a forest given by parents, every subtree in one piece: moments that are numbered in
/// this order make a factor with few tiles.
fn postorder(parent: &[Option<u32>]) -> Vec<usize> {
    let mut children = vec![Vec::new(); parent.len()];
    let mut roots = Vec::new();
    for (p, up) in parent.iter().enumerate() {
        match up {
            Some(up) => children[*up as usize].push(p),
            None => roots.push(p),
        }
    }
    // Parents before children from the last root on; reversed, children come first.
    let mut order = Vec::with_capacity(parent.len());
    while let Some(p) = roots.pop() {
        order.push(p);
        roots.extend(&children[p]);
    }
    order.reverse();
    order
}

/// Moments of all pairs of spins and of products of `spectral` features; entropies of forests, of the
/// spectral features, and log-det.
fn dense(
    ising: &Ising,
    eps: f64,
    spectral: &[Features],
    trw: Option<&[Vec<[u32; 2]>]>,
    known: &[TwoTree],
    gaussians: &[Gaussian],
) -> Result<Program> {
    let d = ising.d();
    let linear = Features::degree(d, 1);
    let mut sets = linear.sets().to_vec();
    for set in spectral.iter().flat_map(|f| f.sets()) {
        if !sets.contains(set) {
            sets.push(set.clone());
        }
    }
    let space = Space::new(d, vec![Features::new(d, sets)?]);
    let mut entropies: Vec<Entropy> =
        spectral.iter().filter_map(|f| space.block(f)).map(Entropy::Quantum).collect();
    for gaussian in gaussians {
        entropies.extend(space.block(&linear).map(|block| Entropy::LogDet(block, gaussian.clone())));
    }
    Ok(finish(ising, eps, space, entropies, trw, known))
}

/// Adds parameters, forests and first inequalities.
fn finish(
    ising: &Ising,
    eps: f64,
    mut space: Space,
    mut entropies: Vec<Entropy>,
    trw: Option<&[Vec<[u32; 2]>]>,
    known: &[TwoTree],
) -> Program {
    let d = ising.d();
    let forests = forests(ising, &space, trw);
    entropies.extend(
        forests.iter().filter_map(|f| Forest::new(d, &space.pairs, f)).map(Graph::Forest).map(Entropy::Graph),
    );
    let count: usize = space.blocks.iter().map(|b| b.spins().len()).map(|k| k * k * k / 6).sum();
    let complete = count <= ALL_TRIANGLES;
    let pairwise = space.pairs.iter().filter_map(|&[i, j]| Triple::new(&space, [0, i + 1, j + 1]));
    let mut triples: Vec<Triple> = pairwise.collect();
    let mut closed = true;
    if complete {
        let triangles = triangles(&space);
        closed = triangles.len() > MOST_CLUSTERS;
        // A cluster has a law only where its triangle inequalities hold, so all must be present.
        if !closed {
            space.clusters = Clusters::new(&space, &triangles);
        } else if !known.is_empty() {
            let own: HashSet<[u32; 3]> = known.iter().flat_map(TwoTree::triples).collect();
            let of_known = |triple: &&Triple| own.contains(&triple.vertices.map(|v| v - 1));
            let triangles: Vec<Triple> = triangles.iter().filter(of_known).copied().collect();
            space.clusters = Clusters::new(&space, &triangles);
        }
        triples.extend(triangles);
    }
    let own = own_two_tree(ising, &space.clusters);
    let mut known: Vec<TwoTree> = known.iter().filter_map(|tree| tree.numbered(&space.clusters)).collect();
    known.extend(own.filter(|own| known.iter().all(|tree| tree.edges() != own.edges())));
    entropies.extend(known.iter().cloned().map(Graph::TwoTree).map(Entropy::Graph));
    let theta = parameters(ising, &space, eps);
    Program { space, theta, triples, complete, closed, entropies, known }
}

/// `theta / eps` by moment.
fn parameters(ising: &Ising, space: &Space, eps: f64) -> Vec<f64> {
    let mut theta = vec![0.0; space.len()];
    let mut set = |monomial: VarSet, v: f64| {
        if let Some(number) = space.find(&monomial) {
            theta[number as usize] = v / eps;
        }
    };
    ising.fields().iter().enumerate().for_each(|(i, &h)| set(VarSet::singleton(i), h));
    ising.triples().for_each(|(i, j, v)| set(VarSet::pair(i, j), v));
    theta
}

/// The forests of the tree-reweighted bound; else stars on complete graphs, uniform spanning forests elsewhere.
fn forests(ising: &Ising, space: &Space, trw: Option<&[Vec<[u32; 2]>]>) -> Vec<Vec<u32>> {
    let position: HashMap<[u32; 2], u32> =
        space.pairs.iter().enumerate().map(|(e, &ends)| (ends, e as u32)).collect();
    let lists = trw.map_or_else(|| first_forests(ising), <[_]>::to_vec);
    let number = |list: Vec<[u32; 2]>| {
        let mut forest: Vec<u32> = list.iter().filter_map(|ends| position.get(ends).copied()).collect();
        forest.sort_unstable();
        forest
    };
    let mut forests: Vec<Vec<u32>> = lists.into_iter().map(number).collect();
    forests.sort();
    forests.dedup();
    forests
}

fn first_forests(ising: &Ising) -> Vec<Vec<[u32; 2]>> {
    let (d, ends) = (ising.d(), ising.edges());
    let lists = if d > 2 && ends.len() == d * (d - 1) / 2 {
        stars(d, ends)
    } else {
        resistance_mixture(d, ends, &mut || false).0
    };
    lists.iter().map(|f| f.iter().map(|&e| ends[e as usize]).collect()).collect()
}
