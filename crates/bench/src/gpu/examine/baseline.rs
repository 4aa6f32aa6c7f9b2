//! Baselines by cuBLAS, loaded at run time and called in the examiner's own context.
#![expect(unsafe_code, reason = "cuBLAS is a C interface")]

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::time::{Duration, Instant};

use hotloop_flow::formula;
use hotloop_flow::interface::Kind;
use hotloop_flow::measured::Baseline;
use hotloop_flow::statistics::median;
use hotloop_flow::task::Library as Named;

use crate::gpu::driver::{Address, Failure, Gpu};
use crate::gpu::examine::station::Station;
use crate::gpu::examine::work::{Trouble, Work};
use crate::gpu::library::{Library, table};
use crate::gpu::trusted::{Drawing, Lines, Shape};

type Handle = *mut c_void;

table! {
    /// What the bench calls of cuBLAS.
    Functions {
        create = "cublasCreate_v2" (*mut Handle);
        version = "cublasGetVersion_v2" (Handle, *mut c_int);
        set_stream = "cublasSetStream_v2" (Handle, Handle);
        set_math_mode = "cublasSetMathMode" (Handle, c_int);
        sgemm = "cublasSgemm_v2" (Handle, c_int, c_int, c_int, c_int, c_int, *const f32, Address, c_int, Address, c_int, *const f32, Address, c_int);
        sgeam = "cublasSgeam" (Handle, c_int, c_int, c_int, c_int, *const f32, Address, c_int, *const f32, Address, c_int, Address, c_int);
    }
}

/// Floats are multiplied as floats: TF32 has a mode of its own.
const DEFAULT_MATH: c_int = 0;
const PLAIN: c_int = 0;
const TRANSPOSED: c_int = 1;
const RUNS: usize = 10;
/// How long a measurement stays valid: clock rates change slowly.
const VALID: Duration = Duration::from_mins(1);

/// Baselines that were measured.
#[derive(Default)]
pub(super) struct Baselines {
    library: Loading,
    measured: BTreeMap<(&'static str, Vec<usize>), (f64, Instant)>,
}

#[derive(Default)]
enum Loading {
    #[default]
    NotYet,
    Missing,
    Loaded(Cublas),
}

struct Cublas {
    functions: Functions,
    handle: Handle,
    version: String,
}

impl Cublas {
    /// Loads it, and has it work on the examiner's stream.
    fn open(gpu: &Gpu) -> Option<Self> {
        let library = Library::open(&["libcublas.so.13", "libcublas.so.12", "libcublas.so"])?;
        let functions = Functions::load(library).ok()?;
        let (mut handle, mut version): (Handle, c_int) = (null_mut(), 0);
        // SAFETY: the pointers outlive the calls, and the context is current.
        let statuses = unsafe {
            [
                (functions.create)(&raw mut handle),
                (functions.version)(handle, &raw mut version),
                (functions.set_stream)(handle, gpu.stream()),
                (functions.set_math_mode)(handle, DEFAULT_MATH),
            ]
        };
        let version = format!(
            "{}.{}.{}",
            version / 10_000,
            version / 100 % 100,
            version % 100
        );
        (statuses == [0; 4]).then_some(Self {
            functions,
            handle,
            version,
        })
    }

    /// Queues the operation on matrices of `shape`, row-major, in the order of the task's
    /// arguments.
    fn call(&self, library: Named, shape: &[usize], at: [Address; 3]) -> Result<(), Failure> {
        let [rows, columns] = [shape[0] as c_int, shape[1] as c_int];
        let (one, zero) = (1.0f32, 0.0f32);
        let [a, b, c] = at;
        // SAFETY: the matrices have the sizes that are passed, and the scalars are read at once.
        let status = unsafe {
            match library {
                // Row by row, C = A B is what column by column is C' = B' A'.
                Named::CublasSgemm => (self.functions.sgemm)(
                    self.handle,
                    PLAIN,
                    PLAIN,
                    columns,
                    columns,
                    columns,
                    &raw const one,
                    b,
                    columns,
                    a,
                    columns,
                    &raw const zero,
                    c,
                    columns,
                ),
                Named::CublasSgeam => (self.functions.sgeam)(
                    self.handle,
                    TRANSPOSED,
                    PLAIN,
                    rows,
                    columns,
                    &raw const one,
                    a,
                    columns,
                    &raw const zero,
                    c,
                    rows,
                    c,
                    rows,
                ),
                Named::Openblas => 0,
            }
        };
        if status == 0 {
            return Ok(());
        }
        Err(Failure {
            code: status,
            name: format!("cuBLAS status {status}"),
            during: "running the baseline",
        })
    }
}

impl Baselines {
    /// The version of cuBLAS, if there is one.
    pub(super) fn version(&mut self, gpu: &Gpu) -> Option<String> {
        self.cublas(gpu).map(|cublas| cublas.version.clone())
    }

    fn cublas(&mut self, gpu: &Gpu) -> Option<&Cublas> {
        if matches!(self.library, Loading::NotYet) {
            self.library = Cublas::open(gpu).map_or(Loading::Missing, Loading::Loaded);
        }
        match &self.library {
            Loading::Loaded(cublas) => Some(cublas),
            Loading::NotYet | Loading::Missing => None,
        }
    }

    /// The task's baseline, measured now or a while ago.
    pub(super) fn of(
        &mut self,
        station: &mut Station,
        work: &Work,
    ) -> Result<Option<Baseline>, Trouble> {
        let Some(library @ (Named::CublasSgemm | Named::CublasSgeam)) = work.task.baseline else {
            return Ok(None);
        };
        let function = work.task.function();
        let count = |dim: &String| {
            formula::count(dim, &function.sizes.timed).expect("checked by Task::parse")
        };
        let shape: Vec<usize> = function.args[0].shape.iter().map(count).collect();
        if shape.len() != 2 {
            return Ok(None);
        }
        let key = (library.key(), shape);
        let known = self.measured.get(&key);
        let seconds = match known {
            Some((seconds, at)) if at.elapsed() < VALID => *seconds,
            _ => {
                let Some(cublas) = self.cublas(&station.gpu) else {
                    return Ok(None);
                };
                let seconds = cublas.clock(station, library, &key.1)?;
                self.measured.insert(key, (seconds, Instant::now()));
                seconds
            }
        };
        Ok(Some(Baseline {
            name: library.name().to_owned(),
            seconds,
        }))
    }
}

impl Cublas {
    /// The median of some runs on random matrices.
    fn clock(
        &self,
        station: &mut Station,
        library: Named,
        shape: &[usize],
    ) -> Result<f64, Failure> {
        let elements = (shape[0] * shape[1]) as u64;
        let drawing = Drawing {
            shape: Shape::Uniform,
            kind: Kind::F32,
            elements,
            key: station.fresh.word(),
            low: -1.0,
            high: 1.0,
            lines: Lines::of(&[], 0),
        };
        let mut at = [0; 3];
        for place in &mut at {
            *place = station.gpu.allocate(4 * elements)?;
            station.kernels.draw(&station.gpu, *place, &drawing)?;
        }
        let seconds = station.clock(RUNS, |_| self.call(library, shape, at));
        for place in at {
            station.gpu.free(place)?;
        }
        Ok(median(&seconds?))
    }
}
