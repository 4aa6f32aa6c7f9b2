//! Which half includes what, and what neither may include.

use super::refusal::Refusal;
use crate::language::c::is_plain;
use crate::language::c::lex::Directive;

/// Headers of the C and the C++ library: the device compiler has none of them, and what device code
/// needs of them stands in its prelude.
const STANDARD: &str = "
    algorithm any array assert.h atomic bit bitset cassert cctype cerrno cfenv cfloat charconv
    chrono cinttypes climits clocale cmath codecvt compare complex complex.h condition_variable
    csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime ctype.h cuchar cwchar
    cwctype deque errno.h exception execution fcntl.h fenv.h filesystem float.h forward_list
    fstream functional future initializer_list inttypes.h iomanip ios iosfwd iostream istream
    iterator limits limits.h list locale locale.h malloc.h map math.h memory mutex new numeric omp.h
    optional ostream pthread.h queue random ratio regex set setjmp.h shared_mutex signal.h span
    sstream stack stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdexcept stdint.h stdio.h
    stdlib.h streambuf string string.h string_view strings.h syscall.h system_error thread time.h
    tuple type_traits typeindex typeinfo unistd.h unordered_map unordered_set utility valarray
    variant vector wchar.h wctype.h dlfcn.h
";

/// Headers of CUDA; the host half has them all before its first line.
const CUDA: &str = "
    builtin_types.h cuComplex.h cuda.h cuda_awbarrier.h cuda_awbarrier_primitives.h cuda_bf16.h
    cuda_device_runtime_api.h cuda_fp16.h cuda_fp8.h cuda_occupancy.h cuda_pipeline.h
    cuda_pipeline_primitives.h cuda_profiler_api.h cuda_runtime.h cuda_runtime_api.h
    cuda_texture_types.h cuda_surface_types.h device_atomic_functions.h device_functions.h
    device_launch_parameters.h device_types.h driver_functions.h driver_types.h host_config.h
    host_defines.h library_types.h math_constants.h math_functions.h mma.h
    sm_20_intrinsics.h sm_30_intrinsics.h sm_32_intrinsics.h sm_35_intrinsics.h
    sm_60_atomic_functions.h sm_61_intrinsics.h vector_functions.h vector_types.h
    cooperative_groups.h
";
const CUDA_FOLDERS: [&str; 5] = ["cooperative_groups/", "crt/", "cuda/", "nv/", "cub/"];

/// How the headers of libraries begin that solve a task, or that launch and allocate by themselves.
const LIBRARIES: [&str; 21] = [
    "cublas",
    "cudnn",
    "cudss",
    "cufft",
    "curand",
    "cusolver",
    "cusparse",
    "cute/",
    "cutensor",
    "cutlass/",
    "cupti",
    "mathdx/",
    "nccl",
    "nppi",
    "npp.h",
    "nppcore",
    "npps",
    "nvJitLink",
    "nvrtc",
    "nvshmem",
    "thrust/",
];

/// Headers of torch, which a GPU's code cannot use; only hosts of torch extensions find them.
const TORCH_FOLDERS: [&str; 5] = ["ATen/", "c10/", "pybind11/", "torch/", "THC/"];

/// Whether a header is of a library that no candidate may use.
pub fn is_library(header: &str) -> bool {
    LIBRARIES.iter().any(|start| header.starts_with(start))
}

/// Whether a header is of torch.
pub fn is_torch(header: &str) -> bool {
    TORCH_FOLDERS
        .iter()
        .any(|folder| header.starts_with(folder))
}

pub(super) fn is_standard(header: &str) -> bool {
    lists(STANDARD, header) || header.starts_with("sys/") || header.starts_with("bits/")
}

pub(super) fn is_cuda(header: &str) -> bool {
    lists(CUDA, header) || CUDA_FOLDERS.iter().any(|folder| header.starts_with(folder))
}

fn lists(list: &str, header: &str) -> bool {
    list.split_whitespace().any(|word| word == header)
}

/// Refuses directives that reach beyond the folders of headers, or that say where a line stands.
pub(super) fn check(directive: &Directive<'_>) -> Result<(), Refusal> {
    let refuse = |why: &str| {
        Err(Refusal {
            line: directive.line,
            why: why.to_owned(),
        })
    };
    match directive.name.as_ref() {
        "include" => match directive.header.as_deref() {
            Some(header) if header.starts_with('/') || header.contains("..") => {
                refuse("an #include names a header without its folder in the file system")
            }
            Some(header) if !is_plain(header) => refuse("an #include of what is no header's name"),
            Some(header) if is_library(header) => {
                refuse(&format!("the library header `{header}` is prohibited"))
            }
            Some(_) => Ok(()),
            None => refuse("an #include names its header, without a macro"),
        },
        "include_next" | "import" | "embed" => refuse("only #include includes"),
        "line" => refuse("#line is not allowed"),
        "" if !directive.body.is_empty() => refuse("line markers are not allowed"),
        _ => Ok(()),
    }
}
