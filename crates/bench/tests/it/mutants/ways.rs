//! All ways in which a program is hidden.

use super::{macros, shapes, statements};

/// A way to hide what a program does. `None` if the program has nothing that it could hide.
pub(super) struct Way {
    pub(super) name: &'static str,
    pub(super) hide: fn(&str) -> Option<String>,
}

const fn way(name: &'static str, hide: fn(&str) -> Option<String>) -> Way {
    Way { name, hide }
}

pub(super) const WAYS: [Way; 45] = [
    way("object macro", macros::object),
    way("function macro", macros::function),
    way("chain of macros", macros::late),
    way("paste", macros::paste),
    way("paste by __CONCAT", macros::paste_by_header),
    way("paste by INT64_C", macros::int64_c),
    way("paste by UINT64_C", macros::uint64_c),
    way("paste by INTMAX_C", macros::intmax_c),
    way("paste by UINT32_C", macros::uint32_c),
    way("redefined _Bool", macros::bool_keyword),
    way("redefined _Complex", macros::complex_keyword),
    way("redefined _Noreturn", macros::noreturn_keyword),
    way("redefined builtins", macros::builtin),
    way("redefined limits", macros::constant),
    way("X-macro", macros::x_macro),
    way("__VA_OPT__", macros::va_opt),
    way("named rest", macros::named_rest),
    way("include level", macros::include_level),
    way("push_macro", macros::push_macro),
    way("push_macro operator", macros::push_macro_operator),
    way("redefined macro", macros::redefined),
    way("conditional macro", macros::conditional),
    way("dollar names", macros::dollar),
    way("names beyond ASCII", macros::beyond_ascii),
    way("odd directive", macros::odd_directive),
    way("between quotes", macros::between_quotes),
    way("every word", macros::every_word),
    way("statement in INT64_MAX", statements::int64_max),
    way("statement in UINTMAX_MAX", statements::uint64_max),
    way("statement in errno", statements::errno),
    way("pragma by string", shapes::pragma_by_string),
    way("wide pragma", shapes::pragma_wide),
    way("commented pragma", shapes::pragma_commented),
    way("spliced pragma", shapes::pragma_spliced),
    way("splice", shapes::splice),
    way("splice with blanks", shapes::splice_with_blanks),
    way("comments", shapes::comments),
    way("conditions", shapes::conditions),
    way("digraphs", shapes::digraphs),
    way("_Generic", shapes::generic),
    way("typedef chain", shapes::typedef_chain),
    way("spelling", shapes::spelling),
    way("double brackets", shapes::brackets),
    way("strings", shapes::strings),
    way("bodies", shapes::bodies),
];
