// honest: divides and conquers with a stack of its own
// task: transpose
// stage: 2

struct block { int row, column, height, width; };

void transpose(double *in, double *out, int M, int N) {
    struct block stack[128] = {{0, 0, M, N}};
    for (int top = 1; top > 0;) {
        const struct block b = stack[--top];
        if (b.height > 16 && b.height >= b.width) {
            stack[top++] = (struct block){b.row, b.column, b.height / 2, b.width};
            stack[top++] = (struct block){b.row + b.height / 2, b.column, b.height - b.height / 2, b.width};
        } else if (b.width > 16) {
            stack[top++] = (struct block){b.row, b.column, b.height, b.width / 2};
            stack[top++] = (struct block){b.row, b.column + b.width / 2, b.height, b.width - b.width / 2};
        } else {
            for (int i = b.row; i < b.row + b.height; i++)
                for (int j = b.column; j < b.column + b.width; j++) out[(long)j * M + i] = in[(long)i * N + j];
        }
    }
}
