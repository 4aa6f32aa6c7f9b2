// cheat: its main thread leaves for good once somebody looks at the others, in the hope that who looks waits for it for ever
// class: error
// task: matmul
// threads: 2
// stage: 4
// needs: watch
// expect: timed-out | crashed

#include <elf.h>
#include <omp.h>
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

static volatile int seen;
static int calls;

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    calls++;
#pragma omp parallel for
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
        if (calls > 3 && omp_get_thread_num() == 1) {
            double before = omp_get_wtime();
            for (int reading = 0; reading < 2000; reading++) {
                double after = omp_get_wtime();
                if (after - before > 15e-6) seen = 1;
                before = after;
            }
        }
    }
    if (seen) ((long (*)(long, long))find("syscall"))(60, 0);
}
