//! Ways to write the same words in another shape.

use super::program::{Edit, Kind, Place, Program, Token, joined};
use super::words::{Word, is_called, is_parameter, telling};

/// The source without splices and with each `#pragma` as the operator, which macros can hide.
pub(super) fn operators(source: &str) -> String {
    pragmas(source, |words| {
        format!(
            "_Pragma(\"{}\")",
            words.replace('\\', "\\\\").replace('"', "\\\"")
        )
    })
    .unwrap_or_else(|| joined(source))
}

/// Replaces each `#pragma` by the result of `write` for its words.
fn pragmas(source: &str, write: impl Fn(&str) -> String) -> Option<String> {
    pragmas_at(source, 0, write)
}

/// The same for pragmas in as many braces or more.
fn pragmas_at(source: &str, depth: usize, write: impl Fn(&str) -> String) -> Option<String> {
    let source = joined(source);
    let program = Program::read(&source);
    let mut edits = Vec::new();
    for directive in program.directives.iter().filter(|d| d.name == "pragma") {
        let text = &source[directive.range.clone()];
        let words = text.split_once("pragma")?.1.trim();
        let mut behind = program.tokens.iter();
        let is_deep = behind
            .find(|token| token.range.start >= directive.range.end)
            .is_some_and(|token| token.depth >= depth);
        // Its comments would become words.
        if is_deep && !words.contains("//") && !words.contains("/*") {
            edits.push(Edit {
                range: directive.range.clone(),
                text: write(words),
            });
        }
    }
    program.rewritten("", edits)
}

/// A macro makes the pragma's string.
pub(super) fn pragma_by_string(source: &str) -> Option<String> {
    // In front of a function it would look like the function's type, which is read before macros
    // are.
    let made = pragmas_at(source, 1, |words| format!("HID_PRAGMA({words})"))?;
    Some(format!(
        "#define HID_PRAGMA(...) _Pragma(#__VA_ARGS__)\n{made}"
    ))
}

/// The string is a wide one.
pub(super) fn pragma_wide(source: &str) -> Option<String> {
    pragmas(source, |words| {
        format!(
            "_Pragma(L\"{}\")",
            words.replace('\\', "\\\\").replace('"', "\\\"")
        )
    })
}

/// The string's escapes are decoded, and its comments are not words.
pub(super) fn pragma_commented(source: &str) -> Option<String> {
    pragmas(source, |words| {
        let words = words.replace('\\', "\\\\").replace('"', "\\\"");
        format!("_Pragma(\"/* \\\" \\\\ */ {words} // \\\"\")")
    })
}

pub(super) fn pragma_spliced(source: &str) -> Option<String> {
    pragmas(source, |words| {
        let (front, back) = words.split_at_checked(1).unwrap_or((words, ""));
        format!("# \\\npra\\\ngma {front}\\ \n{back}")
    })
}

/// Replaces each occurrence of the telling words by the result of `write`.
fn reshaped(source: &str, write: impl Fn(&Word) -> Option<String>) -> Option<String> {
    let source = operators(source);
    let program = Program::read(&source);
    let words = telling(&program);
    let edits = words
        .iter()
        .take(4)
        .filter_map(|word| Some(word.replaced(&program, &write(word)?)));
    program.rewritten("", edits.flatten().collect())
}

pub(super) fn splice(source: &str) -> Option<String> {
    reshaped(source, |word| {
        let (front, back) = word.halves()?;
        Some(format!("{front}\\\n{back}"))
    })
}

/// Compilers ignore blanks between the backslash and the end of its line.
pub(super) fn splice_with_blanks(source: &str) -> Option<String> {
    reshaped(source, |word| {
        let (front, back) = word.halves()?;
        Some(format!("{front}\\ \t\n\\\n{back}"))
    })
}

pub(super) fn comments(source: &str) -> Option<String> {
    reshaped(source, |word| {
        Some(format!("/* \" // */{}/\\\n**/ /*'*/", word.text))
    })
}

/// Nested conditions around each word.
pub(super) fn conditions(source: &str) -> Option<String> {
    let source = operators(source);
    let program = Program::read(&source);
    let mut edits = Vec::new();
    for word in telling(&program).iter().take(4) {
        let branch = format!(
            "\n#if defined __GNUC__\n#ifdef __cplusplus\nconst\n#elif 1\n{}\n#else\nvolatile\n#endif\n#else\n#error \"no\"\n#endif\n",
            word.text
        );
        edits.extend(word.replaced(&program, &branch));
    }
    // Inside of a macro's definition there are no other directives.
    let defined = |edit: &Edit| {
        program
            .directives
            .iter()
            .any(|directive| directive.range.contains(&edit.range.start))
    };
    edits.retain(|edit| !defined(edit));
    program.rewritten("", edits)
}

