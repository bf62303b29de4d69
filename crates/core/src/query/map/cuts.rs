//! Which cycle inequalities take part.

use crate::choice::choice;
use std::ops::Range;

/// Which inequalities tighten the zero-temperature bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cuts {
    /// None.
    #[default]
    None,
    /// `1 + a x_i + b x_j + ab x_i x_j >= 0`: triangles through the constant.
    Pairwise,
    /// `1 + s z_i z_j + t z_i z_k + st z_j z_k >= 0` for every triple of z = (1, x); on sparse graphs of more than 250 spins
    /// cycles of any length along edges.
    Triangle,
}

impl Cuts {
    /// Every choice.
    pub const ALL: [Cuts; 3] = [Cuts::None, Cuts::Pairwise, Cuts::Triangle];

    /// The name used everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Cuts::None => "none",
            Cuts::Pairwise => "pairwise",
            Cuts::Triangle => "triangle",
        }
    }

    /// What they are, on one line.
    pub fn about(self) -> &'static str {
        match self {
            Cuts::None => "no inequality beside the moment matrix",
            Cuts::Pairwise => "the probabilities of every pair of spins are nonnegative",
            Cuts::Triangle => "those, and every triangle of spins; cycles along edges on large sparse graphs",
        }
    }
}

choice!(Cuts, "cuts", about);

impl Cuts {
    /// First vertices of the triangles over n vertices that take part.
    pub(super) fn tops(self, n: usize) -> Range<usize> {
        match self {
            Cuts::None => 0..0,
            Cuts::Pairwise => 0..n.min(1),
            Cuts::Triangle => 0..n,
        }
    }
}
