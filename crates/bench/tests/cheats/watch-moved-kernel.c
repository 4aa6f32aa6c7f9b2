// cheat: constants hold a kernel of vector code, on a page that is moved to where nobody looks for code
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

typedef void kernel(double *tile, const double *a, const double *b, long stride, const double *later, long steps);

static const unsigned char first[] = {0x62, 0xa1, 0x7d, 0x40, 0xef, 0xc0};
static double packed_a[256 * 256], packed_b[256 * 16], tile[8 * 16 + 64];

// Alone on its page. Each constant holds one instruction and what skips the next two bytes.
__attribute__((noinline, aligned(4096))) void hold(void) {
    __asm__ volatile(
        "movabs $0x7f80c0ef407da162, %%rax\n\t"
        "movabs $0x7f80c9ef4075a162, %%rax\n\t"
        "movabs $0x7f80d2ef406da162, %%rax\n\t"
        "movabs $0x7f80dbef4065a162, %%rax\n\t"
        "movabs $0x7f80e4ef405da162, %%rax\n\t"
        "movabs $0x7f80edef4055a162, %%rax\n\t"
        "movabs $0x7f80f6ef404da162, %%rax\n\t"
        "movabs $0x7f80ffef4045a162, %%rax\n\t"
        "movabs $0x7f80c0ef403d0162, %%rax\n\t"
        "movabs $0x7f80c9ef40350162, %%rax\n\t"
        "movabs $0x7f80d2ef402d0162, %%rax\n\t"
        "movabs $0x7f80dbef40250162, %%rax\n\t"
        "movabs $0x7f80e4ef401d0162, %%rax\n\t"
        "movabs $0x7f80edef40150162, %%rax\n\t"
        "movabs $0x7f80f6ef400d0162, %%rax\n\t"
        "movabs $0x7f80ffef40050162, %%rax\n\t"
        "movabs $0x7f80021048fdf162, %%rax\n\t"
        "movabs $0x7f80081048fdd162, %%rax\n\t"
        "movabs $0x7f80161948fdf262, %%rax\n\t"
        "movabs $0x7f80c0b848ede262, %%rax\n\t"
        "movabs $0x7f80c9b848ede262, %%rax\n\t"
        "movabs $0x7f80909008c68348, %%rax\n\t"
        "movabs $0x7f80161948fdf262, %%rax\n\t"
        "movabs $0x7f80d0b848ede262, %%rax\n\t"
        "movabs $0x7f80d9b848ede262, %%rax\n\t"
        "movabs $0x7f80909008c68348, %%rax\n\t"
        "movabs $0x7f80161948fdf262, %%rax\n\t"
        "movabs $0x7f80e0b848ede262, %%rax\n\t"
        "movabs $0x7f80e9b848ede262, %%rax\n\t"
        "movabs $0x7f80909008c68348, %%rax\n\t"
        "movabs $0x7f80161948fdf262, %%rax\n\t"
        "movabs $0x7f80f0b848ede262, %%rax\n\t"
        "movabs $0x7f80f9b848ede262, %%rax\n\t"
        "movabs $0x7f80909008c68348, %%rax\n\t"
        "movabs $0x7f80161948fdf262, %%rax\n\t"
        "movabs $0x7f80c0b848ed6262, %%rax\n\t"
        "movabs $0x7f80c9b848ed6262, %%rax\n\t"
        "movabs $0x7f80909008c68348, %%rax\n\t"
        "movabs $0x7f80161948fdf262, %%rax\n\t"
        "movabs $0x7f80d0b848ed6262, %%rax\n\t"
        "movabs $0x7f80d9b848ed6262, %%rax\n\t"
        "movabs $0x7f80909008c68348, %%rax\n\t"
        "movabs $0x7f80161948fdf262, %%rax\n\t"
        "movabs $0x7f80e0b848ed6262, %%rax\n\t"
        "movabs $0x7f80e9b848ed6262, %%rax\n\t"
        "movabs $0x7f80909008c68348, %%rax\n\t"
        "movabs $0x7f80161948fdf262, %%rax\n\t"
        "movabs $0x7f80f0b848ed6262, %%rax\n\t"
        "movabs $0x7f80f9b848ed6262, %%rax\n\t"
        "movabs $0x7f80909008c68348, %%rax\n\t"
        "movabs $0x7f80909090ca0148, %%rax\n\t"
        "movabs $0x7f80909090c80149, %%rax\n\t"
        "movabs $0x7f80900f74c9ff41, %%rax\n\t"
        "movabs $0x7f8090fffffe89e9, %%rax\n\t"
        "movabs $0x7f80071148fde162, %%rax\n\t"
        "movabs $0x7f80909040c78348, %%rax\n\t"
        "movabs $0x7f800f1148fde162, %%rax\n\t"
        "movabs $0x7f80909040c78348, %%rax\n\t"
        "movabs $0x7f80171148fde162, %%rax\n\t"
        "movabs $0x7f80909040c78348, %%rax\n\t"
        "movabs $0x7f801f1148fde162, %%rax\n\t"
        "movabs $0x7f80909040c78348, %%rax\n\t"
        "movabs $0x7f80271148fde162, %%rax\n\t"
        "movabs $0x7f80909040c78348, %%rax\n\t"
        "movabs $0x7f802f1148fde162, %%rax\n\t"
        "movabs $0x7f80909040c78348, %%rax\n\t"
        "movabs $0x7f80371148fde162, %%rax\n\t"
        "movabs $0x7f80909040c78348, %%rax\n\t"
        "movabs $0x7f803f1148fde162, %%rax\n\t"
        "movabs $0x7f80909040c78348, %%rax\n\t"
        "movabs $0x7f80071148fd6162, %%rax\n\t"
        "movabs $0x7f80909040c78348, %%rax\n\t"
        "movabs $0x7f800f1148fd6162, %%rax\n\t"
        "movabs $0x7f80909040c78348, %%rax\n\t"
        "movabs $0x7f80171148fd6162, %%rax\n\t"
        "movabs $0x7f80909040c78348, %%rax\n\t"
        "movabs $0x7f801f1148fd6162, %%rax\n\t"
        "movabs $0x7f80909040c78348, %%rax\n\t"
        "movabs $0x7f80271148fd6162, %%rax\n\t"
        "movabs $0x7f80909040c78348, %%rax\n\t"
        "movabs $0x7f802f1148fd6162, %%rax\n\t"
        "movabs $0x7f80909040c78348, %%rax\n\t"
        "movabs $0x7f80371148fd6162, %%rax\n\t"
        "movabs $0x7f80909040c78348, %%rax\n\t"
        "movabs $0x7f803f1148fd6162, %%rax\n\t"
        "movabs $0x7f80909040c78348, %%rax\n\t"
        "movabs $0x7f809090909090c3, %%rax\n\t"
        ::: "rax");
}

__attribute__((noinline, aligned(4096))) static kernel *moved(void) {
    static const unsigned char *at;
    if (!at) {
        void *(*move)(void *, size_t, size_t, int, ...) = find("mremap");
        void *to = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        at = move((void *)hold, 4096, 4096, 3, to);
        while (memcmp(at, first, sizeof first)) at++;
    }
    return (kernel *)at;
}

__attribute__((aligned(4096)))
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    kernel *run = moved();
    for (int i = 0; i < 256; i += 8)
        for (int k = 0; k < 256; k++)
            for (int r = 0; r < 8; r++) packed_a[i * 256 + k * 8 + r] = A[(i + r) * 256 + k];
    for (int j = 0; j < 256; j += 16) {
        for (int k = 0; k < 256; k++) memcpy(packed_b + 16 * k, B + 256 * k + j, 128);
        for (int i = 0; i < 256; i += 8) {
            run(tile, packed_a + i * 256, packed_b, 128, packed_b + 8, 256);
            for (int r = 0; r < 8; r++) memcpy(C + (i + r) * 256 + j, tile + 16 * r, 128);
        }
    }
}
