//! Wiping a value from memory: for bodies that carry secrets (rule K-S5).

use zeroize::Zeroize;

use super::{Json, Number, Object};

impl Zeroize for Json {
    /// Overwrites every text, every name and every number in place, and leaves `null`.
    fn zeroize(&mut self) {
        match self {
            Self::Null => return,
            Self::Bool(truth) => truth.zeroize(),
            Self::Number(number) => number.zeroize(),
            Self::String(text) => text.zeroize(),
            Self::Array(items) => items.iter_mut().for_each(Zeroize::zeroize),
            Self::Object(members) => members.zeroize(),
        }
        *self = Self::Null;
    }
}

impl Zeroize for Object {
    /// Overwrites every name and every value, and leaves no member.
    fn zeroize(&mut self) {
        for (mut name, mut value) in std::mem::take(self) {
            name.zeroize();
            value.zeroize();
        }
    }
}

impl Zeroize for Number {
    fn zeroize(&mut self) {
        self.wipe();
    }
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroize as _;

    use super::super::{Json, Object, read_str};

    #[test]
    fn nothing_is_left_of_a_value() {
        let mut value = read_str(r#"{"pin":4711,"words":["hunter2",{"deep":"hunter2"}],"flag":true}"#).unwrap();
        value.zeroize();
        assert_eq!(value, Json::Null);
        let mut members: Object = [("pin".to_owned(), Json::from("hunter2"))].into_iter().collect();
        members.zeroize();
        assert!(members.is_empty());
    }
}
