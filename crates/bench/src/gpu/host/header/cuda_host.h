// What the host half of a CUDA source sees before its first line: a CUDA runtime that records and
// computes nothing. There is no GPU, no data and no clock.
#pragma once

#include <algorithm>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#include "types.h"
#include "record.h"
#include "half.h"
#include "calls.h"
#include "launches.h"
#include "device_words.h"
