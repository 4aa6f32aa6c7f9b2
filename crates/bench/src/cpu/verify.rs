//! Whether what a candidate left in its buffers is right. The candidate is frozen meanwhile.
//!
//! Two modes, both always computed: `strict` looks at every element with a bound that knows
//! the reference's scale; `paper` looks at 105 points with a relative error of 1e-6.

use std::ffi::c_void;
use std::ops::Range;
use std::sync::Mutex;

use hotloop_flow::formula;
use hotloop_flow::task::{Arg, Fill, Kind, Method, Role, TaskSpec};
use hotloop_flow::verdict::{Checks, Mismatch};

use crate::cpu::crew::Crew;
use crate::cpu::draws::{self, Note};
use crate::cpu::layout::{Layout, Place, Region, Set};
use crate::cpu::memory::Mapping;
use crate::cpu::trusted::{Baseline, Trusted};
use crate::inputs::{self, Fresh};
use crate::settings::Check;

const PAPER_POINTS: usize = 105;
const PAPER_TOLERANCE: f64 = 1e-6;

/// Both memory files, mapped on the trusted side, and what lies where in them.
pub(crate) struct Buffers {
    /// Read-only for the candidate.
    pub(crate) inputs: Mapping,
    /// Writable for the candidate.
    pub(crate) outputs: Mapping,
    pub(crate) layout: Layout,
    /// What was noted of each call of the last run, if that is done.
    pub(crate) notes: Vec<Note>,
}

impl Buffers {
    fn mapping(&self, region: Region) -> &Mapping {
        match region {
            Region::Inputs => &self.inputs,
            Region::Outputs => &self.outputs,
        }
    }

    fn bytes(&self, place: &Place) -> &[u8] {
        self.mapping(place.region).slice(place.start(), place.bytes)
    }

    fn address(&self, place: &Place) -> *mut c_void {
        self.mapping(place.region).address(place.start()).cast()
    }
}

/// Judges the buffers of one task.
pub(crate) struct Verifier {
    spec: TaskSpec,
    /// Absent only for the bench's own roofs, which are never checked.
    trusted: Option<Trusted>,
    baseline: Option<Baseline>,
    /// What slack bytes were filled with for the run in flight.
    canary: u8,
    /// Copies of in-out buffers as the candidate got them, by set and argument.
    initial: Vec<Vec<Vec<u8>>>,
    /// What was found so far.
    found: Found,
}

/// What all checks of a candidate add up to.
#[derive(Debug, Clone)]
struct Found {
    checks: Checks,
    /// The first strict failure, in words.
    strict_why: Option<String>,
    /// The first paper failure, in words.
    paper_why: Option<String>,
}

impl Default for Found {
    fn default() -> Self {
        let checks = Checks {
            paper: true,
            strict: true,
            error: 0.0,
        };
        Self {
            checks,
            strict_why: None,
            paper_why: None,
        }
    }
}

impl Found {
    fn note_error(&mut self, error: f64) {
        let worst = &mut self.checks.error;
        if !within(error, *worst) {
            *worst = if error.is_nan() { f64::INFINITY } else { error };
        }
    }

    fn fail_strict(&mut self, why: String) {
        self.checks.strict = false;
        self.strict_why.get_or_insert(why);
    }

    /// Fails both checks: something was written that is not the candidate's to write.
    fn fail_both(&mut self, why: String) {
        self.checks = Checks {
            paper: false,
            strict: false,
            error: f64::INFINITY,
        };
        self.strict_why.get_or_insert_with(|| why.clone());
        self.paper_why.get_or_insert(why);
    }

    /// Takes in what was found later.
    fn add(&mut self, later: Self) {
        self.note_error(later.checks.error);
        self.checks.strict &= later.checks.strict;
        self.checks.paper &= later.checks.paper;
        self.strict_why = self.strict_why.take().or(later.strict_why);
        self.paper_why = self.paper_why.take().or(later.paper_why);
    }
}

/// One call's buffers, as the candidate left them.
struct Call<'a> {
    buffers: &'a Buffers,
    set: &'a Set,
    index: usize,
}

/// Right values and scales of one output.
struct Expected {
    values: Vec<u64>, // 8-byte aligned storage
    scale: Vec<f64>,
}

impl Verifier {
    /// A verifier that has seen nothing yet.
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

    /// What the checks add up to so far.
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

    /// Gives the sets of `calls` fresh inputs, poisoned outputs and fresh canaries, shared among the crew.
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

