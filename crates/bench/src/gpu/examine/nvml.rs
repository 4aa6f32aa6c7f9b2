//! What NVIDIA's management library knows of a GPU, where it is installed.
#![expect(unsafe_code, reason = "the library is a C interface")]

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::null_mut;

use crate::gpu::library::{Library, table};

type Handle = *mut c_void;

table! {
    /// What the bench asks.
    Functions {
        init = "nvmlInit_v2" ();
        driver_version = "nvmlSystemGetDriverVersion" (*mut c_char, u32);
        by_bus = "nvmlDeviceGetHandleByPciBusId_v2" (*const c_char, *mut Handle);
        highest_clock = "nvmlDeviceGetMaxClockInfo" (Handle, u32, *mut u32);
        power_limit = "nvmlDeviceGetEnforcedPowerLimit" (Handle, *mut u32);
        processes = "nvmlDeviceGetComputeRunningProcesses_v3" (Handle, *mut u32, *mut Process);
    }
}

/// `nvmlProcessInfo_t`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Process {
    pid: u32,
    memory: u64,
    instances: [u32; 2],
}

const PROCESSORS: u32 = 0;
const MEMORY: u32 = 2;
const MOST_PROCESSES: usize = 128;

/// One GPU, as the library sees it.
pub(super) struct Nvml {
    functions: Functions,
    device: Handle,
}

impl Nvml {
    /// The GPU at this place on the bus.
    pub(super) fn open(bus: &str) -> Option<Self> {
        let library = Library::open(&["libnvidia-ml.so.1", "libnvidia-ml.so"])?;
        let functions = Functions::load(library).ok()?;
        let bus = CString::new(bus).ok()?;
        let mut device = null_mut();
        // SAFETY: a C string, and a pointer that outlives the call.
        let found = unsafe {
            (functions.init)() == 0 && (functions.by_bus)(bus.as_ptr(), &raw mut device) == 0
        };
        found.then_some(Self { functions, device })
    }

    /// For example `580.95.05`.
    pub(super) fn driver_version(&self) -> Option<String> {
        let mut bytes = [0u8; 96];
        // SAFETY: the library writes at most as many bytes, the last one zero.
        let status = unsafe { (self.functions.driver_version)(bytes.as_mut_ptr().cast(), 95) };
        let text = CStr::from_bytes_until_nul(&bytes).ok()?.to_str().ok()?;
        (status == 0).then(|| text.to_owned())
    }

    /// The highest clocks of processors and memory, in MHz.
    pub(super) fn clocks(&self) -> [Option<u32>; 2] {
        [PROCESSORS, MEMORY].map(|kind| {
            number(|place| {
                // SAFETY: a live handle, and a pointer that outlives the call.
                unsafe { (self.functions.highest_clock)(self.device, kind, place) }
            })
        })
    }

    /// The power that it may draw, in watts.
    pub(super) fn power_limit_w(&self) -> Option<u32> {
        let milliwatts = number(|place| {
            // SAFETY: as above.
            unsafe { (self.functions.power_limit)(self.device, place) }
        });
        milliwatts.map(|milliwatts| milliwatts.div_ceil(1000))
    }

    /// The processes that compute on it, by this machine's numbers.
    pub(super) fn processes(&self) -> Option<Vec<u32>> {
        let empty = Process {
            pid: 0,
            memory: 0,
            instances: [0; 2],
        };
        let mut found = [empty; MOST_PROCESSES];
        let mut count = MOST_PROCESSES as u32;
        // SAFETY: the library writes at most `count` entries.
        let status =
            unsafe { (self.functions.processes)(self.device, &raw mut count, found.as_mut_ptr()) };
        let known = found.iter().take(count as usize);
        (status == 0).then(|| known.map(|process| process.pid).collect())
    }
}

fn number(ask: impl Fn(*mut u32) -> u32) -> Option<u32> {
    let mut value = 0;
    (ask(&raw mut value) == 0).then_some(value)
}
