//! Matrix products by cuBLASLt: the same library as cuBLAS, which lets its algorithms be named.

#![expect(
    unsafe_code,
    reason = "cuBLASLt is a C interface; descriptors and products are confined here"
)]

use std::ptr::null_mut;

use cudarc::cublaslt::result::{self as lt, CublasError};
use cudarc::cublaslt::sys;

use super::blas::{Dims, Operand};
use super::choice::Call;
use super::device::Device;
use super::error::{Error, Result};
use crate::Precision;

/// What cuBLASLt says to a call.
type Said<T> = std::result::Result<T, CublasError>;

fn failed(at: &'static str) -> impl Fn(CublasError) -> Error {
    move |source| Error::BlasLt { at, source }
}

/// The library.
pub(super) struct Handle(sys::cublasLtHandle_t);

// SAFETY: the library's own documentation lets any thread use a handle.
unsafe impl Send for Handle {}

impl Handle {
    pub(super) fn new() -> Result<Self> {
        // SAFETY: opens and closes a library by name; its initialisers are the vendor's.
        if !unsafe { sys::is_culib_present() } {
            let hint = "it comes with cuBLAS; HOTLOOP_DECODE=plain does without";
            return Err(Error::Missing {
                library: "libcublasLt.so",
                hint,
            });
        }
        lt::create_handle()
            .map(Self)
            .map_err(failed("creating a handle"))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle is ours and not used again.
        let _ = unsafe { lt::destroy_handle(self.0) };
    }
}

/// Where products run: the device, and the scratch memory that cuBLAS has on its stream.
pub(super) struct Place<'a> {
    pub(super) device: &'a Device,
    pub(super) workspace: (u64, usize),
}

/// A shape of products, with one algorithm for it.
pub(super) struct Product {
    description: Description,
    algorithm: sys::cublasLtMatmulAlgo_t,
}

impl Product {
    /// What the library offers for products like `call`, likeliest first; nothing for a shape that it does not serve.
    pub(super) fn offered(
        handle: &Handle,
        call: &Call,
        place: &Place<'_>,
        most: usize,
    ) -> Result<Vec<Self>> {
        let describe = || Description::new(call, place.device.precision());
        let offer = || -> Said<Vec<Self>> {
            let (description, preference) =
                (describe()?, Preference::new(call, place.workspace.1)?);
            let Description {
                operation,
                first,
                second,
                result,
            } = description;
            let (mut count, mut offered) = (0, Vec::with_capacity(most));
            // SAFETY: all that is passed outlives the call, which fills `count` entries of the place for `most`.
            unsafe {
                let to = offered.as_mut_ptr();
                let asked = sys::cublasLtMatmulAlgoGetHeuristic(
                    handle.0,
                    operation,
                    first,
                    second,
                    result,
                    result,
                    preference.0,
                    most as i32,
                    to,
                    &raw mut count,
                );
                offered.set_len(if asked.result().is_ok() {
                    count as usize
                } else {
                    0
                });
            }
            offered.retain(|offer: &sys::cublasLtMatmulHeuristicResult_t| {
                offer.state.result().is_ok()
            });
            offered
                .iter()
                .map(|offer| {
                    Ok(Self {
                        description: describe()?,
                        algorithm: offer.algo,
                    })
                })
                .collect()
        };
        offer().map_err(failed("asking for algorithms"))
    }

    /// Queues a product of that shape.
    pub(super) fn run(&self, handle: &Handle, call: &Call, place: &Place<'_>) -> Result<()> {
        let beta: f32 = if call.c.add { 1.0 } else { 0.0 };
        let Description {
            operation,
            first,
            second,
            result,
        } = self.description;
        let to = call.c.at.0 as *mut _;
        // SAFETY: the operands lie in live buffers of the shape that the description was made for, at the alignment that
        // the algorithm was asked for with; the workspace is used on one stream alone.
        let done = unsafe {
            lt::matmul(
                handle.0,
                operation,
                (&raw const call.alpha).cast(),
                (&raw const beta).cast(),
                call.b.at.0 as *const _,
                first,
                call.a.at.0 as *const _,
                second,
                to,
                result,
                to,
                result,
                &raw const self.algorithm,
                place.workspace.0 as *mut _,
                place.workspace.1,
                place.device.stream().cu_stream().cast(),
            )
        };
        done.map_err(failed("a matrix product"))
    }
}

