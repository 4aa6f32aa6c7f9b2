//! One GPU: its context, its stream, its kernels, its memory.
//!
//! All work goes to one stream, so it runs in the order of submission. Memory is freed only after
//! that stream is idle. This makes it safe to pass plain addresses around in here, which kernels
//! and cuBLAS need.

#![expect(
    unsafe_code,
    reason = "the CUDA driver is a C interface: launches, copies and frees are all confined here"
)]

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cudarc::driver::sys::{
    CUdevice_attribute, CUevent_flags, CUfunction_attribute, CUgraphInstantiate_flags, CUresult,
    CUstreamCaptureMode,
};
use cudarc::driver::{
    CudaContext, CudaEvent, CudaFunction, CudaGraph, CudaModule, CudaStream, DriverError,
    LaunchConfig, PushKernelArg, result,
};

use super::error::{Error, Result};
use super::kernels;
pub(super) use super::launch::{Address, Arg, Launch, args};
use super::libraries::missing;
use super::trace::Trace;
use crate::precision::Precision;

/// Facts about a GPU, and the compile time of its kernels.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceFacts {
    pub name: String,
    /// Its compute capability.
    pub capability: (i32, i32),
    pub compile_time: Duration,
}

fn check<T>(at: &'static str, result: std::result::Result<T, DriverError>) -> Result<T> {
    result.map_err(|source| Error::Driver { at, source })
}

/// One GPU. Clones share it.
#[derive(Clone)]
pub(crate) struct Device {
    inner: Arc<Inner>,
}

struct Inner {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    module: Arc<CudaModule>,
    functions: Mutex<HashMap<&'static str, CudaFunction>>,
    precision: Precision,
    compile_time: Duration,
    shared_limit: usize,
    /// The last submitted work, for error messages.
    last: Mutex<&'static str>,
    /// Whether to wait for every kernel, so that errors name the right one.
    careful: bool,
    capturing: AtomicBool,
    trace: Mutex<Option<Trace>>,
    used: AtomicU64,
    peak: AtomicU64,
}

