#pragma once
// The standard headers that hipRTC lacks although models write them: our own small ones, from rtc_headers/. Name → text.

#include <map>
#include <string>

namespace hipbench {

const std::map<std::string, std::string>& rtc_headers();

}  // namespace hipbench
