//! The CUDA driver, loaded at run time: one GPU, its context and its stream.
//!
//! Addresses are plain numbers. Code that launches kernels of candidates runs in its own process.
#![expect(
    unsafe_code,
    reason = "the driver is a C interface; every call goes through here and its status is checked"
)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;

use crate::gpu::library::{Library, table};

use layout::{AccessDescription, AllocationProperties, LaunchAttribute, LaunchConfig};
pub(crate) use layout::{Attribute, Geometry};
pub(crate) use shared::{Access, Physical};

mod layout;
mod shared;

/// An address in the GPU's memory.
pub(crate) type Address = u64;
type Handle = *mut c_void;

table! {
    /// What the bench calls of the driver.
    Functions {
        init = "cuInit" (u32);
        version = "cuDriverGetVersion" (*mut c_int);
        device_count = "cuDeviceGetCount" (*mut c_int);
        device = "cuDeviceGet" (*mut c_int, c_int);
        device_name = "cuDeviceGetName" (*mut c_char, c_int, c_int);
        device_memory = "cuDeviceTotalMem_v2" (*mut usize, c_int);
        device_attribute = "cuDeviceGetAttribute" (*mut c_int, c_int, c_int);
        device_bus = "cuDeviceGetPCIBusId" (*mut c_char, c_int, c_int);
        retain = "cuDevicePrimaryCtxRetain" (*mut Handle, c_int);
        set_current = "cuCtxSetCurrent" (Handle);
        stream_create = "cuStreamCreate" (*mut Handle, u32);
        stream_synchronize = "cuStreamSynchronize" (Handle);
        memory_info = "cuMemGetInfo_v2" (*mut usize, *mut usize);
        allocate = "cuMemAlloc_v2" (*mut Address, usize);
        free = "cuMemFree_v2" (Address);
        set8 = "cuMemsetD8Async" (Address, u8, usize, Handle);
        set16 = "cuMemsetD16Async" (Address, u16, usize, Handle);
        set32 = "cuMemsetD32Async" (Address, u32, usize, Handle);
        upload = "cuMemcpyHtoDAsync_v2" (Address, *const c_void, usize, Handle);
        download = "cuMemcpyDtoHAsync_v2" (*mut c_void, Address, usize, Handle);
        copy = "cuMemcpyDtoDAsync_v2" (Address, Address, usize, Handle);
        module_load = "cuModuleLoadData" (*mut Handle, *const c_void);
        module_unload = "cuModuleUnload" (Handle);
        module_function = "cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
        module_global = "cuModuleGetGlobal_v2" (*mut Address, *mut usize, Handle, *const c_char);
        function_attribute = "cuFuncSetAttribute" (Handle, c_int, c_int);
        function_attribute_of = "cuFuncGetAttribute" (*mut c_int, c_int, Handle);
        function_parameter = "cuFuncGetParamInfo" (Handle, usize, *mut usize, *mut usize);
        launch = "cuLaunchKernelEx" (*const LaunchConfig, Handle, *mut *mut c_void, *mut *mut c_void);
        event_create = "cuEventCreate" (*mut Handle, u32);
        event_record = "cuEventRecord" (Handle, Handle);
        event_elapsed = "cuEventElapsedTime" (*mut f32, Handle, Handle);
        error_name = "cuGetErrorName" (u32, *mut *const c_char);
        granularity = "cuMemGetAllocationGranularity" (*mut usize, *const AllocationProperties, u32);
        create = "cuMemCreate" (*mut u64, usize, *const AllocationProperties, u64);
        release = "cuMemRelease" (u64);
        export = "cuMemExportToShareableHandle" (*mut c_void, u64, u32, u64);
        import = "cuMemImportFromShareableHandle" (*mut u64, *mut c_void, u32);
        reserve = "cuMemAddressReserve" (*mut Address, usize, usize, Address, u64);
        address_free = "cuMemAddressFree" (Address, usize);
        map = "cuMemMap" (Address, usize, usize, u64, u64);
        unmap = "cuMemUnmap" (Address, usize);
        set_access = "cuMemSetAccess" (Address, usize, *const AccessDescription, usize);
    }
}

