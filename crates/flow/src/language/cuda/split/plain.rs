//! Classes that only host code names, and that the GPU's compiler can read all the same.
//!
//! A kernel may be a template over a class that no code for the GPU names: a configuration, a tag,
//! or what is passed by value. The name of such a kernel names the class, so the device half must
//! have it. Which classes these are is not known before the host half has run. So the device half
//! keeps all whose every word the GPU's compiler knows, without the host's functions in them whose
//! words it does not know.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::code::Code;
use super::declarations::{Declaration, Kind};
use super::head::Mark;
use super::macros::Macros;

/// The words of C++ and CUDA that such a class may use.
const KNOWN: &str = "
    alignas alignof auto bool break case char class const constexpr continue decltype default delete
    do double else enum explicit false final float for friend if inline int long noexcept nullptr
    operator private protected public return short signed sizeof static static_assert static_cast
    struct switch template this true typedef typename union unsigned using void volatile while
    size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uint dim3
    char2 char4 uchar2 uchar4 short2 short4 ushort2 ushort4 int2 int3 int4 uint2 uint3 uint4
    longlong2 ulonglong2 float2 float3 float4 double2
    __host__ __device__ __forceinline__ __inline__ __restrict__ __restrict __align__
";
/// Those that may stand behind `std::`.
const STANDARD: &str = "
    size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t min max
    conditional_t is_same_v enable_if_t true_type false_type integral_constant
";

/// The classes at file scope that are plain, each with the functions that it is to lose.
pub(super) fn classes(
    code: &Code<'_>,
    macros: &Macros,
    declarations: &[Declaration],
) -> BTreeMap<usize, Vec<usize>> {
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, declaration) in declarations.iter().enumerate() {
        if let Some(class) = declaration.class {
            members.entry(class).or_default().push(index);
        }
    }
    let look = Look {
        code,
        macros,
        declarations,
        known: KNOWN.split_whitespace().collect(),
        standard: STANDARD.split_whitespace().collect(),
    };
    let outer = declarations.iter().enumerate();
    let outer = outer.filter(|(_, one)| one.class.is_none() && !one.spaces.is_device());
    let mut plain: BTreeMap<usize, Words<'_>> = outer
        .filter_map(|(index, _)| Some((index, look.words(index, &members)?)))
        .collect();
    // Each may name others that are plain.
    for round in 0.. {
        if round == ROUNDS {
            return BTreeMap::new();
        }
        let names: BTreeSet<&str> = plain
            .keys()
            .flat_map(|index| &declarations[*index].names)
            .filter_map(|name| code.ident(*name))
            .collect();
        let before = plain.len();
        plain.retain(|_, words| words.others.iter().all(|word| names.contains(word)));
        if plain.len() == before {
            break;
        }
    }
    let plain = plain.into_iter();
    let classes = plain.filter(|(index, _)| matches!(declarations[*index].kind, Kind::Class));
    classes.map(|(index, words)| (index, words.lost)).collect()
}

/// What a class or a constant says.
struct Words<'l> {
    /// Names of others.
    others: BTreeSet<&'l str>,
    /// The functions in it that say what only the host knows.
    lost: Vec<usize>,
}

/// Rounds in which classes are dropped that name others which were.
const ROUNDS: usize = 64;
/// Words of one class; one of more is not looked at.
const WORDS: usize = 20_000;

struct Look<'l, 's> {
    code: &'l Code<'s>,
    macros: &'l Macros,
    declarations: &'l [Declaration],
    known: BTreeSet<&'static str>,
    standard: BTreeSet<&'static str>,
}

