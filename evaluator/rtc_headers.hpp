#pragma once
// The standard headers that hipRTC lacks although models write them: our own small ones, from rtc_headers/.

#include <span>

#include "common/embedded.hpp"

namespace hipbench {

std::span<const EmbeddedFile> rtc_headers();

}  // namespace hipbench
