// honest: digraphs for every bracket, brace and hash
// task: matmul
// stage: 1

%:include <string.h>
%:define JOIN(a, b) a%:%:b

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) <%
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++) <%
        for (int k = 0; k < K; k++) <%
            const double JOIN(va, lue) = A<:i * K + k:>;
            for (int j = 0; j < N; j++) C<:i * N + j:> += value * B<:k * N + j:>;
        %>
    %>
%>
