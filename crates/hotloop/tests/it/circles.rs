//! The modules of a crate import each other without circles.
//!
//! A module is a file. It imports another module if it names an item that is defined there: by
//! `use crate::a::X`, by `super::X`, by a path inside code, or by a name that a third module
//! re-exports. Declaring and re-exporting children is not an import. Code under `#[cfg(test)]` does
//! not count, and neither do methods, which have no path.

mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::root;
use names::Source;

/// The path of a module in its crate; empty for the root.
type Module = Vec<String>;

#[test]
fn no_modules_import_each_other_in_a_circle() {
    let mut found = String::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let files = files(&folder.join("src"), &[]);
        assert!(!files.is_empty(), "{name} has no sources");
        for circle in circles(&files) {
            found.extend([name.as_str(), ": ", &circle.join(", "), "\n"]);
        }
    }
    assert!(found.is_empty(), "circles of imports:\n{found}");
}

/// The source of every module under `folder`, which is the module `at`. Binaries are not part of
/// it.
fn files(folder: &Path, at: &[String]) -> BTreeMap<Module, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let inside = [at, std::slice::from_ref(&stem)].concat();
        if path.is_dir() && !(at.is_empty() && stem == "bin") {
            found.extend(files(&path, &inside));
        } else if path.extension().is_some_and(|end| end == "rs") && stem != "main" {
            let is_folder = ["mod", "lib"].contains(&stem.as_str());
            let module = if is_folder { at.to_vec() } else { inside };
            found.insert(module, std::fs::read_to_string(&path).unwrap());
        }
    }
    found
}

/// The imports of each group of modules that lead back to themselves.
fn circles(files: &BTreeMap<Module, String>) -> Vec<Vec<String>> {
    let modules: BTreeMap<Module, Source> = files
        .iter()
        .map(|(at, text)| (at.clone(), Source::read(text)))
        .collect();
    let edges: BTreeMap<&Module, BTreeSet<Module>> = modules
        .keys()
        .map(|module| (module, imports(&modules, module)))
        .collect();
    let reachable = |from: &Module| {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&Module> = edges[from].iter().collect();
        while let Some(module) = next.pop() {
            if seen.insert(module.clone()) {
                next.extend(&edges[module]);
            }
        }
        seen
    };
    let reached: BTreeMap<&Module, BTreeSet<Module>> = modules
        .keys()
        .map(|module| (module, reachable(module)))
        .collect();
    let mut groups: BTreeSet<Vec<String>> = BTreeSet::new();
    for (module, seen) in &reached {
        if seen.contains(*module) {
            let group: BTreeSet<_> = seen
                .iter()
                .filter(|other| reached[other].contains(*module))
                .collect();
            let inside = group
                .iter()
                .flat_map(|from| edges[*from].iter().map(move |to| (from, to)));
            let inside = inside.filter(|(_, to)| group.contains(to));
            groups.insert(
                inside
                    .map(|(from, to)| format!("{} -> {}", name(from), name(to)))
                    .collect(),
            );
        }
    }
    groups.into_iter().collect()
}

fn name(module: &Module) -> String {
    if module.is_empty() {
        "lib".to_owned()
    } else {
        module.join("::")
    }
}

/// The modules whose items `module` names.
fn imports(modules: &BTreeMap<Module, Source>, module: &Module) -> BTreeSet<Module> {
    let source = &modules[module];
    let mut found = BTreeSet::new();
    for used in &source.uses {
        // Re-exporting a child's item is not a use of it, unless the name is also used here.
        let target = home(modules, module, &used.path, 0);
        let is_below = target
            .as_ref()
            .is_some_and(|target| target.starts_with(module));
        let hands_on = used.is_public && is_below && !source.words.contains(&used.name);
        found.extend(target.filter(|_| !hands_on));
    }
    for path in &source.paths {
        found.extend(home(modules, module, path, 0));
    }
    found.remove(module);
    found
}

