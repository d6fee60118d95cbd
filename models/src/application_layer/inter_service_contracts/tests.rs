use super::*;
use serde_json::json;

fn field(name: &str, kind: &str) -> Field {
    Field { name: name.to_owned(), kind: kind.to_owned(), example: json!(1) }
}

/// Side by side needs two names: expanding first is no help here, and the lesson's program does not see it.
#[test]
fn another_type_under_the_same_name_breaks_its_readers_in_every_release() {
    let parameters = Parameters {
        fields: vec![field("weight", "integer"), field("state", "string")],
        changes: vec![Change { of: "weight".to_owned(), to: field("weight", "number") }],
        additions: Vec::new(),
        consumers: ["weight", "state"]
            .map(|read| Consumer { name: read.to_owned(), reads: vec![read.to_owned()] })
            .to_vec(),
        most_read: 0,
        peak_read: 1.0,
        read_egress_mbit: 1.0,
    };
    let transition = parameters.v1().with(&parameters.v2());
    assert_eq!(broken(&parameters.readers(), &parameters.v2()), ["weight"]);
    assert_eq!(broken(&parameters.readers(), &transition), ["weight"]);
    assert!(broken(&parameters.migrated(), &transition).is_empty());
}
