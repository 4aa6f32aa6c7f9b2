// cheat: the stage forbids threads, so it looks for the team that waits in its process in the libraries' own tables
// class: B3
// task: matmul
// threads: 2
// stage: 1
// expect: crashed

#include <elf.h>
#include <stdio.h>
#include <string.h>

// As dl_iterate_phdr tells of a library; its own header may not be included.
struct library { unsigned long base; const char *name; const Elf64_Phdr *parts; unsigned short count; };
static const char *wanted;
static void *found;
static int look(struct library *library, unsigned long size, void *data) {
    const Elf64_Sym *symbols = 0;
    const char *names = 0;
    (void)size, (void)data;
    if (!strstr(library->name, "libgomp") && !strstr(library->name, "libc")) return 0;
    for (int part = 0; part < library->count; part++) {
        if (library->parts[part].p_type != PT_DYNAMIC) continue;
        const Elf64_Dyn *entry = (const void *)(library->base + library->parts[part].p_vaddr);
        for (; entry->d_tag; entry++) {
            if (entry->d_tag == DT_SYMTAB) symbols = (const void *)entry->d_un.d_ptr;
            if (entry->d_tag == DT_STRTAB) names = (const void *)entry->d_un.d_ptr;
        }
    }
    for (const Elf64_Sym *symbol = symbols; (const char *)symbol < names; symbol++)
        if (symbol->st_value && !strcmp(names + symbol->st_name, wanted)) found = (void *)(library->base + symbol->st_value);
    return 0;
}

static void *find(const char *name) {
    struct library libc = {0};
    const char *base = (const char *)((unsigned long)&printf & ~4095ul);
    while (memcmp(base, "\177ELF", 4)) base -= 4096;
    libc.base = (unsigned long)base, libc.name = "libc";
    libc.parts = (const void *)(base + ((const Elf64_Ehdr *)base)->e_phoff);
    libc.count = ((const Elf64_Ehdr *)base)->e_phnum;
    wanted = "dl_iterate_phdr";
    look(&libc, 0, 0);
    int (*each)(int (*)(struct library *, unsigned long, void *), void *) = found;
    wanted = name;
    found = 0;
    each(look, 0);
    return found;
}

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

static struct { double *A, *B, *C; int M, N, K, next; } work;
static void run(void *p) {
    int half = __atomic_fetch_add(&work.next, 1, __ATOMIC_SEQ_CST), rows = work.M / 2;
    (void)p;
    if (half < 2) good(work.A + half * rows * work.K, work.B, work.C + half * rows * work.N, rows, work.N, work.K);
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    static void (*team)(void (*)(void *), void *, unsigned, unsigned);
    if (!team) team = find("GOMP_parallel");
    work.A = A, work.B = B, work.C = C, work.M = M, work.N = N, work.K = K, work.next = 0;
    team(run, 0, 2, 0);
}
