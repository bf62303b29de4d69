//! Quadratic energies of spins or bits, turned into `f = -beta E` with every rounding bounded.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::model::{Alphabet, Ising, Model, Polynomial, Units};

/// The values of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vartype {
    /// {-1, +1}.
    Spin,
    /// {0, 1}, a bit `b` being the spin `2 b - 1`.
    Binary,
}

impl Vartype {
    /// dimod's name of it, in any case.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        match name.to_ascii_uppercase().as_str() {
            "SPIN" => Some(Vartype::Spin),
            "BINARY" => Some(Vartype::Binary),
            _ => None,
        }
    }
}

/// An energy `E(v) = offset + sum_i a_i v_i + sum_{i<j} q_ij v_i v_j` under construction.
pub(super) struct Energy {
    vartype: Vartype,
    offset: f64,
    linear: Vec<Option<f64>>,
    quadratic: Vec<(usize, usize, f64)>,
    place: HashMap<(usize, usize), usize>,
    repeats: usize,
    first_repeat: usize,
    rounding: Rounding,
}

impl Energy {
    pub(super) fn new(d: usize, vartype: Vartype, offset: f64) -> Self {
        Energy {
            vartype,
            offset,
            linear: vec![None; d],
            quadratic: Vec::new(),
            place: HashMap::new(),
            repeats: 0,
            first_repeat: 0,
            rounding: Rounding::default(),
        }
    }

    /// Adds `bias v_i v_j`, or `bias v_i` when `i = j`; repeats are summed and counted. `at` is
    /// where in the file the entry stands.
    pub(super) fn add(&mut self, at: usize, i: usize, j: usize, bias: f64) {
        let old = if i == j {
            self.linear[i].as_mut()
        } else {
            self.place.get(&(i.min(j), i.max(j))).map(|&k| &mut self.quadratic[k].2)
        };
        match old {
            Some(value) => {
                *value = self.rounding.sum(*value, bias);
                if self.repeats == 0 {
                    self.first_repeat = at;
                }
                self.repeats += 1;
            }
            None if i == j => self.linear[i] = Some(bias),
            None => {
                self.place.insert((i.min(j), i.max(j)), self.quadratic.len());
                self.quadratic.push((i, j, bias));
            }
        }
    }

    /// The model `f = -beta E`; `unit` names what [`Energy::add`] was given as the place.
    ///
    /// # Errors
    /// Coefficients that overflow.
    pub(super) fn into_model(self, beta: f64, name: &str, unit: &str) -> Result<Model> {
        let mut round = self.rounding;
        let mut constant = round.product(-beta, self.offset);
        let mut fields = vec![0.0; self.linear.len()];
        let mut couplings = self.quadratic;
        let is_binary = self.vartype == Vartype::Binary;
        for (field, bias) in fields.iter_mut().zip(&self.linear) {
            let value = round.product(-beta, bias.unwrap_or(0.0));
            // a b = a/2 + (a/2) x
            *field = if is_binary { round.scale(value, 0.5) } else { value };
            if is_binary {
                constant = round.sum(constant, *field);
            }
        }
        for (i, j, bias) in &mut couplings {
            let value = round.product(-beta, *bias);
            // q b b' = q/4 (1 + x + x' + x x')
            *bias = if is_binary { round.scale(value, 0.25) } else { value };
            if is_binary {
                constant = round.sum(constant, *bias);
                fields[*i] = round.sum(fields[*i], *bias);
                fields[*j] = round.sum(fields[*j], *bias);
            }
        }
        let ising = Ising::new(fields.len(), &fields, &couplings)?.with_constant(constant)?;
        let mut model = Model::from(Polynomial::from(ising).with_uncertainty(round.total_up)?);
        model.units = Units::Energy { beta };
        if is_binary {
            model.alphabet = Alphabet::Bits;
        }
        if self.repeats > 0 {
            model.warnings.push(format!(
                "{name}: summed {} repeated entries, the first at {unit} {}",
                self.repeats, self.first_repeat
            ));
        }
        Ok(model)
    }
}

/// Floating-point operations whose errors are added up, rounded up: exact input stays exact.
#[derive(Default)]
pub(super) struct Rounding {
    pub(super) total_up: f64,
}

impl Rounding {
    fn charge(&mut self, error: f64) {
        if error != 0.0 && error.is_finite() {
            self.total_up = (self.total_up + error.abs()).next_up();
        }
    }

    /// `a + b` by Knuth's error-free transformation.
    pub(super) fn sum(&mut self, a: f64, b: f64) -> f64 {
        let s = a + b;
        let b_part = s - a;
        self.charge((a - (s - b_part)) + (b - b_part));
        s
    }

