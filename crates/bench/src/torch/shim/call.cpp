// Calls one function of an extension: its last argument is the request, those before it are the buffers.
#include "torch_host.h"

extern "C" void hotloop_bind(pybind11::module_ &);

extern "C" void hotloop_call(void *const *arguments) {
    using namespace hotloop::torch;
    int count = 0;
    while (arguments[count]) count++;
    Reader reader{(const unsigned char *)arguments[count - 1], arguments};
    Request request;
    request.name = reader.text();
    const uint64_t values = reader.word();
    for (uint64_t i = 0; i < values; i++) request.values.push_back(read(reader));
    const uint64_t named = reader.word();
    for (uint64_t i = 0; i < named; i++) {
        const std::string name = reader.text();
        request.named.emplace_back(name, read(reader));
    }
    pybind11::module_ found{request};
    std::string why;
    try {
        hotloop_bind(found);
        if (request.is_answered) return;
        why = "`" + request.name + "`: no function of the extension has this name and takes these arguments";
    } catch (const Mismatch &mismatch) {
        why = "`" + request.name + "`: an argument is not " + mismatch.what();
    } catch (const std::exception &error) {
        why = error.what();
    }
    hotloop::event(hotloop::RAISED, why.data(), why.size());
}
