//! Numbers of things, for people.

/// `1 file`, `2 files`, `2 launches`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("{number} {noun}")
    } else if noun.ends_with("ch") || noun.ends_with('s') {
        format!("{number} {noun}es")
    } else {
        format!("{number} {noun}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        let told = [0, 1, 2].map(|number| count(number, "step"));
        assert_eq!(told, ["0 steps", "1 step", "2 steps"]);
        assert_eq!(count(2, "launch"), "2 launches");
    }
}
