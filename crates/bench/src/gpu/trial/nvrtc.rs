//! NVRTC, without any confinement: for trusted text and for trials.
#![expect(unsafe_code, reason = "NVRTC is a C interface")]

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Mutex;

use crate::gpu::image::Image;
use crate::gpu::library::{Library, table};

type Handle = *mut c_void;

table! {
    /// What is called of NVRTC.
    Functions {
        create = "nvrtcCreateProgram" (*mut Handle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char);
        destroy = "nvrtcDestroyProgram" (*mut Handle);
        name = "nvrtcAddNameExpression" (Handle, *const c_char);
        compile = "nvrtcCompileProgram" (Handle, c_int, *const *const c_char);
        lowered = "nvrtcGetLoweredName" (Handle, *const c_char, *mut *const c_char);
        cubin_bytes = "nvrtcGetCUBINSize" (Handle, *mut usize);
        cubin = "nvrtcGetCUBIN" (Handle, *mut c_char);
        log_bytes = "nvrtcGetProgramLogSize" (Handle, *mut usize);
        log = "nvrtcGetProgramLog" (Handle, *mut c_char);
    }
}

/// Compiles a text for these names, once.
pub(crate) fn compile(text: &str, names: &[&str], architecture: &str) -> Result<Image, String> {
    static KNOWN: Mutex<Option<HashMap<String, Image>>> = Mutex::new(None);
    let mut known = KNOWN.lock().map_err(|error| error.to_string())?;
    let known = known.get_or_insert_default();
    let key = format!("{names:?}\n{text}");
    if let Some(image) = known.get(&key) {
        return Ok(image.clone());
    }
    let library = Library::open(&["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]);
    let functions = Functions::load(library.ok_or("libnvrtc.so.13 cannot be loaded")?)?;
    // SAFETY: C strings and pointers that outlive the calls.
    let image = unsafe { compile_by(&functions, text, names, architecture) }?;
    known.insert(key, image.clone());
    Ok(image)
}

unsafe fn compile_by(
    functions: &Functions,
    text: &str,
    names: &[&str],
    architecture: &str,
) -> Result<Image, String> {
    let c_string = |text: &str| CString::new(text).map_err(|error| error.to_string());
    let check = |status: u32, what: &str| match status {
        0 => Ok(()),
        status => Err(format!("NVRTC status {status} ({what})")),
    };
    let (text, file) = (c_string(text)?, c"trial.cu");
    let mut program = null_mut();
    // SAFETY: as the caller's.
    unsafe {
        let place = &raw mut program;
        check(
            (functions.create)(place, text.as_ptr(), file.as_ptr(), 0, null(), null()),
            "create",
        )?;
        for name in names {
            check((functions.name)(program, c_string(name)?.as_ptr()), name)?;
        }
        let options = [c_string(&format!("--gpu-architecture={architecture}"))?];
        let pointers: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        if (functions.compile)(program, pointers.len() as c_int, pointers.as_ptr()) != 0 {
            let mut bytes = 0;
            (functions.log_bytes)(program, &raw mut bytes);
            let mut log = vec![0u8; bytes + 1];
            (functions.log)(program, log.as_mut_ptr().cast());
            return Err(String::from_utf8_lossy(&log).into_owned());
        }
        let mut symbols = BTreeMap::new();
        for name in names {
            let mut lowered = null();
            let status = (functions.lowered)(program, c_string(name)?.as_ptr(), &raw mut lowered);
            check(status, name)?;
            let lowered = CStr::from_ptr(lowered).to_string_lossy().into_owned();
            symbols.insert((*name).to_owned(), lowered);
        }
        let mut bytes = 0;
        check((functions.cubin_bytes)(program, &raw mut bytes), "size")?;
        let mut cubin = vec![0u8; bytes];
        check(
            (functions.cubin)(program, cubin.as_mut_ptr().cast()),
            "code",
        )?;
        (functions.destroy)(&raw mut program);
        Ok(Image {
            cubin,
            symbols,
            ..Image::default()
        })
    }
}
