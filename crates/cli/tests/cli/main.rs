//! The command line as a user meets it: the binary, its streams and its exit codes.

mod bound;
mod commands;
mod support;
