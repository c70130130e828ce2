#pragma once
// One hipRTC program: its source, and after compile() its code. clang runs as a child in a private folder that goes
// with the call.

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/result.hpp"
#include "emulator/hip_runtime/hip_api.hpp"

#include <hip/hiprtc.h>

namespace hipbench::hip {

struct RtcOptions;
class RtcWorkplace;

struct RtcHeader {
  std::string name;  // as the source includes it: relative, without ".."
  std::string text;
};

// Whether a header of this name can be handed to the compiler without leaving its folder.
bool is_valid_header_name(const std::string& name);

class RtcProgram {
 public:
  RtcProgram(std::string source, std::string name, std::vector<RtcHeader> headers)
      : source_(std::move(source)), name_(std::move(name)), headers_(std::move(headers)) {}

  hiprtcResult add_name_expression(const std::string& expression);
  // A program is compiled once; after a failure it may be tried again.
  hiprtcResult compile(std::span<const std::string> options);

  bool compiled() const { return compiled_; }
  const std::string& code() const { return code_; }
  const std::string& bitcode() const { return bitcode_; }
  const std::string& log() const { return log_; }
  bool has_log() const { return tried_; }
  hiprtcResult lowered_name(const std::string& expression, const char** name) const;

 private:
  Result<hiprtcResult> compile_in(const RtcWorkplace& place, const RtcOptions& options);

  std::string source_, name_;
  std::vector<RtcHeader> headers_;
  std::vector<std::string> expressions_;
  bool tried_ = false, compiled_ = false;
  std::string code_, bitcode_, log_;
  std::map<std::string, std::string> lowered_;
};

}  // namespace hipbench::hip
