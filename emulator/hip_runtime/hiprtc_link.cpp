// hipRTC's linker of bitcode is not there: its functions name themselves once on standard error and fail.

#include <atomic>
#include <cstdio>

#include "emulator/hip_runtime/hip_api.hpp"

#include <hip/hiprtc.h>

namespace {

hiprtcResult refuse() {
  static std::atomic<bool> said = false;
  if (!said.exchange(true))
    std::fputs(
        "hipRTC: hiprtcLink* is not supported on the emulated device; compile all sources as one program, without "
        "-fgpu-rdc\n",
        stderr);
  return HIPRTC_ERROR_LINKING;
}

}  // namespace

extern "C" {

hiprtcResult hiprtcLinkCreate(unsigned, hiprtcJIT_option*, void**, hiprtcLinkState*) { return refuse(); }
hiprtcResult hiprtcLinkAddFile(hiprtcLinkState, hiprtcJITInputType, const char*, unsigned, hiprtcJIT_option*, void**) {
  return refuse();
}
hiprtcResult hiprtcLinkAddData(hiprtcLinkState, hiprtcJITInputType, void*, size_t, const char*, unsigned,
                               hiprtcJIT_option*, void**) {
  return refuse();
}
hiprtcResult hiprtcLinkComplete(hiprtcLinkState, void**, size_t*) { return refuse(); }
hiprtcResult hiprtcLinkDestroy(hiprtcLinkState) { return refuse(); }

}  // extern "C"
