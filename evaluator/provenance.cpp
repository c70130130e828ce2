#include "evaluator/provenance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace hipbench {

namespace {

using emulator::Operation;
using emulator::OperationKind;

// Of all input bytes, a host may see one in so many; small shapes get the least.
constexpr uint64_t kInputsPerByteRead = 64;
constexpr uint64_t kLeastReadable = 1024;

struct Range {
  uint64_t begin = 0, end = 0;
  bool holds(uint64_t address) const { return address >= begin && address < end; }
};

bool is_host_memory(uint64_t address) {
  return address >= emulator::kHostSharedBase && address - emulator::kHostSharedBase < emulator::kHostSharedSize;
}

class Provenance {
 public:
  Provenance(const Problem& problem, const Shape& shape, std::span<const uint64_t> addresses)
      : problem_(problem), readable_(host_may_read_bytes(problem, shape)) {
    for (size_t k = 0; k < addresses.size(); ++k)
      fields_.push_back({addresses[k], addresses[k] + problem.byte_count(shape, k)});
  }

  // Every operation lies in one allocation, so its first byte says which buffer it is about.
  std::optional<Verdict> see(const Operation& operation) {
    switch (operation.kind) {
      case OperationKind::Launch:
        // A kernel may have computed anything anywhere: what the host sent there earlier is no longer known to be
        // there.
        host_written_.clear();
        return learned(operation.result.bytes_written_to_host, operation,
                       fmt::format("the kernel {} wrote", operation.kernel));
      case OperationKind::Write:
        if (const std::string* output = writable_field(operation.address))
          return host_written(*output, operation, "copied from host memory");
        host_written_.push_back({operation.address, operation.address + operation.bytes});
        return std::nullopt;
      case OperationKind::Copy:
        if (const std::string* output = writable_field(operation.address);
            output != nullptr && comes_from_host(operation.source))
          return host_written(*output, operation, "copied from memory that host code filled");
        if (comes_from_host(operation.source))
          host_written_.push_back({operation.address, operation.address + operation.bytes});
        return is_host_memory(operation.address) ? fetched(operation.source, operation) : std::nullopt;
      case OperationKind::Read:
        return fetched(operation.address, operation);
      case OperationKind::Fill:
      case OperationKind::Timestamp:
      case OperationKind::LoadModule:
        return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  const std::string* field_at(uint64_t address, Access no_match) const {
    const auto fields = problem_.pointer_fields();
    for (size_t k = 0; k < fields_.size(); ++k)
      if (fields_[k].holds(address) && fields[k].access != no_match) return &fields[k].name;
    return nullptr;
  }
  // An InOut field is both, all of it: copies with a pitch may begin in one part and reach the other, and an honest
  // candidate's host code does neither.
  const std::string* writable_field(uint64_t address) const { return field_at(address, Access::In); }
  const std::string* input_field(uint64_t address) const { return field_at(address, Access::Out); }

  bool comes_from_host(uint64_t source) const {
    if (is_host_memory(source)) return true;
    for (const Range& range : host_written_)
      if (range.holds(source)) return true;
    return false;
  }

  static Verdict host_written(const std::string& output, const Operation& operation, const char* how) {
    return {VerdictKind::Cheating,
            fmt::format("the host code wrote to the output '{}'; results must be computed by kernels", output),
            fmt::format("device operation {}: {} bytes of '{}' at {:#x} were {}.\nTo give an output its first value, "
                        "use hipMemsetAsync or a kernel.",
                        operation.sequence, operation.bytes, output, operation.address, how)};
  }

  // A detour through a buffer of its own or through a kernel does not help: whatever reaches the host is counted.
  std::optional<Verdict> learned(uint64_t bytes, const Operation& operation, const std::string& how) {
    read_ += bytes;
    if (bytes == 0 || read_ <= readable_) return std::nullopt;
    return Verdict{
        VerdictKind::Rejected,
        fmt::format("rule `inputs stay on the device`: in one call {} bytes of device memory went to host memory, at "
                    "most {} may, for counts "
                    "and the like; keep intermediate results in hipMalloc memory or the workspace",
                    read_, readable_),
        fmt::format("device operation {}: {} {} bytes to memory that the host reads", operation.sequence, how, bytes)};
  }

  std::optional<Verdict> fetched(uint64_t source, const Operation& operation) {
    const std::string* input = input_field(source);
    if (input == nullptr) return learned(operation.bytes, operation, "the host code copied");
    return Verdict{
        VerdictKind::Rejected,
        fmt::format("rule `inputs stay on the device`: the host code copied the input '{}' to host memory; kernels "
                    "read it where it lies",
                    *input),
        fmt::format("device operation {}: {} bytes from {:#x}", operation.sequence, operation.bytes, source)};
  }

  const Problem& problem_;
  const uint64_t readable_;
  uint64_t read_ = 0;
  std::vector<Range> fields_;
  std::vector<Range> host_written_;
};

Verdict used(const char* rule, const Operation& operation, const std::string& what, const char* fix) {
  return {VerdictKind::Rejected, fmt::format("rule `{}`: the kernel {} {}; {}", rule, operation.kernel, what, fix),
          fmt::format("device operation {}: it was seen when the kernel ran, whatever the code object lists",
                      operation.sequence)};
}

std::optional<Verdict> check_launch(const Operation& operation) {
  const emulator::LaunchResult& result = operation.result;
  if (result.used_hostcall)
    return used("hostcall", operation, "called the host (printf, assert that failed, malloc or free)",
                "take it out, or run `hipbench check`, where it is allowed");
  if (result.used_dispatch_packet)
    return used("dispatch packet", operation, "looked at its dispatch packet (__builtin_amdgcn_dispatch_ptr)",
                "use blockDim and gridDim");
  if (result.used_queue_object)
    return used("queue", operation, "looked at its queue (__builtin_amdgcn_queue_ptr)", "a kernel has no need of it");
  return std::nullopt;
}

}  // namespace

uint64_t host_may_read_bytes(const Problem& problem, const Shape& shape) {
  return std::max(kLeastReadable, problem.roofs(shape).input_bytes / kInputsPerByteRead);
}

std::optional<Verdict> check_ways_out(std::span<const Operation> operations) {
  for (const Operation& operation : operations)
    if (std::optional<Verdict> used = check_launch(operation)) return used;
  return std::nullopt;
}

namespace {

// Code that the device would not load since it was never inspected.
std::optional<Verdict> check_loaded_code(std::span<const Operation> operations) {
  for (const Operation& operation : operations)
    if (operation.kind == OperationKind::LoadModule && !operation.refused.empty())
      return Verdict{VerdictKind::Rejected,
                     "rule `code object`: the host code loaded device code that was not compiled from its __global__ "
                     "functions; only those are "
                     "inspected and may run",
                     fmt::format("device operation {}: {} bytes of code: {}", operation.sequence, operation.bytes,
                                 operation.refused)};
  return std::nullopt;
}

}  // namespace

std::optional<Verdict> check_between_calls(std::span<const Operation> operations) {
  if (std::optional<Verdict> unknown = check_loaded_code(operations)) return unknown;
  for (const Operation& operation : operations)
    if (operation.kind == OperationKind::Launch && operation.client != 0)
      return Verdict{VerdictKind::Rejected,
                     fmt::format("rule `work outside the call`: the kernel {} was launched before the call began or "
                                 "after it had returned; launch it "
                                 "inside the call",
                                 operation.kernel),
                     fmt::format("device operation {}", operation.sequence)};
  return std::nullopt;
}

std::optional<Verdict> check_provenance(std::span<const Operation> operations, const Problem& problem,
                                        const Shape& shape, std::span<const uint64_t> addresses) {
  if (std::optional<Verdict> unknown = check_loaded_code(operations)) return unknown;
  Provenance provenance(problem, shape, addresses);
  bool launched = false;
  std::optional<Verdict> minor;  // kept back: an output written by the host says more
  for (const Operation& operation : operations) {
    launched |= operation.kind == OperationKind::Launch && operation.refused.empty();
    if (operation.client == 0) continue;
    std::optional<Verdict> broken = provenance.see(operation);
    if (broken && broken->kind == VerdictKind::Cheating) return broken;
    if (broken && !minor) minor = std::move(broken);
  }
  if (minor) return minor;
  // Poison never passes, so a call without kernels is wrong in any case; this says why.
  if (!launched) return Verdict{VerdictKind::WrongResult, "no kernel was launched", {}};
  return std::nullopt;
}

}  // namespace hipbench
