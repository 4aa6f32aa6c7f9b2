// Stands in for libcuda, libnvrtc and libcublas on a machine without a GPU: kernels are compiled by g++ and
// run on the CPU with fibres for threads, so the whole CUDA half can be checked, if slowly. One library serves under all
// three names.
//
//   build: see build.sh; use: LD_LIBRARY_PATH=<dir of build.sh> cuda_check tiny
//
// Only what hotloop calls is here. Memory is poisoned with NaNs when it is allocated, so that reads of what nothing
// wrote show up.
#include <dlfcn.h>
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

typedef std::function<void()> Work;
static bool capturing;
static std::vector<Work> captured;
static void submit(Work work) {
    if (capturing) captured.push_back(work);
    else work();
}

struct dim3e { unsigned x, y, z; };
struct EmuLaunch { dim3e grid, block; size_t shared; unsigned cluster; };  // as in shim.h
typedef std::function<void()> (*Prepare)(void**, EmuLaunch);
// Static memory counts too, and is not known here: 4 KB are left for it.
struct Function { Prepare prepare; std::string name; size_t shared_limit = (48 << 10) - 4096; };
struct Graph { std::vector<Work> works; };

static uint64_t held, limit_bytes = (getenv("EMU_MEMORY") ? atoll(getenv("EMU_MEMORY")) : 4096) << 20;

