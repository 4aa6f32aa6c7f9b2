// Stands in for libcuda, libnvrtc and libcublas on a machine without a GPU: kernels are compiled by g++ and
// run on the CPU with fibres for threads, so the whole CUDA half can be checked, if slowly. One library serves under all
// three names.
//
//   build: see build.sh; use: LD_LIBRARY_PATH=<dir of build.sh> cuda_check tiny
//
// Only what hotloop calls is here. Memory is poisoned with NaNs when it is allocated, so that reads of what nothing
// wrote show up.
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <vector>

typedef std::function<void()> Work;
static bool capturing;
static std::vector<Work> captured;
// A fault ends a kernel and spoils the context, as on a GPU: every later call gives the same error.
static int spoiled;
static bool running;
static sigjmp_buf back;
static void on_fault(int signal) {
    if (!running) { ::signal(signal, SIG_DFL); raise(signal); return; }
    running = false;
    spoiled = signal == SIGSEGV || signal == SIGBUS ? 700 : 719;
    siglongjmp(back, 1);
}
static void catch_faults() {
    static char stack[64 << 10];
    static bool done;
    if (done) return;
    done = true;
    stack_t own = {};
    own.ss_sp = stack;
    own.ss_size = sizeof stack;
    sigaltstack(&own, nullptr);
    struct sigaction action = {};
    action.sa_handler = on_fault;
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(signal, &action, nullptr);
}
static int submit(Work work) {
    if (spoiled) return spoiled;
    if (capturing) { captured.push_back(work); return 0; }
    catch_faults();
    if (sigsetjmp(back, 1)) return 0;  // as on a GPU, the error shows at the next wait
    running = true;
    work();
    running = false;
    return 0;
}

