//! A text taken apart into what stands for itself and the variables in it.

/// A piece of a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Piece<'text> {
    /// Stands for itself.
    Text(&'text str),
    /// The name between `${` and `}`.
    Variable(&'text str),
}

/// Takes a text apart. `$${` stands for a `${` that begins no variable.
///
/// # Errors
///
/// A `${` is never closed.
pub fn pieces(text: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        if let Some(literal) = before.strip_suffix('$') {
            found.extend([Piece::Text(literal), Piece::Text("${")]);
            rest = after;
            continue;
        }
        if !before.is_empty() {
            found.push(Piece::Text(before));
        }
        let Some((name, behind)) = after.split_once('}') else {
            return Err(format!("`${{{after}` is never closed by a `}}`"));
        };
        found.push(Piece::Variable(name));
        rest = behind;
    }
    if !rest.is_empty() {
        found.push(Piece::Text(rest));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_taken_apart() {
        use Piece::{Text, Variable};
        assert_eq!(pieces("a ${b}${c}d").unwrap(), [Text("a "), Variable("b"), Variable("c"), Text("d")]);
        assert_eq!(pieces("${a}").unwrap(), [Variable("a")]);
        assert_eq!(pieces("$${a} $5").unwrap(), [Text(""), Text("${"), Text("a} $5")]);
        assert_eq!(pieces("").unwrap(), []);
        pieces("a ${b").unwrap_err();
    }
}