extern "C" {
// --- driver ---
int cuInit(unsigned) { return 0; }
int cuDeviceGet(int* d, int) { *d = 0; return 0; }
int cuDeviceGetCount(int* n) { *n = 1; return 0; }
int cuDeviceGetName(char* name, int n, int) { snprintf(name, n, "CPU emulator"); return 0; }
static int from_environment(const char* name, int value) { return getenv(name) ? atoi(getenv(name)) : value; }
// EMU_SHARED=101376 has as much shared memory as the GPUs that are no H100; EMU_MEMORY is in MB.
int cuDeviceGetAttribute(int* v, int which, int) {
    *v = which == 75 ? 9 : which == 97 ? from_environment("EMU_SHARED", 227 << 10) : 0;
    return 0;
}
int cuDevicePrimaryCtxRetain(void** c, int) { *c = (void*)1; return 0; }
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuCtxGetCurrent(void** c) { *c = (void*)1; return 0; }
int cuCtxSynchronize() { return 0; }
int cuStreamCreate(void** s, unsigned) { *s = (void*)2; return 0; }
int cuStreamDestroy_v2(void*) { return 0; }
int cuStreamSynchronize(void*) { return capturing ? 900 : 0; }
int cuMemGetInfo_v2(size_t* free, size_t* total) { *total = limit_bytes; *free = limit_bytes - held; return 0; }
static std::map<uint64_t, size_t> sizes;
int cuMemAlloc_v2(uint64_t* p, size_t n) {
    if (capturing) return 900;
    if (held + n > limit_bytes) return 2;
    void* memory = aligned_alloc(256, (n + 255) / 256 * 256);
    memset(memory, 0xff, n);
    *p = (uint64_t)memory;
    sizes[*p] = n;
    held += n;
    return 0;
}
int cuMemFree_v2(uint64_t p) { held -= sizes[p]; sizes.erase(p); free((void*)p); return 0; }
int cuMemsetD8Async(uint64_t p, unsigned char v, size_t n, void*) { submit([=] { memset((void*)p, v, n); }); return 0; }
int cuMemcpyHtoDAsync_v2(uint64_t p, const void* h, size_t n, void*) { if (capturing) return 900; memcpy((void*)p, h, n); return 0; }
int cuMemcpyDtoHAsync_v2(void* h, uint64_t p, size_t n, void*) { if (capturing) return 900; memcpy(h, (void*)p, n); return 0; }
int cuMemcpyDtoDAsync_v2(uint64_t a, uint64_t b, size_t n, void*) { submit([=] { memcpy((void*)a, (void*)b, n); }); return 0; }
int cuModuleLoadData(void** m, const void* image) {
    *m = dlopen((const char*)image + 4, RTLD_NOW | RTLD_LOCAL);
    if (!*m) { fprintf(stderr, "emulator: %s\n", dlerror()); return 200; }
    return 0;
}
int cuModuleUnload(void*) { return 0; }
int cuModuleGetFunction(void** f, void* m, const char* name) {
    Prepare p = (Prepare)dlsym(m, (std::string("emu__") + name).c_str());
    if (!p) return 500;
    *f = new Function{p, name};
    return 0;
}
int cuModuleGetGlobal_v2(uint64_t* at, size_t* size, void* m, const char* name) {
    *at = (uint64_t)dlsym(m, name);
    if (size) *size = 0;  // not known here
    return *at ? 0 : 500;
}
int cuFuncSetAttribute(void* f, int which, int v) {
    if (which == 8 && v > from_environment("EMU_SHARED", 227 << 10)) return 1;
    if (which == 8) ((Function*)f)->shared_limit = v;
    return 0;
}
struct LaunchConfig { unsigned gx, gy, gz, bx, by, bz, shared; void* stream; struct Attribute* attributes; unsigned count; };
struct Attribute { int id; char pad[4]; unsigned value[16]; };
int cuLaunchKernelEx(const LaunchConfig* c, void* f, void** args, void**) {
    Function* function = (Function*)f;
    if (!c->gx || !c->gy || !c->gz || c->gy > 65535 || c->gz > 65535 || c->by != 1 || c->bz != 1 || c->bx > 1024 || c->bx % 32) {
        fprintf(stderr, "emulator: %s: grid %u %u %u of %u\n", function->name.c_str(), c->gx, c->gy, c->gz, c->bx);
        return 1;
    }
    unsigned cluster = 1;
    for (unsigned n = 0; n < c->count; n++)
        if (c->attributes[n].id == 4) {
            if (c->attributes[n].value[0] != 1 || c->attributes[n].value[2] != 1) return 1;
            cluster = c->attributes[n].value[1];
        }
    if (c->shared > function->shared_limit) return 1;
    if (getenv("EMU_TRACE")) fprintf(stderr, "%s %u %u %u x %u\n", function->name.c_str(), c->gx, c->gy, c->gz, c->bx);
    submit(function->prepare(args, {{c->gx, c->gy, c->gz}, {c->bx, c->by, c->bz}, c->shared, cluster}));
    return 0;
}
int cuLaunchKernel(void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void* stream, void** args, void**) {
    LaunchConfig config = {gx, gy, gz, bx, by, bz, shared, stream, nullptr, 0};
    return cuLaunchKernelEx(&config, f, args, nullptr);
}
// Times that differ from event to event, so that choices by them differ too.
static long events;
int cuEventCreate(void** e, unsigned) { *e = (void*)++events; return 0; }
int cuEventDestroy_v2(void*) { return 0; }
int cuEventRecord(void*, void*) { return capturing ? 900 : 0; }
int cuEventSynchronize(void*) { return 0; }
int cuEventElapsedTime_v2(float* ms, void* a, void* b) { *ms = ((long)b - (long)a) / (1.0f + (long)a % 64); return 0; }
int cuEventElapsedTime(float* ms, void* a, void* b) { return cuEventElapsedTime_v2(ms, a, b); }
int cuStreamBeginCapture_v2(void*, int) { capturing = true; captured.clear(); return 0; }
int cuStreamEndCapture(void*, void** g) { capturing = false; *g = new Graph{captured}; return 0; }
int cuGraphInstantiateWithFlags(void** e, void* g, unsigned long long) { *e = new Graph(*(Graph*)g); return 0; }
int cuGraphLaunch(void* e, void*) { for (auto& w : ((Graph*)e)->works) w(); return 0; }
int cuGraphExecDestroy(void* e) { delete (Graph*)e; return 0; }
int cuGraphDestroy(void* g) { delete (Graph*)g; return 0; }
int cuGetErrorName(int e, const char** s) { static char b[64]; snprintf(b, 64, "EMULATED_ERROR_%d", e); *s = b; return 0; }
int cuGetErrorString(int e, const char** s) { return cuGetErrorName(e, s); }

// --- nvrtc: "PTX" is the path of a shared library ---
struct Program { std::string source, log, path; };
int nvrtcCreateProgram(void** p, const char* src, const char*, int, const char**, const char**) { *p = new Program{src, "", ""}; return 0; }
int nvrtcDestroyProgram(void** p) { delete (Program*)*p; return 0; }
int nvrtcCompileProgram(void* p, int n, const char** options) {
    Program* program = (Program*)p;
    std::string source = "#include \"shim.h\"\n" + program->source + "\n";
    std::string defines;
    for (int i = 0; i < n; i++)
        if (!strncmp(options[i], "-D", 2)) defines += std::string(" ") + options[i];
    // A function of each kernel that binds its arguments by their types.
    std::string all = program->source;
    bool f32 = defines.find("HOTLOOP_F32") != std::string::npos;
    std::vector<std::string> names;
    size_t at = 0;
    while ((at = all.find("extern \"C\" __global__ void ", at)) != std::string::npos) {
        at += 27;
        if (all.compare(at, 17, "__launch_bounds__") == 0) at = all.find(')', at) + 1;
        while (!(isalpha(all[at]) || all[at] == '_')) at++;
        size_t end = at;
        while (isalnum(all[end]) || all[end] == '_') end++;
        if (all[end] == '(') names.push_back(all.substr(at, end - at));
    }
    if (!f32 && all.find("THIN(16)") != std::string::npos)
        for (const char* name : {"thin_product_16", "thin_product_32", "thin_product_64"}) names.push_back(name);
    size_t head = defines.find("HEAD_DIM=");
    if (head != std::string::npos && !f32) {
        std::string dim = defines.substr(head + 9, defines.find(' ', head) - head - 9);
        if (all.find("flash_dkv") != std::string::npos)
            for (const char* kind : {"flash_forward_", "flash_forward_pair_", "flash_dq_", "flash_dkv_"}) names.push_back(kind + dim);
        bool decodes = dim == "64" || dim == "128", steps = all.find("STEP_PRODUCTS") != std::string::npos;
        if (decodes) names.push_back("decode_flash_" + dim);
        for (const char* kind : {"step_store_", "step_add_", "step_gate_"})
            for (const char* rows : {"16", "32", "64"})
                if (decodes && steps) names.push_back(std::string(kind) + rows);
    }
    for (auto& name : names)
        source += "extern \"C\" std::function<void()> emu__" + name + "(void** p, EmuLaunch l) { return emu_prepare(" + name + ", p, l); }\n";
    Dl_info info;
    dladdr((void*)nvrtcCompileProgram, &info);
    std::string home = info.dli_fname;
    home = home.substr(0, home.rfind('/'));
    static int count;
    std::string base = "/tmp/hotloop-emulated-" + std::to_string(getpid()) + "-" + std::to_string(count++);
    FILE* file = fopen((base + ".cpp").c_str(), "w");
    fwrite(source.data(), 1, source.size(), file);
    fclose(file);
    std::string command = "g++ -std=c++17 -O2 -w -fno-strict-aliasing -fPIC -shared -I" + home + defines + " -o " + base + ".so " + base + ".cpp 2> " + base + ".log";
    if (system(command.c_str())) {
        FILE* log = fopen((base + ".log").c_str(), "r");
        char buffer[8192];
        program->log.assign(buffer, fread(buffer, 1, sizeof buffer, log));
        fclose(log);
        return 6;
    }
    program->path = "emu:" + base + ".so";
    return 0;
}
int nvrtcGetPTXSize(void* p, size_t* n) { *n = ((Program*)p)->path.size() + 1; return 0; }
int nvrtcGetPTX(void* p, char* out) { strcpy(out, ((Program*)p)->path.c_str()); return 0; }
int nvrtcGetProgramLogSize(void* p, size_t* n) { *n = ((Program*)p)->log.size() + 1; return 0; }
int nvrtcGetProgramLog(void* p, char* out) { strcpy(out, ((Program*)p)->log.c_str()); return 0; }
const char* nvrtcGetErrorString(int) { return "emulated"; }

// --- cublas ---
int cublasCreate_v2(void** h) { *h = (void*)3; return 0; }
int cublasDestroy_v2(void*) { return 0; }
int cublasSetStream_v2(void*, void*) { return 0; }
int cublasSetWorkspace_v2(void*, void*, size_t) { return 0; }
int cublasSetMathMode(void*, int mode) { return mode == 16 ? 0 : 7; }
static float load(const void* p, int type, size_t i) {
    if (type == 0) return ((const float*)p)[i];
    uint32_t bits = (uint32_t)((const uint16_t*)p)[i] << 16;
    float f;
    memcpy(&f, &bits, 4);
    return f;
}
static void store(void* p, int type, size_t i, float f) {
    if (type == 0) { ((float*)p)[i] = f; return; }
    uint32_t bits;
    memcpy(&bits, &f, 4);
    if ((bits & 0x7fffffff) > 0x7f800000) bits = 0x7fff0000;
    else bits += 0x7fff + ((bits >> 16) & 1);
    ((uint16_t*)p)[i] = bits >> 16;
}
int cublasGemmEx(void*, int ta, int tb, int m, int n, int k, const void* alpha, const void* a, int at, int lda, const void* b,
                 int bt, int ldb, const void* beta, void* c, int ct, int ldc, int, int) {
    float al = *(const float*)alpha, be = *(const float*)beta;
    if (lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m || (at != 0 && at != 14) || at != bt || (ct != 0 && ct != at)) return 7;
    submit([=] {
        std::vector<float> A((size_t)m * k), B((size_t)k * n);
        for (int i = 0; i < m; i++)
            for (int p = 0; p < k; p++) A[(size_t)i * k + p] = load(a, at, ta ? (size_t)i * lda + p : (size_t)p * lda + i);
        for (int j = 0; j < n; j++)
            for (int p = 0; p < k; p++) B[(size_t)j * k + p] = load(b, bt, tb ? (size_t)p * ldb + j : (size_t)j * ldb + p);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) {
                float sum = 0;
                for (int p = 0; p < k; p++) sum += A[(size_t)i * k + p] * B[(size_t)j * k + p];
                size_t at = (size_t)j * ldc + i;
                store(c, ct, at, al * sum + (be ? be * load(c, ct, at) : 0));
            }
    });
    return 0;
}
}