const SUCCESS: u32 = 0;
const NON_BLOCKING: u32 = 1;
const COOPERATIVE: u32 = 2;
const CLUSTER_DIMENSION: u32 = 4;
const MAX_DYNAMIC_SHARED: c_int = 8;
const NON_PORTABLE_CLUSTER: c_int = 14;
/// Bytes of shared memory that every kernel may have without asking.
const USUAL_SHARED: u32 = 48 << 10;

/// A call that the driver refused, or work that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: u32,
    /// For example `CUDA_ERROR_ILLEGAL_ADDRESS`.
    pub(crate) name: String,
    pub(crate) during: &'static str,
}

impl Failure {
    pub(crate) const INVALID_VALUE: u32 = 1;
    pub(crate) const OUT_OF_MEMORY: u32 = 2;

    /// What the driver says of a value that it cannot take, said before it was asked.
    pub(crate) fn invalid(during: &'static str) -> Self {
        Self {
            code: Self::INVALID_VALUE,
            name: "CUDA_ERROR_INVALID_VALUE".to_owned(),
            during,
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.name, self.during)
    }
}

/// The driver, loaded.
pub(crate) struct Driver {
    functions: Functions,
}

impl Driver {
    /// Loads the driver's library, which only a machine with a GPU has.
    pub(crate) fn load() -> Result<Self, String> {
        let library = Library::open(&["libcuda.so.1", "libcuda.so"])
            .ok_or("libcuda.so.1 cannot be loaded: there is no NVIDIA driver")?;
        let functions = Functions::load(library)
            .map_err(|error| format!("{error}: the NVIDIA driver is too old"))?;
        Ok(Self { functions })
    }

    fn check(&self, during: &'static str, status: u32) -> Result<(), Failure> {
        if status == SUCCESS {
            return Ok(());
        }
        let mut text: *const c_char = std::ptr::null();
        // SAFETY: the driver leaves a static C string or nothing.
        let named = unsafe {
            (self.functions.error_name)(status, &raw mut text) == SUCCESS && !text.is_null()
        };
        let name = if named {
            // SAFETY: as above.
            unsafe { CStr::from_ptr(text) }
                .to_string_lossy()
                .into_owned()
        } else {
            format!("CUDA error {status}")
        };
        Err(Failure {
            code: status,
            name,
            during,
        })
    }
}

/// A module: machine code and variables in a context.
#[derive(Clone, Copy)]
pub(crate) struct Module(Handle);
/// A kernel of a module.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kernel(Handle);
/// A mark in the stream, with its time.
#[derive(Clone, Copy)]
pub(crate) struct Event(Handle);
/// One GPU with a context and a stream.
pub(crate) struct Gpu {
    driver: Driver,
    device: c_int,
    stream: Handle,
}

impl Gpu {
    /// Makes a context on the first GPU.
    pub(crate) fn open(driver: Driver) -> Result<Self, Failure> {
        let functions = &driver.functions;
        let (mut count, mut device) = (0, 0);
        let (mut context, mut stream): (Handle, Handle) = (null_mut(), null_mut());
        // SAFETY: every pointer outlives its call.
        unsafe {
            driver.check("initialising the driver", (functions.init)(0))?;
            let counted = (functions.device_count)(&raw mut count);
            driver.check("counting GPUs", counted)?;
            let found = (functions.device)(&raw mut device, 0);
            driver.check("finding the first GPU", found)?;
            let retained = (functions.retain)(&raw mut context, device);
            driver.check("making a context", retained)?;
            let current = (functions.set_current)(context);
            driver.check("entering the context", current)?;
            let created = (functions.stream_create)(&raw mut stream, NON_BLOCKING);
            driver.check("making a stream", created)?;
        }
        Ok(Self {
            driver,
            device,
            stream,
        })
    }

