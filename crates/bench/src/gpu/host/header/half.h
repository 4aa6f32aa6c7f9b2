// Half precision on the host: enough to compute constants and to pass arguments.
#pragma once

namespace hotloop {

inline uint32_t bits_of(float x) { uint32_t b; memcpy(&b, &x, 4); return b; }
inline float float_of(uint32_t b) { float x; memcpy(&x, &b, 4); return x; }

inline unsigned short half_bits(float x) {
    const uint32_t b = bits_of(x), sign = b >> 16 & 0x8000, magnitude = b & 0x7fffffff;
    if (magnitude > 0x7f800000) return sign | 0x7fff;
    if (magnitude >= 0x477ff000) return sign | 0x7c00;
    // Below the smallest normal number, adding a large one rounds at the right place.
    if (magnitude < 0x38800000) return sign | (bits_of(float_of(magnitude) + 0.5f) - 0x3f000000);
    return sign | (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
}

inline float half_value(unsigned short h) {
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, magnitude = h & 0x7fff;
    if (magnitude >= 0x7c00) return float_of(sign | 0x7f800000 | magnitude << 13);
    if (magnitude < 0x400) return float_of(sign | bits_of(magnitude / 16777216.0f));
    return float_of(sign | ((magnitude << 13) + 0x38000000));
}

inline unsigned short bfloat_bits(float x) {
    const uint32_t b = bits_of(x);
    if ((b & 0x7fffffff) > 0x7f800000) return 0x7fff;
    return (b + 0x7fff + (b >> 16 & 1)) >> 16;
}

}  // namespace hotloop

#define HOTLOOP_HALF(name, pair, bits, value) \
    struct __align__(2) name { \
        unsigned short __x; \
        name() = default; \
        name(float x) : __x(bits(x)) {} \
        name(double x) : __x(bits((float)x)) {} \
        name(int x) : __x(bits((float)x)) {} \
        operator float() const { return value(__x); } \
    }; \
    struct __align__(4) pair { \
        name x, y; \
        pair() = default; \
        pair(name x, name y) : x(x), y(y) {} \
    };
HOTLOOP_HALF(__half, __half2, hotloop::half_bits, hotloop::half_value)
#define HOTLOOP_BFLOAT_VALUE(bits) hotloop::float_of((uint32_t)(bits) << 16)
HOTLOOP_HALF(__nv_bfloat16, __nv_bfloat162, hotloop::bfloat_bits, HOTLOOP_BFLOAT_VALUE)
#undef HOTLOOP_HALF
#undef HOTLOOP_BFLOAT_VALUE
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

inline __half __float2half(float x) { return __half(x); }
inline __half __float2half_rn(float x) { return __half(x); }
inline float __half2float(__half x) { return (float)x; }
inline __half2 __float2half2_rn(float x) { return __half2(__half(x), __half(x)); }
inline __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
inline __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
inline __half2 make_half2(__half x, __half y) { return __half2(x, y); }
inline float2 __half22float2(__half2 x) { return {(float)x.x, (float)x.y}; }
inline float __low2float(__half2 x) { return (float)x.x; }
inline float __high2float(__half2 x) { return (float)x.y; }
inline __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
inline float __bfloat162float(__nv_bfloat16 x) { return (float)x; }
