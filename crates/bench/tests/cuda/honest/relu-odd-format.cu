// Curious formatting, a main that nobody calls, and a printf that never runs.
#include <cuda_runtime.h>
#include <cstdio>
     __global__
void relu_fast
(
  const float*x     ,
        float*y     , long long n
)
{ /* one thread, two elements */ long long i=2LL*(blockIdx.x*(long long)blockDim.x+threadIdx.x)
; for(int k=0;k<2;++k,++i)if(i<n){y[i]=x[i]>0?x[i]:0
; if(false)printf("y[%lld] = %f // not a comment, \"}\" no end\n",i,y[i]);} }
static inline long long up(long long a,long long b){return a/b+!!(a%b);}
extern "C"
{
void solve(const float*x,float*y,long long n){relu_fast
<<<
   (unsigned) up ( n , 2*128 ) ,
   128
>>>
   ( x , y , n ) ; }
}
int main(){ solve(nullptr,nullptr,1); return 0; }
