//! Arithmetic expressions as text: which variables they set.

/// Stands for what an expansion writes into an expression.
pub(crate) const EXPANSION: char = '\u{1}';

/// The variables that an expression sets; `None` for one that an expansion names.
///
/// It goes by the text in front of and behind each name; whose values matter is for `evaluated`. An
/// element of a name counts as if it were set: where its subscript ends is left open.
pub(crate) fn variables_set(expression: &str) -> Vec<Option<&str>> {
    let mut variables = Vec::new();
    for (start, name) in names(expression) {
        let (front, behind) = expression.split_at_checked(start).unwrap_or_default();
        let behind = behind.get(name.len()..).unwrap_or_default();
        let is_written = !name.contains(EXPANSION);
        if steps_in_front(front) || assigns(behind) || (is_written && behind.starts_with('[')) {
            variables.push(is_written.then_some(name));
        }
    }
    variables
}

/// The names in an expression, each with its place.
pub(crate) fn names(expression: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | EXPANSION);
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = expression.get(at..)?;
        let start = at + rest.find(is_name)?;
        let rest = expression.get(start..)?;
        let len = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        at = start + len;
        Some((start, rest.get(..len)?))
    })
}

/// Whether `++` or `--` stands in front.
fn steps_in_front(front: &str) -> bool {
    let front = front.trim_end_matches([' ', '\t', '\n']);
    front.ends_with("++") || front.ends_with("--")
}

/// Whether an operator follows that sets what stands in front of it.
fn assigns(behind: &str) -> bool {
    let mut operator = behind.trim_start_matches([' ', '\t', '\n']).bytes();
    match (operator.next(), operator.next(), operator.next()) {
        (Some(b'='), next, _) => next != Some(b'='),
        (Some(b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'^' | b'|'), Some(b'='), _)
        | (Some(b'+'), Some(b'+'), _)
        | (Some(b'-'), Some(b'-'), _)
        | (Some(b'<'), Some(b'<'), Some(b'='))
        | (Some(b'>'), Some(b'>'), Some(b'=')) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{EXPANSION, variables_set};

    #[test]
    fn a_variable_is_set_by_the_operator_beside_it() {
        let cases: &[(&str, &[&str])] = &[
            ("a = 1", &["a"]),
            ("a=b=c", &["a", "b"]),
            ("a == b, a != b, a <= b, a >= b, a < b", &[]),
            ("a += b << 2, c >>= d", &["a", "c"]),
            ("a++ + ++ b - --c", &["a", "b", "c"]),
            ("a + b - c * d && e || f ? g : h", &[]),
            ("a[i] == 2", &["a"]),
            ("16#ff = 3", &["ff"]),
        ];
        for (expression, expected) in cases {
            let found: Vec<&str> = variables_set(expression).into_iter().flatten().collect();
            assert_eq!(found, *expected, "{expression}");
        }
    }

    #[test]
    fn a_name_that_an_expansion_writes_is_not_known() {
        let is_unknown = |text: &str| {
            let text = text.replace('$', &EXPANSION.to_string());
            variables_set(&text).contains(&None)
        };
        for text in ["$ = 1", "a$ += 1", "++$", "$b--"] {
            assert!(is_unknown(text), "{text}");
        }
        for text in ["$ == 1", "$ + a$ >= $", "a = $", "$[1]"] {
            assert!(!is_unknown(text), "{text}");
        }
    }
}
