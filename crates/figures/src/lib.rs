//! Plots, report pages and the figures of the paper, all made from the records of sweeps.
//!
//! | module | holds |
//! |---|---|
//! | [`spec`] | how a sweep's configuration says what is drawn of it |
//! | [`plot`] | charts as SVG and PNG |
//! | [`paper`] | the paper's figures, and what the data say about its claims |
//! | [`report`] | one HTML page of figures and claims |
//! | [`page`] | one HTML page about one run of `zbound bound` |
//! | [`profile`] | closed models of a comparison against time |

pub mod page;
pub mod paper;
pub mod plot;
pub mod profile;
pub mod report;
pub mod spec;
