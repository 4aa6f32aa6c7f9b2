//! Checks the buffers that a candidate left. The candidate is frozen meanwhile.
//!
//! It always computes two checks. `strict` looks at every element, with a bound relative to the
//! reference's scale. `paper` looks at 105 points, with a relative error of 1e-6.

mod buffers;
mod elements;
mod found;
mod points;

use std::ffi::c_void;
use std::ops::Range;
use std::sync::Mutex;

use hotloop_flow::formula;
use hotloop_flow::how::Check;
use hotloop_flow::interface::{Arg, Role};
use hotloop_flow::task::{Method, TaskSpec};
use hotloop_flow::verdict::{Checks, Mismatch};

use crate::cpu::crew::Crew;
use crate::cpu::draws;
use crate::cpu::layout::{Region, Set};
use crate::cpu::trusted::{Baseline, Trusted};
use crate::inputs::Fresh;
use buffers::{Output, freshen_set, outputs, pointers};
use elements::{as_bytes, number, worst};
use found::{Found, within};
use points::{Matrix, element_name, size_names};

pub(crate) use buffers::Buffers;

const PAPER_TOLERANCE: f64 = 1e-6;

/// Judges the buffers of one task.
pub(crate) struct Verifier {
    spec: TaskSpec,
    /// Absent only for the bench's own roofs, which are never checked.
    trusted: Option<Trusted>,
    baseline: Option<Baseline>,
    /// The value of slack bytes for the current run.
    canary: u8,
    /// Copies of in-out buffers before the call, by set and argument.
    initial: Vec<Vec<Vec<u8>>>,
    /// What was found so far.
    found: Found,
}

/// One call's buffers, as the candidate left them.
struct Call<'a> {
    buffers: &'a Buffers,
    set: &'a Set,
    index: usize,
}

/// Correct values and scales of one output.
struct Expected {
    values: Vec<u64>, // 8-byte aligned storage
    scale: Vec<f64>,
}

impl Verifier {
    /// A verifier without results.
    pub(crate) fn new(
        spec: TaskSpec,
        trusted: Option<Trusted>,
        baseline: Option<Baseline>,
    ) -> Self {
        Self {
            spec,
            trusted,
            baseline,
            canary: 0,
            initial: Vec::new(),
            found: Found::default(),
        }
    }

    /// The combined checks so far.
    pub(crate) fn checks(&self) -> Checks {
        self.found.checks.clone()
    }

    /// The failure that decides, if there is one.
    pub(crate) fn mismatch(&self, check: Check) -> Option<Mismatch> {
        let why = match check {
            Check::Strict => &self.found.strict_why,
            Check::Paper => &self.found.paper_why,
        };
        let checks = &self.found.checks;
        why.clone().map(|why| Mismatch {
            why,
            error: checks.error,
            paper: checks.paper,
        })
    }

    /// Gives the sets of `calls` fresh inputs, poisoned outputs and fresh canaries, shared among
    /// the crew.
    pub(crate) fn freshen(
        &mut self,
        fresh: &mut Fresh,
        crew: &Crew,
        buffers: &mut Buffers,
        calls: Range<usize>,
    ) {
        self.canary = fresh.word() as u8;
        self.initial.resize(buffers.layout.sets.len(), Vec::new());
        let (spec, canary) = (&self.spec, self.canary);
        let own: Vec<_> = self.initial[calls.clone()]
            .iter_mut()
            .map(|initial| Mutex::new((fresh.fork(), initial)))
            .collect();
        crew.share(calls.len(), &|at| {
            let mut own = own[at].lock().expect("each is taken once");
            let (fresh, initial) = &mut *own;
            **initial = freshen_set(
                fresh,
                spec,
                &buffers.layout.sets[calls.start + at],
                buffers,
                canary,
            );
        });
    }

    /// Checks the sets of `calls`, shared among the crew. With `paper` it also checks the 105
    /// points.
    pub(crate) fn check(
        &mut self,
        fresh: &mut Fresh,
        crew: &Crew,
        buffers: &Buffers,
        calls: Range<usize>,
        paper: bool,
    ) {
        let own: Vec<_> = calls
            .clone()
            .map(|_| Mutex::new((fresh.fork(), Found::default())))
            .collect();
        let verifier = &*self;
        crew.share(calls.len(), &|at| {
            let index = calls.start + at;
            let mut own = own[at].lock().expect("each is taken once");
            let (fresh, found) = &mut *own;
            verifier.check_set(
                fresh,
                &Call {
                    buffers,
                    set: &buffers.layout.sets[index],
                    index,
                },
                paper,
                found,
            );
        });
        for own in own {
            self.found.add(own.into_inner().expect("nobody holds it").1);
        }
    }

