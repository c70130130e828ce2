#include "agents/secret.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/unique_fd.hpp"

namespace hipbench::agents {

namespace {

// A key is a word of printable characters; anything else would end up as a second header line.
Result<Secret> checked(std::string value, const std::string& where) {
  while (!value.empty() && (value.back() == '\n' || value.back() == '\r' || value.back() == ' ')) value.pop_back();
  if (value.empty()) return Error{fmt::format("{} is empty; it should hold the key and nothing else", where)};
  constexpr size_t kLongestKey = 4096;
  const bool printable = std::all_of(value.begin(), value.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (!printable || value.size() > kLongestKey)
    return Error{fmt::format("{} does not hold a key: a key is one word of printable characters", where)};
  return Secret(std::move(value));
}

}  // namespace

std::string Secret::redacted(std::string text) const {
  if (value_.empty()) return text;
  constexpr std::string_view kMark = "[key]";
  for (size_t at = 0; (at = text.find(value_, at)) != std::string::npos; at += kMark.size())
    text.replace(at, value_.size(), kMark);
  return text;
}

Result<Secret> read_key_file(const std::filesystem::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return Error{fmt::format("cannot read the key file {}: {}", path.string(), std::strerror(errno))};
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return Error{fmt::format("the key file {} is not a regular file", path.string())};
  if (status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
    return Error{fmt::format("others may read the key file {}; make it yours alone: chmod 600 {}", path.string(),
                             path.string())};
  std::string value(8192, '\0');
  const ssize_t size = ::read(fd.get(), value.data(), value.size());
  if (size < 0) return Error{fmt::format("cannot read the key file {}: {}", path.string(), std::strerror(errno))};
  value.resize(static_cast<size_t>(size));
  return checked(std::move(value), "the key file " + path.string());
}

Result<Secret> take_key_from_environment(const std::string& variable) {
  char* value = ::getenv(variable.c_str());
  if (value == nullptr || *value == '\0') return Secret();
  std::string copy = value;
  std::memset(value, 0, copy.size());  // /proc/PID/environ shows the memory, not the list
  ::unsetenv(variable.c_str());
  return checked(std::move(copy), "the environment variable " + variable);
}

}  // namespace hipbench::agents
