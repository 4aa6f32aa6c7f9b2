// cheat: sends itself thousands of signals that are ignored, each of which a watch has to look at
// class: resource
// task: matmul
// stage: 1
// needs: watch
// expect: timed-out | crashed | refused

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

static int calls;

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    static int (*send)(int, int);
    if (!send) send = find("kill");
    for (int i = 0; i < 6000; i++) send(getpid(), 23);
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}
