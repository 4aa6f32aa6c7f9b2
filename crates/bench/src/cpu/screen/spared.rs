//! Honest code may have a variable or a function called `optimize`, a word that the compiler takes from nobody (see
//! `compile::prelude`): it is judged under another name.
//!
//! This opens no door. What has passed the screen as it was written is given another name and passes the screen once
//! more; what is compiled is then a source that anybody could have handed in, with every guard in place. Where the
//! word is hidden as an attribute's or a pragma's name in spite of the screen, the compiler meets a name that
//! means nothing there. Where it is anything but a plain word of the program, nothing is renamed, and the compiler refuses it.

use hotloop_flow::language::c::lex::{self, Item};

/// The word, and what stands in its place.
const WORD: &str = "optimize";
const INSTEAD: &str = "optimize_as_renamed_by_hotloop";

/// The source under another name, if it uses the word as a plain name only and `entry` is another.
pub(crate) fn spared(source: &str, entry: &str) -> Option<String> {
    if !source.contains(WORD) || source.contains(INSTEAD) || entry == WORD {
        return None;
    }
    let mut renamed = String::with_capacity(source.len());
    let mut done = 0;
    for item in &lex::lex(source).items {
        match item {
            Item::Directive(directive)
                if directive.body.iter().any(|token| token.text.contains(WORD)) =>
            {
                return None;
            }
            Item::Token(token) if token.is_ident(WORD) => {
                // Spliced, it is written by somebody who hides it.
                let plain =
                    source.get(token.offset..token.end) == Some(WORD) && token.offset >= done;
                renamed.push_str(source.get(done..token.offset).filter(|_| plain)?);
                renamed.push_str(INSTEAD);
                done = token.end;
            }
            Item::Directive(_) | Item::Token(_) => {}
        }
    }
    renamed.push_str(source.get(done..)?);
    (done > 0).then_some(renamed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_name_gets_another() {
        let source = "// optimize\nstatic int optimize(int optimized) { return optimized; } /* optimize */\nint f(void) { return optimize(1), sizeof \"optimize\"; }\n";
        let expect = "// optimize\nstatic int optimize_as_renamed_by_hotloop(int optimized) { return optimized; } /* optimize */\nint f(void) { return optimize_as_renamed_by_hotloop(1), sizeof \"optimize\"; }\n";
        assert_eq!(spared(source, "f").as_deref(), Some(expect));
    }

    #[test]
    fn all_else_stays_as_it_is() {
        for source in [
            "int f(void) { return 0; } // optimize",
            "int optimized, __optimize__, optimize_;",
            "#define optimize(x) x\nint f = optimize(1);",
            "#define LEVEL \"GCC optimize(3)\"\n_Pragma(LEVEL) int optimize;",
            "_Pragma(\"GCC optimize(3)\") int optimize;",
            "#pragma GCC optimize(3)\nint optimize;",
            "#if optimize\n#endif\nint optimize;",
            "int opti\\\nmize;",
            "int optimize, optimize_as_renamed_by_hotloop;",
        ] {
            assert_eq!(spared(source, "f"), None, "{source}");
        }
        assert_eq!(
            spared("void optimize(void) { }", "optimize"),
            None,
            "the shim calls it by its name"
        );
    }
}
