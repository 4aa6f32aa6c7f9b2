//! Numbers of things, for people.

/// `1 file`, `2 files`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("{number} {noun}")
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
    }
}