impl Device {
    /// Opens the first GPU and compiles the kernels for it.
    pub(crate) fn open(precision: Precision, head_dim: usize) -> Result<Self> {
        if let Some(missing) = missing() {
            return Err(missing);
        }
        let at = |at| move |source| Error::Driver { at, source };
        let context = CudaContext::new(0).map_err(at("opening the first GPU"))?;
        // SAFETY: everything runs on one stream, so events are not needed for ordering. Graphs
        // cannot capture them.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(at("making a stream"))?;
        let capability = context
            .compute_capability()
            .map_err(at("asking for the compute capability"))?;
        let shared = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        let shared_limit = context
            .attribute(shared)
            .map_err(at("asking for the shared memory"))? as usize;
        let (ptx, compile_time) = kernels::compile(precision, head_dim, capability)?;
        let module = context
            .load_module(ptx)
            .map_err(at("loading the kernels"))?;
        let inner = Inner {
            context,
            stream,
            module,
            functions: Mutex::default(),
            precision,
            compile_time,
            shared_limit,
            last: Mutex::new("opening"),
            careful: std::env::var_os("HOTLOOP_CUDA_SYNC").is_some(),
            capturing: AtomicBool::new(false),
            trace: Mutex::new(None),
            used: AtomicU64::new(0),
            peak: AtomicU64::new(0),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// The type of weights and activations.
    pub(crate) fn precision(&self) -> Precision {
        self.inner.precision
    }

    /// Bytes of `count` weights or activations.
    pub(super) fn reals(&self, count: usize) -> usize {
        count * self.inner.precision.bytes()
    }

    /// Its name, compute capability, and the compile time of the kernels.
    pub(crate) fn facts(&self) -> Result<DeviceFacts> {
        let context = &self.inner.context;
        let name = check("asking for the name", context.name())?;
        let capability = check("asking for the capability", context.compute_capability())?;
        Ok(DeviceFacts {
            name,
            capability,
            compile_time: self.inner.compile_time,
        })
    }

    /// Bytes of shared memory that a block may ask for.
    pub(super) fn shared_limit(&self) -> usize {
        self.inner.shared_limit
    }

    /// Free and total bytes.
    pub(super) fn memory(&self) -> Result<(u64, u64)> {
        let (free, total) = check("asking for free memory", self.inner.context.mem_get_info())?;
        Ok((free as u64, total as u64))
    }

    /// The most bytes held at once since the last call.
    pub(crate) fn take_peak(&self) -> u64 {
        self.inner
            .peak
            .swap(self.inner.used.load(Ordering::Relaxed), Ordering::Relaxed)
    }

    pub(super) fn stream(&self) -> &Arc<CudaStream> {
        &self.inner.stream
    }

    /// Makes the GPU's context current, as every thread must before its first call.
    pub(super) fn enter(&self) -> Result<()> {
        check("entering the context", self.inner.context.bind_to_thread())
    }

    /// Memory for a purpose, not yet written.
    pub(super) fn alloc(&self, what: &str, bytes: usize) -> Result<Buffer> {
        self.enter()?;
        let size = bytes.max(256);
        // SAFETY: the context is current, and only the buffer owns the memory.
        match unsafe { result::malloc_sync(size) } {
            Ok(address) => {
                let used = self.inner.used.fetch_add(size as u64, Ordering::Relaxed) + size as u64;
                self.inner.peak.fetch_max(used, Ordering::Relaxed);
                Ok(Buffer {
                    address: Address(address),
                    bytes: size,
                    device: self.clone(),
                })
            }
            Err(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => {
                let (free, total) = self.memory()?;
                let fits =
                    "end what else uses the device, choose a smaller model, or ask for less \
                    at once"
                        .into();
                Err(Error::OutOfMemory {
                    what: what.into(),
                    wanted: size as u64,
                    free,
                    total,
                    fits,
                })
            }
            Err(source) => Err(Error::Driver {
                at: "allocating",
                source,
            }),
        }
    }

    /// Memory filled with zeros.
    pub(super) fn zeros(&self, what: &str, bytes: usize) -> Result<Buffer> {
        let buffer = self.alloc(what, bytes)?;
        self.clear(buffer.address, buffer.bytes)?;
        Ok(buffer)
    }

    /// Memory with these values.
    pub(super) fn upload<T: bytemuck::Pod>(&self, what: &str, values: &[T]) -> Result<Buffer> {
        let buffer = self.alloc(what, size_of_val(values))?;
        self.write(buffer.address, values)?;
        Ok(buffer)
    }

    /// Fills bytes with zeros.
    pub(super) fn clear(&self, at: Address, bytes: usize) -> Result<()> {
        // SAFETY: callers pass addresses inside live buffers, and the stream orders the write.
        let done =
            unsafe { result::memset_d8_async(at.0, 0, bytes, self.inner.stream.cu_stream()) };
        check("clearing memory", done)
    }

    /// Copies values from the host.
    pub(super) fn write<T: bytemuck::Pod>(&self, at: Address, values: &[T]) -> Result<()> {
        // SAFETY: the driver reads pageable memory before it returns, and the address is in a live
        // buffer.
        let done =
            unsafe { result::memcpy_htod_async(at.0, values, self.inner.stream.cu_stream()) };
        check("copying to the device", done)
    }

    /// Copies values to the host after all earlier work is done.
    pub(super) fn read<T: bytemuck::Pod>(&self, from: Address, count: usize) -> Result<Vec<T>> {
        let mut values = vec![T::zeroed(); count];
        if count > 0 {
            // SAFETY: the vector outlives the copy, because the code below waits for the stream.
            let done = unsafe {
                result::memcpy_dtoh_async(&mut values, from.0, self.inner.stream.cu_stream())
            };
            check(self.last(), done)?;
        }
        self.wait()?;
        Ok(values)
    }

    /// Copies within the device.
    pub(super) fn copy(&self, to: Address, from: Address, bytes: usize) -> Result<()> {
        // SAFETY: both ranges are in live buffers and do not overlap.
        let done = unsafe {
            result::memcpy_dtod_async(to.0, from.0, bytes, self.inner.stream.cu_stream())
        };
        check("copying on the device", done)?;
        self.note("copying on the device")
    }

    fn last(&self) -> &'static str {
        *self
            .inner
            .last
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the current work for messages. If errors must name their kernel, it also waits for
    /// it.
    pub(super) fn note(&self, at: &'static str) -> Result<()> {
        self.note_sized(at, String::new)
    }

    /// The same for work with a size, which a trace lists separately.
    pub(super) fn note_sized(&self, at: &'static str, size: impl FnOnce() -> String) -> Result<()> {
        *self
            .inner
            .last
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = at;
        if self.inner.capturing.load(Ordering::Relaxed) {
            return Ok(());
        }
        if let Some(trace) = &mut *self
            .inner
            .trace
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
        {
            trace.note(format!("{at}{}", size()), self.event()?);
        }
        if self.inner.careful {
            self.wait()
        } else {
            Ok(())
        }
    }

    /// An event after all queued work.
    pub(super) fn event(&self) -> Result<CudaEvent> {
        check(
            "an event",
            self.inner
                .stream
                .record_event(Some(CUevent_flags::CU_EVENT_DEFAULT)),
        )
    }

    /// Starts or ends a trace, and returns the previous one.
    pub(super) fn set_trace(&self, trace: Option<Trace>) -> Option<Trace> {
        std::mem::replace(
            &mut *self
                .inner
                .trace
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
            trace,
        )
    }

    /// Waits until the device has finished all work.
    pub(crate) fn wait(&self) -> Result<()> {
        check(self.last(), self.inner.stream.synchronize())
    }

    /// Queues a kernel.
    pub(super) fn launch(
        &self,
        name: &'static str,
        launch: Launch,
        arguments: &[Arg],
    ) -> Result<()> {
        let Launch {
            grid: (x, y, z),
            threads,
            shared,
        } = launch;
        if x * y * z == 0 {
            return Ok(());
        }
        let mut functions = self
            .inner
            .functions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !functions.contains_key(name) {
            let function = check(name, self.inner.module.load_function(name))?;
            // Static shared memory also counts towards the usual 48 KB.
            if shared > 40 << 10 {
                let attribute =
                    CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
                check(name, function.set_attribute(attribute, shared as i32))?;
            }
            functions.insert(name, function);
        }
        let function = &functions[name];
        let mut builder = self.inner.stream.launch_builder(function);
        for argument in arguments {
            match argument {
                Arg::Word(value) => builder.arg(value),
                Arg::Int(value) => builder.arg(value),
                Arg::Long(value) => builder.arg(value),
                Arg::Float(value) => builder.arg(value),
            };
        }
        let config = LaunchConfig {
            grid_dim: (x as u32, y as u32, z as u32),
            block_dim: (threads as u32, 1, 1),
            shared_mem_bytes: shared as u32,
        };
        // SAFETY: the arguments match the kernel of that name. examples/cuda_check checks every
        // kernel against the CPU. Their memory lives until the stream is idle.
        let launched = unsafe { builder.launch(config) };
        check(name, launched)?;
        drop(functions);
        self.note(name)
    }

    /// Records the work that `work` queues, for replay as a whole.
    pub(super) fn capture(&self, work: impl FnOnce() -> Result<()>) -> Result<Graph> {
        self.wait()?;
        let stream = &self.inner.stream;
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        check("beginning a graph", stream.begin_capture(mode))?;
        self.inner.capturing.store(true, Ordering::Relaxed);
        let worked = work();
        self.inner.capturing.store(false, Ordering::Relaxed);
        let graph = stream.end_capture(CUgraphInstantiate_flags(0));
        worked?;
        let graph = check("ending a graph", graph)?;
        graph.map(Graph).ok_or(Error::Driver {
            at: "an empty graph",
            source: DriverError(CUresult::CUDA_ERROR_UNKNOWN),
        })
    }

    pub(super) fn replay(&self, graph: &Graph) -> Result<()> {
        check("replaying a graph", graph.0.launch())?;
        self.note("a replayed graph")
    }
}

/// Recorded work that can be replayed.
pub(super) struct Graph(CudaGraph);

// SAFETY: a graph may move between threads as long as one uses it at a time; `Graph` is not shared.
unsafe impl Send for Graph {}

/// Memory on the device. Dropping it waits until the stream is idle and frees it.
pub(super) struct Buffer {
    pub(super) address: Address,
    bytes: usize,
    device: Device,
}

impl From<&Buffer> for Arg {
    fn from(buffer: &Buffer) -> Self {
        Self::Word(buffer.address.0)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // A failure here is ignored, because the process is about to report an earlier one.
        let _ = self.device.enter();
        let _ = self.device.inner.stream.synchronize();
        // SAFETY: this buffer owns the memory, and no queued work uses it any more.
        let _ = unsafe { result::free_sync(self.address.0) };
        self.device
            .inner
            .used
            .fetch_sub(self.bytes as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_cover_their_work_with_whole_warps() {
        for width in [8, 64, 896, 3584, 18944] {
            let launch = Launch::rows(7, width);
            assert!(
                launch.threads.is_multiple_of(32) && launch.threads <= 256 && launch.grid.0 == 7,
                "{width}: {launch:?}"
            );
        }
        assert_eq!(Launch::each(257).grid.0, 2);
        assert_eq!(Launch::strided(1 << 30, 1024).grid.0, 1024);
    }
}
