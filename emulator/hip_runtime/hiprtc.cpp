// The exported hipRTC functions: they check their arguments and call RtcProgram.

#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>

#include "emulator/hip_runtime/hiprtc_program.hpp"

using namespace hipbench::hip;

namespace {

// The handles that are alive, so that a stale one is an error and not a crash. A call holds its program while it runs.
class Programs {
 public:
  // Never destroyed: programs call hipRTC from their own static destructors.
  static Programs& get() {
    static Programs* const programs = new Programs;
    return *programs;
  }
  hiprtcProgram add(std::shared_ptr<RtcProgram> program) {
    const std::lock_guard lock(mutex_);
    const auto handle = reinterpret_cast<hiprtcProgram>(program.get());
    programs_.emplace(handle, std::move(program));
    return handle;
  }
  std::shared_ptr<RtcProgram> find(hiprtcProgram handle) {
    const std::lock_guard lock(mutex_);
    const auto found = programs_.find(handle);
    return found == programs_.end() ? nullptr : found->second;
  }
  bool remove(hiprtcProgram handle) {
    const std::lock_guard lock(mutex_);
    return programs_.erase(handle) == 1;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<hiprtcProgram, std::shared_ptr<RtcProgram>> programs_;
};

// No exception leaves.
template <typename Body>
hiprtcResult guarded(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return HIPRTC_ERROR_OUT_OF_MEMORY;
  } catch (const std::exception&) {
    return HIPRTC_ERROR_INTERNAL_ERROR;
  }
}

template <typename Body>
hiprtcResult with_program(hiprtcProgram handle, Body body) {
  return guarded([&] {
    const std::shared_ptr<RtcProgram> program = Programs::get().find(handle);
    return program == nullptr ? HIPRTC_ERROR_INVALID_PROGRAM : body(*program);
  });
}

// Code and bitcode: a program has one of the two, once it is compiled.
template <typename Product>
hiprtcResult give_size(hiprtcProgram handle, size_t* size, Product product) {
  if (size == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  return with_program(handle, [&](RtcProgram& program) {
    if (!program.compiled() || product(program).empty()) return HIPRTC_ERROR_INVALID_PROGRAM;
    *size = product(program).size();
    return HIPRTC_SUCCESS;
  });
}

template <typename Product>
hiprtcResult give_bytes(hiprtcProgram handle, char* bytes, Product product) {
  if (bytes == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  return with_program(handle, [&](RtcProgram& program) {
    if (!program.compiled() || product(program).empty()) return HIPRTC_ERROR_INVALID_PROGRAM;
    std::memcpy(bytes, product(program).data(), product(program).size());
    return HIPRTC_SUCCESS;
  });
}

const std::string& code_of(const RtcProgram& program) { return program.code(); }
const std::string& bitcode_of(const RtcProgram& program) { return program.bitcode(); }

// ROCm's hipRTC reads this variable too.
void add_options_of_environment(std::vector<std::string>& options) {
  const char* more = std::getenv("HIPRTC_COMPILE_OPTIONS_APPEND");
  if (more == nullptr) return;
  std::string word;
  for (const char* c = more;; ++c) {
    if (*c != ' ' && *c != '\0') {
      word += *c;
      continue;
    }
    if (!word.empty()) options.push_back(word);
    word.clear();
    if (*c == '\0') return;
  }
}

}  // namespace

extern "C" {

const char* hiprtcGetErrorString(hiprtcResult result) {
  switch (result) {
    case HIPRTC_SUCCESS: return "HIPRTC_SUCCESS";
    case HIPRTC_ERROR_OUT_OF_MEMORY: return "HIPRTC_ERROR_OUT_OF_MEMORY";
    case HIPRTC_ERROR_PROGRAM_CREATION_FAILURE: return "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE";
    case HIPRTC_ERROR_INVALID_INPUT: return "HIPRTC_ERROR_INVALID_INPUT";
    case HIPRTC_ERROR_INVALID_PROGRAM: return "HIPRTC_ERROR_INVALID_PROGRAM";
    case HIPRTC_ERROR_INVALID_OPTION: return "HIPRTC_ERROR_INVALID_OPTION";
    case HIPRTC_ERROR_COMPILATION: return "HIPRTC_ERROR_COMPILATION";
    case HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE: return "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE";
    case HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION:
      return "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION";
    case HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION: return "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION";
    case HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID: return "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
    case HIPRTC_ERROR_INTERNAL_ERROR: return "HIPRTC_ERROR_INTERNAL_ERROR";
    case HIPRTC_ERROR_LINKING: return "HIPRTC_ERROR_LINKING";
  }
  return "HIPRTC_ERROR_UNKNOWN";
}

hiprtcResult hiprtcVersion(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  *major = HIP_VERSION_MAJOR;
  *minor = HIP_VERSION_MINOR;
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcCreateProgram(hiprtcProgram* handle, const char* source, const char* name, int header_count,
                                 const char** headers, const char** include_names) {
  if (handle == nullptr || source == nullptr || header_count < 0 ||
      (header_count > 0 && (headers == nullptr || include_names == nullptr)))
    return HIPRTC_ERROR_INVALID_INPUT;
  return guarded([&] {
    std::vector<RtcHeader> list;
    for (int k = 0; k < header_count; ++k) {
      if (headers[k] == nullptr || include_names[k] == nullptr || !is_valid_header_name(include_names[k]))
        return HIPRTC_ERROR_INVALID_INPUT;
      list.push_back({include_names[k], headers[k]});
    }
    *handle = Programs::get().add(
        std::make_shared<RtcProgram>(source, name == nullptr || *name == '\0' ? "program.hip" : name, std::move(list)));
    return HIPRTC_SUCCESS;
  });
}

hiprtcResult hiprtcDestroyProgram(hiprtcProgram* handle) {
  if (handle == nullptr) return HIPRTC_SUCCESS;
  return guarded([&] {
    if (!Programs::get().remove(*handle)) return HIPRTC_ERROR_INVALID_PROGRAM;
    *handle = nullptr;
    return HIPRTC_SUCCESS;
  });
}

hiprtcResult hiprtcAddNameExpression(hiprtcProgram handle, const char* expression) {
  if (expression == nullptr || *expression == '\0') return HIPRTC_ERROR_INVALID_INPUT;
  return with_program(handle, [&](RtcProgram& program) { return program.add_name_expression(expression); });
}

hiprtcResult hiprtcCompileProgram(hiprtcProgram handle, int option_count, const char** options) {
  if (option_count < 0 || (option_count > 0 && options == nullptr)) return HIPRTC_ERROR_INVALID_INPUT;
  return with_program(handle, [&](RtcProgram& program) {
    std::vector<std::string> list;
    for (int k = 0; k < option_count; ++k) {
      if (options[k] == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
      list.push_back(options[k]);
    }
    add_options_of_environment(list);
    return program.compile(list);
  });
}

hiprtcResult hiprtcGetLoweredName(hiprtcProgram handle, const char* expression, const char** name) {
  if (expression == nullptr || name == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  return with_program(handle, [&](RtcProgram& program) { return program.lowered_name(expression, name); });
}

hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram handle, size_t* size) {
  if (size == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  return with_program(handle, [&](RtcProgram& program) {
    if (!program.has_log()) return HIPRTC_ERROR_INVALID_PROGRAM;
    // With the terminating null, but nothing where there is nothing to say.
    *size = program.log().empty() ? 0 : program.log().size() + 1;
    return HIPRTC_SUCCESS;
  });
}

hiprtcResult hiprtcGetProgramLog(hiprtcProgram handle, char* log) {
  if (log == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  return with_program(handle, [&](RtcProgram& program) {
    if (!program.has_log()) return HIPRTC_ERROR_INVALID_PROGRAM;
    if (!program.log().empty()) std::memcpy(log, program.log().c_str(), program.log().size() + 1);
    return HIPRTC_SUCCESS;
  });
}

hiprtcResult hiprtcGetCodeSize(hiprtcProgram handle, size_t* size) { return give_size(handle, size, code_of); }
hiprtcResult hiprtcGetCode(hiprtcProgram handle, char* code) { return give_bytes(handle, code, code_of); }
hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram handle, size_t* size) { return give_size(handle, size, bitcode_of); }
hiprtcResult hiprtcGetBitcode(hiprtcProgram handle, char* bitcode) { return give_bytes(handle, bitcode, bitcode_of); }

}  // extern "C"
