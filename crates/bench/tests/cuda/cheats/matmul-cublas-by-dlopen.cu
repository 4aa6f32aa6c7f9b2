// Loads cuBLAS at run time and calls it by name.
// It must fail: the jail loads no library.
// expect: refused, not-compiled, crashed, wrong
#include <cuda_runtime.h>
#include <dlfcn.h>

typedef int (*Create)(void **);
typedef int (*Gemm)(void *, int, int, int, int, int, const float *, const float *, int, const float *, int,
                    const float *, float *, int);

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    void *library = nullptr, *handle = nullptr;
    const char *names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so"};
    for (const char *name : names)
        if (!library) library = dlopen(name, RTLD_NOW);
    if (!library) return;
    float one = 1, zero = 0;
    ((Create)dlsym(library, "cublasCreate_v2"))(&handle);
    ((Gemm)dlsym(library, "cublasSgemm_v2"))(handle, 0, 0, N, N, N, &one, B, N, A, N, &zero, C, N);
}
