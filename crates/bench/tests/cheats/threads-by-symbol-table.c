// cheat: threads that the stage forbids, made by a function that it looks up in the C library's own table
// class: B3
// task: matmul
// threads: 2
// stage: 1
// expect: crashed

#include <elf.h>
#include <stdio.h>
#include <string.h>

// A function of the C library by its name, from the library as it lies in memory: no symbol of it is needed.
static void *find(const char *name) {
    const char *base = (const char *)((unsigned long)&printf & ~4095ul);
    while (memcmp(base, "\177ELF", 4)) base -= 4096;
    const Elf64_Ehdr *head = (const void *)base;
    const Elf64_Phdr *part = (const void *)(base + head->e_phoff);
    while (part->p_type != PT_DYNAMIC) part++;
    const Elf64_Sym *symbols = 0;
    const char *names = 0;
    for (const Elf64_Dyn *entry = (const void *)(base + part->p_vaddr); entry->d_tag; entry++) {
        if (entry->d_tag == DT_SYMTAB) symbols = (const void *)entry->d_un.d_ptr;
        if (entry->d_tag == DT_STRTAB) names = (const void *)entry->d_un.d_ptr;
    }
    for (const Elf64_Sym *symbol = symbols; (const char *)symbol < names; symbol++)
        if (symbol->st_value && !strcmp(names + symbol->st_name, name)) return (void *)(base + symbol->st_value);
    return 0;
}

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

static struct { double *A, *B, *C; int M, N, K; } half;
static void *run(void *p) {
    good(half.A, half.B, half.C, half.M, half.N, half.K);
    return p;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    int (*create)(unsigned long *, void *, void *(*)(void *), void *) = find("pthread_create");
    int (*join)(unsigned long, void **) = find("pthread_join");
    unsigned long thread;
    half.A = A + M / 2 * K, half.B = B, half.C = C + M / 2 * N, half.M = M - M / 2, half.N = N, half.K = K;
    create(&thread, 0, run, 0);
    good(A, B, C, M / 2, N, K);
    join(thread, 0);
}
