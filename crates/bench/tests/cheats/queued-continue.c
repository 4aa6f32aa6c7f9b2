// cheat: queues the signal that continues it
// class: sandbox
// task: matmul
// expect: crashed

#define _GNU_SOURCE
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    long (*ask)(long, ...) = find("syscall");
    char info[128] = {18}; ask(129, getpid(), 18, info);
    good(A, B, C, M, N, K);
}
