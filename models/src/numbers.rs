//! Numbers as ECMAScript prints them.
//!
//! The courses' programs print with `toFixed`, `toLocaleString("en-US")` and plain string conversion. Rust's own
//! formatting is not the same function: `{:.2}` rounds exact ties to even, `toFixed` away from zero.

/// `x.toFixed(decimals)`: the exact binary value, an exact tie rounded away from zero.
///
/// Not-a-number and infinities print as their ECMAScript names; 10^21 and above print as [`plain`] does. A negative
/// value keeps its sign even where only zeros remain, negative zero has none.
pub fn fixed(x: f64, decimals: u8) -> String {
    if x.is_nan() || x.abs() >= 1e21 {
        return plain(x);
    }
    // Not `ryu_js::Buffer::format_to_fixed`: in 1.0.3 it is wrong below 2^-54 with nine decimals or more.
    let exact = format!("{:.MOST_DECIMALS$}", x.abs());
    let (whole, fraction) = round_decimal(&exact, decimals.into());
    join(if x < 0.0 { "-" } else { "" }, &whole, &fraction)
}

/// No double has more decimals than the smallest one, 2^-1074.
const MOST_DECIMALS: usize = 1074;

/// `String(x)`: the shortest decimal that reads back as `x`.
pub fn plain(x: f64) -> String {
    ryu_js::Buffer::new().format(x).to_owned()
}

/// `x.toLocaleString("en-US")`: thousands grouped, at most three decimals, trailing zeros dropped.
///
/// Unlike [`fixed`], the rounding starts from the shortest decimal and not from the binary value, so that 1.0005
/// (a little below its name in binary) becomes 1.001.
pub fn grouped(x: f64) -> String {
    if x.is_nan() {
        return "NaN".to_owned();
    }
    let sign = if x.is_sign_negative() { "-" } else { "" };
    if x.is_infinite() {
        return format!("{sign}∞");
    }
    let (whole, fraction) = round_decimal(&shortest(x.abs()), GROUPED_DECIMALS);
    join(sign, &group_thousands(&whole), fraction.trim_end_matches('0'))
}

const GROUPED_DECIMALS: usize = 3;

/// [`plain`] without an exponent.
fn shortest(x: f64) -> String {
    let text = plain(x);
    // Where two shortest decimals are equally near, ECMAScript takes the even one and Rust the greater one. None are
    // as large, or concern the first decimals of numbers as small, as those that have an exponent.
    if text.contains('e') { format!("{x}") } else { text }
}

fn join(sign: &str, whole: &str, fraction: &str) -> String {
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}

/// Rounds a decimal text (`digits[.digits]`) half away from zero; whole part and decimals.
fn round_decimal(text: &str, decimals: usize) -> (String, String) {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let kept: String = fraction.chars().chain(std::iter::repeat('0')).take(decimals).collect();
    let up = fraction.as_bytes().get(decimals).is_some_and(|&digit| digit >= b'5');
    let digits = format!("{whole}{kept}");
    let digits = if up { increment(&digits) } else { digits };
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    (whole.to_owned(), fraction.to_owned())
}

/// Adds one to a number written in decimal digits.
fn increment(digits: &str) -> String {
    let nines = digits.len() - digits.trim_end_matches('9').len();
    let (head, _) = digits.split_at(digits.len() - nines);
    let head = match head.char_indices().next_back() {
        Some((at, last)) => format!("{}{}", &head[..at], char::from(last as u8 + 1)),
        None => "1".to_owned(),
    };
    format!("{head}{}", "0".repeat(nines))
}

