//! Which parameter of `Model` each parameter of `ModelNew` is: the same seed draws the same numbers
//! for both.

use super::message::{Facts, Parameter};

/// Where the numbers of a parameter come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Numbers {
    /// A parameter of `Model`, by its name there.
    Of(String),
    /// A constant of the answer's own, such as ones, by its pattern.
    Own(String),
}

/// Whether two names may mean one parameter.
type Alike = fn(&str, &str) -> bool;

/// The numbers of all parameters: by order where the two lists agree in types and shapes and no
/// name says otherwise, and else by name. Never some by name and some by order, which gives two
/// parameters the numbers of one.
pub(super) fn numbers(facts: &Facts, model: &[Parameter]) -> Result<Vec<Numbers>, String> {
    let pairs = || facts.parameters.iter().zip(model);
    let is_alike =
        facts.parameters.len() == model.len() && pairs().all(|(a, b)| a.1 == b.1 && a.2 == b.2);
    let of_name = |name: &str| facts.parameters.iter().find(|one| one.0 == name);
    let moved = || pairs().find(|(of, own)| of.0 != own.0 && of_name(&own.0).is_some());
    let moved = if is_alike { moved() } else { None };
    if is_alike && moved.is_none() {
        return Ok(pairs().map(|(of, _)| Numbers::Of(of.0.clone())).collect());
    }
    let names = if moved.is_some() {
        vec![None; model.len()]
    } else {
        without_rivals(facts, model)
    };
    let by_name = model
        .iter()
        .zip(names)
        .map(|((name, dtype, shape, pattern), only)| {
            let same = of_name(name).filter(|(_, of, sizes)| of == dtype && sizes == shape);
            let same = same.map(|one| &*one.0).or(only);
            match (same, pattern, moved) {
                (Some(name), ..) => Ok(Numbers::Of(name.to_owned())),
                (None, Some(pattern), _) => Ok(Numbers::Own(pattern.clone())),
                (None, None, Some((of, own))) => Err(format!(
                    "the parameter `{}` has a counterpart by name in Model, and `{}` by order; \
                     `{name}` has one by order alone, so name all of them as Model does or keep its \
                     order",
                    own.0, of.0
                )),
                (None, None, None) => Err(format!(
                    "the parameter `{name}` ({dtype}, {shape:?}) has no counterpart of this shape \
                     in Model; the numbers of all parameters come from there, by name or by order"
                )),
            }
        });
    by_name.collect()
}

/// Names in Model of parameters that have another name there, where only one can be meant: the
/// names differ in points alone, or no other parameter has the type and the shape on either side.
fn without_rivals<'a>(facts: &'a Facts, model: &[Parameter]) -> Vec<Option<&'a str>> {
    let mut found: Vec<Option<&str>> = vec![None; model.len()];
    let ways: [Alike; 3] = [
        |of, own| of == own,
        |of, own| of.replace('.', "_") == own.replace('.', "_"),
        |_, _| true,
    ];
    for is_same in ways {
        let before = found.clone();
        let is_free = |of: &str| !before.contains(&Some(of));
        for (at, own) in model.iter().enumerate() {
            let fits = |of: &(String, String, Vec<u64>), own: &Parameter| {
                of.1 == own.1 && of.2 == own.2 && is_same(&of.0, &own.0)
            };
            let of = facts.parameters.iter();
            let mut of = of.filter(|of| is_free(&of.0) && fits(of, own));
            let (Some(only), None, None) = (of.next(), of.next(), before[at]) else {
                continue;
            };
            let rivals = model.iter().zip(&before);
            let rivals = rivals.filter(|(rival, known)| known.is_none() && fits(only, rival));
            if rivals.count() == 1 {
                found[at] = Some(&only.0);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &str, shape: &[u64]) -> Parameter {
        (name.to_owned(), "float32".to_owned(), shape.to_vec(), None)
    }

    fn constant(name: &str, shape: &[u64]) -> Parameter {
        let mut made = parameter(name, shape);
        made.3 = Some("0000803f".to_owned());
        made
    }

    fn names(of: &[Parameter], model: &[Parameter]) -> Result<Vec<String>, String> {
        let parameters = of.iter().cloned();
        let facts = Facts {
            inputs: Vec::new(),
            parameters: parameters.map(|(a, b, c, _)| (a, b, c)).collect(),
            outputs: None,
            unknown: None,
        };
        let shown = |one| match one {
            Numbers::Of(name) => name,
            Numbers::Own(_) => "own".to_owned(),
        };
        Ok(numbers(&facts, model)?.into_iter().map(shown).collect())
    }

    #[test]
    fn parameters_are_those_of_the_problem_by_name_or_by_order() {
        let of = [parameter("fc.weight", &[8]), parameter("fc.bias", &[1])];
        let found = |model: &[Parameter]| names(&of, model);
        assert_eq!(found(&[parameter("fc.bias", &[1])]).unwrap(), ["fc.bias"]);
        let by_order = [parameter("w", &[8]), parameter("b", &[1])];
        assert_eq!(found(&by_order).unwrap(), ["fc.weight", "fc.bias"]);
        let constants = [constant("w", &[8]), constant("b", &[1])];
        assert_eq!(found(&constants).unwrap(), ["fc.weight", "fc.bias"]);
        assert_eq!(found(&[parameter("w", &[8])]).unwrap(), ["fc.weight"]);
        let other_order = [parameter("b", &[1]), parameter("w", &[8])];
        assert_eq!(found(&other_order).unwrap(), ["fc.bias", "fc.weight"]);
        assert!(found(&[parameter("fc.bias", &[2])]).is_err());
        assert_eq!(found(&[constant("scale", &[2])]).unwrap(), ["own"]);
        let renamed = [parameter("fc.weight", &[8]), constant("shift", &[1])];
        assert_eq!(found(&renamed).unwrap(), ["fc.weight", "fc.bias"]);
        let with_own = [parameter("fc.bias", &[1]), constant("scale", &[2])];
        assert_eq!(found(&with_own).unwrap(), ["fc.bias", "own"]);
    }

    #[test]
    fn another_name_counts_where_only_one_can_be_meant() {
        let of = ["bias", "norm.weight", "norm.bias"].map(|name| parameter(name, &[4]));
        let points = ["norm_bias", "norm_weight"].map(|name| parameter(name, &[4]));
        assert_eq!(names(&of, &points).unwrap(), ["norm.bias", "norm.weight"]);
        let rest = ["norm_bias", "bias", "scale"].map(|name| parameter(name, &[4]));
        assert!(names(&of[1..], &rest).is_err(), "more than Model has");
        assert!(
            names(&of, &[parameter("scale", &[4])]).is_err(),
            "three can be meant"
        );
        let two = ["scale", "shift"].map(|name| parameter(name, &[4]));
        assert!(names(&of[..1], &two).is_err(), "two can mean it");
    }

    #[test]
    fn names_and_order_are_not_mixed() {
        let of = [parameter("a", &[8]), parameter("b", &[8])];
        let swapped = [parameter("b", &[8]), parameter("a", &[8])];
        assert_eq!(names(&of, &swapped).unwrap(), ["b", "a"], "all by name");
        let partly = [parameter("a", &[8]), parameter("other", &[8])];
        assert_eq!(names(&of, &partly).unwrap(), ["a", "b"], "both agree");
        // By name the first would be `b`, and by order the second as well.
        let mixed = [parameter("b", &[8]), parameter("other", &[8])];
        let why = names(&of, &mixed).unwrap_err();
        assert!(
            why.contains("`b` has a counterpart by name in Model, and `a` by order"),
            "{why}"
        );
    }
}
