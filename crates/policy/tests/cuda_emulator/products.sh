#!/bin/sh
# Builds products.cpp and runs it: the last line tells how many products failed, and so does the exit status.
set -e
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
g++ -std=c++17 -O2 -w -fno-strict-aliasing -o "$folder/products" products.cpp
"$folder/products" > "$folder/log" || { grep '!!' "$folder/log"; tail -1 "$folder/log"; exit 1; }
echo "$(($(wc -l < "$folder/log") - 1)) products, $(tail -1 "$folder/log")"