fn group_thousands(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use quickcheck::{Gen, QuickCheck};

    // The expected texts of the three tables are the output of node 20.20.2, not of this module.

    #[test]
    fn fixed_prints_hard_cases_as_to_fixed_does() {
        let cases: &[(f64, u8, &str)] = &[
            // Exact ties go away from zero.
            (0.125, 2, "0.13"),
            (-0.125, 2, "-0.13"),
            (0.375, 2, "0.38"),
            (0.5, 0, "1"),
            (2.5, 0, "3"),
            (-2.5, 0, "-3"),
            (2_251_799_813_685_248.5, 0, "2251799813685249"),
            // No ties in binary: the double lies below or above the half that it is written as.
            (1.005, 2, "1.00"),
            (1.0005, 3, "1.000"),
            (1.45, 1, "1.4"),
            (8.345, 2, "8.35"),
            (2.675, 2, "2.67"),
            // A carry through all digits.
            (0.9999, 3, "1.000"),
            (99.995, 2, "100.00"),
            // Signs of what rounds to zero, and of zero.
            (-0.4, 0, "-0"),
            (-1e-7, 2, "-0.00"),
            (-0.0, 2, "0.00"),
            // More decimals than the value has, or than a double can name.
            (0.0, 0, "0"),
            (0.1, 20, "0.10000000000000000555"),
            (5e-324, 20, "0.00000000000000000000"),
            (3.1217829372940487e-18, 20, "0.00000000000000000312"),
            // Large values, digit by digit up to 10^21.
            (1e18 + 128.0, 1, "1000000000000000128.0"),
            (999_999_999_999_999_900_000.0, 2, "999999999999999868928.00"),
            (1e21, 2, "1e+21"),
            (-1e21, 0, "-1e+21"),
            (f64::NAN, 2, "NaN"),
            (-f64::INFINITY, 0, "-Infinity"),
        ];
        for &(x, decimals, expected) in cases {
            assert_eq!(fixed(x, decimals), expected, "{x:?} with {decimals}");
        }
    }

    #[test]
    fn plain_prints_hard_cases_as_string_conversion_does() {
        let cases: &[(f64, &str)] = &[
            (0.0, "0"),
            (-0.0, "0"),
            (100.0, "100"),
            (-2.5, "-2.5"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1.0 / 3.0, "0.3333333333333333"),
            (895_381_797_120_784.0 + 0.25, "895381797120784.2"),
            (9_007_199_254_740_991.0, "9007199254740991"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (1e21, "1e+21"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "Infinity"),
        ];
        for &(x, expected) in cases {
            assert_eq!(plain(x), expected, "{x:?}");
        }
    }

    #[test]
    fn grouped_prints_hard_cases_as_to_locale_string_does() {
        let cases: &[(f64, &str)] = &[
            (0.0, "0"),
            (999.0, "999"),
            (1000.0, "1,000"),
            (-1234.5, "-1,234.5"),
            (3_200_000.0, "3,200,000"),
            (1_234_567.891, "1,234,567.891"),
            (999_999.999_5, "1,000,000"),
            // Halves of the shortest decimal, although the double lies below them.
            (1.0005, "1.001"),
            (2.0005, "2.001"),
            (0.0005, "0.001"),
            (0.000_499_99, "0"),
            // Here a sign stays, even that of zero.
            (-0.0004, "-0"),
            (-0.0, "-0"),
            (1e-7, "0"),
            (895_381_797_120_784.0 + 0.25, "895,381,797,120,784.2"),
            (1.2345e22, "12,345,000,000,000,000,000,000"),
            (f64::NAN, "NaN"),
            (-f64::INFINITY, "-∞"),
        ];
        for &(x, expected) in cases {
            assert_eq!(grouped(x), expected, "{x:?}");
        }
    }

    const CASES: u64 = 10_000;

    /// The same cases in every run, and a failure if fewer than all of them count.
    fn laws() -> QuickCheck {
        QuickCheck::new().rng(Gen::from_size_and_seed(100, 1)).tests(CASES).min_tests_passed(CASES)
    }

    /// In whole numbers: the binary fraction n / 2^k against the printed digits as a count of 10^-decimals.
    #[test]
    fn fixed_is_within_half_a_unit_of_the_last_place() {
        fn law(n: i32, k: u8, decimals: u8) -> bool {
            let (k, decimals) = (k % 12, decimals % 9);
            let x = f64::from(n) / f64::from(1 << k);
            let units: i128 = fixed(x, decimals).replace('.', "").parse().unwrap();
            let (printed, exact) = (units << k, i128::from(n) * 10_i128.pow(decimals.into()));
            match (2 * (printed - exact).abs()).cmp(&(1 << k)) {
                std::cmp::Ordering::Less => true,
                std::cmp::Ordering::Equal => printed.abs() > exact.abs(),
                std::cmp::Ordering::Greater => false,
            }
        }
        laws().quickcheck(law as fn(i32, u8, u8) -> bool);
    }

    /// On eighths, which have no more decimals than grouping keeps.
    #[test]
    fn grouping_only_inserts_commas() {
        fn law(n: i64) -> bool {
            let x = (n >> 10) as f64 / 8.0;
            let text = grouped(x);
            let whole = text.split('.').next().unwrap().trim_start_matches('-');
            let mut groups = whole.split(',');
            groups.next().is_some_and(|first| (1..=3).contains(&first.len()))
                && groups.all(|group| group.len() == 3)
                && text.replace(',', "") == plain(x)
        }
        laws().quickcheck(law as fn(i64) -> bool);
    }

    #[test]
    fn plain_reads_back_as_the_same_double() {
        fn law(bits: u64) -> bool {
            let x = f64::from_bits(bits);
            let read: f64 = plain(x).parse().unwrap();
            // The sum makes negative zero, printed without its sign, a positive one.
            read.to_bits() == (x + 0.0).to_bits() || (read.is_nan() && x.is_nan())
        }
        laws().quickcheck(law as fn(u64) -> bool);
    }
}
