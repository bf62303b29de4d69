//! How fast the Chambolle-Pock algorithm converges.

use super::{Statement, says};
use crate::paper::checks::Check;

const LONG_STEP: &str = "\u{3c4} = 3, \u{3c3} = 0.3";
const EVEN_STEP: &str = "\u{3c4} = 0.9, \u{3c3} = 0.9";

pub(super) fn chambolle_pock(id: &str) -> Vec<Statement> {
    let traces = |negate| {
        [LONG_STEP, EVEN_STEP].map(|a| Check::Exponential { panel: 0, a, share: 0.95, negate }).to_vec()
    };
    match id {
        "CP_gap_iter" => vec![says(
            "the duality gap decrease exponentially fast with the number of iterations",
            "a straight line explains at least 95 % of the variance of log gap over iterations, median over draws",
            traces(false),
        )],
        "CP_iter_d" => vec![says(
            "the number of iterations to reached a fixed tolerance of 10^-8 grows linearly with d",
            "a straight line explains at least 90 % of the variance of the means, and the exponent is 0.75 to 1.25",
            vec![
                Check::Straight { panel: 0, row: 0, a: LONG_STEP, share: 0.9 },
                Check::Power { panel: 0, row: 0, a: LONG_STEP, low: 0.75, high: 1.25 },
            ],
        )],
        "CP_gap_iter_ho" => vec![says(
            "For this more general feature vector, we do not observe this linear convergence",
            "a straight line explains less than 95 % of the variance of log gap over iterations, median over draws",
            traces(true),
        )],
        "CP_iter_n" => vec![says(
            "We observed a general growth in O(n^2)",
            "exponent of the mean number of iterations in n between 1.5 and 2.5",
            vec![Check::Power { panel: 0, row: 0, a: LONG_STEP, low: 1.5, high: 2.5 }],
        )],
        _ => Vec::new(),
    }
}
