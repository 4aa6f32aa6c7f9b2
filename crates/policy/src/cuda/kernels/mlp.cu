// The MLP's activation, silu(gate) * up, and dropout of an adapter's inputs.
//
// gate_up rows are 2 * ffn values: the gate, then up. Grid covers rows * ffn / 8 threads of 256; ffn is a multiple of 8.

extern "C" __global__ void swiglu_forward(const real* gate_up, real* out, int ffn, i64 eights) {
    i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= eights) return;
    i64 at = n * 8, row = at / ffn, column = at % ffn;
    const real* gate = gate_up + row * 2 * ffn + column;
    Eight g = load8(gate), u = load8(gate + ffn);
#pragma unroll
    for (int j = 0; j < 8; j++) g.v[j] = g.v[j] * sigmoid(g.v[j]) * u.v[j];
    store8(out + at, g);
}

extern "C" __global__ void swiglu_backward(const real* gate_up, const real* d, real* d_gate_up, int ffn, i64 eights) {
    i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= eights) return;
    i64 at = n * 8, row = at / ffn, column = at % ffn, place = row * 2 * ffn + column;
    Eight g = load8(gate_up + place), u = load8(gate_up + place + ffn), e = load8(d + at);
#pragma unroll
    for (int j = 0; j < 8; j++) {
        float s = sigmoid(g.v[j]), gate = g.v[j];
        g.v[j] = e.v[j] * u.v[j] * s * (1.0f + gate * (1.0f - s));
        u.v[j] = e.v[j] * gate * s;
    }
    store8(d_gate_up + place, g);
    store8(d_gate_up + place + ffn, u);
}

// out = x with each value dropped or kept and scaled, as Dropout::apply on the CPU; `add` adds onto out.
// Grid covers n values, 256 a block.
extern "C" __global__ void dropout(const real* x, real* out, i64 n, float rate, u64 key, int add) {
    i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float kept = noise_uniform(key, (u64)i) < rate ? 0.0f : get(x[i]) / (1.0f - rate);
    out[i] = put(add ? get(out[i]) + kept : kept);
}
