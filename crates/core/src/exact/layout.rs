//! How enumeration splits the spins, and the terms of f seen from one block of states.

use super::vector::values_from_coefficients;
use crate::model::Polynomial;
use std::collections::BTreeMap;

/// Spins in each of the two inner groups of the factored layout.
const INNER: usize = 8;
/// Spins of the single inner group of the plain layout.
const PLAIN: usize = 10;

/// Spins `0..a` (group A), `a..a+b` (group B), and the rest, H, which number the blocks.
///
/// On block h, `f(x) = c_h + alpha_h(x_A) + beta_h(x_B) + g(x_A, x_B)` with g the same for all
/// blocks, so that exponentials are taken of `2^a + 2^b` numbers per block and not of `2^(a+b)`,
/// and the sum over a block is a bilinear form. A term that meets A, B and H at once rules this
/// out; then B is empty and each state has its own exponential.
pub(crate) struct Layout {
    pub(crate) d: usize,
    pub(crate) a: usize,
    pub(crate) b: usize,
    /// `g(x_A, x_B)` at index `x_B 2^a + x_A`.
    pub(crate) cross: Vec<f64>,
    /// Exponents within A and B that occur, in the order of the slots after the constant's.
    masks_a: Vec<usize>,
    masks_b: Vec<usize>,
    /// Coefficients of the terms without a spin of H, by slot.
    base: Vec<f64>,
    /// Terms by their lowest spin of H: `(slot, exponent within H, theta)`.
    levels: Vec<Vec<(usize, u64, f64)>>,
    /// `sum |theta|`, the constant included.
    pub(crate) l1: f64,
    /// Most terms that are ever added up in one slot.
    pub(crate) longest_sum: usize,
}

impl Layout {
    /// The factored layout, or the plain one when a term forbids it or `plain` asks for it.
    pub(crate) fn new(f: &Polynomial, plain: bool) -> Self {
        let d = f.d();
        let low = d.min(2 * INNER);
        let (a, b) = (low.div_ceil(2), low / 2);
        let terms: Vec<(u64, f64)> = f
            .coefficients()
            .filter(|(_, theta)| *theta != 0.0)
            .map(|(set, theta)| (set.as_bits().expect("enumeration has at most 63 spins"), theta))
            .collect();
        let (in_a, in_b) = ((1u64 << a) - 1, ((1u64 << b) - 1) << a);
        let forbids = |m: u64| m & in_a != 0 && m & in_b != 0 && m >> (a + b) != 0;
        if plain || terms.iter().any(|t| forbids(t.0)) {
            Self::split(d, d.min(PLAIN), 0, &terms)
        } else {
            Self::split(d, a, b, &terms)
        }
    }

    fn split(d: usize, a: usize, b: usize, terms: &[(u64, f64)]) -> Self {
        let parts =
            |m: u64| ((m & ((1 << a) - 1)) as usize, (m >> a & ((1 << b) - 1)) as usize, m >> (a + b));
        let mut slots = BTreeMap::new();
        for (mask, _) in terms {
            let (ma, mb, mh) = parts(*mask);
            if !(ma != 0 && mb != 0 && mh == 0) {
                slots.insert((mb, ma), 0);
            }
        }
        slots.insert((0, 0), 0);
        slots.values_mut().enumerate().for_each(|(slot, value)| *value = slot);
        let mut layout = Layout {
            d,
            a,
            b,
            cross: vec![0.0; 1 << (a + b)],
            masks_a: slots.keys().filter(|k| k.0 == 0 && k.1 != 0).map(|k| k.1).collect(),
            masks_b: slots.keys().filter(|k| k.0 != 0).map(|k| k.0).collect(),
            base: vec![0.0; slots.len()],
            levels: vec![Vec::new(); d - a - b],
            l1: terms.iter().map(|t| t.1.abs()).sum(),
            longest_sum: 0,
        };
        let mut lengths = vec![0; slots.len()];
        for &(mask, theta) in terms {
            let (ma, mb, mh) = parts(mask);
            if ma != 0 && mb != 0 && mh == 0 {
                layout.cross[mb << a | ma] = theta;
                continue;
            }
            let slot = slots[&(mb, ma)];
            lengths[slot] += 1;
            match mh {
                0 => layout.base[slot] = theta,
                _ => layout.levels[mh.trailing_zeros() as usize].push((slot, mh, theta)),
            }
        }
        layout.longest_sum = lengths.into_iter().max().unwrap_or(0);
        values_from_coefficients(&mut layout.cross);
        layout
    }

    /// Number of blocks as a power of two.
    pub(crate) fn high(&self) -> usize {
        self.d - self.a - self.b
    }

    /// Whether B is in use.
    pub(crate) fn is_factored(&self) -> bool {
        self.b > 0
    }
}

/// Walks over blocks in increasing order. The coefficients are kept per spin of H fixed so far,
/// so that a step costs the terms of the spins that changed (two on average), and every sum
/// adds each term once: no drift as with running updates.
pub(crate) struct BlockWalk<'a> {
    layout: &'a Layout,
    block: Option<u64>,
    sums: Vec<f64>,
}

impl<'a> BlockWalk<'a> {
    pub(crate) fn new(layout: &'a Layout) -> Self {
        let slots = layout.base.len();
        let mut sums = vec![0.0; slots * (layout.high() + 1)];
        sums[slots * layout.high()..].copy_from_slice(&layout.base);
        BlockWalk { layout, block: None, sums }
    }

    /// Moves to block h and writes `alpha_h` and `beta_h`; returns `c_h`.
    pub(crate) fn visit(&mut self, h: u64, alpha: &mut [f64], beta: &mut [f64]) -> f64 {
        let layout = self.layout;
        let changed = match self.block.replace(h) {
            Some(old) => 64 - (old ^ h).leading_zeros() as usize,
            None => layout.high(),
        };
        let slots = layout.base.len();
        for level in (0..changed).rev() {
            let (row, above) = self.sums[level * slots..].split_at_mut(slots);
            row.copy_from_slice(&above[..slots]);
            for &(slot, mask, theta) in &layout.levels[level] {
                let odd = (!h & mask).count_ones() % 2 == 1;
                row[slot] += if odd { -theta } else { theta };
            }
        }
        let (of_a, of_b) = self.sums[1..slots].split_at(layout.masks_a.len());
        for (values, masks, sums) in [(alpha, &layout.masks_a, of_a), (beta, &layout.masks_b, of_b)] {
            values.fill(0.0);
            for (&mask, &sum) in masks.iter().zip(sums) {
                values[mask] = sum;
            }
            values_from_coefficients(values);
        }
        self.sums[0]
    }
}
