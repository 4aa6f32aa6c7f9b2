// honest: functions of the C library that only compute: strings, wide characters, trees, dates
// task: matmul
// stage: 1

#include <search.h>
#include <string.h>
#include <time.h>
#include <stdio.h>
#include <wchar.h>
#include <ctype.h>

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int main(void) {
    const time_t when = 86400;
    char text[64];
    strftime(text, sizeof text, "%Y-%m-%d", localtime(&when));
    return puts(text) < 0 || isblank(text[0]);
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    char list[] = "i,k,j", *rest = list, order[4] = {0};
    for (int loop = 0; loop < 3; loop++) order[loop] = *strsep(&rest, ",");
    wchar_t wide[4];
    wmemset(wide, L'x', 3);
    wide[3] = 0;
    int sizes[] = {M, N, K}, *const wanted = &sizes[wcslen(wide) - 1];
    size_t count = 3;
    const int *const found = lfind(wanted, sizes, &count, sizeof *sizes, by_value);
    const int depth = *found;
    explicit_bzero(list, sizeof list);
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) C[(long)i * N + j] = 0;
        for (int k = 0; k < depth && order[1] == 'k'; k++)
            for (int j = 0; j < N; j++) C[(long)i * N + j] += A[(long)i * K + k] * B[(long)k * N + j];
    }
}
