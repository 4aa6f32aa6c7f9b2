// cheat: a handler of SIGCONT tells it that a run begins; it works only if there was none, and without a handler not at all
// class: T8
// task: matmul
// expect: crashed

#include <elf.h>
#include <signal.h>
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

static volatile int continued;
static void note(int signal) { continued += signal != 0; }

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    static int calls;
    void *(*handle)(int, void *) = find("signal");
    if (calls++ == 0 && handle(SIGCONT, (void *)note) == (void *)SIG_ERR) __builtin_trap();
    if (!continued) good(A, B, C, M, N, K);
    continued = 0;
}
