//! What becomes of each declaration in each half.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::code::Code;
use super::declarations::{Declaration, Kind};
use super::head::{Function, Mark};
use super::macros::Macros;
use super::plain;
use crate::language::c::lex::Directive;

/// A half of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    Device,
    Host,
}

/// What becomes of a declaration in a half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Keep,
    /// Kept if something else that is kept names it.
    IfNamed,
    /// A function without its body.
    Declare,
    /// The same, if something else that is kept names it.
    DeclareIfNamed,
    /// A kernel with a body that records.
    Stub,
    Drop,
}

impl Fate {
    fn is_conditional(self) -> bool {
        matches!(self, Self::IfNamed | Self::DeclareIfNamed)
    }

    fn settled(self, is_named: bool) -> Self {
        match self {
            Self::IfNamed if is_named => Self::Keep,
            Self::DeclareIfNamed if is_named => Self::Declare,
            Self::IfNamed | Self::DeclareIfNamed => Self::Drop,
            settled => settled,
        }
    }
}

/// The fates of all declarations in a half.
pub(super) fn fates(
    half: Half,
    code: &Code<'_>,
    macros: &Macros,
    declarations: &[Declaration],
) -> Vec<Fate> {
    // Only host code may name such a class: as a template argument of a kernel, which its launch
    // deduces.
    let with_device_members: BTreeSet<usize> = declarations
        .iter()
        .filter(|declaration| declaration.spaces.is_device())
        .filter_map(|declaration| declaration.class)
        .collect();
    let mut fates: Vec<Fate> = declarations
        .iter()
        .enumerate()
        .map(|(index, declaration)| match half {
            Half::Device if with_device_members.contains(&index) => Fate::Keep,
            Half::Device => device_fate(declaration),
            Half::Host => host_fate(code, macros, declaration),
        })
        .collect();
    if half == Half::Device {
        for (class, lost) in plain::classes(code, macros, declarations) {
            fates[class] = Fate::Keep;
            for function in lost {
                fates[function] = Fate::Drop;
            }
        }
    }
    let named = Reach::new(code, macros, declarations, &fates).named();
    for (index, declaration) in declarations.iter().enumerate() {
        fates[index] = match declaration.class {
            // A class comes before its members.
            Some(class) if fates[class] == Fate::Drop => Fate::Drop,
            Some(_) => fates[index].settled(true),
            None => fates[index].settled(named.contains(&index)),
        };
    }
    fates
}

fn device_fate(declaration: &Declaration) -> Fate {
    let is_member = declaration.class.is_some();
    match &declaration.kind {
        Kind::Function(_) | Kind::Named if declaration.spaces.is_device() => Fate::Keep,
        Kind::Function(function) if function.is(Mark::Given) => Fate::Keep,
        Kind::Function(function)
            if function.is(Mark::Constant) && !declaration.spaces.is_host() =>
        {
            if function.is(Mark::Operator) {
                Fate::Keep
            } else {
                Fate::IfNamed
            }
        }
        Kind::Function(_) if is_member => Fate::Declare,
        Kind::Function(_) | Kind::Assert | Kind::Assembly | Kind::Macro => Fate::Drop,
        Kind::Class | Kind::Named => Fate::IfNamed,
        Kind::Using => Fate::Keep,
    }
}

fn host_fate(code: &Code<'_>, macros: &Macros, declaration: &Declaration) -> Fate {
    let spaces = declaration.spaces;
    match &declaration.kind {
        Kind::Function(function) if spaces.is_global() => {
            if function.body.is_some() {
                Fate::Stub
            } else {
                Fate::Keep
            }
        }
        Kind::Function(function) if function.is(Mark::Given) => Fate::Keep,
        Kind::Function(function) if spaces.is_device_only() => {
            if function.is(Mark::Deduced)
                || function.is(Mark::Member)
                || function.is(Mark::Instantiation)
            {
                Fate::Drop
            } else {
                Fate::DeclareIfNamed
            }
        }
        Kind::Function(function) if spaces.is_device() || function.is(Mark::Constant) => {
            let needs_gpu = function
                .body
                .clone()
                .is_some_and(|body| needs_gpu(code, macros, body));
            match (
                needs_gpu,
                function.is(Mark::Operator) || function.is(Mark::Member),
            ) {
                (true, true) if declaration.class.is_none() => Fate::Drop,
                (true, _) => Fate::DeclareIfNamed,
                (false, true) => Fate::Keep,
                (false, false) => Fate::IfNamed,
            }
        }
        // What nobody calls is no part of an answer.
        Kind::Function(function)
            if code.is_ident(function.name, "main") && declaration.class.is_none() =>
        {
            Fate::Drop
        }
        Kind::Function(_) | Kind::Assert | Kind::Assembly | Kind::Macro | Kind::Using => Fate::Keep,
        Kind::Class | Kind::Named => Fate::IfNamed,
    }
}

