// Names of device code that declarations of host code may mention.
#pragma once

namespace cooperative_groups {
struct grid_group;
struct thread_block;
}
namespace nvcuda {
namespace wmma {
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
namespace precision {
struct tf32;
}
}
namespace experimental {}
}
namespace cub {}
namespace cuda {
namespace std {}
namespace device {}
namespace experimental {}
namespace ptx {}
}
