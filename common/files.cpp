#include "common/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "common/unique_fd.hpp"

namespace hipbench {

namespace fs = std::filesystem;

Result<std::string> read_file(const fs::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return Error{fmt::format("cannot open {}: {}", path.string(), std::strerror(errno))};
  struct stat info{};
  if (::fstat(fd.get(), &info) == 0 && S_ISDIR(info.st_mode))
    return Error{fmt::format("cannot read {}: it is a directory", path.string())};
  std::string content;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{fmt::format("cannot read {}: {}", path.string(), std::strerror(errno))};
    if (got == 0) return content;
    content.append(buffer.data(), static_cast<size_t>(got));
  }
}

namespace {

Result<void> write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t put = ::write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return Error{std::strerror(errno)};
    content.remove_prefix(static_cast<size_t>(put));
  }
  return {};
}

std::string temporary_name(const fs::path& path) {
  static std::atomic<unsigned> number = 0;
  return fmt::format("{}.{}-{}", path.string(), ::getpid(), number++);
}

}  // namespace

Result<void> write_file_atomically(const fs::path& path, std::string_view content) {
  const auto failed = [&](int reason) {
    return Error{fmt::format("cannot write {}: {}", path.string(), std::strerror(reason))};
  };
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string temporary = temporary_name(path);
  // Without a name until it is whole, so that a program that is killed leaves nothing; some file systems cannot do
  // that.
  UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  const bool unnamed = fd.valid();
  if (!unnamed) fd.reset(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.valid()) return Error{fmt::format("cannot create a file beside {}: {}", path.string(), std::strerror(errno))};
  ::fchmod(fd.get(), 0644);
  if (const Result<void> written = write_all(fd.get(), content); !written) {
    if (!unnamed) ::unlink(temporary.c_str());
    return Error{fmt::format("cannot write {}: {}", path.string(), written.error().message)};
  }
  if (unnamed) {
    const std::string ours = fmt::format("/proc/self/fd/{}", fd.get());
    if (::linkat(AT_FDCWD, ours.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) return {};
    if (errno != EEXIST) return failed(errno);
    // A link never replaces a file; a rename does.
    if (::linkat(AT_FDCWD, ours.c_str(), AT_FDCWD, temporary.c_str(), AT_SYMLINK_FOLLOW) != 0) return failed(errno);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    return failed(reason);
  }
  return {};
}

Result<TemporaryDirectory> TemporaryDirectory::create(std::string_view prefix) {
  const char* base = std::getenv("TMPDIR");
  std::string name = fmt::format("{}/{}-XXXXXX", base != nullptr && *base != 0 ? base : "/tmp", prefix);
  if (::mkdtemp(name.data()) == nullptr)
    return Error{fmt::format("cannot create a temporary folder {}: {}", name, std::strerror(errno))};
  return TemporaryDirectory(name);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

fs::path executable_directory() {
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  return failed ? fs::current_path() : self.parent_path();
}

namespace {

// FIPS 180-4, section 4.2.2.
constexpr std::array<uint32_t, 64> kSha256Constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void sha256_block(std::array<uint32_t, 8>& state, const unsigned char* block) {
  std::array<uint32_t, 64> w;
  for (size_t i = 0; i < 16; ++i)
    w[i] = uint32_t{block[4 * i]} << 24 | uint32_t{block[4 * i + 1]} << 16 | uint32_t{block[4 * i + 2]} << 8 |
           uint32_t{block[4 * i + 3]};
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                        kSha256Constants[i] + w[i];
    const uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<uint32_t, 8> sum = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state[i] += sum[i];
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const uint64_t bit_count = uint64_t{bytes.size()} * 8;
  size_t at = 0;
  for (; at + 64 <= bytes.size(); at += 64)
    sha256_block(state, reinterpret_cast<const unsigned char*>(bytes.data()) + at);
  std::string tail(bytes.substr(at));
  tail.push_back('\x80');
  while (tail.size() % 64 != 56) tail.push_back('\0');
  for (int shift = 56; shift >= 0; shift -= 8) tail.push_back(static_cast<char>(bit_count >> shift & 0xff));
  for (size_t i = 0; i < tail.size(); i += 64)
    sha256_block(state, reinterpret_cast<const unsigned char*>(tail.data()) + i);
  std::string hex;
  for (uint32_t word : state) hex += fmt::format("{:08x}", word);
  return hex;
}

}  // namespace hipbench
