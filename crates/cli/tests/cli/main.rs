//! The command line as a user meets it: the binary, its streams and its exit codes.

mod bound;
mod branching;
mod certificate;
mod commands;
mod door;
mod examples;
mod limits;
mod marginals;
mod reproduce;
mod support;
mod sweep;
mod zero_temperature;
