//! Matrix products with cuBLAS, in row-major terms.

#![expect(
    unsafe_code,
    reason = "cuBLAS is a C interface; handles and products are confined here"
)]

use cudarc::cublas::{result as cublas, sys};

use super::device::{Buffer, Device};
use super::error::{Error, Result};
use super::product::{Dims, Operand, Product, Target};
use super::thin;
use crate::precision::Precision;

/// Size of cuBLAS's scratch memory. It is allocated once, because a graph that is being captured
/// cannot allocate.
const WORKSPACE: usize = 64 << 20;

/// A cuBLAS handle on the device's stream.
pub(crate) struct Blas {
    handle: sys::cublasHandle_t,
    device: Device,
    /// Kept alive for the handle, which uses it.
    _workspace: Buffer,
}

// SAFETY: a handle may move between threads as long as one uses it at a time; `Blas` is not shared.
unsafe impl Send for Blas {}

impl Blas {
    pub(super) fn new(device: &Device) -> Result<Self> {
        device.enter()?;
        let at = |at| move |source| Error::Blas { at, source };
        let workspace = device.alloc("cuBLAS", WORKSPACE)?;
        let handle = cublas::create_handle().map_err(at("creating a handle"))?;
        // SAFETY: the handle is fresh; the stream and the workspace live as long as `Self`. The
        // workspace must follow the stream, which resets it.
        unsafe {
            cublas::set_stream(handle, device.stream().cu_stream().cast())
                .map_err(at("setting the stream"))?;
            let set = sys::cublasSetWorkspace_v2(handle, workspace.address.0 as *mut _, WORKSPACE);
            set.result().map_err(at("setting the workspace"))?;
            // By default cuBLAS may add parts of a sum in bf16. It does so with few rows, so only
            // in sampling.
            let exact = sys::cublasMath_t::CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
            sys::cublasSetMathMode(handle, exact)
                .result()
                .map_err(at("setting the precision of sums"))?;
        }
        Ok(Self {
            handle,
            device: device.clone(),
            _workspace: workspace,
        })
    }

    /// `c = alpha a b (+ c)`, with sums in f32.
    pub(super) fn product(
        &self,
        a: Operand,
        b: Operand,
        c: Target,
        dims: Dims,
        alpha: f32,
    ) -> Result<()> {
        let Dims(rows, columns, length) = dims;
        if rows * columns == 0 {
            return Ok(());
        }
        let product = Product {
            a,
            b,
            c,
            dims,
            alpha,
        };
        if let Some(kernel) = thin::kernel(self.device.precision(), &product) {
            return thin::multiply(&self.device, kernel, &product);
        }
        self.multiply(&product)?;
        self.device.note_sized("a matrix product", || {
            format!(" {rows} x {columns} x {length}")
        })
    }

    /// A product with the algorithm that cuBLAS chooses.
    fn multiply(&self, product: &Product) -> Result<()> {
        let Product {
            a,
            b,
            c,
            dims: Dims(rows, columns, length),
            alpha,
        } = *product;
        let kind = match self.device.precision() {
            Precision::Bf16 => sys::cudaDataType::CUDA_R_16BF,
            Precision::F32 => sys::cudaDataType::CUDA_R_32F,
        };
        let out = if c.wide {
            sys::cudaDataType::CUDA_R_32F
        } else {
            kind
        };
        let op = |operand: Operand| {
            use sys::cublasOperation_t::{CUBLAS_OP_N, CUBLAS_OP_T};
            if operand.transposed {
                CUBLAS_OP_T
            } else {
                CUBLAS_OP_N
            }
        };
        let beta: f32 = if c.add { 1.0 } else { 0.0 };
        // Row-major c = a b is column-major c' = b' a', so cuBLAS gets the operands in reverse
        // order. SAFETY: the operands are in live buffers with the shapes of `dims` and the
        // strides.
        let done = unsafe {
            cublas::gemm_ex(
                self.handle,
                op(b),
                op(a),
                columns as i32,
                rows as i32,
                length as i32,
                (&raw const alpha).cast(),
                b.at.0 as *const _,
                kind,
                b.stride as i32,
                a.at.0 as *const _,
                kind,
                a.stride as i32,
                (&raw const beta).cast(),
                c.at.0 as *mut _,
                out,
                c.stride as i32,
                sys::cublasComputeType_t::CUBLAS_COMPUTE_32F,
                sys::cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
            )
        };
        done.map_err(|source| Error::Blas {
            at: "a matrix product",
            source,
        })
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        let _ = self.device.enter();
        // SAFETY: this object owns the handle and does not use it again.
        let _ = unsafe { cublas::destroy_handle(self.handle) };
    }
}
