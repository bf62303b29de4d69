//! One model at one temperature, and what a method makes of it.

use super::carry::{Carried, solve_beside};
use super::dispatch::{relaxation, table_bound};
use super::features::features;
use super::plan::{BoundRequest, MethodChoice, dense_refusal};
use super::shape::Shape;
use crate::error::{Error, Result};
use crate::exact::entry_bracket;
use crate::features::FeatureSpec;
use crate::model::{FactorModel, FactorRef, Model, Polynomial, Source};
use crate::observer::Observer;
use crate::problem::Problem;
use crate::query::branch::{Goal, branch};
use crate::record::{IMPOSSIBLE, MethodRecord, Recorder, Status};
use crate::relax::TableBound;
use crate::settings::{Method, Settings};
use crate::solution::{Solution, StopReason};
use std::sync::OnceLock;
use std::time::Instant;

/// Variables per table up to which a polynomial is made without being asked for: 2^8 coefficients a table.
const CHEAP_ARITY: usize = 8;

/// What the methods work on. Forms of the model are made when the first method asks for them: the polynomial of a
/// table over many variables, or the tables of a dense polynomial, can cost more than an answer.
pub(super) struct Job<'a> {
    pub(super) model: &'a Model,
    pub(super) request: &'a BoundRequest,
    /// Solutions of the same model at another temperature.
    earlier: &'a [Solution],
    pub(super) recorder: Recorder<'a>,
    /// g >= f over the free spins and the value of raised zeros where it differs from f; `None` when some variable
    /// is no spin.
    majorant: OnceLock<Option<(Polynomial, Option<f64>)>>,
    tables: OnceLock<FactorModel>,
    /// Whether the tables alone show that no state has positive weight.
    impossible: bool,
    /// Whether a search over what hard zeros leave is known to take too long.
    pub(super) is_counted_out: bool,
    /// What the coefficients alone prove.
    coefficients: OnceLock<Solution>,
}

/// A record and, for relaxations, the solution behind it.
pub(super) type Outcome = (MethodRecord, Option<Solution>);

impl<'a> Job<'a> {
    pub(super) fn new(model: &'a Model, request: &'a BoundRequest, earlier: &'a [Solution]) -> Result<Self> {
        let recorder = Recorder::new(model, request.eps, request.want_pairwise);
        let (majorant, tables, coefficients) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let mut job = Job {
            model,
            request,
            earlier,
            recorder,
            majorant,
            tables,
            impossible: false,
            is_counted_out: false,
            coefficients,
        };
        if matches!(model.source(), Source::Factors(_)) {
            job.impossible = job.tables()?.zero_floor(request.eps).is_err();
        }
        Ok(job)
    }

    /// f over the free variables, as tables.
    pub(super) fn tables(&self) -> Result<&FactorModel> {
        if let Some(tables) = self.tables.get() {
            return Ok(tables);
        }
        let tables = self.model.factors()?;
        Ok(self.tables.get_or_init(|| tables))
    }

    /// g >= f over the free spins, if all free variables are spins and some state has positive weight.
    fn majorant(&self) -> Result<Option<&(Polynomial, Option<f64>)>> {
        if let Some(known) = self.majorant.get() {
            return Ok(known.as_ref());
        }
        let found = match self.model.majorant(self.request.eps) {
            Ok(found) => Some(found),
            Err(Error::NotApplicable(_)) => None,
            Err(error) => return Err(error),
        };
        Ok(self.majorant.get_or_init(|| found).as_ref())
    }

    /// f itself as a polynomial, where making it is cheap: coefficients, or tables without zeros over few variables.
    pub(super) fn polynomial(&self) -> Result<Option<&Polynomial>> {
        let is_cheap = match self.model.source() {
            Source::Polynomial(_) => true,
            Source::Factors(_) => {
                let tables = self.tables()?;
                let few = |f: FactorRef<'_>| f.scope.len() <= CHEAP_ARITY;
                tables.is_binary() && !tables.has_hard_zeros() && tables.factors().all(few)
            }
        };
        if !is_cheap || self.impossible {
            return Ok(None);
        }
        Ok(self.majorant()?.filter(|(_, floor)| floor.is_none()).map(|(f, _)| f))
    }

    /// The size of the model, as far as costs depend on it.
    pub(super) fn shape(&self) -> Result<Shape> {
        Ok(Shape::new(self.model, self.polynomial()?))
    }

    /// The same for a method on f with so many features.
    fn shape_with(&self, f: &Polynomial, features: usize) -> Shape {
        Shape { features: Some(features), ..Shape::new(self.model, Some(f)) }
    }

