#include "emulator/memory/resident_budget.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

#include "common/files.hpp"

namespace hipbench::emulator {

namespace {

// Below this the whole machine is in trouble, whoever used it up.
constexpr u64 kLeastAvailableBytes = u64{192} << 20;

std::string_view read_again(const UniqueFd& fd, std::span<char> buffer) {
  const ssize_t got = pread(fd.get(), buffer.data(), buffer.size(), 0);
  return {buffer.data(), got > 0 ? static_cast<size_t>(got) : 0};
}

// The first unsigned number at or after `from`, or 0.
u64 number_after(std::string_view text, size_t from) {
  while (from < text.size() && (text[from] < '0' || text[from] > '9')) ++from;
  u64 value = 0;
  if (from < text.size()) std::from_chars(text.data() + from, text.data() + text.size(), value);
  return value;
}

}  // namespace

u64 control_group_memory_limit() {
  u64 limit = std::numeric_limits<u64>::max();
  const auto self = read_file("/proc/self/cgroup");
  if (!self) return limit;
  const size_t at = self->rfind("0::/");
  if (at == std::string::npos) return limit;
  std::filesystem::path group = self->substr(at + 4, self->find('\n', at) - at - 4);
  for (;; group = group.parent_path()) {
    const auto text = read_file(std::filesystem::path("/sys/fs/cgroup") / group / "memory.max");
    if (text && !text->starts_with("max")) limit = std::min(limit, number_after(*text, 0));
    if (group.empty()) return limit;
  }
}

Result<ResidentBudget> ResidentBudget::create(u64 budget) {
  if (budget == 0) {
    const u64 machine = static_cast<u64>(sysconf(_SC_PHYS_PAGES)) * static_cast<u64>(sysconf(_SC_PAGESIZE));
    budget = std::min(machine, control_group_memory_limit()) / 4 * 3;
  }
  ResidentBudget result(budget);
  result.statm_.reset(open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
  result.meminfo_.reset(open("/proc/meminfo", O_RDONLY | O_CLOEXEC));
  if (!result.statm_.valid() || !result.meminfo_.valid())
    return Error{
        "cannot open /proc/self/statm and /proc/meminfo; the emulator needs /proc mounted to keep within its memory"};
  return result;
}

bool ResidentBudget::exceeded(u64 shared_bytes, u64 more) const {
  std::array<char, 256> buffer;
  const std::string_view statm = read_again(statm_, buffer);  // pages: size resident shared …
  const size_t resident_at = std::min(statm.find(' '), statm.size());
  const size_t shared_at = std::min(statm.find(' ', resident_at + 1), statm.size());
  const u64 resident = number_after(statm, resident_at), shared = number_after(statm, shared_at);
  const u64 private_bytes = (resident - std::min(resident, shared)) * 4096;
  if (private_bytes + shared_bytes + more > budget_) return true;
  // The machine's own state is asked for only when our share of it is large enough to matter.
  if (private_bytes + shared_bytes + more < (u64{256} << 20)) return false;
  const std::string_view meminfo = read_again(meminfo_, buffer);
  const size_t available_at = meminfo.find("MemAvailable:");
  if (available_at == std::string_view::npos) return false;
  return number_after(meminfo, available_at) * 1024 < kLeastAvailableBytes + more;
}

}  // namespace hipbench::emulator
