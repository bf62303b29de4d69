//! The independent checker on a hostile certificate of a fixed model.
#![no_main]

const MODEL: &str = r#"{"d":3,"fields":[0.5,0,0],"couplings":[[0,1,1],[1,2,-1]]}"#;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = zbound_check::check("model.json", MODEL, data);
});