/// The module that defines the item `path` in `module`; `None` for items of other crates and for
/// modules.
fn home(
    modules: &BTreeMap<Module, Source>,
    module: &Module,
    path: &[String],
    depth: usize,
) -> Option<Module> {
    let mut at = module.clone();
    let mut rest = path;
    while let Some((first, behind)) = rest.split_first() {
        match first.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => drop(at.pop()),
            child if modules.contains_key(&[&at[..], &[child.to_owned()]].concat()) => {
                at.push(child.to_owned());
            }
            _ => break,
        }
        rest = behind;
    }
    let (item, behind) = rest.split_first()?;
    let source = modules.get(&at)?;
    // Imported names, first by `use a::X` and then by `use a::*`.
    let mut uses = source.uses.iter();
    let from = uses.find(|used| used.name == *item && depth < 8);
    if let Some(used) = from {
        let whole = [&used.path[..], behind].concat();
        return home(modules, &at, &whole, depth + 1);
    }
    if source.defined.contains(item) {
        return Some(at);
    }
    let globs = source.uses.iter().filter(|used| used.name == "*");
    for glob in globs.filter(|_| depth < 8) {
        let whole = [&glob.path[..glob.path.len() - 1], rest].concat();
        if let Some(home) = home(modules, &at, &whole, depth + 1) {
            return Some(home);
        }
    }
    // If no item has this name, the path begins with another crate or a local name.
    (at != *module).then_some(at)
}

/// The circles of a made-up crate.
fn found(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let module = |path: &str| -> Module {
        path.split("::")
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect()
    };
    circles(
        &files
            .iter()
            .map(|(path, text)| (module(path), (*text).to_owned()))
            .collect(),
    )
}

#[test]
fn circles_are_found_however_they_are_written() {
    let ab = |a: &str, b: &str| found(&[("", "mod a; mod b; pub use a::A;"), ("a", a), ("b", b)]);
    let circle = vec![vec!["a -> b".to_owned(), "b -> a".to_owned()]];
    let b = "use crate::a::A; pub struct B(A);";
    assert_eq!(ab("use crate::b::B; pub struct A;", b), circle);
    assert_eq!(
        ab("pub struct A; fn f() { super::b::g() }", b),
        circle,
        "a path in code"
    );
    assert_eq!(
        ab("use crate::{b, x}; pub struct A; fn f() { b::g() }", b),
        circle,
        "by its module"
    );
    assert_eq!(
        ab(
            "use crate::b::{self as c}; pub struct A; fn f() { c::g() }",
            b
        ),
        circle,
        "by another name"
    );
    assert_eq!(
        ab("use super::b::*; pub struct A;", b),
        circle,
        "all at once"
    );
    assert_eq!(
        ab("use crate::b::B; pub struct A;", "pub struct B(crate::A);"),
        circle,
        "by a name that the root hands on"
    );
}

#[test]
fn one_way_imports_are_not_a_circle() {
    let b = "use crate::a::A; pub struct B(A);";
    for a in [
        "pub struct A;",
        "pub struct A; // crate::b::B\nconst C: &str = \"crate::b::B\";",
        "pub struct A; #[cfg(test)] mod tests { use crate::b::B; fn f() { let _ = [B]; } }",
        "use std::b::B; pub struct A<'a>(&'a B);",
    ] {
        assert_eq!(
            found(&[("", "mod a; mod b;"), ("a", a), ("b", b)]),
            Vec::<Vec<String>>::new(),
            "{a}"
        );
    }
}

#[test]
fn a_parent_may_re_export_a_child_but_not_use_a_child_that_uses_it() {
    let child = "use super::Kind; pub struct Child(Kind);";
    let parent = |text: &str| found(&[("", "mod p;"), ("p", text), ("p::child", child)]);
    assert!(parent("mod child; pub use child::Child; pub struct Kind;").is_empty());
    let circle = vec![vec!["p -> p::child".to_owned(), "p::child -> p".to_owned()]];
    assert_eq!(
        parent("mod child; use child::Child; pub struct Kind; fn f(c: Child) {}"),
        circle
    );
    assert_eq!(
        parent("mod child; pub use child::Child; pub struct Kind; fn f(c: Child) {}"),
        circle
    );
    assert_eq!(
        parent("mod child; pub struct Kind; fn f() { child::new() }"),
        circle
    );
}