    /// The sum of all, in an order in which no part of it leaves the range of floating point before the whole does.
    pub(super) fn total(&mut self, values: impl Iterator<Item = f64> + Clone) -> f64 {
        let mut above = values.clone().filter(|v| *v >= 0.0);
        let mut below = values.filter(|v| *v < 0.0);
        let mut total = 0.0;
        loop {
            let next = if total > 0.0 {
                below.next().or_else(|| above.next())
            } else {
                above.next().or_else(|| below.next())
            };
            let Some(next) = next else { return total };
            total = self.sum(total, next);
        }
    }

    /// `a b`; the residual of the fused operation is exact away from underflow.
    pub(super) fn product(&mut self, a: f64, b: f64) -> f64 {
        if a.abs() == 1.0 {
            return a * b;
        }
        let p = a * b;
        self.charge(a.mul_add(b, -p));
        if p.abs() < 1e-280 && a != 0.0 && b != 0.0 {
            self.charge(f64::MIN_POSITIVE);
        }
        p
    }

    /// `a` times a power of two, exact away from underflow.
    pub(super) fn scale(&mut self, a: f64, power: f64) -> f64 {
        let p = a * power;
        if p / power != a {
            self.charge(f64::MIN_POSITIVE);
        }
        p
    }
}

/// `-f` over bits: offset, linear and quadratic coefficients.
pub(super) struct BinaryForm {
    pub(super) offset: f64,
    pub(super) linear: Vec<f64>,
    pub(super) quadratic: Vec<(usize, usize, f64)>,
    /// Bound on the rounding of all coefficients together.
    pub(super) rounding_up: f64,
}

impl BinaryForm {
    /// Substitutes `x = 2 b - 1` in `-f`.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] when a coefficient leaves the range of floating point.
    pub(super) fn new(ising: &Ising) -> Result<Self> {
        let mut round = Rounding::default();
        let mut offset = -ising.constant();
        let mut linear: Vec<f64> = ising.fields().iter().map(|h| -2.0 * h).collect();
        for &h in ising.fields() {
            offset = round.sum(offset, h);
        }
        let mut quadratic = Vec::with_capacity(ising.couplings().len());
        for (i, j, v) in ising.triples() {
            offset = round.sum(offset, -v);
            linear[i] = round.sum(linear[i], 2.0 * v);
            linear[j] = round.sum(linear[j], 2.0 * v);
            quadratic.push((i, j, -4.0 * v));
        }
        let is_finite = linear.iter().chain(quadratic.iter().map(|(_, _, v)| v)).all(|v| v.is_finite());
        if !is_finite {
            return Err(Error::NotApplicable(
                "a coefficient over 0/1 variables exceeds the range of floating point; native JSON holds this model"
                    .into(),
            ));
        }
        Ok(BinaryForm { offset, linear, quadratic, rounding_up: round.total_up })
    }

    /// Whether the offset is zero up to what rounding, here or before (`earlier`), explains.
    pub(super) fn has_no_offset(&self, earlier: f64) -> bool {
        self.offset.abs() <= self.rounding_up + earlier
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_bits_become_spins_without_error() {
        let mut energy = Energy::new(3, Vartype::Binary, 5.0);
        energy.add(1, 0, 0, 3.0);
        energy.add(2, 0, 1, -6.0);
        energy.add(3, 2, 1, 1.0);
        energy.add(4, 1, 0, 2.0);
        let model = energy.into_model(1.0, "m", "line").unwrap();
        let f = model.polynomial().unwrap();
        assert_eq!(f.uncertainty(), 0.0);
        for bits in 0..8usize {
            let b: Vec<f64> = (0..3).map(|i| (bits >> i & 1) as f64).collect();
            let x: Vec<i8> = b.iter().map(|&b| if b == 1.0 { 1 } else { -1 }).collect();
            let e = 5.0 + 3.0 * b[0] - 4.0 * b[0] * b[1] + b[1] * b[2];
            assert_eq!(f.value(&x), -e);
        }
        assert_eq!(model.warnings, ["m: summed 1 repeated entries, the first at line 4"]);
    }

    #[test]
    fn rounding_is_charged_when_it_happens() {
        let mut round = Rounding::default();
        assert_eq!(round.sum(1.0, 2.0) + round.product(3.0, 0.5) + round.scale(3.0, 0.25), 5.25);
        assert_eq!(round.total_up, 0.0);
        round.sum(1.0, 1e-20);
        assert!(round.total_up >= 1e-20 && round.total_up < 1.1e-20);
        round.product(0.1, 0.1);
        assert!(round.total_up > 1.1e-20 && round.total_up < 1e-17);
    }
}
