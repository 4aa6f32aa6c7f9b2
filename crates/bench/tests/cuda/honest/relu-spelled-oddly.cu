// Lines joined by a backslash with blanks behind it, digits with separators, digraphs.
#include <cuda_runtime.h>

#define AT(i) \ 
    (blockIdx.x * \	
     256ll + (i))
#define NAME "relu" // don't \  
look here

__global__ void relu(const float *x, float *y, long long n) <%
    const long long i = AT(threadIdx.x), most = 1'000'000'000'000;
    if (i < n && i < most) y<:i:> = fmaxf(x<:i:>, 0.0f);
%>

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