    fn check_set(&self, fresh: &mut Fresh, call: &Call<'_>, paper: bool, found: &mut Found) {
        let Call { buffers, set, .. } = *call;
        self.check_canaries(buffers, set, found);
        self.check_note(call, found);
        let bound = self.spec.bound(&set.sizes);
        let mut expected = None;
        match self.spec.verify.method.clone() {
            Method::Projection(length) => {
                let length = formula::count(&length, &set.sizes).expect("checked by Task::parse");
                let mut vector = vec![0u8; 8 * length];
                fresh.doubles(&mut vector, -1.0, 1.0);
                let vector: Vec<f64> = vector
                    .as_chunks::<8>()
                    .0
                    .iter()
                    .map(|chunk| f64::from_ne_bytes(*chunk))
                    .collect();
                let error = self
                    .trusted()
                    .check(&pointers(buffers, set), &vector)
                    .unwrap_or(f64::INFINITY);
                found.note_error(error);
                if !within(error, bound) {
                    let full = self.expect(call);
                    self.compare(call, &full, bound, found);
                    found.fail_strict(format!(
                        "a random projection of the output is off by {error:.1e} of its scale"
                    ));
                    expected = Some(full);
                }
            }
            Method::Full => {
                let full = self.expect(call);
                self.compare(call, &full, bound, found);
                expected = Some(full);
            }
        }
        if paper {
            self.check_points(fresh, call, expected.as_deref(), found);
        }
    }

    fn trusted(&self) -> &Trusted {
        self.trusted
            .as_ref()
            .expect("whatever is checked has a reference")
    }

    fn check_canaries(&self, buffers: &Buffers, set: &Set, found: &mut Found) {
        for (arg, place) in self
            .spec
            .function()
            .args
            .iter()
            .zip(&set.places)
            .filter(|(_, place)| place.region == Region::Outputs)
        {
            for (start, length) in place.slack() {
                if buffers
                    .outputs
                    .slice(start, length)
                    .iter()
                    .any(|byte| *byte != self.canary)
                {
                    found.fail_both(format!("wrote outside of `{}`", arg.name));
                    return;
                }
            }
        }
    }

    /// The value that was seen after the call must still be there. Otherwise the candidate
    /// postponed work to a later call.
    fn check_note(&self, call: &Call<'_>, found: &mut Found) {
        let Call {
            buffers,
            set,
            index,
        } = *call;
        let Some(note) = buffers.notes.get(index) else {
            return;
        };
        let outputs: Vec<_> = outputs(&self.spec, set).collect();
        let bytes: Vec<usize> = outputs.iter().map(|output| output.place.bytes).collect();
        let Some((output, byte)) = draws::spot(note.after, &bytes) else {
            return;
        };
        let Output { arg, place } = outputs[output];
        let now = &buffers.bytes(place)[byte..byte + 4];
        if *now != (note.seen as u32).to_ne_bytes() {
            found.fail_both(format!("wrote `{}` after its call had returned", arg.name));
        }
    }

    /// Runs the reference on the set's inputs.
    fn expect(&self, call: &Call<'_>) -> Vec<Expected> {
        let Call {
            buffers,
            set,
            index,
        } = *call;
        let mut expected: Vec<Expected> = Vec::new();
        let mut initial = self.initial[index].iter();
        for Output { arg, place } in outputs(&self.spec, set) {
            let elements = place.bytes / arg.kind.bytes();
            let mut values = vec![0u64; place.bytes.div_ceil(8)];
            if arg.role == Role::Inout {
                let bytes = initial.next().expect("one copy per in-out buffer");
                for (value, chunk) in values.iter_mut().zip(bytes.chunks(8)) {
                    let mut word = [0; 8];
                    word[..chunk.len()].copy_from_slice(chunk);
                    *value = u64::from_ne_bytes(word);
                }
            }
            expected.push(Expected {
                values,
                scale: vec![0.0; elements],
            });
        }
        let mut outputs = expected.iter_mut();
        let mut pointers: Vec<*mut c_void> = Vec::new();
        for (arg, place) in self.spec.function().args.iter().zip(&set.places) {
            if arg.is_output() {
                let output = outputs.next().expect("one per output");
                pointers.push(output.values.as_mut_ptr().cast());
                pointers.push(output.scale.as_mut_ptr().cast());
            } else {
                pointers.push(buffers.address(place));
            }
        }
        self.trusted().reference(&pointers);
        expected
    }

