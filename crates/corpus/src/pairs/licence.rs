//! Under which terms a file came: its own header first, then the licence of its tree.
//!
//! A guess by marks, for sorting. Read the licences themselves before you pass records on.

use serde::{Deserialize, Serialize};

use super::tree::Tree;

/// The terms of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Licence {
    /// A short name.
    pub name: String,
    /// Where that stands: `file` or the path of the tree's licence.
    pub from: String,
    /// Whether these terms let others have the file.
    pub may_be_shared: bool,
}

impl Licence {
    fn new(name: &str, from: &str, may_be_shared: bool) -> Self {
        Self {
            name: name.to_owned(),
            from: from.to_owned(),
            may_be_shared,
        }
    }
}

/// Marks of terms, strictest first, with a name and whether the file may be shared. All marks of a
/// line must be there, in lower case and with single spaces.
const MARKS: [(&[&str], &str, bool); 14] = [
    (
        &["nvidia", "reproduction", "prohibited"],
        "NVIDIA, distribution prohibited",
        false,
    ),
    (
        &["nvidia", "without an express license agreement"],
        "NVIDIA, distribution prohibited",
        false,
    ),
    (&["nvidia", "all rights reserved"], "NVIDIA notice", false),
    (&["nvidia corporation"], "NVIDIA notice", false),
    (&["educational purpose"], "educational use only", false),
    (&["not", "be sold"], "not to be sold", false),
    (&["gnu general public license"], "GPL", true),
    (&["artistic license"], "Artistic", true),
    (&["apache license"], "Apache-2.0", true),
    (
        &["university of illinois", "open source license"],
        "NCSA",
        true,
    ),
    (
        &["permission is hereby granted, free of charge"],
        "MIT",
        true,
    ),
    (&["mit license"], "MIT", true),
    (
        &["redistribution and use in source and binary forms"],
        "BSD",
        true,
    ),
    (&["redistributions of source code"], "BSD", true),
];

/// The licence of a file with this beginning.
pub(super) fn of_file(head: &str, tree: &Licence) -> Licence {
    let head = plain(head);
    if let Some((_, name, shared)) = marked(&head) {
        return Licence::new(name, "file", shared);
    }
    // A header that claims rights and grants none takes the tree's grant away.
    let claims = head.contains("all rights reserved")
        || head.contains("copyright") && !head.contains("university of illinois");
    if claims && !head.contains("university of virginia") && !head.contains("board of trustees") {
        return Licence::new("copyright notice without a grant", "file", false);
    }
    tree.clone()
}

/// The licence of a tree.
pub(super) fn of_tree(tree: &Tree) -> Licence {
    let names = ["LICENSE", "LICENCE", "LICENSE.txt", "LICENSE.md", "COPYING"];
    let Some((name, text)) = names
        .into_iter()
        .find_map(|name| Some((name, tree.text(name).ok()?)))
    else {
        return Licence::new("unknown", "no licence file", false);
    };
    match marked(&plain(&text.text)) {
        Some((_, licence, shared)) => Licence::new(licence, name, shared),
        None => Licence::new("other", name, false),
    }
}

fn marked(text: &str) -> Option<(&'static [&'static str], &'static str, bool)> {
    MARKS
        .into_iter()
        .find(|(marks, ..)| marks.iter().all(|mark| text.contains(mark)))
}

/// Lower case with single spaces, without the signs that frame comments.
fn plain(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|letter| if "*/#|".contains(letter) { ' ' } else { letter })
        .collect();
    text.to_lowercase()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_beats_the_tree_and_a_prohibition_beats_everything() {
        let tree = Licence::new("NCSA", "LICENSE", true);
        let of = |head: &str| of_file(head, &tree);
        assert_eq!(of("// a kernel\n"), tree);
        assert_eq!(
            of(
                "/* (C) The Board of Trustees of the University of Illinois. All rights reserved. */"
            ),
            tree
        );
        let nvidia = "/* Copyright NVIDIA. Any use, reproduction, disclosure,\n * or distribution is strictly\n * prohibited. */";
        assert!(!of(nvidia).may_be_shared);
        let mit = of("// Permission is hereby granted,\n// free of charge, to any person");
        assert_eq!((mit.name.as_str(), mit.may_be_shared), ("MIT", true));
        assert!(!of("// Copyright 2009 Somebody, All rights reserved").may_be_shared);
    }

    #[test]
    fn a_tree_without_a_licence_may_not_be_shared() {
        let folder = tempfile::tempdir().expect("a folder");
        let tree = Tree::open(folder.path()).expect("it is one");
        assert!(!of_tree(&tree).may_be_shared);
        fs_err::write(
            folder.path().join("LICENSE"),
            "University of Illinois/NCSA\n Open Source License\nUniversity of Illinois\nPermission is hereby granted, free of charge",
        )
        .expect("it is ours");
        let tree = Tree::open(folder.path()).expect("it is one");
        assert_eq!(of_tree(&tree).name, "NCSA");
    }
}
