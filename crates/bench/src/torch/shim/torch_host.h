// What the host half of a torch extension sees before its first line: the recording CUDA runtime, and a
// torch of addresses and shapes. Nothing here computes.
#pragma once

// The library first: words of CUDA such as `__noinline__` are names in it.
#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "cuda_host.h"
#include "torch_types.h"
#include "torch_tensor.h"
#include "torch_make.h"
#include "torch_macros.h"
#include "torch_bind.h"
