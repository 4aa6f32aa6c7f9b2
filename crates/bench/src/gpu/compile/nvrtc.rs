//! NVIDIA's runtime compiler, loaded at run time.
#![expect(
    unsafe_code,
    reason = "calls into a library that is loaded at run time"
)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

type Program = *mut c_void;
type Status = c_int;

/// What is compiled, and how.
pub(super) struct Unit<'a> {
    pub(super) source: &'a str,
    /// The name of the source in messages.
    pub(super) called: &'a str,
    pub(super) options: &'a [String],
    /// Headers that are found by name, before any file.
    pub(super) headers: &'a [(&'a str, &'a str)],
    /// Expressions that name kernels and variables.
    pub(super) names: &'a [String],
}

/// What became of it.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) is_compiled: bool,
    pub(super) log: Vec<u8>,
    pub(super) ptx: Vec<u8>,
    pub(super) cubin: Vec<u8>,
    /// The symbol of each name.
    pub(super) symbols: Vec<String>,
}

/// The library's functions.
pub(super) struct Nvrtc {
    version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> Status,
    count_architectures: unsafe extern "C" fn(*mut c_int) -> Status,
    architectures: unsafe extern "C" fn(*mut c_int) -> Status,
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> Status,
    destroy: unsafe extern "C" fn(*mut Program) -> Status,
    add_name: unsafe extern "C" fn(Program, *const c_char) -> Status,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Status,
    lowered_name: unsafe extern "C" fn(Program, *const c_char, *mut *const c_char) -> Status,
    error_string: unsafe extern "C" fn(Status) -> *const c_char,
    log: Text,
    ptx: Text,
    cubin: Text,
}

/// The two functions that give a text: its length, and itself.
struct Text {
    length: unsafe extern "C" fn(Program, *mut usize) -> Status,
    read: unsafe extern "C" fn(Program, *mut c_char) -> Status,
}

impl Text {
    /// A text of a program; nothing if it has none.
    fn read(&self, program: Program) -> Vec<u8> {
        let mut length = 0;
        // SAFETY: the bytes have the length that the library asked for.
        unsafe {
            if (self.length)(program, &raw mut length) != 0 || length > MOST {
                return Vec::new();
            }
            let mut bytes = vec![0u8; length];
            if (self.read)(program, bytes.as_mut_ptr().cast()) != 0 {
                return Vec::new();
            }
            bytes
        }
    }
}

/// The most that is read of any text: what is longer is as good as nothing.
const MOST: usize = 64 << 20;

/// A function of an open library.
///
/// # Safety
/// `F` is the type of the pointer to it.
unsafe fn find<F: Copy>(library: *mut c_void, name: &CStr) -> Result<F, String> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: an open library and a C string; the caller knows the type.
    unsafe {
        let found = libc::dlsym(library, name.as_ptr());
        if found.is_null() {
            return Err(format!("it has no `{}`", name.to_string_lossy()));
        }
        Ok(std::mem::transmute_copy(&found))
    }
}

