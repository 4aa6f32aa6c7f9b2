//! Shared libraries that are loaded at run time, as tables of their functions.
//!
//! Nothing panics where a library or one of its functions is missing: a machine without a GPU says
//! so in words.
#![expect(
    unsafe_code,
    reason = "the loader's interface; tables declare the types of what they load"
)]

use std::ffi::{CString, c_void};

/// A loaded library. It stays loaded.
#[derive(Clone, Copy)]
pub(super) struct Library {
    handle: *mut c_void,
    pub(super) name: &'static str,
}

impl Library {
    /// Loads the first of `names` that there is.
    pub(super) fn open(names: &[&'static str]) -> Option<Self> {
        names.iter().find_map(|name| {
            let text = CString::new(*name).ok()?;
            // SAFETY: a C string; constructors of these libraries are trusted.
            let handle = unsafe { libc::dlopen(text.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
            (!handle.is_null()).then_some(Self { handle, name })
        })
    }

    /// The address of a function, or a sentence that names it.
    pub(super) fn symbol(self, symbol: &str) -> Result<*mut c_void, String> {
        let missing = || format!("{} lacks `{symbol}`", self.name);
        let text = CString::new(symbol).map_err(|_| missing())?;
        // SAFETY: a live handle and a C string.
        let address = unsafe { libc::dlsym(self.handle, text.as_ptr()) };
        if address.is_null() {
            Err(missing())
        } else {
            Ok(address)
        }
    }
}

/// A table of a library's functions, each of which returns a status.
macro_rules! table {
    ($(#[$about:meta])* $table:ident { $($function:ident = $symbol:literal ($($argument:ty),* $(,)?);)+ }) => {
        $(#[$about])*
        struct $table {
            $($function: unsafe extern "C" fn($($argument),*) -> u32,)+
        }

        impl $table {
            fn load(library: $crate::gpu::library::Library) -> Result<Self, String> {
                Ok(Self {
                    $($function: {
                        let address = library.symbol($symbol)?;
                        // SAFETY: the library declares the symbol with this type.
                        unsafe {
                            std::mem::transmute::<
                                *mut std::ffi::c_void,
                                unsafe extern "C" fn($($argument),*) -> u32,
                            >(address)
                        }
                    },)+
                })
            }
        }
    };
}

pub(super) use table;