    /// Compares every element with the reference.
    fn compare(&self, call: &Call<'_>, expected: &[Expected], bound: f64, found: &mut Found) {
        let Call { buffers, set, .. } = *call;
        for (Output { arg, place }, expected) in outputs(&self.spec, set).zip(expected) {
            let (got, want) = (
                buffers.bytes(place),
                as_bytes(&expected.values, place.bytes),
            );
            let worst = worst(arg.kind, got, want, &expected.scale);
            found.note_error(worst.0);
            if !within(worst.0, bound) {
                let (got, want) = (
                    number(arg.kind, got, worst.1),
                    number(arg.kind, want, worst.1),
                );
                let at = element_name(arg, set, worst.1);
                let sizes = size_names(set);
                found.fail_strict(format!(
                    "{at} is {got:.17e} but should be {want:.17e} ({sizes})"
                ));
            }
        }
    }

    /// The paper's check of the first output: four corners, the centre, 100 random points.
    fn check_points(
        &self,
        fresh: &mut Fresh,
        call: &Call<'_>,
        expected: Option<&[Expected]>,
        found: &mut Found,
    ) {
        let Call { buffers, set, .. } = *call;
        let Some(output) = outputs(&self.spec, set).next() else {
            return;
        };
        let Output { arg, place } = output;
        let elements = place.bytes / arg.kind.bytes();
        if elements == 0 {
            return;
        }
        let points = Matrix::of(arg, set).paper_points(fresh);
        let want = self.right_values(call, expected, output, &points);
        for (point, want) in points.into_iter().zip(want) {
            let got = number(arg.kind, buffers.bytes(place), point);
            let error = (got - want).abs() / want.abs().max(1e-300);
            if !within(error, PAPER_TOLERANCE) {
                found.checks.paper = false;
                let at = element_name(arg, set, point);
                found
                    .paper_why
                    .get_or_insert(format!("{at} is {got:.9e} but should be {want:.9e}"));
                return;
            }
        }
    }

    /// The correct values at `points`, from the library if there is one, otherwise from the task's
    /// reference.
    fn right_values(
        &self,
        call: &Call<'_>,
        expected: Option<&[Expected]>,
        Output { arg, place }: Output<'_>,
        points: &[usize],
    ) -> Vec<f64> {
        let Call { buffers, set, .. } = *call;
        let pick = |bytes: &[u8]| {
            points
                .iter()
                .map(|point| number(arg.kind, bytes, *point))
                .collect()
        };
        // The library and `point` read the buffers as the candidate left them. This fails if the
        // candidate overwrote their inputs, or if they would write into its other outputs.
        let is_plain = arg.role == Role::Out && outputs(&self.spec, set).count() == 1;
        if let Some(baseline) = self.baseline.as_ref().filter(|_| is_plain) {
            let mut values = vec![0u64; place.bytes.div_ceil(8)];
            let mut pointers = pointers(buffers, set);
            let position = self
                .spec
                .function()
                .args
                .iter()
                .position(Arg::is_output)
                .expect("a task writes something");
            pointers[position] = values.as_mut_ptr().cast();
            baseline.call(&pointers);
            return pick(as_bytes(&values, place.bytes));
        }
        if let Some(expected) = expected {
            return pick(as_bytes(&expected[0].values, place.bytes));
        }
        let pointers = pointers(buffers, set);
        let alone: Option<Vec<f64>> = points
            .iter()
            .map(|point| self.trusted().point(&pointers, *point).filter(|_| is_plain))
            .collect();
        alone.unwrap_or_else(|| pick(as_bytes(&self.expect(call)[0].values, place.bytes)))
    }
}
