//! What must hold for every parameter in its declared range, not only for the published ones.
//!
//! A lesson states its invariants beside its mechanism; what each one says stands in the lesson's spec.

use approx::relative_eq;
use std::fmt::{Debug, Display};

/// Something that a lesson argues from.
pub struct Invariant<L> {
    /// Names its statement in the spec.
    pub id: &'static str,
    /// Runs the mechanism as often as it needs to, and says whether the statement is true at these parameters.
    pub check: fn(&L) -> Held,
}

/// What became of an invariant at some parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// It is true.
    Holds,
    /// It says nothing about these parameters: what it presupposes is not there.
    Vacuous,
    /// It is not true; with the values that show it.
    Broken(String),
}

impl Held {
    /// True or not; the message names the values.
    pub fn that(holds: bool, otherwise: impl FnOnce() -> String) -> Self {
        if holds { Self::Holds } else { Self::Broken(otherwise()) }
    }

    /// Both sides are the same.
    pub fn equal<T: PartialEq + Debug>(what: impl Display, found: T, expected: T) -> Self {
        Self::that(found == expected, || format!("{what}: found {found:?}, expected {expected:?}"))
    }

    /// Both sides are the same but for rounding: the caller says why they are computed in different orders.
    ///
    /// A sum of a million doubles keeps far more than nine digits; an effect that is left out moves far more than that.
    pub fn close(what: impl Display, found: f64, expected: f64) -> Self {
        let close = relative_eq!(found, expected, max_relative = 1e-9, epsilon = 1e-9);
        Self::that(close, || format!("{what}: found {found:?}, expected about {expected:?}"))
    }

    /// The first is not above the second.
    pub fn at_most<T: PartialOrd + Debug>(what: impl Display, found: T, bound: T) -> Self {
        Self::that(found <= bound, || format!("{what}: found {found:?}, expected at most {bound:?}"))
    }

    /// Checked only where what it presupposes is there.
    pub fn provided(precondition: bool, check: impl FnOnce() -> Self) -> Self {
        if precondition { check() } else { Self::Vacuous }
    }

    /// Broken if any is, vacuous if all are. Nothing behind the first broken one is computed.
    pub fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::Vacuous;
        for part in parts {
            match part {
                Self::Broken(_) => return part,
                Self::Holds => all = Self::Holds,
                Self::Vacuous => {}
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_close_and_a_lost_millionth_is_not() {
        assert_eq!(Held::close("sum", 0.1 + 0.2, 0.3), Held::Holds);
        assert_eq!(Held::close("sum", 3e9 + 1e-3, 3e9), Held::Holds);
        assert!(matches!(Held::close("sum", 1.0, 1.000_001), Held::Broken(_)));
        assert!(matches!(Held::close("sum", f64::NAN, f64::NAN), Held::Broken(_)));
    }

    #[test]
    fn several_parts_are_as_good_as_their_worst_and_nothing_is_vacuous() {
        let broken = || Held::Broken("x".to_owned());
        assert_eq!(Held::all([]), Held::Vacuous);
        assert_eq!(Held::all([Held::Vacuous, Held::Vacuous]), Held::Vacuous);
        assert_eq!(Held::all([Held::Vacuous, Held::Holds]), Held::Holds);
        assert_eq!(Held::all([Held::Holds, broken(), Held::Vacuous]), broken());
    }
}
