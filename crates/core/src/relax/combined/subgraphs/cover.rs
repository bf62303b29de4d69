//! Subgraphs of bounded width that together hold every edge: strips between layers.

use super::lines::layerings;
use super::part::Part;
use crate::model::Ising;
use crate::tables::order::Neighbours;

/// Strips begin at no more than this many different places in each direction, and where there is one strip more than need
/// be: every one is a part to be evaluated.
const OFFSETS: [u32; 2] = [8, 3];

/// What strips are cut from.
pub(super) struct Layers<'a> {
    ising: &'a Ising,
    directions: Vec<Vec<u32>>,
}

impl<'a> Layers<'a> {
    pub(super) fn new(ising: &'a Ising) -> Self {
        let mut graph: Neighbours = vec![Vec::new(); ising.d()];
        for &[i, j] in ising.edges() {
            graph[i as usize].push(j);
            graph[j as usize].push(i);
        }
        graph.iter_mut().for_each(|list| list.sort_unstable());
        Layers { ising, directions: layerings(&graph) }
    }

    /// Strips with tables of at most `limit` entries, in every direction; none when a single layer has too large ones.
    pub(super) fn cover(&self, limit: f64) -> Vec<Part> {
        let mut parts = Vec::new();
        for direction in 0..self.directions.len() {
            let Some(thickness) = self.thickness(direction, limit) else { continue };
            parts.extend(self.parts(direction, thickness, limit, false));
        }
        // A part that holds everything needs no others.
        if let Some(whole) = parts.iter().position(|part| part.edges.len() == self.ising.edges().len()) {
            return vec![parts.swap_remove(whole)];
        }
        let mut held = vec![false; self.ising.edges().len()];
        parts.iter().flat_map(|part| &part.edges).for_each(|&e| held[e as usize] = true);
        if held.into_iter().all(|h| h) { parts } else { Vec::new() }
    }

    /// Parts of one strip more than those of [`Layers::cover`], cut in other places: what one of those loses between its
    /// strips they hold.
    pub(super) fn others(&self, limit: f64) -> Vec<Part> {
        let mut parts = Vec::new();
        for direction in 0..self.directions.len() {
            let Some(thickness) = self.thickness(direction, limit) else { continue };
            if thickness >= self.count(direction) {
                continue;
            }
            parts.extend(self.parts(direction, thickness, limit, true));
        }
        parts
    }

    /// Strips of one thickness that begin in several places.
    fn parts(
        &self,
        direction: usize,
        thickness: u32,
        limit: f64,
        others: bool,
    ) -> impl Iterator<Item = Part> {
        let offsets = self.offsets(direction, thickness, others).into_iter();
        offsets.filter_map(move |first| self.strips(direction, first, thickness, limit))
    }

    fn count(&self, direction: usize) -> u32 {
        self.directions[direction].iter().max().map_or(0, |&top| top + 1)
    }

    /// Layers that a strip may have.
    fn thickness(&self, direction: usize, limit: f64) -> Option<u32> {
        let fits = |t: u32| self.strips(direction, t, t, limit).is_some();
        // Single layers of an expander are too wide already.
        if !fits(1) {
            return None;
        }
        let (mut low, mut high) = (1, self.count(direction) + 1);
        // Strips of t layers are contained in those of t + 1, somewhere.
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fits(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(low)
    }

    /// Thicknesses of the first strip, such that there are as few strips as possible: between strips, everything is lost. With a
    /// single direction one more, so that other parts hold what one does not, and one more again when `others` are asked for.
    fn offsets(&self, direction: usize, thickness: u32, others: bool) -> Vec<u32> {
        let count = self.count(direction);
        if thickness >= count {
            return vec![count];
        }
        let strips = count.div_ceil(thickness) + u32::from(self.directions.len() == 1) + u32::from(others);
        let first = count.saturating_sub((strips - 1) * thickness).max(1);
        let step = (thickness + 1 - first).div_ceil(OFFSETS[usize::from(others)]).max(1);
        // The middle one of every step: the first strip is neither whole nor nearly empty.
        let first = first + if others { step / 2 } else { 0 };
        (first..=thickness).step_by(step as usize).collect()
    }

    /// The edges inside strips, the first of `first` layers and the others of `thickness`, if tables of `limit` entries do.
    fn strips(&self, direction: usize, first: u32, thickness: u32, limit: f64) -> Option<Part> {
        let layers = &self.directions[direction];
        let strip = |v: u32| (layers[v as usize] + thickness - first) / thickness;
        let ends = self.ising.edges();
        let inside = |e: &u32| {
            let [i, j] = ends[*e as usize];
            strip(i) == strip(j)
        };
        let edges = (0..ends.len() as u32).filter(inside).collect();
        // Along the strip: by the layers of the other direction.
        let other = &self.directions[(direction + 1) % self.directions.len()];
        let guide: Vec<u64> = (0..self.ising.d() as u32)
            .map(|v| {
                let place = u64::from(other[v as usize]) << 24 | u64::from(layers[v as usize]);
                u64::from(strip(v)) << 48 | place
            })
            .collect();
        Part::new(self.ising.d(), ends, edges, &guide, limit)
    }
}
