//! The reader and the verifier of certificates.
#![no_main]

use zbound::Polynomial;
use zbound::certify::Certificate;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok((certificate, claim)) = Certificate::from_bytes(data) else { return };
    let ones = [(vec![0], 0.5), (vec![0, 1], 1.0), (vec![1, 2], -1.0)];
    let sets = ones.map(|(set, value)| (set.into_iter().collect(), value));
    let f = Polynomial::from_coefficients(3, sets).expect("a model of three spins");
    // f has a state of value 2.5, 8 states, and no state above it.
    let exact = [[1, 1, -1], [-1, -1, 1]].map(|x| f.value(&x)).into_iter().fold(f64::NEG_INFINITY, f64::max);
    if let Ok(proved) = claim.confirm(&certificate, &f)
        && claim.evidence.is_empty()
    {
        let least = exact - certificate.eps * 8f64.ln();
        assert!(proved.phi_upper.is_none_or(|upper| upper >= least - 1e-12), "a false bound was confirmed");
        assert!(proved.phi_lower.is_none_or(|lower| lower <= exact + 1e-12), "a false bound was confirmed");
    }
    let (again, _) =
        Certificate::from_bytes(&certificate.to_bytes(&claim)).expect("what was written can be read");
    assert_eq!(again.eps.to_bits(), certificate.eps.to_bits());
});
