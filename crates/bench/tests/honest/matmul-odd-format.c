// honest: odd formatting, goto, comma operators, no spaces
// task: matmul

void
matmul_optimized
(
    double*A,double*B , double  *  C,
    int M,int N/* columns */,int K
)
{int i=0,j,k;double s;
rows:if(i>=M)goto done;j=0;
columns:if(j>=N){i++;goto rows;}
for(s=0,k=0;k<K;++k)s+=A[i*K+k]*B[k*N+j];C[i*N+j]=s;j++;goto columns;
done:;}
