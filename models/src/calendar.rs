//! How the courses turn rates into days and years.

/// Seconds a day.
pub const SECONDS_A_DAY: f64 = 86_400.0;

/// Days a year; leap years do not occur.
pub const DAYS_A_YEAR: f64 = 365.0;
