//! The reader of evidence files.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok((pairs, _)) = zbound::io::read_evidence("fuzz", data, &[2, 2, 2, 3, 1]) {
        assert!(pairs.iter().all(|&(i, spin)| i < 5 && spin.abs() == 1));
    }
});