pub(super) fn digraphs(source: &str) -> Option<String> {
    let source = joined(source);
    let program = Program::read(&source);
    let digraph = |token: &Token| {
        let text = match program.text(token) {
            "[" => "<:",
            "]" => ":>",
            "{" => "<%",
            "}" => "%>",
            "#" => "%:",
            "##" => "%:%:",
            _ => return None,
        };
        let range = token.range.clone();
        let text = text.to_owned();
        Some(Edit { range, text })
    };
    let marks = program
        .tokens
        .iter()
        .filter(|token| token.kind == Kind::Mark);
    program.rewritten("", marks.filter_map(digraph).collect())
}

/// Selects calls by type; elements of arrays where nothing is called.
pub(super) fn generic(source: &str) -> Option<String> {
    let source = joined(source);
    let program = Program::read(&source);
    let follows_value = |index: usize| {
        index > 0
            && (program.is(index - 1, "return")
                || ["=", "+", "-", "(", ";", "{", "}", "/", ")"]
                    .iter()
                    .any(|mark| program.is(index - 1, mark)))
    };
    let is_element = |index: usize| {
        let token = &program.tokens[index];
        token.place == Place::Program
            && token.depth > 0
            && program.is_word(index)
            && program.is(index + 1, "[")
    };
    let wrapped = |wanted: &dyn Fn(usize) -> bool| {
        let (mut edits, mut done) = (Vec::new(), 0);
        for index in 0..program.tokens.len() {
            if index < done || !wanted(index) || !follows_value(index) {
                continue;
            }
            let Some(end) = program.closing(index + 1) else {
                continue;
            };
            let range = program.tokens[index].range.start..program.tokens[end].range.end;
            let text = format!("_Generic(0, int: {})", &source[range.clone()]);
            edits.push(Edit { range, text });
            done = end;
        }
        edits
    };
    let is_call = |index: usize| {
        let text = program.text(&program.tokens[index]);
        is_called(&program, index) && text != "_Pragma" && !text.contains("asm")
    };
    let calls = wrapped(&is_call);
    let edits = if calls.is_empty() {
        wrapped(&is_element)
    } else {
        calls
    };
    program.rewritten("", edits)
}

/// Types through chains of other types; an attribute stands only at the beginning.
pub(super) fn typedef_chain(source: &str) -> Option<String> {
    let source = joined(source);
    let program = Program::read(&source);
    let mut edits = Vec::new();
    let long = |index: usize| {
        ["long", "_Complex", "complex"]
            .iter()
            .any(|word| program.is(index, word))
    };
    for (index, token) in program.tokens.iter().enumerate() {
        if token.place != Place::Program || token.kind != Kind::Word {
            continue;
        }
        let text = program.text(token);
        if text == "typedef" {
            edits.extend(chained(&program, index));
        } else if text == "double"
            && token.depth > 0
            && !long(index + 1)
            && !(index > 0 && long(index - 1))
        {
            edits.push(Edit {
                range: token.range.clone(),
                text: "hid_third".to_owned(),
            });
        }
    }
    let chain = "typedef double hid_first;\ntypedef hid_first hid_second;\ntypedef __typeof__((hid_second)0) hid_third;\n";
    program.rewritten(chain, edits)
}

/// A typedef with an attribute, and two more behind it.
fn chained(program: &Program<'_>, start: usize) -> Option<Edit> {
    let end = (start..program.tokens.len()).find(|&index| program.is(index, ";"))?;
    let tokens = &program.tokens[start..end];
    let attribute = tokens
        .iter()
        .position(|token| program.text(token).contains("attribute"))?;
    let name = tokens[..attribute]
        .iter()
        .rfind(|token| token.kind == Kind::Word)?;
    let whole = tokens.first()?.range.start..program.tokens[end].range.end;
    let (front, back) = (
        &program.source[whole.start..name.range.start],
        &program.source[name.range.end..whole.end],
    );
    let name = program.text(name);
    Some(Edit {
        text: format!(
            "{front}hid_{name}{back} typedef hid_{name} hid_link_{name}; typedef hid_link_{name} {name};"
        ),
        range: whole,
    })
}