    fn functions(&self) -> &Functions {
        &self.driver.functions
    }

    fn check(&self, during: &'static str, status: u32) -> Result<(), Failure> {
        self.driver.check(during, status)
    }

    /// Its product name.
    pub(crate) fn name(&self) -> Result<String, Failure> {
        self.text("asking for the name", self.functions().device_name)
    }

    /// Its place on the bus, e.g. `0000:1B:00.0`.
    pub(crate) fn bus(&self) -> Result<String, Failure> {
        self.text("asking for the bus", self.functions().device_bus)
    }

    fn text(
        &self,
        during: &'static str,
        ask: unsafe extern "C" fn(*mut c_char, c_int, c_int) -> u32,
    ) -> Result<String, Failure> {
        let mut bytes = [0u8; 128];
        // SAFETY: the driver writes at most as many bytes as it is told, the last one zero.
        let status = unsafe { ask(bytes.as_mut_ptr().cast(), 127, self.device) };
        self.check(during, status)?;
        let text = CStr::from_bytes_until_nul(&bytes).unwrap_or_default();
        Ok(text.to_string_lossy().into_owned())
    }

    /// Bytes of its memory.
    pub(crate) fn memory_bytes(&self) -> Result<u64, Failure> {
        let mut bytes = 0usize;
        // SAFETY: the pointer outlives the call.
        let status = unsafe { (self.functions().device_memory)(&raw mut bytes, self.device) };
        self.check("asking for the size of memory", status)?;
        Ok(bytes as u64)
    }

    pub(crate) fn attribute(&self, attribute: Attribute) -> Result<i32, Failure> {
        let mut value = 0;
        let which = attribute as c_int;
        // SAFETY: the pointer outlives the call.
        let status =
            unsafe { (self.functions().device_attribute)(&raw mut value, which, self.device) };
        self.check("asking for an attribute", status)?;
        Ok(value)
    }

    /// The newest CUDA version of the driver, e.g. 13000.
    pub(crate) fn driver_version(&self) -> Result<i32, Failure> {
        let mut value = 0;
        // SAFETY: the pointer outlives the call.
        let status = unsafe { (self.functions().version)(&raw mut value) };
        self.check("asking for the version", status)?;
        Ok(value)
    }

    /// Free bytes of memory.
    pub(crate) fn free_bytes(&self) -> Result<u64, Failure> {
        let (mut free, mut total) = (0usize, 0usize);
        // SAFETY: the pointers outlive the call.
        let status = unsafe { (self.functions().memory_info)(&raw mut free, &raw mut total) };
        self.check("asking for free memory", status)?;
        Ok(free as u64)
    }

    pub(crate) fn allocate(&self, bytes: u64) -> Result<Address, Failure> {
        let mut address = 0;
        // SAFETY: the pointer outlives the call.
        let status = unsafe { (self.functions().allocate)(&raw mut address, bytes as usize) };
        self.check("allocating memory", status)?;
        Ok(address)
    }

    pub(crate) fn free(&self, address: Address) -> Result<(), Failure> {
        // SAFETY: the driver checks the address.
        let status = unsafe { (self.functions().free)(address) };
        self.check("freeing memory", status)
    }

    /// Repeats a pattern of one, two or four bytes.
    pub(crate) fn set(&self, to: Address, pattern: &[u8], bytes: u64) -> Result<(), Failure> {
        let (functions, stream) = (self.functions(), self.stream);
        let during = "setting memory";
        // SAFETY: callers name memory of theirs; what is beyond it faults in this context alone.
        let status = unsafe {
            match *pattern {
                [byte] => (functions.set8)(to, byte, bytes as usize, stream),
                [low, high] => {
                    let value = u16::from_le_bytes([low, high]);
                    (functions.set16)(to, value, bytes as usize / 2, stream)
                }
                [a, b, c, d] => {
                    let value = u32::from_le_bytes([a, b, c, d]);
                    (functions.set32)(to, value, bytes as usize / 4, stream)
                }
                _ => return Err(Failure::invalid(during)),
            }
        };
        self.check(during, status)
    }

