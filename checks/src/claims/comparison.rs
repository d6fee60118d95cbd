//! Finds the comparisons of an expression: to refuse chains, and to show both sides.

/// An expression that compares two others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comparison<'a> {
    /// What stands left of the operator.
    pub left: &'a str,
    /// `<`, `<=`, `>`, `>=`, `==` or `!=`.
    pub operator: &'a str,
    /// What stands right of it.
    pub right: &'a str,
}

/// The comparison that an expression is, if it is one: not several joined by words, nor one inside brackets.
///
/// # Errors
/// A chain: `1 < 2 < 3` would compare a truth value with 3.
pub fn find(expression: &str) -> Result<Option<Comparison<'_>>, String> {
    let mut scan = Scan { expression, open: vec![Level::default()], whole: None, several: false };
    let mut rest = 0;
    while let Some(c) = expression.get(rest..).and_then(|text| text.chars().next()) {
        rest = scan.take(rest, c)?;
    }
    Ok(scan.whole.filter(|_| !scan.several))
}

struct Scan<'a> {
    expression: &'a str,
    /// The brackets that are open, outermost first.
    open: Vec<Level>,
    whole: Option<Comparison<'a>>,
    several: bool,
}

#[derive(Default)]
struct Level {
    compared: bool,
}

impl<'a> Scan<'a> {
    /// Takes what begins with the character at a place; returns where it goes on.
    fn take(&mut self, at: usize, c: char) -> Result<usize, String> {
        let text = self.expression.get(at..).unwrap_or_default();
        match c {
            '"' | '\'' => {
                Ok(text.get(1..).and_then(|inside| inside.find(c)).map_or(self.expression.len(), |end| at + end + 2))
            }
            '(' | '[' | '{' => {
                self.open.push(Level::default());
                Ok(at + 1)
            }
            ')' | ']' | '}' => {
                if self.open.len() > 1 {
                    self.open.pop();
                }
                Ok(at + 1)
            }
            ',' => Ok(self.separate(at + 1)),
            c if c.is_alphanumeric() || c == '_' => {
                let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
                match text.get(..end) {
                    Some("and" | "or" | "not" | "if" | "else") => Ok(self.separate(at + end)),
                    _ => Ok(at + end),
                }
            }
            _ => match ["<=", ">=", "==", "!=", "<", ">"].into_iter().find(|operator| text.starts_with(operator)) {
                Some(operator) => self.compare(at, operator.len()),
                None => Ok(at + c.len_utf8()),
            },
        }
    }

    /// A comma or a word between expressions: another comparison may follow.
    fn separate(&mut self, next: usize) -> usize {
        self.several |= self.open.len() == 1;
        if let Some(level) = self.open.last_mut() {
            level.compared = false;
        }
        next
    }

    fn compare(&mut self, at: usize, length: usize) -> Result<usize, String> {
        let outermost = self.open.len() == 1;
        match self.open.last_mut() {
            Some(level) if level.compared => return Err("a chained comparison: write `a < b and b < c`".to_owned()),
            Some(level) => level.compared = true,
            None => {}
        }
        if outermost {
            let (left, operator, right) = (..at, at..at + length, at + length..);
            let text = self.expression;
            self.whole = text
                .get(left)
                .zip(text.get(operator))
                .zip(text.get(right))
                .map(|((left, operator), right)| Comparison { left: left.trim(), operator, right: right.trim() });
        }
        Ok(at + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(expression: &str) -> String {
        match find(expression) {
            Ok(Some(Comparison { left, operator, right })) => format!("{left} | {operator} | {right}"),
            Ok(None) => "none".to_owned(),
            Err(_) => "chained".to_owned(),
        }
    }

    #[test]
    fn comparisons_are_found_and_chains_refused() {
        for (expression, expected) in [
            ("a < b", "a | < | b"),
            ("rerun(slots=48).x<=y + 1", "rerun(slots=48).x | <= | y + 1"),
            ("values(runs, \"<\")|max == 0", "values(runs, \"<\")|max | == | 0"),
            ("(a - b)|abs != 0", "(a - b)|abs | != | 0"),
            ("a < b and c < d", "none"),
            ("not a < b", "none"),
            ("rises([a < b, c])", "none"),
            ("rises(x)", "none"),
            ("f(a=1, b=2) > 0", "f(a=1, b=2) | > | 0"),
            ("a < b < c", "chained"),
            ("x and (a < b == c)", "chained"),
            ("a < 'b < c'", "a | < | 'b < c'"),
            ("\"open < ", "none"),
        ] {
            assert_eq!(shown(expression), expected, "{expression}");
        }
    }
}
