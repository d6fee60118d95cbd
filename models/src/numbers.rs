//! Numbers as ECMAScript prints them.
//!
//! The courses' programs print with `toFixed`, `toLocaleString("en-US")` and plain string conversion. Rust's own
//! formatting is not the same function: `{:.2}` rounds exact ties to even, `toFixed` away from zero.

/// `x.toFixed(decimals)`: the exact binary value, an exact tie rounded away from zero.
///
/// Not-a-number and infinities print as their ECMAScript names; 10^21 and above print as [`plain`] does.
pub fn fixed(x: f64, decimals: u8) -> String {
    ryu_js::Buffer::new().format_to_fixed(x, decimals).to_owned()
}

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
    let (whole, decimals) = round_decimal(&format!("{}", x.abs()), GROUPED_DECIMALS);
    let decimals = decimals.trim_end_matches('0');
    let point = if decimals.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{decimals}", group_thousands(&whole))
}

const GROUPED_DECIMALS: usize = 3;

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
