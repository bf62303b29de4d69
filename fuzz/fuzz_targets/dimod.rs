//! The reader of `dimod` files.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| zbound_fuzz::read_model(data, zbound::io::Format::DimodJson));
