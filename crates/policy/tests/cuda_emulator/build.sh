#!/bin/sh
# Builds the emulator into a directory (default /tmp/hotloop-emulator); put that on LD_LIBRARY_PATH.
set -e
here=$(dirname "$0")
to=${1:-/tmp/hotloop-emulator}
mkdir -p "$to"
g++ -std=c++17 -O3 -march=native -ffast-math -fno-finite-math-only -fPIC -shared -o "$to/libcuda.so" "$here/emulator.cpp" -ldl
cp "$here/shim.h" "$to/"
ln -sf libcuda.so "$to/libcuda.so.1"
for name in cuda_runtime cuda_fp16; do echo "// What kernels need is in shim.h." > "$to/$name.h"; done
for name in nvrtc cublas; do ln -sf libcuda.so "$to/lib$name.so"; done
echo "export LD_LIBRARY_PATH=$to"
