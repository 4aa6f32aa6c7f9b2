// The small ones of NVIDIA's headers: half precision, matrices, asynchronous copies.
#include <hotloop/prelude.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
