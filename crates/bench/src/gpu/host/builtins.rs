//! Functions that a device compiler has without any header: the name of such a function alone does
//! not say that a kernel is meant.

const NAMES: &str = "
abs acos acosf acosh acoshf all any asin asinf asinh asinhf atan atan2 atan2f atanf atanh atanhf
atomicAdd atomicAnd atomicCAS atomicDec atomicExch atomicInc atomicMax atomicMin atomicOr atomicSub
atomicXor ballot cbrt cbrtf ceil ceilf clock clock64 copysign copysignf cos cosf cosh coshf cospi
cospif cyl_bessel_i0 cyl_bessel_i0f cyl_bessel_i1 cyl_bessel_i1f dadd dmul double2int double2ll
double2uint double2ull dsub erf erfc erfcf erfcinv erfcinvf erfcx erfcxf erff erfinv erfinvf exp
exp10 exp10f exp2 exp2f expf expm1 expm1f fabs fabsf fdim fdimf fdivide fdividef float2double floor
floorf fma fmaf fmax fmaxf fmin fminf fmod fmodf free frexp frexpf hypot hypotf ilogb ilogbf
int2double isfinite isinf isnan j0 j0f j1 j1f jn jnf labs ldexp ldexpf lgamma lgammaf ll2double
llabs llmax llmin llrint llrintf llround llroundf log log10 log10f log1p log1pf log2 log2f logb
logbf logf lrint lrintf lround lroundf malloc max memcpy memset min modf modff nan nanf nearbyint
nearbyintf nextafter nextafterf norm norm3d norm3df norm4d norm4df normcdf normcdff normcdfinv
normcdfinvf normf pow powf printf rcbrt rcbrtf remainder remainderf remquo remquof rhypot rhypotf
rint rintf rnorm rnorm3d rnorm3df rnorm4d rnorm4df rnormf round roundf rsqrt rsqrtf scalbln scalblnf
scalbn scalbnf signbit sin sincos sincosf sincospi sincospif sinf sinh sinhf sinpi sinpif sqrt sqrtf
syncthreads_and syncthreads_count syncthreads_or tan tanf tanh tanhf tgamma tgammaf trunc truncf
uint2double ull2double ullmax ullmin umax umin y0 y0f y1 y1f yn ynf
";

pub(super) fn holds(name: &str) -> bool {
    NAMES.split_ascii_whitespace().any(|known| known == name)
}