struct dim3e { unsigned x, y, z; };
struct EmuLaunch { dim3e grid, block; size_t shared; unsigned cluster; };  // as in shim.h
typedef std::function<void()> (*Prepare)(void**, EmuLaunch);
typedef int (*Parameter)(size_t, size_t*, size_t*);
// Static memory counts too, and is not known here: 4 KB are left for it.
struct Function { Prepare prepare; std::string name; Parameter parameter = nullptr; size_t shared_limit = (48 << 10) - 4096; };
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
    *v = which == 75 ? 9 : which == 97 ? from_environment("EMU_SHARED", 227 << 10) : which == 16 || which == 103 ? 1 : 0;
    return 0;
}
int cuDriverGetVersion(int* v) { *v = 13000; return 0; }
int cuDeviceTotalMem_v2(size_t* n, int) { *n = limit_bytes; return 0; }
int cuDeviceGetPCIBusId(char* text, int n, int) { snprintf(text, n, "0000:00:00.0"); return 0; }
int cuDevicePrimaryCtxRetain(void** c, int) { *c = (void*)1; return 0; }
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuCtxGetCurrent(void** c) { *c = (void*)1; return 0; }
int cuCtxSynchronize() { return 0; }
int cuStreamCreate(void** s, unsigned) { *s = (void*)2; return 0; }
int cuStreamDestroy_v2(void*) { return 0; }
int cuStreamSynchronize(void*) { return spoiled ? spoiled : capturing ? 900 : 0; }
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
int cuMemsetD8Async(uint64_t p, unsigned char v, size_t n, void*) { return submit([=] { memset((void*)p, v, n); }); }
int cuMemsetD16Async(uint64_t p, unsigned short v, size_t n, void*) { return submit([=] { for (size_t i = 0; i < n; i++) ((unsigned short*)p)[i] = v; }); }
int cuMemsetD32Async(uint64_t p, unsigned v, size_t n, void*) { return submit([=] { for (size_t i = 0; i < n; i++) ((unsigned*)p)[i] = v; }); }
int cuMemcpyHtoDAsync_v2(uint64_t p, const void* h, size_t n, void*) { if (capturing) return 900; return submit([=] { memcpy((void*)p, h, n); }); }
int cuMemcpyDtoHAsync_v2(void* h, uint64_t p, size_t n, void*) { if (capturing) return 900; return submit([=] { memcpy(h, (void*)p, n); }); }
int cuMemcpyDtoDAsync_v2(uint64_t a, uint64_t b, size_t n, void*) { return submit([=] { memmove((void*)a, (void*)b, n); }); }
// Memory that processes share is a file in memory; what a mapping does not allow faults.
struct Shared { int fd; size_t bytes; };
int cuMemGetAllocationGranularity(size_t* unit, const void*, unsigned) { *unit = 2 << 20; return 0; }
int cuMemCreate(uint64_t* handle, size_t bytes, const void*, unsigned long long) {
    if (held + bytes > limit_bytes) return 2;
    int fd = memfd_create("emulated", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, bytes)) return 2;
    held += bytes;
    *handle = (uint64_t) new Shared{fd, bytes};
    return 0;
}
int cuMemRelease(uint64_t handle) { Shared* s = (Shared*)handle; close(s->fd); held -= s->bytes; delete s; return 0; }
int cuMemExportToShareableHandle(void* fd, uint64_t handle, unsigned, unsigned long long) {
    *(int*)fd = dup(((Shared*)handle)->fd);
    return 0;
}
int cuMemImportFromShareableHandle(uint64_t* handle, void* fd, unsigned) {
    *handle = (uint64_t) new Shared{dup((int)(uintptr_t)fd), 0};
    return 0;
}
int cuMemAddressReserve(uint64_t* at, size_t bytes, size_t, uint64_t, unsigned long long) {
    void* memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *at = (uint64_t)memory;
    return memory == MAP_FAILED ? 2 : 0;
}
int cuMemAddressFree(uint64_t at, size_t bytes) { return munmap((void*)at, bytes) ? 1 : 0; }
int cuMemMap(uint64_t at, size_t bytes, size_t offset, uint64_t handle, unsigned long long) {
    return mmap((void*)at, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, ((Shared*)handle)->fd, offset) == MAP_FAILED ? 1 : 0;
}
int cuMemUnmap(uint64_t at, size_t bytes) {
    return mmap((void*)at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ? 1 : 0;
}
struct Access { int type, id; unsigned flags; };
int cuMemSetAccess(uint64_t at, size_t bytes, const Access* access, size_t) {
    return mprotect((void*)at, bytes, access->flags == 3 ? PROT_READ | PROT_WRITE : PROT_READ) ? 1 : 0;
}
// A candidate that says `extern "C" double emu_forge = 0.1;` has events show a tenth of the time.
static double forged = 1;
static const char* loadable(const void* image) {
    static std::string path;
    static unsigned loads;
    const char* bytes = (const char*)image;
    if (memcmp(bytes, "\177ELF", 4)) return bytes + 4;
    uint64_t sections;
    uint16_t size, count;
    memcpy(&sections, bytes + 0x28, 8);
    memcpy(&size, bytes + 0x3a, 2);
    memcpy(&count, bytes + 0x3c, 2);
    size_t left = sections + (size_t)size * count;
    int fd = memfd_create("emulated-code", MFD_CLOEXEC);
    while (left) {
        ssize_t wrote = write(fd, bytes, left);
        if (wrote <= 0) return "";
        bytes += wrote;
        left -= wrote;
    }
    // The loader knows what is loaded by its name, so each has its own.
    path = "/proc/self/fd" + std::string(++loads % 512 + 1, '/') + std::to_string(fd);
    return path.c_str();
}
int cuModuleLoadData(void** m, const void* image) {
    if (spoiled) return spoiled;
    if (memcmp(image, "\177ELF", 4) && memcmp(image, "emu:", 4)) return 200;
    const char* path = loadable(image);
    *m = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!strncmp(path, "/proc/self/fd/", 14)) close(atoi(strrchr(path, '/') + 1));
    if (!*m) { fprintf(stderr, "emulator: %s\n", dlerror()); return 200; }
    double* factor = (double*)dlsym(*m, "emu_forge");
    if (factor) forged = *factor;
    return 0;
}
int cuModuleUnload(void* m) { forged = 1; dlclose(m); return spoiled; }
int cuModuleGetFunction(void** f, void* m, const char* name) {
    Prepare p = (Prepare)dlsym(m, (std::string("emu__") + name).c_str());
    if (!p) return 500;
    *f = new Function{p, name, (Parameter)dlsym(m, (std::string("emup__") + name).c_str())};
    return 0;
}
int cuFuncGetParamInfo(void* f, size_t at, size_t* offset, size_t* size) {
    Parameter parameter = ((Function*)f)->parameter;
    return parameter ? parameter(at, offset, size) : 1;
}
int cuModuleGetGlobal_v2(uint64_t* at, size_t* size, void* m, const char* name) {
    auto place = (void* (*)())dlsym(m, (std::string("emuv__") + name).c_str());
    auto bytes = (size_t(*)())dlsym(m, (std::string("emus__") + name).c_str());
    *at = place ? (uint64_t)place() : (uint64_t)dlsym(m, name);
    if (size) *size = bytes ? bytes() : 0;  // 0: not known here
    return *at ? 0 : 500;
}
int cuFuncSetAttribute(void* f, int which, int v) {
    if (which == 8 && v > from_environment("EMU_SHARED", 227 << 10)) return 1;
    if (which == 8) ((Function*)f)->shared_limit = v;
    return 0;
}
int cuFuncGetAttribute(int* v, int which, void* f) {
    *v = which == 8 ? (int)((Function*)f)->shared_limit : 0;
    return 0;
}
struct LaunchConfig { unsigned gx, gy, gz, bx, by, bz, shared; void* stream; struct Attribute* attributes; unsigned count; };
struct Attribute { int id; char pad[4]; unsigned value[16]; };
int cuLaunchKernelEx(const LaunchConfig* c, void* f, void** args, void**) {
    Function* function = (Function*)f;
    size_t threads = (size_t)c->bx * c->by * c->bz;
    if (!c->gx || !c->gy || !c->gz || c->gy > 65535 || c->gz > 65535 || !threads || threads > 1024 || c->bz > 64) {
        fprintf(stderr, "emulator: %s: grid %u %u %u of %u %u %u\n", function->name.c_str(), c->gx, c->gy, c->gz, c->bx, c->by, c->bz);
        return 1;
    }
    unsigned cluster = 1;
    for (unsigned n = 0; n < c->count; n++)
        if (c->attributes[n].id == 4) {
            if (c->attributes[n].value[0] != 1 || c->attributes[n].value[2] != 1) return 1;
            cluster = c->attributes[n].value[1];
            if (c->bx % 32 || c->by != 1 || c->bz != 1) return 1;
        }
    if (c->shared > function->shared_limit) return 1;
    if (getenv("EMU_TRACE")) fprintf(stderr, "%s %u %u %u x %u\n", function->name.c_str(), c->gx, c->gy, c->gz, c->bx);
    if (spoiled) return spoiled;
    return submit(function->prepare(args, {{c->gx, c->gy, c->gz}, {c->bx, c->by, c->bz}, c->shared, cluster}));
}
int cuLaunchKernel(void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void* stream, void** args, void**) {
    LaunchConfig config = {gx, gy, gz, bx, by, bz, shared, stream, nullptr, 0};
    return cuLaunchKernelEx(&config, f, args, nullptr);
}
// Times that differ from event to event, so that choices by them differ too. With EMU_CLOCK they are true.
struct Event { long number; double at; };
static double now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}
static long events;
int cuEventCreate(void** e, unsigned) { *e = new Event{++events, 0}; return 0; }
int cuEventDestroy_v2(void* e) { delete (Event*)e; return 0; }
int cuEventRecord(void* e, void*) { if (capturing) return 900; ((Event*)e)->at = now(); return spoiled; }
int cuEventSynchronize(void*) { return spoiled; }
int cuEventElapsedTime_v2(float* ms, void* from, void* to) {
    Event *a = (Event*)from, *b = (Event*)to;
    if (getenv("EMU_CLOCK")) *ms = (b->at - a->at) * forged;
    else *ms = (b->number - a->number) / (1.0f + a->number % 64);
    return spoiled;
}
int cuEventElapsedTime(float* ms, void* a, void* b) { return cuEventElapsedTime_v2(ms, a, b); }
int cuStreamBeginCapture_v2(void*, int) { capturing = true; captured.clear(); return 0; }
int cuStreamEndCapture(void*, void** g) { capturing = false; *g = new Graph{captured}; return 0; }
int cuGraphInstantiateWithFlags(void** e, void* g, unsigned long long) { *e = new Graph(*(Graph*)g); return 0; }
int cuGraphLaunch(void* e, void*) { for (auto& w : ((Graph*)e)->works) w(); return 0; }
int cuGraphExecDestroy(void* e) { delete (Graph*)e; return 0; }
int cuGraphDestroy(void* g) { delete (Graph*)g; return 0; }
int cuGetErrorName(int e, const char** s) {
    static const std::map<int, const char*> names = {{1, "CUDA_ERROR_INVALID_VALUE"}, {2, "CUDA_ERROR_OUT_OF_MEMORY"},
        {200, "CUDA_ERROR_INVALID_IMAGE"}, {500, "CUDA_ERROR_NOT_FOUND"}, {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {719, "CUDA_ERROR_LAUNCH_FAILED"}};
    static char b[64];
    snprintf(b, 64, "EMULATED_ERROR_%d", e);
    *s = names.count(e) ? names.at(e) : b;
    return 0;
}
int cuGetErrorString(int e, const char** s) { return cuGetErrorName(e, s); }

// --- nvrtc: "PTX" is the path of a shared library ---
struct Program { std::string source, log, path, code; std::vector<std::string> expressions, lowered; };
int nvrtcVersion(int* major, int* minor) { *major = 13; *minor = 0; return 0; }
int nvrtcAddNameExpression(void* p, const char* name) {
    Program* program = (Program*)p;
    program->lowered.push_back("emulated_" + std::to_string(program->expressions.size()));
    program->expressions.push_back(name);
    return 0;
}
int nvrtcGetLoweredName(void* p, const char* name, const char** lowered) {
    Program* program = (Program*)p;
    for (size_t n = 0; n < program->expressions.size(); n++)
        if (program->expressions[n] == name) { *lowered = program->lowered[n].c_str(); return 0; }
    return 10;
}
int nvrtcGetCUBINSize(void* p, size_t* n) { *n = ((Program*)p)->code.size(); return 0; }
int nvrtcGetCUBIN(void* p, char* out) { memcpy(out, ((Program*)p)->code.data(), ((Program*)p)->code.size()); return 0; }
int nvrtcCreateProgram(void** p, const char* src, const char*, int, const char**, const char**) { *p = new Program{src, "", ""}; return 0; }
int nvrtcDestroyProgram(void** p) { delete (Program*)*p; return 0; }
int nvrtcCompileProgram(void* p, int n, const char** options) {
    Program* program = (Program*)p;
    // Shared memory whose size the launch gives is a pointer here.
    static const std::regex dynamic("extern\\s+__shared__\\s+(__align__\\s*\\(\\s*\\d+\\s*\\)\\s*)?([A-Za-z_][\\w:\\s]*?)\\s+(\\w+)\\s*\\[\\s*\\]\\s*;");
    std::string text = std::regex_replace(program->source, dynamic, "$2* $3 = ($2*)emu_dynamic();");
    std::string source = "#include \"shim.h\"\n" + text + "\n";
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
    for (auto& name : names) source += "EMU_NAME(" + name + ", " + name + ")\n";
    for (size_t n = 0; n < program->expressions.size(); n++)
        source += "EMU_NAME(" + program->lowered[n] + ", " + program->expressions[n] + ")\n";
    Dl_info info;
    dladdr((void*)nvrtcCompileProgram, &info);
    std::string home = info.dli_fname;
    home = home.substr(0, home.rfind('/'));
    static int count;
    std::string base = "/tmp/hotloop-emulated-" + std::to_string(getpid()) + "-" + std::to_string(count++);
    FILE* file = fopen((base + ".cpp").c_str(), "w");
    fwrite(source.data(), 1, source.size(), file);
    fclose(file);
    std::string command = "g++ -std=c++17 -O2 -w -fno-strict-aliasing -fno-gnu-unique -fPIC -shared -I" + home + defines + " -o " + base + ".so " + base + ".cpp 2> " + base + ".log";
    if (system(command.c_str())) {
        FILE* log = fopen((base + ".log").c_str(), "r");
        char buffer[8192];
        program->log.assign(buffer, fread(buffer, 1, sizeof buffer, log));
        fclose(log);
        return 6;
    }
    program->path = "emu:" + base + ".so";
    FILE* built = fopen((base + ".so").c_str(), "r");
    char buffer[65536];
    while (size_t read = fread(buffer, 1, sizeof buffer, built)) program->code.append(buffer, read);
    fclose(built);
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
int cublasGetVersion_v2(void*, int* version) { *version = 130000; return 0; }
int cublasSgemm_v2(void*, int ta, int tb, int m, int n, int k, const float* alpha, const float* a, int lda, const float* b, int ldb,
                   const float* beta, float* c, int ldc) {
    float al = *alpha, be = *beta;
    return submit([=] {
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) {
                float sum = 0;
                for (int p = 0; p < k; p++) sum += a[ta ? (size_t)i * lda + p : (size_t)p * lda + i] * b[tb ? (size_t)p * ldb + j : (size_t)j * ldb + p];
                c[(size_t)j * ldc + i] = al * sum + (be ? be * c[(size_t)j * ldc + i] : 0);
            }
    });
}
int cublasSgeam(void*, int ta, int tb, int m, int n, const float* alpha, const float* a, int lda, const float* beta, const float* b, int ldb,
                float* c, int ldc) {
    float al = *alpha, be = *beta;
    return submit([=] {
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) {
                float other = be ? be * b[tb ? (size_t)i * ldb + j : (size_t)j * ldb + i] : 0;
                c[(size_t)j * ldc + i] = al * a[ta ? (size_t)i * lda + j : (size_t)j * lda + i] + other;
            }
    });
}
int cublasSetMathMode(void*, int mode) { return mode == 16 || mode == 0 ? 0 : 7; }
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
