// honest: asks which headers there are, as portable code does
// task: stencil2d

#ifndef __has_include
#define __has_include(header) 0
#endif
#ifndef __has_builtin
#define __has_builtin(name) 0
#endif
#if defined(__has_include) && __has_include(<immintrin.h>) && __has_include("omp.h")
#define HAVE_INTRINSICS 1
#endif
#if __has_include (<sys/mman.h>)
#include <sys/mman.h>
#endif
#ifdef __has_include
#if __has_include(<stdalign.h>)
#include <stdalign.h>
#endif
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define USE_ROWS 1
#define SHAPE ROWS

void stencil2d(double *in, double *out, int H, int W) {
#if JOIN(USE_, SHAPE) && !__has_builtin(__builtin_no_such_thing)
    for (int i = 0; i < H; i++)
        for (int j = 0; j < W; j++) {
            long at = (long)i * W + j;
            if (i == 0 || j == 0 || i == H - 1 || j == W - 1) out[at] = in[at];
            else out[at] = (in[at] + in[at - 1] + in[at + 1] + in[at - W] + in[at + W]) / 5.0;
        }
#endif
}