    /// Copies from this process; `bytes` must stay until the stream has come that far.
    pub(crate) fn upload(&self, to: Address, bytes: &[u8]) -> Result<(), Failure> {
        let from = bytes.as_ptr().cast();
        // SAFETY: the driver copies pageable memory before it returns.
        let status = unsafe { (self.functions().upload)(to, from, bytes.len(), self.stream) };
        self.check("writing memory", status)
    }

    /// Copies to this process, after everything before it.
    pub(crate) fn download(&self, from: Address, bytes: &mut [u8]) -> Result<(), Failure> {
        let (to, count) = (bytes.as_mut_ptr().cast(), bytes.len());
        // SAFETY: the buffer outlives the copy, because the stream is awaited.
        let status = unsafe { (self.functions().download)(to, from, count, self.stream) };
        self.check("reading memory", status)?;
        self.synchronize()
    }

    pub(crate) fn copy(&self, to: Address, from: Address, bytes: u64) -> Result<(), Failure> {
        // SAFETY: as in `set`.
        let status = unsafe { (self.functions().copy)(to, from, bytes as usize, self.stream) };
        self.check("copying memory", status)
    }

    /// The stream, for libraries that work on it.
    pub(crate) fn stream(&self) -> *mut c_void {
        self.stream
    }

    /// Waits for all work.
    pub(crate) fn synchronize(&self) -> Result<(), Failure> {
        // SAFETY: a live stream.
        let status = unsafe { (self.functions().stream_synchronize)(self.stream) };
        self.check("running", status)
    }

    pub(crate) fn load(&self, image: &[u8]) -> Result<Module, Failure> {
        let mut module = null_mut();
        // SAFETY: the driver checks the image, and copies it.
        let status =
            unsafe { (self.functions().module_load)(&raw mut module, image.as_ptr().cast()) };
        self.check("loading the code", status)?;
        Ok(Module(module))
    }

    pub(crate) fn unload(&self, module: Module) -> Result<(), Failure> {
        // SAFETY: a live module, after which nobody uses its kernels.
        let status = unsafe { (self.functions().module_unload)(module.0) };
        self.check("unloading the code", status)
    }

    pub(crate) fn kernel(&self, module: Module, symbol: &str) -> Result<Kernel, Failure> {
        let during = "finding a kernel";
        let name = CString::new(symbol).map_err(|_| Failure::invalid(during))?;
        let mut kernel = null_mut();
        // SAFETY: a live module and a C string.
        let status =
            unsafe { (self.functions().module_function)(&raw mut kernel, module.0, name.as_ptr()) };
        self.check(during, status)?;
        Ok(Kernel(kernel))
    }

    /// Address and bytes of a variable.
    pub(crate) fn variable(&self, module: Module, symbol: &str) -> Result<(Address, u64), Failure> {
        let during = "finding a variable";
        let name = CString::new(symbol).map_err(|_| Failure::invalid(during))?;
        let (mut address, mut bytes) = (0, 0usize);
        // SAFETY: a live module and a C string.
        let status = unsafe {
            let find = self.functions().module_global;
            find(&raw mut address, &raw mut bytes, module.0, name.as_ptr())
        };
        self.check(during, status)?;
        Ok((address, bytes as u64))
    }

    /// The bytes of each parameter of a kernel.
    pub(crate) fn parameters(&self, kernel: Kernel) -> Vec<usize> {
        let mut sizes = Vec::new();
        loop {
            let (mut offset, mut bytes) = (0usize, 0usize);
            // SAFETY: the pointers outlive the call; it fails behind the last parameter.
            let status = unsafe {
                let ask = self.functions().function_parameter;
                ask(kernel.0, sizes.len(), &raw mut offset, &raw mut bytes)
            };
            if status != SUCCESS {
                return sizes;
            }
            sizes.push(bytes);
        }
    }

