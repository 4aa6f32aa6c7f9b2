//! Trees that hold fast versions only: their slow sides are derived.

use std::collections::BTreeSet;

use super::{About, BuildError, Work, build_lines, is_same, with_kernel};
use crate::pairs::layout;
use crate::pairs::licence;
use crate::pairs::record::{Optimised, Suite};
use crate::pairs::side::Side;
use crate::pairs::slow;
use crate::pairs::tree::{LeftOut, Tree};
use crate::pairs::unit::Outlines;

/// A slow side that was made of the fast one.
struct Derived {
    side: Side,
    steps: Vec<String>,
    writer: Option<String>,
}

impl Work<'_, '_> {
    /// Takes in a tree in Rodinia's layout.
    pub(super) fn rodinia(&mut self, tree: &Tree) -> Result<(), BuildError> {
        let files = layout::rodinia(tree)?;
        let outlines = Outlines::of(tree, &["cuda".to_owned()]);
        self.note_tree(&outlines);
        let names: Vec<String> = files.iter().map(|(_, file)| file.clone()).collect();
        let kernels = with_kernel(&outlines, &names);
        let read = || files.iter().filter_map(|(_, file)| outlines.get(file));
        let mut counts = Optimised {
            apps: files
                .iter()
                .map(|(app, _)| app)
                .collect::<BTreeSet<_>>()
                .len(),
            files: files.len(),
            files_with_kernel: kernels.len(),
            kernels: read().map(|read| read.outline.kernels().count()).sum(),
            helpers: read().map(|read| read.outline.helpers()).sum(),
            helpers_only: read()
                .filter(|read| {
                    read.outline.kernels().next().is_none() && read.outline.helpers() > 0
                })
                .count(),
            compiled: self.tools.compiler.is_some().then_some(0),
            ..Optimised::default()
        };
        let units = self.units(&outlines, &kernels)?;
        let tree_licence = licence::of_tree(tree);
        for (app, file) in &files {
            let Some(fast) = units.get(file).filter(|fast| fast.kernels > 0) else {
                let why = if units.contains_key(file) {
                    "its kernels cannot be cut out".to_owned()
                } else {
                    layout::no_kernel("")
                };
                self.left_out.push(LeftOut::new(file, why));
                continue;
            };
            let marked = outlines
                .get(file)
                .is_some_and(|read| layout::is_optimised(&read.outline));
            counts.with_marks += usize::from(marked);
            match self.derived(fast)? {
                Ok(derived) => {
                    counts.kept += 1;
                    if let Some(compiled) = &mut counts.compiled {
                        let both = [fast.compiled, derived.side.compiled] == [Some(true); 2];
                        *compiled += usize::from(both);
                    }
                    let head = outlines.get(file).map_or("", |read| &read.head);
                    let about = About {
                        suite: Suite::Rodinia,
                        benchmark: app,
                        slow_file: None,
                        file,
                        application: None,
                        licence: licence::of_file(head, &tree_licence),
                        build: build_lines(tree, file),
                        steps: derived.steps,
                        writer: derived.writer,
                        notes: Vec::new(),
                    };
                    self.record(&derived.side, fast, about);
                }
                Err(why) => self.left_out.push(LeftOut::new(file, why)),
            }
        }
        self.summary.rodinia = Some(counts);
        Ok(())
    }

    /// A slow version of an optimised unit, or why there is none.
    fn derived(&mut self, fast: &Side) -> Result<Result<Derived, String>, BuildError> {
        let slowed = slow::slowed(fast, &mut self.tools.compiler).map_err(BuildError::Compiler)?;
        if let Some((side, steps)) = slowed {
            return Ok(Ok(Derived {
                side,
                steps,
                writer: None,
            }));
        }
        let Some(writer) = &mut self.tools.writer else {
            return Ok(Err(
                "no optimisation in it can be taken out mechanically".to_owned()
            ));
        };
        let name = writer.name();
        let Some(text) = writer.slower(&fast.text).map_err(BuildError::Writer)? else {
            return Ok(Err(format!("{name} wrote no kernel")));
        };
        let side = Side::of(text)
            .compiled(&mut self.tools.compiler)
            .map_err(BuildError::Compiler)?;
        Ok(if side.signature != fast.signature {
            Err(format!("{name} changed the kernels' names or parameters"))
        } else if is_same(&side.text, &fast.text) {
            Err(format!("{name} wrote the same kernel"))
        } else if side.compiled == Some(false) {
            Err(format!("what {name} wrote does not compile"))
        } else {
            Ok(Derived {
                side,
                steps: Vec::new(),
                writer: Some(name),
            })
        })
    }
}
