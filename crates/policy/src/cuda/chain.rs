//! The kernels of a decode step and their overlapping launches (programmatic dependent launch). A
//! kernel starts once every block of the previous kernel has passed its own wait. If the previous
//! kernel is not one of these, it must have ended. The kernel then waits itself for its inputs
//! (`step_wait` of `decode_tile.cu`).

#![expect(
    unsafe_code,
    reason = "launches with attributes are the driver's C interface, confined here"
)]

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use cudarc::driver::{DriverError, result, sys};

use super::device::{Arg, Device, Launch};
use super::error::{Error, Result};
use super::kernels;

/// A kernel, and the shared memory that it is allowed so far.
struct Function {
    handle: sys::CUfunction,
    shared: usize,
}

/// These kernels on one device.
pub(super) struct Chain {
    device: Device,
    module: sys::CUmodule,
    functions: Mutex<HashMap<&'static str, Function>>,
}

// SAFETY: any thread with the right context may use modules and functions, and `launch` takes a
// lock.
unsafe impl Send for Chain {}

/// The work that was queued before a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    /// Anything else, which must have ended.
    Anything,
    /// A kernel of the same step, so this one may start before it ends.
    Kernel,
}

impl Chain {
    /// Compiles and loads the kernels for heads of that width.
    pub(super) fn new(device: &Device, head_dim: usize) -> Result<Self> {
        device.enter()?;
        let (ptx, _) = kernels::compile_step(head_dim, device.facts()?.capability)?;
        let image = CString::new(ptx.to_src())
            .map_err(|_| Error::Setting("the kernels hold a zero byte".into()))?;
        // SAFETY: the context is current. The image ends with a zero and is read before the call
        // returns.
        let module = unsafe { result::module::load_data(image.as_ptr().cast()) };
        let module = module.map_err(|source| Error::Driver {
            at: "loading the kernels of a decode step",
            source,
        })?;
        Ok(Self {
            device: device.clone(),
            module,
            functions: Mutex::default(),
        })
    }

    fn function(
        &self,
        name: &'static str,
        shared: usize,
    ) -> std::result::Result<sys::CUfunction, DriverError> {
        use sys::CUfunction_attribute_enum as Attribute;
        let mut functions = self
            .functions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !functions.contains_key(name) {
            let text = CString::new(name).unwrap_or_default();
            // SAFETY: the module is loaded and lives as long as `self`.
            let handle = unsafe { result::module::get_function(self.module, text)? };
            // Kernels on the same multiprocessor must split its memory equally. All of it is shared
            // memory.
            let carveout = Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
            // SAFETY: the function is of the loaded module.
            unsafe { result::function::set_function_attribute(handle, carveout, 100)? };
            // The limit is requested from the first byte on, because static shared memory counts
            // towards the usual 48 KB.
            functions.insert(name, Function { handle, shared: 0 });
        }
        let function = functions.get_mut(name).expect("inserted above");
        if shared > function.shared {
            let most = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            // SAFETY: as above.
            unsafe {
                result::function::set_function_attribute(function.handle, most, shared as i32)?;
            };
            function.shared = shared;
        }
        Ok(function.handle)
    }

    /// Queues a kernel.
    pub(super) fn launch(
        &self,
        name: &'static str,
        launch: Launch,
        follows: Follows,
        arguments: &[Arg],
    ) -> Result<()> {
        self.queue(name, launch, 1, follows, arguments)
    }

    /// Queues a kernel behind one of the chain's, whose blocks of the same x are a cluster.
    pub(super) fn cluster(
        &self,
        name: &'static str,
        launch: Launch,
        arguments: &[Arg],
    ) -> Result<()> {
        self.queue(name, launch, launch.grid.1, Follows::Kernel, arguments)
    }

    fn queue(
        &self,
        name: &'static str,
        launch: Launch,
        cluster: usize,
        follows: Follows,
        arguments: &[Arg],
    ) -> Result<()> {
        use sys::CUlaunchAttributeID as Id;
        let at = |source| Error::Driver { at: name, source };
        let handle = self.function(name, launch.shared).map_err(at)?;
        let mut places: Vec<*mut c_void> = arguments.iter().map(Arg::place).collect();
        let mut attributes = Vec::with_capacity(2);
        if follows == Follows::Kernel {
            let value = sys::CUlaunchAttributeValue {
                programmaticStreamSerializationAllowed: 1,
            };
            attributes.push((
                Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                value,
            ));
        }
        if cluster > 1 {
            let blocks = sys::CUlaunchAttributeValue_union__bindgen_ty_1 {
                x: 1,
                y: cluster as u32,
                z: 1,
            };
            let value = sys::CUlaunchAttributeValue { clusterDim: blocks };
            attributes.push((Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value));
        }
        let mut attributes: Vec<_> = attributes
            .into_iter()
            .map(|(id, value)| sys::CUlaunchAttribute {
                id,
                pad: [0; 4],
                value,
            })
            .collect();
        let (x, y, z) = launch.grid;
        let config = sys::CUlaunchConfig {
            gridDimX: x as u32,
            gridDimY: y as u32,
            gridDimZ: z as u32,
            blockDimX: launch.threads as u32,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: launch.shared as u32,
            hStream: self.device.stream().cu_stream(),
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as u32,
        };
        // SAFETY: the arguments match the kernel of that name and are read before the call returns.
        // Their memory lives until the stream is idle.
        let launched = unsafe {
            sys::cuLaunchKernelEx(
                &raw const config,
                handle,
                places.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        launched.result().map_err(at)?;
        self.device.note(name)
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        // A failure here is ignored, because the process is about to report an earlier one.
        let _ = self.device.enter();
        let _ = self.device.wait();
        // SAFETY: no queued work uses the module any more.
        let _ = unsafe { result::module::unload(self.module) };
    }
}
