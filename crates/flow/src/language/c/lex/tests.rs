use super::*;

fn words(source: &str) -> Vec<(TokenKind, String)> {
    lex(source)
        .items
        .into_iter()
        .map(|item| match item {
            Item::Token(token) => (token.kind, token.text.into_owned()),
            Item::Directive(directive) => (TokenKind::Other, format!("#{}", directive.name)),
        })
        .collect()
}

fn texts(source: &str) -> String {
    words(source)
        .into_iter()
        .map(|(_, text)| text)
        .collect::<Vec<_>>()
        .join("|")
}

fn directives(source: &str) -> Vec<Directive<'static>> {
    let directive = |item| match item {
        Item::Directive(directive) => Some(Directive::into_owned(directive)),
        Item::Token(_) => None,
    };
    lex(source)
        .items
        .into_iter()
        .filter_map(directive)
        .collect()
}

#[test]
fn tokens_have_their_kinds() {
    use TokenKind::{Char, Ident, Number, Other, Punct, Str};
    let found = words("x1 1.5e-3f \"a\\\"b\" '\\'' += @ .5 u8\"z\" L'q'");
    let kinds: Vec<TokenKind> = found.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(
        kinds,
        [Ident, Number, Str, Char, Punct, Other, Number, Str, Char]
    );
    assert_eq!(found[1].1, "1.5e-3f");
    assert_eq!(found[2].1, "a\"b");
    assert_eq!(found[7].1, "z");
}

#[test]
fn comments_are_blank() {
    assert_eq!(texts("a/* b */c // d\ne /* f"), "a|c|e");
    assert_eq!(texts("\"/* no comment */\" '//'"), "/* no comment */|//");
}

#[test]
fn splices_join_words_and_comments() {
    assert_eq!(texts("_mm\\\n512_add"), "_mm512_add");
    assert_eq!(texts("// a \\\nb\nc"), "c");
    assert_eq!(texts("ab\\ \t\r\ncd"), "abcd");
    assert_eq!(texts("#pra\\\ngma omp\nx"), "#pragma|x");
}

#[test]
fn splices_keep_places_true() {
    let source = "ab\\\ncd ef\ngh";
    let lexed = lex(source);
    let places: Vec<(usize, usize, u32)> = lexed
        .items
        .iter()
        .map(|item| match item {
            Item::Token(token) => (token.offset, token.end, token.line),
            Item::Directive(_) => unreachable!("there is none"),
        })
        .collect();
    assert_eq!(places, [(0, 6, 1), (7, 9, 2), (10, 12, 3)]);
}

#[test]
fn digraphs_are_what_they_mean_and_trigraphs_nothing() {
    assert_eq!(texts("<: :> <% %> x %:%: y"), "[|]|{|}|x|##|y");
    assert_eq!(directives("%: pragma omp parallel")[0].name, "pragma");
    assert_eq!(texts("// ??/\nx"), "x");
}

#[test]
fn directives_stand_at_line_starts_only() {
    assert_eq!(
        texts("/* c */ # /* d */ define X 1\nx # y"),
        "#define|x|#|y"
    );
    assert_eq!(texts("a /* \n */ # b"), "a|#|b");
    assert_eq!(directives("#define X /* \n */ 1\ny")[0].body.len(), 2);
}

#[test]
fn includes_name_their_header() {
    let found = directives("#include <omp.h>\n# include \"a b.h\"\n#include X\n#include <open");
    let headers: Vec<Option<&str>> = found
        .iter()
        .map(|directive| directive.header.as_deref())
        .collect();
    assert_eq!(headers, [Some("omp.h"), Some("a b.h"), None, Some("open")]);
}

#[test]
fn the_pragma_operator_is_a_pragma() {
    let found = directives(
        "_Pragma(\"omp parallel\") _Pragma(\"x(\\\"y\\\")\") _Pragma(X) _Pragma(\"om\" \"p simd\")",
    );
    let bodies: Vec<String> = found
        .iter()
        .map(|d| {
            d.body
                .iter()
                .map(|t| t.text.as_ref())
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    assert_eq!(bodies, ["omp parallel", "x ( y )", "omp simd"]);
}

#[test]
fn escapes_that_the_pragma_operator_does_not_undo_are_left_to_the_compiler() {
    // A compiler reads a comment, a pragma and a comment. With all escapes decoded it would be a
    // comment and a string.
    let hidden = r#"_Pragma("/*\x2a\x2f\x22*/ omp simd //\x22")"#;
    assert_eq!(directives(hidden), []);
    assert_eq!(texts(hidden).split('|').next(), Some("_Pragma"));
}

#[test]
fn another_compilers_pragma_operator_is_a_name() {
    assert_eq!(directives("__pragma(omp for)"), []);
    assert_eq!(texts("__pragma(omp for)"), "__pragma|(|omp|for|)");
}

#[test]
fn escapes_are_decoded() {
    assert_eq!(
        texts(r#""\x78mm0" "\160refetch" "a\nb" "\u00e9" "\xffffffffff""#),
        "xmm0|prefetch|a\nb|é|\u{fffd}"
    );
}

#[test]
fn open_literals_end_with_their_line() {
    assert_eq!(texts("don't\nx"), "don|t|x");
    assert_eq!(texts("\"abc\nx \"é\\é"), "abc|x|éé");
}

#[test]
fn cuda_has_raw_strings_and_separated_digits() {
    let texts = |source| {
        let Lexed { items, raw_string } = lex_in(source, Dialect::Cuda);
        let words = items.into_iter().map(|item| match item {
            Item::Token(token) => format!("{}:{}", token.line, token.text),
            Item::Directive(directive) => format!("#{}", directive.name),
        });
        (words.collect::<Vec<_>>().join("|"), raw_string)
    };
    assert_eq!(
        texts("1'000'000; 0x1'f; 'a'"),
        ("1:1'000'000|1:;|1:0x1'f|1:;|1:a".into(), None)
    );
    assert_eq!(
        texts("asm(R\"x(a\n)\" \\\")x\");\nf"),
        ("1:asm|1:(|1:a\n)\" \\\"|2:)|2:;|3:f".into(), None)
    );
    assert_eq!(
        texts("v<::n> a<:0:>").0,
        "1:v|1:<|1:::|1:n|1:>|1:a|1:[|1:0|1:]"
    );
    for doubtful in [
        "R\"(a",
        "R\"a b()a b\"",
        "\\\nR\"(a)\"",
        "R\"12345678901234567()",
    ] {
        assert!(texts(doubtful).1.is_some(), "{doubtful}");
    }
}

#[test]
fn raw_strings_are_reported() {
    assert_eq!(lex("x\nR\\\n\"(a)\"").raw_string, Some(2));
    assert_eq!(lex("R \"a\" BAR\"b\"").raw_string, None);
}

#[test]
fn a_megabyte_of_anything_is_read_quickly() {
    for unit in [
        "__pragma(",
        "_Pragma(\"",
        "/*",
        "\\\n",
        "\\ ",
        "\"",
        "#if 0\n",
        "#define ",
        "é'",
        "(((",
    ] {
        lex(&unit.repeat(1_000_000 / unit.len()));
    }
}