    pub(super) fn run(
        &self,
        method: Method,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Outcome> {
        if self.impossible {
            return Ok(self.impossible(method));
        }
        let start = Instant::now();
        let attempt = match (method, table_bound(method)) {
            (Method::Exact, _) => self.exact(self.affordable(settings), settings, observer),
            (Method::Branch, _) => self.branch(settings, observer),
            (_, Some(bound)) => self.over_tables(method, bound.as_ref(), settings, observer),
            (_, None) => match self.majorant()? {
                Some((f, floor)) => self.relax(method, f, *floor, settings, observer),
                None => self
                    .model
                    .polynomial()
                    .and(Err(Error::NotApplicable("the method needs variables of two states".into()))),
            },
        };
        let refused = |why: String| Ok((self.recorder.empty(method, Status::NotApplicable, why), None));
        match attempt {
            Err(Error::NotApplicable(why)) => refused(why),
            Err(Error::Interrupted(stop)) => self.given_up(method, stop, start),
            // Only a method the user named may end the whole job.
            Err(error @ Error::Memory { .. }) if !self.request.is_explicit() => refused(error.to_string()),
            Err(error @ Error::Features(_))
                if !self.request.is_explicit() && self.request.features == FeatureSpec::Default =>
            {
                refused(error.to_string())
            }
            other => other,
        }
    }

    /// Proved sides of phi that no single method gave.
    pub(super) fn bracket(
        &self,
        method: Method,
        status: Status,
        lower: Option<f64>,
        upper: f64,
    ) -> MethodRecord {
        self.recorder.bracket(method, status, lower, upper)
    }

    /// What the coefficients alone prove, for a method that was stopped before it had anything of its own.
    pub(super) fn by_coefficients(&self, method: Method, stop: StopReason) -> Result<Outcome> {
        if self.impossible {
            return Ok(self.impossible(method));
        }
        // A large table's own entries are at hand, its polynomial may not be.
        let Some(f) = self.polynomial()? else {
            let (lower, upper) = entry_bracket(self.tables()?);
            return Ok((self.recorder.bracket(method, stop.into(), lower, upper), None));
        };
        let proved = || Solution::from_coefficients(f, self.request.eps, true);
        let solution = Solution { method, stop, ..self.coefficients.get_or_init(proved).clone() };
        Ok((self.recorder.solution(&solution), Some(solution)))
    }

    /// The same for a method that was begun and has proved nothing.
    pub(super) fn given_up(&self, method: Method, stop: StopReason, start: Instant) -> Result<Outcome> {
        let mut outcome = self.by_coefficients(method, stop)?;
        outcome.0.seconds = start.elapsed().as_secs_f64();
        Ok(outcome)
    }

    /// No state has positive weight.
    pub(super) fn impossible(&self, method: Method) -> Outcome {
        let mut record = self.recorder.empty(method, Status::Converged, IMPOSSIBLE);
        record.certified = true;
        (record, None)
    }

    fn branch(&self, settings: &Settings, observer: &mut dyn Observer) -> Result<Outcome> {
        let request = self.request;
        if request.methods == MethodChoice::All && !settings.ends().is_limited() {
            let why = "it works until a gap or a limit: ask for --method branch, or give --time-limit";
            return Err(Error::NotApplicable(why.into()));
        }
        let goal = Goal {
            target_gap: request.target_gap,
            want_certificate: request.want_certificate,
            checkpoint: request.checkpoint.clone(),
        };
        let solution = branch(self.model, request.eps, &goal, settings, observer)?;
        Ok((self.recorder.solution(&solution), Some(solution)))
    }

    /// What the method found at another temperature, if there is time to look at it.
    fn earlier(&self, method: Method, settings: &Settings) -> Option<&'a Solution> {
        self.earlier.iter().find(|s| s.method == method).filter(|_| settings.ends().stop().is_none())
    }

    fn over_tables(
        &self,
        method: Method,
        bound: &dyn TableBound,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Outcome> {
        let (tables, eps, is_limited) = (self.tables()?, self.request.eps, settings.ends().is_limited());
        let solution = solve_beside(
            self.earlier(method, settings),
            is_limited,
            |old| Carried::of_tables(old, tables, eps),
            || bound.solve_tables(tables, eps, settings, observer),
        )?;
        Ok((self.recorder.solution(&solution), Some(solution)))
    }

    fn relax(
        &self,
        method: Method,
        f: &Polynomial,
        floor: Option<f64>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Outcome> {
        // Above a model with hard zeros stands another polynomial at every temperature.
        let earlier = self.earlier(method, settings).filter(|_| floor.is_none());
        // Under a cap on iterations a method begins cold: what earlier proofs give then comes on top of what so many iterations give.
        let start = earlier.filter(|_| settings.max_iterations.is_none());
        let Some(relaxation) = relaxation(method, start) else {
            return Err(Error::NotApplicable("not available in this version".into()));
        };
        if floor.is_some() && method == Method::Bethe {
            let why =
                "the model has zero table entries (hard constraints), which no balanced pairwise model has";
            return Err(Error::NotApplicable(why.into()));
        }
        let features = features(self.model, &self.request.features, method, f)?;
        if self.request.methods == MethodChoice::All
            && let Some(why) = dense_refusal(method, &self.shape_with(f, features.len()), settings)
        {
            return Err(Error::NotApplicable(why));
        }
        let problem = Problem::new(f.clone(), features)?.with_temperature(self.request.eps)?;
        let mut solution = solve_beside(
            earlier,
            settings.ends().is_limited(),
            |old| Carried::of(old, f, problem.eps()),
            || relaxation.solve_with(&problem, settings, observer),
        )?;
        if floor.is_some() {
            // A bound from below on g >= f says nothing about f.
            solution.lower = None;
            solution.certificate.iter_mut().for_each(|c| c.witness = None);
            let note =
                "zero table entries were raised to a small positive floor, which keeps the upper bound valid";
            solution.reason = Some(match solution.reason.take() {
                Some(reason) => format!("{reason}; {note}"),
                None => note.into(),
            });
        }
        Ok((self.recorder.solution(&solution), Some(solution)))
    }
}
