//! The independent checker's readers of models, with a fixed certificate that claims little.
#![no_main]

const CERTIFICATE: &[u8] = include_bytes!("../seeds/check_certificate/spectral.zbc");

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&kind, text)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let name = ["m.json", "m.uai"][usize::from(kind) % 2];
    let _ = zbound_check::check(name, text, CERTIFICATE);
});
