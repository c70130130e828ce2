// hipbench-rtc: one hipRTC compile, inside the compile sandbox. It opens the hipRTC it is given (ROCm's on a GPU
// machine, our drop-in elsewhere) and knows nothing of HIP at build time.
//
//   hipbench-rtc REQUEST CODE NAMES
//
// REQUEST is JSON: library, source (a path), name, headers (name → text), options, kernels (name expressions). CODE
// gets the code object, NAMES the lowered names as JSON. Standard error gets the compiler's log. Exit status 0; 1: it
// does not compile; 2: hipRTC itself failed.

#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

constexpr int kDoesNotCompile = 1, kBroken = 2;
constexpr int kErrorInvalidOption = 5, kErrorCompilation = 6;  // hiprtcResult

int broken(const std::string& what) {
  std::fprintf(stderr, "hipbench-rtc: %s\n", what.c_str());
  return kBroken;
}

// The functions used, under hipRTC's names.
struct Rtc {
  using Program = void*;
  int (*create)(Program*, const char*, const char*, int, const char**, const char**) = nullptr;
  int (*add_name)(Program, const char*) = nullptr;
  int (*compile)(Program, int, const char**) = nullptr;
  int (*log_size)(Program, size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*code_size)(Program, size_t*) = nullptr;
  int (*code)(Program, char*) = nullptr;
  int (*lowered)(Program, const char*, const char**) = nullptr;
  const char* (*error_string)(int) = nullptr;

  bool open(const std::string& path) {
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      return function != nullptr;
    };
    return find(create, "hiprtcCreateProgram") && find(add_name, "hiprtcAddNameExpression") &&
           find(compile, "hiprtcCompileProgram") && find(log_size, "hiprtcGetProgramLogSize") &&
           find(log, "hiprtcGetProgramLog") && find(code_size, "hiprtcGetCodeSize") && find(code, "hiprtcGetCode") &&
           find(lowered, "hiprtcGetLoweredName") && find(error_string, "hiprtcGetErrorString");
  }
};

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> result;
  for (const std::string& text : texts) result.push_back(text.c_str());
  return result;
}

void print_log(const Rtc& rtc, Rtc::Program program) {
  size_t size = 0;
  if (rtc.log_size(program, &size) != 0 || size == 0) return;
  std::string log(size, '\0');
  if (rtc.log(program, log.data()) == 0) std::fputs(log.c_str(), stderr);
}

int run(const nlohmann::json& request, const char* code_path, const char* names_path) {
  Rtc rtc;
  if (!rtc.open(request.at("library"))) return broken(std::string("cannot use hipRTC: ") + ::dlerror());
  std::ifstream file(request.at("source").get<std::string>(), std::ios::binary);
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> header_names, header_texts;
  for (const auto& [name, text] : request.at("headers").items()) {
    header_names.push_back(name);
    header_texts.push_back(text);
  }
  const auto names = pointers(header_names), texts = pointers(header_texts);
  const std::string program_name = request.at("name");
  Rtc::Program program = nullptr;
  int result = rtc.create(&program, source.c_str(), program_name.c_str(), static_cast<int>(names.size()),
                          const_cast<const char**>(texts.data()), const_cast<const char**>(names.data()));
  const std::vector<std::string> kernels = request.at("kernels"), options = request.at("options");
  for (const std::string& kernel : kernels)
    if (result == 0) result = rtc.add_name(program, kernel.c_str());
  if (result != 0) return broken(std::string("hipRTC does not take the program: ") + rtc.error_string(result));

  const auto flags = pointers(options);
  result = rtc.compile(program, static_cast<int>(flags.size()), const_cast<const char**>(flags.data()));
  print_log(rtc, program);
  if (result == kErrorCompilation || result == kErrorInvalidOption) return kDoesNotCompile;
  if (result != 0) return broken(std::string("hipRTC failed: ") + rtc.error_string(result));

  size_t size = 0;
  result = rtc.code_size(program, &size);
  std::string code(size, '\0');
  if (result == 0) result = rtc.code(program, code.data());
  if (result != 0) return broken(std::string("hipRTC gives no code: ") + rtc.error_string(result));
  nlohmann::json symbols = nlohmann::json::object();
  for (const std::string& kernel : kernels)
    if (const char* symbol = nullptr; rtc.lowered(program, kernel.c_str(), &symbol) == 0 && symbol != nullptr)
      symbols[kernel] = symbol;
  std::ofstream(code_path, std::ios::binary) << code;
  std::ofstream(names_path, std::ios::binary) << symbols.dump();
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return broken("usage: hipbench-rtc REQUEST CODE NAMES");
  try {
    std::ifstream file(arguments[1], std::ios::binary);
    return run(nlohmann::json::parse(file), arguments[2], arguments[3]);
  } catch (const std::exception& error) {
    return broken(error.what());
  }
}
