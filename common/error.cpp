#include <cstdio>
#include <cstdlib>

#include "common/result.hpp"

namespace hipbench {

void check_failed(const char* condition, const char* file, int line, std::string_view message) {
  std::fprintf(stderr, "hipbench: internal error at %s:%d: %s does not hold. %.*s\n", file, line, condition,
               static_cast<int>(message.size()), message.data());
  std::abort();
}

}  // namespace hipbench