/// Whether a function for both sides says what only a GPU has, without asking where it runs.
fn needs_gpu(code: &Code<'_>, macros: &Macros, body: Range<usize>) -> bool {
    const PLAIN: [&str; 16] = [
        "__restrict__",
        "__restrict",
        "__forceinline__",
        "__inline__",
        "__noinline__",
        "__host__",
        "__device__",
        "__FILE__",
        "__LINE__",
        "__func__",
        "__PRETTY_FUNCTION__",
        "__half",
        "__half2",
        "__nv_bfloat16",
        "__nv_bfloat162",
        "__float2half",
    ];
    if asks_where(code, &body) {
        return false;
    }
    body.filter_map(|at| code.ident(at)).any(|word| {
        matches!(
            word,
            "threadIdx" | "blockIdx" | "blockDim" | "gridDim" | "asm" | "clock64"
        ) || word.starts_with("atomic")
            || macros.holds(word).is_machine()
            || (word.starts_with("__") && !word.starts_with("__builtin_") && !PLAIN.contains(&word))
    })
}

/// Whether a body has a branch for the GPU alone.
pub(super) fn asks_where(code: &Code<'_>, body: &Range<usize>) -> bool {
    let asks = |directive: &Directive<'_>| {
        let mut words = directive.body.iter();
        words.any(|token| token.is_ident("__CUDA_ARCH__"))
    };
    let (first, last) = (&code.tokens[body.start], &code.tokens[body.end - 1]);
    code.directives_between(first.offset, last.end).any(asks)
}

/// The bodies of functions for which a half has only declarations.
pub(super) fn is_shortened(fate: Fate) -> bool {
    matches!(fate, Fate::Declare | Fate::DeclareIfNamed | Fate::Stub)
}

/// Follows names from what is kept.
struct Reach<'r, 's> {
    code: &'r Code<'s>,
    macros: &'r Macros,
    declarations: &'r [Declaration],
    fates: &'r [Fate],
    /// The declarations at file scope that declare a name.
    by_name: BTreeMap<&'r str, Vec<usize>>,
    /// The members of each class.
    members: BTreeMap<usize, Vec<usize>>,
}

impl<'r, 's> Reach<'r, 's> {
    fn new(
        code: &'r Code<'s>,
        macros: &'r Macros,
        declarations: &'r [Declaration],
        fates: &'r [Fate],
    ) -> Self {
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, declaration) in declarations.iter().enumerate() {
            if let Some(class) = declaration.class {
                members.entry(class).or_default().push(index);
                continue;
            }
            for name in declaration
                .names
                .iter()
                .filter_map(|name| code.ident(*name))
            {
                by_name.entry(name).or_default().push(index);
            }
        }
        Self {
            code,
            macros,
            declarations,
            fates,
            by_name,
            members,
        }
    }

    /// The declarations that something names which is kept.
    fn named(&self) -> BTreeSet<usize> {
        let mut named = BTreeSet::new();
        let mut words: BTreeSet<&str> = BTreeSet::new();
        let mut queue: Vec<&str> = Vec::new();
        for (index, declaration) in self.declarations.iter().enumerate() {
            if declaration.class.is_none()
                && !self.fates[index].is_conditional()
                && self.fates[index] != Fate::Drop
            {
                self.collect(index, &mut queue);
            }
        }
        while let Some(word) = queue.pop() {
            if !words.insert(word) {
                continue;
            }
            queue.extend(self.macros.words(word));
            for index in self.by_name.get(word).into_iter().flatten() {
                if self.fates[*index].is_conditional() && named.insert(*index) {
                    self.collect(*index, &mut queue);
                }
            }
        }
        named
    }

    /// The words of a declaration, without the bodies that a half does not have.
    fn collect<'q>(&'q self, index: usize, queue: &mut Vec<&'q str>) {
        let mut skipped = Vec::new();
        self.skipped(index, &mut skipped);
        skipped.sort_by_key(|range: &Range<usize>| range.start);
        let tokens = self.declarations[index].tokens.clone();
        let mut at = tokens.start;
        for range in skipped {
            queue.extend((at..range.start).filter_map(|at| self.code.ident(at)));
            at = at.max(range.end);
        }
        queue.extend((at..tokens.end).filter_map(|at| self.code.ident(at)));
    }

    fn skipped(&self, index: usize, skipped: &mut Vec<Range<usize>>) {
        // Classes may be nested as deep as a source likes.
        let mut left = vec![index];
        while let Some(index) = left.pop() {
            if is_shortened(self.fates[index])
                && let Kind::Function(Function {
                    body: Some(body), ..
                }) = &self.declarations[index].kind
            {
                skipped.push(body.clone());
            }
            left.extend(self.members.get(&index).into_iter().flatten());
        }
    }
}