    /// Checks what the candidate left in the sets of `calls`, shared among the crew. With `paper`, the 105 points too.
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
        let bound = formula::evaluate(&self.spec.verify.bound, &set.sizes)
            .expect("checked by Task::parse")
            * (f64::EPSILON / 2.0);
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

    /// What was seen when the call had returned must be there still: nothing of it was left for a later call.
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
        let bytes: Vec<usize> = outputs.iter().map(|(_, place)| place.bytes).collect();
        let Some((output, byte)) = draws::spot(note.after, &bytes) else {
            return;
        };
        let (arg, place) = outputs[output];
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
        for (arg, place) in outputs(&self.spec, set) {
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
        for (arg, place) in self.spec.args.iter().zip(&set.places) {
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

    /// Every element against the reference.
    fn compare(&self, call: &Call<'_>, expected: &[Expected], bound: f64, found: &mut Found) {
        let Call { buffers, set, .. } = *call;
        for ((arg, place), expected) in outputs(&self.spec, set).zip(expected) {
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
        let Some((arg, place)) = outputs(&self.spec, set).next() else {
            return;
        };
        let elements = place.bytes / arg.kind.bytes();
        if elements == 0 {
            return;
        }
        let points = paper_points(fresh, rows_and_columns(arg, set));
        let want = self.right_values(call, expected, (arg, place), &points);
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

    /// The right values at `points`: by the library if there is one, else by the task's reference.
    fn right_values(
        &self,
        call: &Call<'_>,
        expected: Option<&[Expected]>,
        (arg, place): (&Arg, &Place),
        points: &[usize],
    ) -> Vec<f64> {
        let Call { buffers, set, .. } = *call;
        let pick = |bytes: &[u8]| {
            points
                .iter()
                .map(|point| number(arg.kind, bytes, *point))
                .collect()
        };
        // Library and `point` read the buffers as the candidate left them: that will not do where it
        // overwrote what they need, or where they would write into its other outputs.
        let is_plain = arg.role == Role::Out && outputs(&self.spec, set).count() == 1;
        if let Some(baseline) = self.baseline.as_ref().filter(|_| is_plain) {
            let mut values = vec![0u64; place.bytes.div_ceil(8)];
            let mut pointers = pointers(buffers, set);
            let position = self
                .spec
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

/// One pointer per argument.
fn pointers(buffers: &Buffers, set: &Set) -> Vec<*mut c_void> {
    set.places
        .iter()
        .map(|place| buffers.address(place))
        .collect()
}

/// Whether an error is small enough; NaN never is, which `error > bound` would forget.
fn within(error: f64, bound: f64) -> bool {
    error <= bound
}

/// Fresh inputs, a poisoned output and canaries for one set; copies of what is in and out.
#[expect(
    unsafe_code,
    reason = "the sets of one mapping are filled side by side"
)]
fn freshen_set(
    fresh: &mut Fresh,
    spec: &TaskSpec,
    set: &Set,
    buffers: &Buffers,
    canary: u8,
) -> Vec<Vec<u8>> {
    for (arg, place) in spec.args.iter().zip(&set.places) {
        let mapping = buffers.mapping(place.region);
        for (start, length) in place.slack() {
            // SAFETY: places do not overlap, a set is filled by one thread, and the candidate is frozen.
            unsafe { mapping.part_mut(start, length) }.fill(canary);
        }
        let rows: &[u8] = match &arg.fill {
            Some(Fill::Columns { rows, .. }) => {
                let rows = spec
                    .args
                    .iter()
                    .position(|other| other.name == *rows)
                    .expect("checked by Task::parse");
                buffers.bytes(&set.places[rows])
            }
            _ => &[],
        };
        // SAFETY: as above, and row pointers are another place.
        let (start, length) = place.with_room();
        let bytes = unsafe { mapping.part_mut(start, length) };
        match arg.role {
            Role::Out | Role::Return => inputs::poison(fresh, arg.kind, bytes),
            Role::In | Role::Scalar | Role::Inout => {
                inputs::fill(fresh, arg, &set.sizes, bytes, |_| Some(rows))
            }
        }
    }
    let in_and_out = outputs(spec, set).filter(|(arg, _)| arg.role == Role::Inout);
    in_and_out
        .map(|(_, place)| buffers.bytes(place).to_vec())
        .collect()
}

fn outputs<'a>(spec: &'a TaskSpec, set: &'a Set) -> impl Iterator<Item = (&'a Arg, &'a Place)> {
    spec.args
        .iter()
        .zip(&set.places)
        .filter(|(arg, _)| arg.is_output())
}

#[expect(unsafe_code, reason = "words are bytes too")]
fn as_bytes(values: &[u64], length: usize) -> &[u8] {
    // SAFETY: every byte of a word is a valid byte, and the middle part is all of them.
    let (_, bytes, _) = unsafe { values.align_to::<u8>() };
    &bytes[..length]
}

/// Element `index` of a buffer as a double. Exact for every kind but large 64-bit integers.
fn number(kind: Kind, bytes: &[u8], index: usize) -> f64 {
    let chunk = &bytes[index * kind.bytes()..(index + 1) * kind.bytes()];
    match kind {
        Kind::F64 => f64::from_ne_bytes(chunk.try_into().expect("eight bytes")),
        Kind::F32 => f64::from(f32::from_ne_bytes(chunk.try_into().expect("four bytes"))),
        Kind::I32 => f64::from(i32::from_ne_bytes(chunk.try_into().expect("four bytes"))),
        Kind::I64 => i64::from_ne_bytes(chunk.try_into().expect("eight bytes")) as f64,
    }
}

/// The worst error of a buffer relative to the elements' scales, and which element has it.
fn worst(kind: Kind, got: &[u8], want: &[u8], scale: &[f64]) -> (f64, usize) {
    match kind {
        Kind::F64 => worst_of(got, want, scale, |got, want| {
            (f64::from_ne_bytes(got) - f64::from_ne_bytes(want)).abs()
        }),
        Kind::F32 => worst_of(got, want, scale, |got, want| {
            (f64::from(f32::from_ne_bytes(got)) - f64::from(f32::from_ne_bytes(want))).abs()
        }),
        Kind::I32 => worst_of(got, want, scale, |got, want| {
            f64::from(i32::from_ne_bytes(got).abs_diff(i32::from_ne_bytes(want)))
        }),
        // Exact where a double would not be.
        Kind::I64 => worst_of(got, want, scale, |got, want| {
            i64::from_ne_bytes(got).abs_diff(i64::from_ne_bytes(want)) as f64
        }),
    }
}

/// The same for elements of so many bytes that are `off` from each other: one kind a loop, since every element of every
/// call comes by.
fn worst_of<const BYTES: usize>(
    got: &[u8],
    want: &[u8],
    scale: &[f64],
    off: impl Fn([u8; BYTES], [u8; BYTES]) -> f64,
) -> (f64, usize) {
    let mut worst = (0.0, 0);
    let pairs = got.as_chunks().0.iter().zip(want.as_chunks().0);
    for (index, ((got, want), scale)) in pairs.zip(scale).enumerate() {
        let off = off(*got, *want);
        let error = if off == 0.0 { 0.0 } else { off / scale };
        if !within(error, worst.0) {
            worst = (if error.is_nan() { f64::INFINITY } else { error }, index);
            if worst.0 == f64::INFINITY {
                break;
            }
        }
    }
    worst
}

/// The first output as a matrix: all but the last dimension are rows.
fn rows_and_columns(arg: &Arg, set: &Set) -> (usize, usize) {
    let dims: Vec<usize> = arg
        .shape
        .iter()
        .map(|dim| formula::count(dim, &set.sizes).expect("checked"))
        .collect();
    match dims.split_last() {
        Some((columns, rows)) => (rows.iter().product(), *columns),
        None => (1, 1),
    }
}

fn paper_points(fresh: &mut Fresh, (rows, columns): (usize, usize)) -> Vec<usize> {
    let at = |row: usize, column: usize| row * columns + column;
    let (last_row, last_column) = (rows - 1, columns - 1);
    let mut points = vec![
        at(0, 0),
        at(0, last_column),
        at(last_row, 0),
        at(last_row, last_column),
        at(rows / 2, columns / 2),
    ];
    points
        .extend((points.len()..PAPER_POINTS).map(|_| at(fresh.index(rows), fresh.index(columns))));
    points
}

fn element_name(arg: &Arg, set: &Set, index: usize) -> String {
    let (_, columns) = rows_and_columns(arg, set);
    match arg.shape.len() {
        0 => "the return value".to_owned(),
        1 => format!("{}[{index}]", arg.name),
        _ => format!(
            "{}[{}][{}]",
            arg.name,
            index / columns.max(1),
            index % columns.max(1)
        ),
    }
}

fn size_names(set: &Set) -> String {
    set.sizes
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect::<Vec<_>>()
        .join(" ")
}
