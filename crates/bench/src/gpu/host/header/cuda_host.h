// What the host half of a CUDA source sees before its first line: a CUDA runtime that records and
// computes nothing. There is no GPU, no data and no clock.
#pragma once

#include <cstddef>
// Bessel functions and their like make up half of what a compiler reads of <cmath> in C++17, and no host half
// calls them.
#undef _GLIBCXX_USE_STD_SPEC_FUNCS

#include <algorithm>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <strings.h>
#include <type_traits>
#include <utility>

#include "types.h"
#include "record.h"
#include "half.h"
#include "calls.h"
#include "launches.h"
#include "device_words.h"

// The screen looks for these words, and here ends what is made of two halves. Headers of the system that
// say `__asm__` outside of a macro stand above.
#pragma GCC poison asm __asm __asm__
#pragma GCC poison __builtin_ia32_rdrand16_step __builtin_ia32_rdrand32_step __builtin_ia32_rdrand64_step
#pragma GCC poison __builtin_ia32_rdseed_hi_step __builtin_ia32_rdseed_si_step __builtin_ia32_rdseed_di_step
#pragma GCC poison __builtin_ia32_rdtsc __builtin_ia32_rdtscp __builtin_ia32_rdpmc __builtin_ia32_rdpid
#pragma GCC poison __builtin_cpu_init __builtin_cpu_is __builtin_cpu_supports
