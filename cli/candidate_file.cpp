#include "cli/candidate_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/text.hpp"
#include "common/files.hpp"
#include "common/unique_fd.hpp"

namespace hipbench::cli {

namespace {

Error because_of_errno(std::string_view what, const std::string& file) {
  return Error{fmt::format("cannot {} {}: {}", what, printable_line(file), std::strerror(errno))};
}

}  // namespace

Result<std::string> read_candidate(const std::string& file) {
  const std::string name = printable_line(file);
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    if (errno == ENOENT)
      return Error{fmt::format("there is no file {}; `hipbench init PROBLEM {}` writes a starter", name, name)};
    return because_of_errno("read", file);
  }
  struct stat status{};
  if (::fstat(fd.get(), &status) == 0 && S_ISDIR(status.st_mode)) {
    return Error{fmt::format("{} is a folder, not a candidate's file", name)};
  }
  std::string text;
  std::vector<char> buffer(64 << 10);
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return because_of_errno("read", file);
    if (got == 0) break;
    text.append(buffer.data(), static_cast<size_t>(got));
    if (text.size() > kLongestSource) {
      return Error{fmt::format("{} is longer than {} MiB: it is not a candidate's source", name, kLongestSource >> 20)};
    }
  }
  if (text.empty())
    return Error{fmt::format("{} is empty; `hipbench init PROBLEM {} --force` writes a starter", name, name)};
  TRY(check_candidate_text(text, name));
  return text;
}

Result<void> check_candidate_text(std::string_view text, std::string_view name) {
  if (text.empty()) return Error{fmt::format("{} is empty", name)};
  if (text.size() > kLongestSource)
    return Error{fmt::format("{} is longer than {} MiB: it is not a candidate's source", name, kLongestSource >> 20)};
  if (const size_t nul = text.find('\0'); nul != std::string::npos)
    return Error{fmt::format("{} is not source text: there is a NUL byte at offset {}", name, nul)};
  return {};
}

Result<std::vector<std::string>> candidate_files(const std::string& file_or_folder) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (!fs::is_directory(file_or_folder, failed)) return std::vector<std::string>{file_or_folder};
  std::vector<std::string> files;
  for (fs::directory_iterator at(file_or_folder, failed), end; !failed && at != end; at.increment(failed))
    if (std::error_code ignored; at->path().extension() == ".hip" && !at->is_directory(ignored))
      files.push_back(at->path().string());
  if (failed)
    return Error{fmt::format("cannot read the folder {}: {}", printable_line(file_or_folder), failed.message())};
  if (files.empty())
    return Error{fmt::format("the folder {} holds no candidates (*.hip)", printable_line(file_or_folder))};
  std::sort(files.begin(), files.end());
  return files;
}

Result<void> write_new_file(const std::string& file, std::string_view content, bool force) {
  if (force) return write_file_atomically(file, content);
  UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd.valid()) {
    if (errno == EEXIST) return Error{fmt::format("{} is already there; --force replaces it", printable_line(file))};
    return because_of_errno("write", file);
  }
  while (!content.empty()) {
    const ssize_t written = ::write(fd.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const Error error = because_of_errno("write", file);
      ::unlink(file.c_str());
      return error;
    }
    content.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

}  // namespace hipbench::cli
