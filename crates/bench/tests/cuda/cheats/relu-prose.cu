// An answer in words, as a tired model gives it.
// It must fail: there is no code at all.
// expect: malformed, refused, not-compiled

To compute the ReLU on the GPU, one launches a kernel with `<<<blocks, threads>>>` in which every
thread handles one element. The function `solve` is left as an exercise to the reader.