/// A shape in the library's terms. Row-major c = a b is column-major c' = b' a', so b comes first.
struct Description {
    operation: sys::cublasLtMatmulDesc_t,
    first: sys::cublasLtMatrixLayout_t,
    second: sys::cublasLtMatrixLayout_t,
    result: sys::cublasLtMatrixLayout_t,
}

// SAFETY: descriptions are plain values of the library's, which no thread is bound to.
unsafe impl Send for Description {}

impl Description {
    fn new(call: &Call, precision: Precision) -> Said<Self> {
        use sys::cublasLtMatmulDescAttributes_t::{
            CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSB,
        };
        let Call {
            a,
            b,
            c,
            dims: Dims(rows, columns, length),
            ..
        } = *call;
        let wide = sys::cudaDataType::CUDA_R_32F;
        let kind = match precision {
            Precision::Bf16 => sys::cudaDataType::CUDA_R_16BF,
            Precision::F32 => wide,
        };
        let out = if c.wide { wide } else { kind };
        // A row-major matrix is the column-major one of swapped sides.
        let layout = |operand: Operand, rows: usize, columns: usize| {
            let (rows, columns) = if operand.transposed {
                (columns, rows)
            } else {
                (rows, columns)
            };
            lt::create_matrix_layout(kind, columns as u64, rows as u64, operand.stride as i64)
        };
        // What is made is kept where it is freed, whatever comes next.
        let mut made = Self {
            operation: null_mut(),
            first: null_mut(),
            second: null_mut(),
            result: null_mut(),
        };
        made.operation =
            lt::create_matmul_desc(sys::cublasComputeType_t::CUBLAS_COMPUTE_32F, wide)?;
        made.first = layout(b, length, columns)?;
        made.second = layout(a, rows, length)?;
        made.result = lt::create_matrix_layout(out, columns as u64, rows as u64, c.stride as i64)?;
        for (attribute, operand) in [
            (CUBLASLT_MATMUL_DESC_TRANSA, b),
            (CUBLASLT_MATMUL_DESC_TRANSB, a),
        ] {
            let transposed = i32::from(operand.transposed);
            // SAFETY: the value outlives the call and has the attribute's size.
            unsafe {
                lt::set_matmul_desc_attribute(
                    made.operation,
                    attribute,
                    (&raw const transposed).cast(),
                    4,
                )?
            };
        }
        Ok(made)
    }
}

impl Drop for Description {
    fn drop(&mut self) {
        // SAFETY: they are ours and not used again; what was not made is null.
        unsafe {
            for layout in [self.first, self.second, self.result] {
                if !layout.is_null() {
                    let _ = lt::destroy_matrix_layout(layout);
                }
            }
            if !self.operation.is_null() {
                let _ = lt::destroy_matmul_desc(self.operation);
            }
        }
    }
}

/// What algorithms may count on: scratch memory, and where operands lie.
struct Preference(sys::cublasLtMatmulPreference_t);

impl Preference {
    fn new(call: &Call, workspace: usize) -> Said<Self> {
        use sys::cublasLtMatmulPreferenceAttributes_t::{
            CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        };
        use sys::cublasLtReductionScheme_t::CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
        let made = Self(lt::create_matmul_pref()?);
        let alignment: u32 = call.alignment();
        // Parts of a sum are added in f32 and in their order. The other schemes add them in the type of the result, and
        // the one that does so in place in whatever order blocks come.
        let sums = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE as u32;
        // SAFETY: the values outlive the calls and have the attributes' sizes.
        unsafe {
            let most = CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
            lt::set_matmul_pref_attribute(
                made.0,
                most,
                (&raw const workspace).cast(),
                size_of::<usize>(),
            )?;
            let scheme = CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK;
            lt::set_matmul_pref_attribute(made.0, scheme, (&raw const sums).cast(), 4)?;
            for attribute in [
                CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
            ] {
                lt::set_matmul_pref_attribute(made.0, attribute, (&raw const alignment).cast(), 4)?;
            }
        }
        Ok(made)
    }
}

impl Drop for Preference {
    fn drop(&mut self) {
        // SAFETY: it is ours and not used again.
        let _ = unsafe { lt::destroy_matmul_pref(self.0) };
    }
}
