//! A source as tokens with their brackets matched: any input, no panic, linear time.

use crate::language::c::lex::{self, Dialect, Directive, Item, Token, TokenKind};

/// A source as tokens.
pub(super) struct Code<'a> {
    pub(super) source: &'a str,
    /// Those that may reach a compiler, without directives.
    pub(super) tokens: Vec<Token<'a>>,
    /// All directives, also those in dead branches.
    pub(super) directives: Vec<Directive<'a>>,
    /// The other bracket of each bracket.
    partners: Vec<Option<usize>>,
    /// The other angle of each that may hold template arguments.
    angles: Vec<Option<usize>>,
}

impl<'a> Code<'a> {
    /// `Err` with a line where the text cannot be trusted.
    pub(super) fn read(source: &'a str) -> Result<Self, u32> {
        let lexed = lex::lex_in(source, Dialect::Cuda);
        if let Some(line) = lexed.raw_string.or_else(|| lex::universal_name(&lexed)) {
            return Err(line);
        }
        let mut tokens = Vec::new();
        let mut matcher = Matcher::default();
        for item in lex::live_in(&lexed, Dialect::Cuda) {
            match item {
                Item::Token(token) => {
                    matcher.meet(tokens.len(), token);
                    tokens.push(token.clone());
                }
                Item::Directive(directive) => matcher.pass(&directive.name),
            }
        }
        let directives = lexed.items.into_iter().filter_map(|item| match item {
            Item::Directive(directive) => Some(directive),
            Item::Token(_) => None,
        });
        Ok(Self {
            source,
            directives: directives.collect(),
            partners: matcher.partners(tokens.len()),
            angles: angles(&tokens),
            tokens,
        })
    }

    /// The body of a directive as a source of its own.
    pub(super) fn of_body(source: &'a str, body: &[Token<'a>]) -> Self {
        let mut matcher = Matcher::default();
        for (at, token) in body.iter().enumerate() {
            matcher.meet(at, token);
        }
        Self {
            source,
            tokens: body.to_vec(),
            directives: Vec::new(),
            partners: matcher.partners(body.len()),
            angles: angles(body),
        }
    }

    /// The directives that begin between two bytes.
    pub(super) fn directives_between(
        &self,
        start: usize,
        end: usize,
    ) -> impl Iterator<Item = &Directive<'a>> {
        let from = self
            .directives
            .partition_point(|directive| directive.offset < start);
        let rest = &self.directives[from..];
        rest.iter()
            .take_while(move |directive| directive.offset < end)
    }

    pub(super) fn partner(&self, at: usize) -> Option<usize> {
        self.partners.get(at).copied().flatten()
    }

    pub(super) fn is_punct(&self, at: usize, text: &str) -> bool {
        self.tokens
            .get(at)
            .is_some_and(|token| token.is_punct(text))
    }

    pub(super) fn is_ident(&self, at: usize, text: &str) -> bool {
        self.tokens
            .get(at)
            .is_some_and(|token| token.is_ident(text))
    }

    /// The text of a name; nothing of any other token.
    pub(super) fn ident(&self, at: usize) -> Option<&str> {
        let token = self.tokens.get(at)?;
        (token.kind == TokenKind::Ident).then_some(token.text.as_ref())
    }

    pub(super) fn line(&self, at: usize) -> u32 {
        self.tokens.get(at).map_or(1, |token| token.line)
    }

    /// Where the template arguments end that `<` at `open` begins.
    pub(super) fn angle_close(&self, open: usize) -> Option<usize> {
        self.angles.get(open).copied().flatten()
    }

    /// Where the template arguments begin that `>` at `close` ends.
    pub(super) fn angle_open(&self, close: usize) -> Option<usize> {
        self.angles.get(close).copied().flatten()
    }

    pub(super) fn punct(&self, at: usize) -> &str {
        match self.tokens.get(at) {
            Some(token) if token.kind == TokenKind::Punct => token.text.as_ref(),
            _ => "",
        }
    }
}

/// Matches angles as if all of them held template arguments: those of comparisons find no partner,
/// or one that nobody asks for.
fn angles(tokens: &[Token<'_>]) -> Vec<Option<usize>> {
    let mut angles = vec![None; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != TokenKind::Punct {
            continue;
        }
        let is_angle = |open: &usize| tokens[*open].text == "<";
        match token.text.as_ref() {
            "<" | "(" | "[" | "{" => open.push(at),
            ">" | ">>" => {
                for _ in 0..token.text.len() {
                    if let Some(partner) = open.pop_if(|open| is_angle(open)) {
                        angles[partner] = Some(at);
                        angles[at] = Some(partner);
                    }
                }
            }
            ")" | "]" | "}" => {
                while open.pop_if(|open| is_angle(open)).is_some() {}
                open.pop();
            }
            ";" => while open.pop_if(|open| is_angle(open)).is_some() {},
            _ => {}
        }
    }
    angles
}

/// Matches brackets; each branch of a conditional begins with the same open ones.
#[derive(Default)]
struct Matcher {
    /// Open brackets as a chain: its token, and the one around it.
    open: Vec<(usize, Option<usize>)>,
    innermost: Option<usize>,
    /// The innermost open bracket before each conditional.
    before: Vec<Option<usize>>,
    pairs: Vec<(usize, usize)>,
    kinds: Vec<u8>,
}

impl Matcher {
    fn meet(&mut self, at: usize, token: &Token<'_>) {
        if token.kind != TokenKind::Punct {
            return;
        }
        match token.text.as_ref() {
            "(" | "[" | "{" => {
                self.open.push((at, self.innermost));
                self.kinds.push(token.text.as_bytes()[0]);
                self.innermost = Some(self.open.len() - 1);
            }
            ")" | "]" | "}" => {
                let wanted = match token.text.as_ref() {
                    ")" => b'(',
                    "]" => b'[',
                    _ => b'{',
                };
                // A bracket that was never closed does not hide the one around it.
                while let Some(inner) = self.innermost {
                    let (open, around) = self.open[inner];
                    if self.kinds[inner] == wanted {
                        self.innermost = around;
                        self.pairs.push((open, at));
                        break;
                    }
                    if wanted != b'{' {
                        break;
                    }
                    self.innermost = around;
                }
            }
            _ => {}
        }
    }

    fn pass(&mut self, directive: &str) {
        match directive {
            "if" | "ifdef" | "ifndef" => self.before.push(self.innermost),
            "else" | "elif" | "elifdef" | "elifndef" => {
                if let Some(before) = self.before.last() {
                    self.innermost = *before;
                }
            }
            "endif" => drop(self.before.pop()),
            _ => {}
        }
    }

    fn partners(self, tokens: usize) -> Vec<Option<usize>> {
        let mut partners = vec![None; tokens];
        for (open, close) in self.pairs {
            partners[open] = Some(close);
            partners[close] = Some(open);
        }
        partners
    }
}
