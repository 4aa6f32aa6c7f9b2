// One candidate under plain events, as anyone would time it: `plain LENGTH RUNS` prints the median in seconds.
// Each run follows a sweep of the cache. CANDIDATE names the file, and RELU or MATMUL says what it computes.
#include CANDIDATE
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void draw(float *to, long long count) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += (long long)gridDim.x * blockDim.x) {
        unsigned word = (unsigned)i * 2654435761u + 12345u;
        word ^= word >> 15;
        word *= 2246822519u;
        word ^= word >> 13;
        to[i] = (float)(word >> 8) / 8388608.0f - 1.0f;
    }
}

static float *vector_of(long long count) {
    float *made = nullptr;
    if (cudaMalloc(&made, count * sizeof(float)) != cudaSuccess) exit(1);
    draw<<<1024, 256>>>(made, count);
    return made;
}

int main(int count, char **words) {
    const long long length = count > 1 ? atoll(words[1]) : 1024;
    const int runs = count > 2 ? atoi(words[2]) : 30;
    const size_t swept = 256 << 20;
    void *sweep = nullptr;
    if (cudaMalloc(&sweep, swept) != cudaSuccess) return 1;
#ifdef RELU
    float *x = vector_of(length), *y = vector_of(length);
    auto work = [&] { solve(x, y, length); };
#else
    float *a = vector_of(length * length), *b = vector_of(length * length), *c = vector_of(length * length);
    auto work = [&] { solve(a, b, c, (int)length); };
#endif
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    std::vector<float> seen;
    for (int run = 0; run <= runs; ++run) {
        cudaMemsetAsync(sweep, run, swept);
        cudaEventRecord(begin);
        work();
        cudaEventRecord(end);
        if (cudaDeviceSynchronize() != cudaSuccess) return 1;
        float milliseconds = 0;
        cudaEventElapsedTime(&milliseconds, begin, end);
        if (run > 0) seen.push_back(milliseconds);
    }
    std::sort(seen.begin(), seen.end());
    printf("%.9g\n", seen[seen.size() / 2] * 1e-3);
    return 0;
}