/// Other spellings of keywords and of attributes' names.
pub(super) fn spelling(source: &str) -> Option<String> {
    let source = joined(source);
    let program = Program::read(&source);
    let mut edits = Vec::new();
    let (mut attribute_end, mut is_first) = (0, true);
    for (index, token) in program.tokens.iter().enumerate() {
        let text = program.text(token);
        if token.kind != Kind::Word || token.place == Place::Directive {
            continue;
        }
        if text.contains("attribute") {
            attribute_end = program.closing(index + 1).unwrap_or(0);
        }
        let names_attribute = index < attribute_end
            && index > 0
            && ["(", ","].iter().any(|mark| program.is(index - 1, mark))
            && ["(", ",", ")"]
                .iter()
                .any(|mark| program.is(index + 1, mark))
            && !text.starts_with('_')
            && !(token.place == Place::Definition && is_parameter(&program, text))
            && !(index > 1 && program.is(index - 2, "mode"));
        let other = match text {
            "asm" | "__asm__" => "__asm".to_owned(),
            "volatile" => "__volatile".to_owned(),
            "inline" => "__inline".to_owned(),
            "__attribute__" => "__attribute".to_owned(),
            "const" if token.depth > 0 => "__const__".to_owned(),
            "static" | "typedef" | "extern" | "void"
                if is_first && token.depth == 0 && token.place == Place::Program =>
            {
                is_first = false;
                format!("__extension__ {text}")
            }
            _ if names_attribute => format!("__{text}__"),
            _ => continue,
        };
        edits.push(Edit {
            range: token.range.clone(),
            text: other,
        });
    }
    program.rewritten("", edits)
}

/// Attributes in double brackets.
pub(super) fn brackets(source: &str) -> Option<String> {
    let source = joined(source);
    let program = Program::read(&source);
    let functions = program.functions();
    let mut edits = Vec::new();
    for (index, token) in program.tokens.iter().enumerate() {
        let of_parameter = functions
            .iter()
            .any(|(name, body)| (*name..*body).contains(&index));
        let is_attribute = program.text(token).contains("__attribute");
        // Behind an array's bounds double brackets belong to its type, and a compiler ignores them.
        let of_array = index > 0 && program.is(index - 1, "]");
        if !is_attribute || of_parameter || of_array || !program.is(index + 2, "(") {
            continue;
        }
        let (Some(outer), Some(inner)) = (program.closing(index + 1), program.closing(index + 2))
        else {
            continue;
        };
        let mut names = String::new();
        let mut parentheses = 0;
        for token in &program.tokens[index + 3..inner] {
            let text = program.text(token);
            if token.kind == Kind::Word && parentheses == 0 {
                names.push_str("gnu::");
            }
            parentheses += i32::from(text == "(") - i32::from(text == ")");
            names.push_str(text);
        }
        edits.push(Edit {
            range: token.range.start..program.tokens[outer].range.end,
            text: format!("[[{names}]]"),
        });
    }
    program.rewritten("", edits)
}

/// Strings in pieces, whose first character is a number.
pub(super) fn strings(source: &str) -> Option<String> {
    let source = joined(source);
    let program = Program::read(&source);
    let mut edits = Vec::new();
    for (index, token) in program.tokens.iter().enumerate() {
        let of_pragma = index >= 2 && program.is(index - 2, "_Pragma");
        if token.kind != Kind::Literal || token.place == Place::Directive || of_pragma {
            continue;
        }
        let content = program
            .text(token)
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        let Some(content) =
            content.filter(|text| text.len() > 2 && text.is_ascii() && !text.contains('\\'))
        else {
            continue;
        };
        let (front, back) = content[1..].split_at(content.len() / 2);
        edits.push(Edit {
            range: token.range.clone(),
            text: format!(
                "\"\\{:03o}{front}\" /* \" */ \"{back}\"",
                content.as_bytes()[0]
            ),
        });
    }
    program.rewritten("", edits)
}

/// The bodies of functions as a macro's arguments.
pub(super) fn bodies(source: &str) -> Option<String> {
    let source = operators(source);
    let program = Program::read(&source);
    let mut edits = Vec::new();
    for (_, open) in program.functions() {
        let Some(close) = program.closing(open) else {
            continue;
        };
        let body = program.tokens[open].range.end..program.tokens[close].range.start;
        let has_directive = program
            .directives
            .iter()
            .any(|directive| body.contains(&directive.range.start));
        if !has_directive {
            let text = format!("HID_BODY({}\n)", &source[body.clone()]);
            edits.push(Edit { range: body, text });
        }
    }
    program.rewritten("#define HID_BODY(...) __VA_ARGS__\n", edits)
}
