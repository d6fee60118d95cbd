//! Number words, and the numbers they carry.

/// The number that a word, in lower case, may carry. Whether it does only its sentence knows: `one` may be a pronoun.
///
/// Cardinals (`zero` to `twenty`, tens, `dozen`, `hundred`, `thousand`, `million`, each also in the plural, and tens
/// with a unit: `twenty-four`); ordinals, as positions and as denominators, by their number (`third` and `eighths` are
/// 3 and 8; `seconds` are a unit of time and no denominator); cardinals with `fold`; `half`, `once`, `twice` and their
/// like.
pub fn word_value(word: &str) -> Option<f64> {
    if let Some((ten, unit)) = word.split_once('-') {
        let ten = find(TENS, ten)?;
        let unit = cardinal(unit).or_else(|| ordinal(unit)).filter(|unit| *unit < 10.0)?;
        return Some(ten + unit);
    }
    cardinal(word)
        .or_else(|| ordinal(word))
        .or_else(|| find(MULTIPLES, word))
        .or_else(|| cardinal(word.strip_suffix("fold")?))
}

/// The word of the same kind that carries another number: `fifth` for 5 beside `third`.
pub fn word_like(word: &str, value: f64) -> Option<String> {
    let plural =
        |list| find(list, word).is_none() && word.strip_suffix('s').is_some_and(|word| find(list, word).is_some());
    let singular = word.strip_suffix('s').unwrap_or(word);
    for list in [CARDINALS, TENS, ORDINALS] {
        if find(list, word).is_some() || find(list, singular).is_some() {
            let kind = if list == TENS { CARDINALS } else { list };
            let name = name_of(kind, value).or_else(|| name_of(TENS, value).filter(|_| kind == CARDINALS))?;
            return Some(if plural(list) { format!("{name}s") } else { name.to_owned() });
        }
    }
    None
}

fn name_of(words: &[(&'static str, f64)], value: f64) -> Option<&'static str> {
    words.iter().find_map(|(name, known)| (known.total_cmp(&value).is_eq()).then_some(*name))
}

/// True for the tens, to which a hyphen ties a unit.
pub(super) fn is_ten(word: &str) -> bool {
    find(TENS, word).is_some()
}

/// No longer word is looked up.
pub(super) const LONGEST_WORD: usize = "seventeenthfolds".len();

fn cardinal(word: &str) -> Option<f64> {
    let exact = |word| find(CARDINALS, word).or_else(|| find(TENS, word));
    exact(word).or_else(|| exact(word.strip_suffix('s')?))
}

fn ordinal(word: &str) -> Option<f64> {
    find(ORDINALS, word).or_else(|| find(ORDINALS, word.strip_suffix('s')?).filter(|place| *place > 2.0))
}

fn find(words: &[(&str, f64)], word: &str) -> Option<f64> {
    words.iter().find_map(|(known, value)| (*known == word).then_some(*value))
}

const TENS: &[(&str, f64)] = &[
    ("twenty", 20.0),
    ("thirty", 30.0),
    ("forty", 40.0),
    ("fifty", 50.0),
    ("sixty", 60.0),
    ("seventy", 70.0),
    ("eighty", 80.0),
    ("ninety", 90.0),
];

const CARDINALS: &[(&str, f64)] = &[
    ("zero", 0.0),
    ("one", 1.0),
    ("two", 2.0),
    ("three", 3.0),
    ("four", 4.0),
    ("five", 5.0),
    ("six", 6.0),
    ("seven", 7.0),
    ("eight", 8.0),
    ("nine", 9.0),
    ("ten", 10.0),
    ("eleven", 11.0),
    ("twelve", 12.0),
    ("thirteen", 13.0),
    ("fourteen", 14.0),
    ("fifteen", 15.0),
    ("sixteen", 16.0),
    ("seventeen", 17.0),
    ("eighteen", 18.0),
    ("nineteen", 19.0),
    ("dozen", 12.0),
    ("hundred", 100.0),
    ("thousand", 1e3),
    ("million", 1e6),
];

const ORDINALS: &[(&str, f64)] = &[
    ("first", 1.0),
    ("second", 2.0),
    ("third", 3.0),
    ("fourth", 4.0),
    ("fifth", 5.0),
    ("sixth", 6.0),
    ("seventh", 7.0),
    ("eighth", 8.0),
    ("ninth", 9.0),
    ("tenth", 10.0),
    ("eleventh", 11.0),
    ("twelfth", 12.0),
    ("thirteenth", 13.0),
    ("fourteenth", 14.0),
    ("fifteenth", 15.0),
    ("sixteenth", 16.0),
    ("seventeenth", 17.0),
    ("eighteenth", 18.0),
    ("nineteenth", 19.0),
    ("twentieth", 20.0),
    ("thirtieth", 30.0),
    ("fortieth", 40.0),
    ("fiftieth", 50.0),
    ("sixtieth", 60.0),
    ("seventieth", 70.0),
    ("eightieth", 80.0),
    ("ninetieth", 90.0),
    ("hundredth", 100.0),
    ("thousandth", 1e3),
    ("millionth", 1e6),
];

const MULTIPLES: &[(&str, f64)] = &[
    ("quarter", 0.25),
    ("quarters", 0.25),
    ("half", 0.5),
    ("halves", 0.5),
    ("halved", 0.5),
    ("halving", 0.5),
    ("once", 1.0),
    ("twice", 2.0),
    ("thrice", 3.0),
    ("double", 2.0),
    ("doubles", 2.0),
    ("doubled", 2.0),
    ("doubling", 2.0),
    ("triple", 3.0),
    ("triples", 3.0),
    ("tripled", 3.0),
    ("tripling", 3.0),
    ("quadruple", 4.0),
    ("quadruples", 4.0),
    ("quadrupled", 4.0),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_carry_their_numbers() {
        for (word, value) in [
            ("zero", 0.0),
            ("seven", 7.0),
            ("eighths", 8.0),
            ("hundreds", 100.0),
            ("twenty-four", 24.0),
            ("forty-second", 42.0),
            ("fivefold", 5.0),
            ("half", 0.5),
            ("twice", 2.0),
        ] {
            assert_eq!(word_value(word), Some(value), "{word}");
        }
        for word in ["seconds", "firsts", "manifold", "twenty-ten", "twenty-", "-four", "s", ""] {
            assert_eq!(word_value(word), None, "{word}");
        }
    }

    #[test]
    fn a_word_of_the_same_kind_is_found() {
        for (word, value, expected) in [
            ("third", 5.0, Some("fifth")),
            ("two", 30.0, Some("thirty")),
            ("twenty", 7.0, Some("seven")),
            ("eighths", 9.0, Some("ninths")),
            ("two", 2.5, None),
            ("half", 2.0, None),
        ] {
            assert_eq!(word_like(word, value).as_deref(), expected, "{word}");
        }
    }

    #[test]
    fn every_word_is_short_enough_to_be_looked_up() {
        let words = [TENS, CARDINALS, ORDINALS, MULTIPLES].concat();
        assert!(words.iter().all(|(word, _)| word.len() + "fold".len() <= LONGEST_WORD));
    }
}