    /// Lets a kernel have what it asks for beyond the usual.
    pub(crate) fn allow(&self, kernel: Kernel, geometry: &Geometry) -> Result<(), Failure> {
        let set = |attribute: c_int, value: c_int| {
            // SAFETY: a live kernel.
            let status =
                unsafe { (self.functions().function_attribute)(kernel.0, attribute, value) };
            self.check("allowing a launch", status)
        };
        // Another call of the same candidate may have been allowed more.
        let mut allowed: c_int = 0;
        // SAFETY: a live kernel, and a number to write to.
        let status = unsafe {
            (self.functions().function_attribute_of)(&raw mut allowed, MAX_DYNAMIC_SHARED, kernel.0)
        };
        self.check("asking for a launch's limits", status)?;
        if geometry.shared > USUAL_SHARED && i64::from(geometry.shared) > i64::from(allowed) {
            set(MAX_DYNAMIC_SHARED, geometry.shared as c_int)?;
        }
        if geometry
            .cluster
            .is_some_and(|cluster| cluster.iter().product::<u32>() > 8)
        {
            set(NON_PORTABLE_CLUSTER, 1)?;
        }
        Ok(())
    }

    /// Queues a kernel. Each argument lies in its own bytes.
    pub(crate) fn launch(
        &self,
        kernel: Kernel,
        geometry: &Geometry,
        arguments: &mut [Vec<u8>],
    ) -> Result<(), Failure> {
        let mut attributes = Vec::new();
        let mut attribute = |id: u32, value: &[u32]| {
            let mut words = [0; 16];
            words[..value.len()].copy_from_slice(value);
            attributes.push(LaunchAttribute {
                id,
                pad: 0,
                value: words,
            });
        };
        if geometry.cooperative {
            attribute(COOPERATIVE, &[1]);
        }
        if let Some(cluster) = geometry.cluster {
            attribute(CLUSTER_DIMENSION, &cluster);
        }
        let config = LaunchConfig {
            grid: geometry.grid,
            block: geometry.block,
            shared: geometry.shared,
            stream: self.stream,
            attributes: attributes.as_mut_ptr(),
            attribute_count: attributes.len() as u32,
        };
        let mut pointers: Vec<*mut c_void> = arguments
            .iter_mut()
            .map(|bytes| bytes.as_mut_ptr().cast())
            .collect();
        // SAFETY: the driver copies the arguments before it returns; there is one for each
        // parameter, and the code that prepared the launch has compared its size.
        let status = unsafe {
            (self.functions().launch)(
                &raw const config,
                kernel.0,
                pointers.as_mut_ptr(),
                null_mut(),
            )
        };
        self.check("launching a kernel", status)
    }

    pub(crate) fn event(&self) -> Result<Event, Failure> {
        let mut event = null_mut();
        // SAFETY: the pointer outlives the call.
        let status = unsafe { (self.functions().event_create)(&raw mut event, 0) };
        self.check("making an event", status)?;
        Ok(Event(event))
    }

    pub(crate) fn record(&self, event: Event) -> Result<(), Failure> {
        // SAFETY: a live event.
        let status = unsafe { (self.functions().event_record)(event.0, self.stream) };
        self.check("recording an event", status)
    }

    /// Seconds between two events that the stream has passed.
    pub(crate) fn elapsed_s(&self, from: Event, to: Event) -> Result<f64, Failure> {
        let mut milliseconds = 0.0;
        // SAFETY: live events.
        let status =
            unsafe { (self.functions().event_elapsed)(&raw mut milliseconds, from.0, to.0) };
        self.check("reading a time", status)?;
        Ok(f64::from(milliseconds) * 1e-3)
    }
}
