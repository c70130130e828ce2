#include "emulator/hip_runtime/unsupported.hpp"

#include "emulator/hip_runtime/runtime.hpp"

namespace hipbench::hip {

int unsupported(const char* name) {
  complain_once(std::string(name) + " is not supported on the emulated device");
  return finish(hipErrorNotSupported);
}

const char* unsupported_text(const char* name) {
  complain_once(std::string(name) + " is not supported on the emulated device");
  return "not supported on the emulated device";
}

}  // namespace hipbench::hip
