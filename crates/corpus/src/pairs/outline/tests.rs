//! An outline has a file's items, and reads what is nested without end.

use super::*;

fn kinds(text: &str) -> Vec<(Kind, Vec<String>)> {
    let items = Outline::of(text).items.into_iter();
    items.map(|item| (item.kind, item.names)).collect()
}

#[test]
fn items_have_their_kinds_and_names() {
    let text = "#define KERNEL __global__ void\n#undef OLD\n#include \"a.h\"\n\
        texture<float, 1> t;\n__constant__ float c[2], d;\nstatic const int w = 3;\nint host;\n\
        enum Colour { RED, BLUE };\ntypedef struct Tag { int x; } Name;\n\
        __device__ float *helper(int a);\nvoid plain();\n\
        extern \"C\" __global__ void one(int *a) { }\nKERNEL two(int *a) { }\n\
        template <class T> __global__ void three(T *a) { }\n\
        static inline float2 operator*(float2 a, float b) { return a; }\n";
    let names = |list: &[&str]| {
        list.iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    let expect = [
        (Kind::Macro, names(&["KERNEL"])),
        (Kind::Macro, names(&["OLD"])),
        (Kind::Include { local: true }, names(&["a.h"])),
        (Kind::Texture, names(&["t"])),
        (Kind::DeviceData, names(&["c", "d"])),
        (Kind::Constant, names(&["w"])),
        (Kind::Data, names(&["host"])),
        (Kind::Type, names(&["BLUE", "Colour", "RED"])),
        (Kind::Type, names(&["Name", "Tag"])),
        (Kind::DevicePrototype, names(&["helper"])),
        (Kind::Prototype, names(&["plain"])),
        (Kind::Kernel, names(&["one"])),
        (Kind::Kernel, names(&["two"])),
        (Kind::Kernel, names(&["three"])),
        (Kind::Host, names(&["operator*"])),
    ];
    assert_eq!(kinds(text), expect);
}

#[test]
fn methods_of_structs_are_helpers() {
    let text = "struct Queue { int tail; __device__ void add(int a) { tail = a; } void host() {} };\n\
        __device__ int free_one() { return 1; }\n";
    assert_eq!(Outline::of(text).helpers(), 2);
}

#[test]
fn what_is_nested_without_end_is_read_to_a_depth() {
    let deep = 20_000;
    for text in [
        "namespace a {\n".repeat(deep),
        "#if A\n".repeat(deep),
        format!("int {}p;\n", "*".repeat(deep)),
        format!("__device__ int {}f(int a);\n", "*".repeat(deep)),
        "{".repeat(deep),
        "extern \"C\" {".repeat(deep),
    ] {
        let text = format!("{text}\n__global__ void k() {{}}\n");
        let _ = Outline::of(&text);
    }
}
