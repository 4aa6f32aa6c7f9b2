// honest: names its threads, keeps them from being cancelled, and tells the allocator what to expect
// task: matmul
// threads: 2

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>

struct part {
    const double *A, *B;
    double *C;
    int rows, N, K;
};

static void *work(void *p) {
    const struct part *part = p;
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    for (int i = 0; i < part->rows; i++)
        for (int j = 0; j < part->N; j++) {
            double s = 0;
            for (int k = 0; k < part->K; k++) s += part->A[i * part->K + k] * part->B[k * part->N + j];
            part->C[i * part->N + j] = s;
        }
    return NULL;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    mallopt(M_MMAP_THRESHOLD, 64 << 20);
    double *copy = memalign(4096, sizeof(double) * K * N);
    posix_madvise(copy, sizeof(double) * K * N, POSIX_MADV_WILLNEED);
    memcpy(copy, B, sizeof(double) * K * N);
    struct part first = {A, copy, C, M / 2, N, K};
    struct part second = {A + (long)M / 2 * K, copy, C + (long)M / 2 * N, M - M / 2, N, K};
    pthread_t thread;
    pthread_create(&thread, NULL, work, &first);
    pthread_setname_np(thread, "first half");
    work(&second);
    pthread_join(thread, NULL);
    free(copy);
}