impl<'l> Look<'l, '_> {
    /// The words of a class or a constant; nothing if it cannot be plain.
    fn words(&self, index: usize, members: &BTreeMap<usize, Vec<usize>>) -> Option<Words<'l>> {
        let declaration = &self.declarations[index];
        let tokens = declaration.tokens.clone();
        if tokens.len() > WORDS || !matches!(declaration.kind, Kind::Class | Kind::Named) {
            return None;
        }
        let mut own: BTreeSet<&str> = BTreeSet::new();
        let mut skipped: Vec<Range<usize>> = Vec::new();
        let mut of_host: Vec<usize> = Vec::new();
        let mut left = vec![index];
        while let Some(index) = left.pop() {
            let one = &self.declarations[index];
            own.extend(one.names.iter().filter_map(|name| self.code.ident(*name)));
            self.meet_template(one, &mut own);
            let is_of_class = one.class.is_some();
            match &one.kind {
                Kind::Function(function) => {
                    let is_kept = one.spaces.is_device() || function.is(Mark::Constant);
                    self.meet_names(function.parameters.clone(), &mut own);
                    if is_kept {
                        self.meet_names(function.body.clone().unwrap_or_default(), &mut own);
                    } else {
                        skipped.extend(function.body.clone());
                        of_host.push(index);
                    }
                }
                // A member that lasts could be written.
                Kind::Named if is_of_class && self.is_written(one.tokens.clone()) => return None,
                Kind::Class | Kind::Named | Kind::Using | Kind::Assert => {}
                Kind::Assembly | Kind::Macro => return None,
            }
            left.extend(members.get(&index).into_iter().flatten());
        }
        let mut lost = Vec::new();
        for index in of_host {
            let Range { start, end } = self.declarations[index].tokens.clone();
            let body = match &self.declarations[index].kind {
                Kind::Function(function) => function.body.as_ref(),
                _ => None,
            };
            let head = start..body.map_or(end, |body| body.start);
            if (head.clone()).any(|at| self.code.is_ident(at, "virtual")) {
                return None;
            }
            let others = self.others(head, &own);
            if others.is_none_or(|others| !others.is_empty()) {
                skipped.push(start..end);
                lost.push(index);
            }
        }
        skipped.sort_by_key(|range| range.start);
        let mut others = BTreeSet::new();
        let mut at = tokens.start;
        for Range { start, end } in skipped {
            others.extend(self.others(at..start, &own)?);
            at = at.max(end);
        }
        others.extend(self.others(at..tokens.end, &own)?);
        Some(Words { others, lost })
    }

    /// The words of some tokens that are neither known nor the class's own; nothing if a plain class
    /// cannot have them.
    fn others(&self, tokens: Range<usize>, own: &BTreeSet<&str>) -> Option<BTreeSet<&'l str>> {
        let mut others = BTreeSet::new();
        for at in tokens {
            let Some(word) = self.code.ident(at) else {
                continue;
            };
            let is_member = at > 0 && matches!(self.code.punct(at - 1), "." | "->" | "::");
            if word == "std" {
                let standard = self.code.ident(at + 2).unwrap_or_default();
                if !self.code.is_punct(at + 1, "::") || !self.standard.contains(standard) {
                    return None;
                }
            } else if self.macros.is_macro(word) {
                // Numbers and the like.
                let mut words = self.macros.words(word);
                if !words.all(|word| self.known.contains(word)) {
                    return None;
                }
            } else if !is_member && !self.known.contains(word) && !own.contains(word) {
                others.insert(word);
            }
        }
        Some(others)
    }

    /// The names of template parameters.
    fn meet_template(&self, declaration: &Declaration, own: &mut BTreeSet<&'l str>) {
        let mut at = declaration.tokens.start;
        while self.code.is_ident(at, "template") && self.code.is_punct(at + 1, "<") {
            let close = self.code.angle_close(at + 1).unwrap_or(at + 1);
            self.meet_names(at + 2..close + 1, own);
            at = close + 1;
        }
    }

    /// Names that are declared in a list or a body: what stands behind a type, before a sign.
    fn meet_names(&self, tokens: Range<usize>, own: &mut BTreeSet<&'l str>) {
        for at in tokens {
            let is_declared = at > 0
                && (self.code.ident(at - 1).is_some()
                    || matches!(self.code.punct(at - 1), "*" | "&" | ">" | "..."))
                && matches!(
                    self.code.punct(at + 1),
                    "," | ")" | ">" | "=" | ";" | "[" | "{" | ":" | "("
                );
            if let Some(word) = self.code.ident(at).filter(|_| is_declared) {
                own.insert(word);
            }
        }
    }

    /// Whether a declaration is of a variable that outlives its class and can be written.
    fn is_written(&self, tokens: Range<usize>) -> bool {
        let has = |word: &str| tokens.clone().any(|at| self.code.is_ident(at, word));
        (has("static") || has("inline")) && !has("constexpr") && !has("const")
    }
}

#[cfg(test)]
mod tests {
    use crate::language::cuda::split;

    /// Whether the device half of a source has the class `C`.
    fn is_kept(class: &str) -> bool {
        let source = format!(
            "#define SIZE 4\n{class}\ntemplate <class T> __global__ void k(T x) {{}}\n\
             extern \"C\" void solve() {{ k<C><<<1, 1>>>(C()); }}\n"
        );
        split(&source).unwrap().device.contains('C')
    }

    #[test]
    fn what_the_gpus_compiler_knows_is_kept() {
        for class in [
            "struct C {};",
            "struct C { static constexpr int size = SIZE, half = size / 2; };",
            "struct C { const float* x; float* __restrict__ y; long long n; C() = default; };",
            "struct C { float4 v[SIZE]; int length() const { return std::string(\"abc\").size(); } };",
            "struct A { int x; }; struct C : A { A inner; std::size_t n = sizeof(A); };",
            "enum class Kind { a, b }; class C { public: Kind kind = Kind::a; };",
            "typedef float real; struct C { real x; };",
            "struct C { constexpr int sum(int a) const { int b = a; return b + 1; } };",
            "struct C { static void run(float* x, cudaStream_t s) { k<C><<<1, 1, 0, s>>>(C()); } };",
            "struct C { int n; friend std::ostream& operator<<(std::ostream& to, const C& c) { return to << c.n; } };",
        ] {
            assert!(is_kept(class), "{class}");
        }
    }

    #[test]
    fn what_only_the_host_knows_is_gone() {
        for class in [
            "struct C { std::string name; };",
            "struct C { cudaStream_t stream; };",
            "struct A { std::vector<int> x; }; struct C { A a; };",
            "struct C { static int count; };",
            "struct C { FILE* file = stdout; };",
            "struct C { virtual int f() { return 1; } };",
            "struct C { virtual void f(cudaStream_t s) {} };",
            "#define TEXT std::string\nstruct C { TEXT name; };",
        ] {
            assert!(!is_kept(class), "{class}");
        }
    }
}
