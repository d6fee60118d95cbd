//! JSON texts as `JSON.stringify` writes them, for the lessons that count the bytes of a body.

use crate::numbers;
use serde_json::Value;

/// `JSON.stringify(value)`. Differs from `serde_json` in its numbers: 2.0 is `2`, 1e21 is `1e+21`.
pub fn stringify(value: &Value) -> String {
    match value {
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), numbers::plain),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(stringify).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| format!("{}:{}", quoted(name), stringify(value));
            let members: Vec<String> = members.iter().map(member).collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.to_string(),
    }
}

/// How many bytes the text of a value takes in UTF-8.
pub fn bytes(value: &Value) -> usize {
    stringify(value).len()
}

fn quoted(name: &str) -> String {
    Value::from(name).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Expected texts are the output of node 20.20.2.
    #[test]
    fn values_are_written_as_json_stringify_writes_them() {
        let value = json!({
            "b": 2.0, "a": [2.4, -0.0, 1e21, 1e-7, 100], "text": "ş \"\\ \n\u{1}\u{7f}/", "none": null, "yes": true, "": {}, "l": [],
        });
        let expected = concat!(
            r#"{"b":2,"a":[2.4,0,1e+21,1e-7,100],"text":"ş \"\\ \n\u0001"#,
            "\u{7f}",
            r#"/","none":null,"yes":true,"":{},"l":[]}"#
        );
        assert_eq!(stringify(&value), expected);
        assert_eq!(bytes(&value), expected.len());
    }
}
