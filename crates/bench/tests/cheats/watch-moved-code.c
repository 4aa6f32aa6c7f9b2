// cheat: moves the page of a function whose constants hold vector code to where nobody looks for code, and calls into it there
// class: B3
// task: matmul
// stage: 1
// needs: watch
// expect: refused | crashed

#include <sys/mman.h>
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

typedef void step(double *four, const double *factor, const double *row);

enum { LOAD, SPREAD, ADD, STORE };
static const unsigned long code[] = {
    0x7a31c30710fdc5, // vmovupd (%rdi), %ymm0; ret
    0xc30e197de2c4,   // vbroadcastsd (%rsi), %ymm1; ret
    0xc302b8f5e2c4,   // vfmadd231pd (%rdx), %ymm1, %ymm0; ret
    0x9090c30711fdc5, // vmovupd %ymm0, (%rdi); ret
};
static volatile unsigned long held;
static const unsigned char *moved;

// Alone on its page.
__attribute__((noinline, aligned(4096))) void hold(void) {
    held = 0x7a31c30710fdc5;
    held = 0x9090c30e197de2c4;
    held = 0x9090c302b8f5e2c4;
    held = 0x9090c30711fdc5;
}

__attribute__((noinline, aligned(4096))) static step *within(int which) {
    if (!moved) {
        void *(*move)(void *, size_t, size_t, int, ...) = find("mremap");
        void *to = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        moved = move((void *)hold, 4096, 4096, 3, to);
    }
    const unsigned char *at = moved;
    while (__builtin_memcmp(at, &code[which], 6)) at++;
    return (step *)at;
}

__attribute__((aligned(4096)))
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    step *load = within(LOAD), *spread = within(SPREAD), *add = within(ADD), *store = within(STORE);
    for (int i = 0; i < M; i++) {
        for (int j = 0; j + 4 <= N; j += 4) {
            double *four = &C[i * N + j];
            for (int lane = 0; lane < 4; lane++) four[lane] = 0;
            load(four, A, B);
            for (int k = 0; k < K; k++) {
                spread(four, &A[i * K + k], B);
                add(four, A, &B[k * N + j]);
            }
            store(four, A, B);
        }
    }
}