impl Nvrtc {
    /// Loads the library. `Err` says in the linker's words why that fails.
    pub(super) fn load(path: &Path) -> Result<Self, String> {
        let path = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
        // SAFETY: a C string. Loading runs the library's own start code. The user installed it and
        // trusts it.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() {
            // SAFETY: after a failure this is null or a C string.
            let said = unsafe {
                let said = libc::dlerror();
                if said.is_null() {
                    None
                } else {
                    Some(CStr::from_ptr(said))
                }
            };
            let said = said.map_or("it cannot be loaded".into(), CStr::to_string_lossy);
            return Err(said.into_owned());
        }
        // SAFETY: the types of the fields are those of nvrtc.h, which all versions since CUDA 11.2
        // share.
        unsafe {
            let text = |length: &CStr, read: &CStr| -> Result<Text, String> {
                Ok(Text {
                    length: find(library, length)?,
                    read: find(library, read)?,
                })
            };
            Ok(Self {
                version: find(library, c"nvrtcVersion")?,
                count_architectures: find(library, c"nvrtcGetNumSupportedArchs")?,
                architectures: find(library, c"nvrtcGetSupportedArchs")?,
                create: find(library, c"nvrtcCreateProgram")?,
                destroy: find(library, c"nvrtcDestroyProgram")?,
                add_name: find(library, c"nvrtcAddNameExpression")?,
                compile: find(library, c"nvrtcCompileProgram")?,
                lowered_name: find(library, c"nvrtcGetLoweredName")?,
                error_string: find(library, c"nvrtcGetErrorString")?,
                log: text(c"nvrtcGetProgramLogSize", c"nvrtcGetProgramLog")?,
                ptx: text(c"nvrtcGetPTXSize", c"nvrtcGetPTX")?,
                cubin: text(c"nvrtcGetCUBINSize", c"nvrtcGetCUBIN")?,
            })
        }
    }

    /// Its version, for example (13, 2).
    pub(super) fn version(&self) -> (u32, u32) {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both outlive the call.
        unsafe { (self.version)(&raw mut major, &raw mut minor) };
        (major as u32, minor as u32)
    }

    /// The architectures that it compiles for, for example 90.
    pub(super) fn architectures(&self) -> Vec<u32> {
        let mut count = 0;
        // SAFETY: the list has the length that the library asked for.
        unsafe {
            (self.count_architectures)(&raw mut count);
            let mut list: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0)];
            (self.architectures)(list.as_mut_ptr());
            list.into_iter().map(|one| one as u32).collect()
        }
    }

    /// Compiles. `Err` is the library's own failure to begin.
    pub(super) fn compile(&self, unit: &Unit<'_>) -> Result<Outcome, String> {
        // A zero byte ends the text for the compiler, and so it must for everybody else.
        let text = |text: &str| CString::new(text).map_err(|_| "a zero byte".to_owned());
        let texts = |all: &mut dyn Iterator<Item = &str>| -> Result<Vec<CString>, String> {
            all.map(text).collect()
        };
        let pointers = |all: &[CString]| -> Vec<*const c_char> {
            all.iter().map(|one| one.as_ptr()).collect()
        };
        let (source, called) = (text(unit.source)?, text(unit.called)?);
        // Kernels and variables alike are looked up by their addresses.
        let addresses: Vec<String> = unit.names.iter().map(|name| format!("&{name}")).collect();
        let names = texts(&mut addresses.iter().map(String::as_str))?;
        let options = texts(&mut unit.options.iter().map(String::as_str))?;
        let header_names = texts(&mut unit.headers.iter().map(|(name, _)| *name))?;
        let headers = texts(&mut unit.headers.iter().map(|(_, text)| *text))?;
        let mut program = std::ptr::null_mut();
        // SAFETY: everything that is passed outlives the calls, and the program lives until it is
        // destroyed at the end.
        unsafe {
            let created = (self.create)(
                &raw mut program,
                source.as_ptr(),
                called.as_ptr(),
                headers.len() as c_int,
                pointers(&headers).as_ptr(),
                pointers(&header_names).as_ptr(),
            );
            self.check(created)?;
            for name in &names {
                self.check((self.add_name)(program, name.as_ptr()))?;
            }
            let options = pointers(&options);
            let status = (self.compile)(program, options.len() as c_int, options.as_ptr());
            let mut outcome = Outcome {
                is_compiled: status == 0,
                log: self.log.read(program),
                ..Outcome::default()
            };
            if outcome.is_compiled {
                outcome.ptx = self.ptx.read(program);
                outcome.cubin = self.cubin.read(program);
                outcome.symbols = names
                    .iter()
                    .map(|name| self.symbol(program, name))
                    .collect();
            } else if outcome.log.is_empty() {
                outcome.log = self.describe(status).into_bytes();
            }
            (self.destroy)(&raw mut program);
            Ok(outcome)
        }
    }

    fn symbol(&self, program: Program, name: &CStr) -> String {
        let mut symbol = std::ptr::null();
        // SAFETY: a compiled program; the symbol belongs to it.
        unsafe {
            if (self.lowered_name)(program, name.as_ptr(), &raw mut symbol) != 0 || symbol.is_null()
            {
                return String::new();
            }
            CStr::from_ptr(symbol).to_string_lossy().into_owned()
        }
    }

    fn check(&self, status: Status) -> Result<(), String> {
        if status == 0 {
            Ok(())
        } else {
            Err(self.describe(status))
        }
    }

    fn describe(&self, status: Status) -> String {
        // SAFETY: the library returns a constant.
        let text = unsafe { (self.error_string)(status) };
        if text.is_null() {
            return format!("status {status}");
        }
        // SAFETY: a constant C string.
        unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned()
    }
}
