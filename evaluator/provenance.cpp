#include "evaluator/provenance.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace hipbench {

namespace {

using emulator::Operation;
using emulator::OperationKind;

struct Range {
  uint64_t begin = 0, end = 0;
  bool holds(uint64_t address) const { return address >= begin && address < end; }
};

bool is_host_memory(uint64_t address) {
  return address >= emulator::kHostSharedBase && address - emulator::kHostSharedBase < emulator::kHostSharedSize;
}

class Provenance {
 public:
  Provenance(const Problem& problem, const Shape& shape, std::span<const uint64_t> addresses) : problem_(problem) {
    for (size_t k = 0; k < addresses.size(); ++k) fields_.push_back({addresses[k], addresses[k] + problem.byte_count(shape, k)});
  }

  // Every operation lies in one allocation, so its first byte says which buffer it is about.
  std::optional<Verdict> see(const Operation& operation) {
    switch (operation.kind) {
      case OperationKind::Launch:
        // A kernel may have computed anything anywhere: what the host sent there earlier is no longer known to be there.
        host_written_.clear();
        return std::nullopt;
      case OperationKind::Write:
        if (const std::string* output = writable_field(operation.address))
          return host_written(*output, operation, "copied from host memory");
        host_written_.push_back({operation.address, operation.address + operation.bytes});
        return std::nullopt;
      case OperationKind::Copy:
        if (const std::string* output = writable_field(operation.address); output != nullptr && comes_from_host(operation.source))
          return host_written(*output, operation, "copied from memory that host code filled");
        return is_host_memory(operation.address) ? fetched(operation.source, operation) : std::nullopt;
      case OperationKind::Read:
        return fetched(operation.address, operation);
      case OperationKind::Fill:
      case OperationKind::Timestamp:
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
  // An InOut field is both, all of it: copies with a pitch may begin in one part and reach the other, and an honest candidate's host
  // code does neither.
  const std::string* writable_field(uint64_t address) const { return field_at(address, Access::In); }
  const std::string* input_field(uint64_t address) const { return field_at(address, Access::Out); }

  bool comes_from_host(uint64_t source) const {
    if (is_host_memory(source)) return true;
    for (const Range& range : host_written_)
      if (range.holds(source)) return true;
    return false;
  }

  static Verdict host_written(const std::string& output, const Operation& operation, const char* how) {
    return {VerdictKind::Cheating, fmt::format("the host code wrote to the output '{}'; results must be computed by kernels", output),
            fmt::format("device operation {}: {} bytes of '{}' at {:#x} were {}.\nTo give an output its first value, use hipMemsetAsync or a kernel.",
                        operation.sequence, operation.bytes, output, operation.address, how)};
  }

  std::optional<Verdict> fetched(uint64_t source, const Operation& operation) const {
    const std::string* input = input_field(source);
    if (input == nullptr) return std::nullopt;
    return Verdict{VerdictKind::Rejected,
                   fmt::format("rule `inputs stay on the device`: the host code copied the input '{}' to host memory; kernels read it where it lies", *input),
                   fmt::format("device operation {}: {} bytes from {:#x}", operation.sequence, operation.bytes, source)};
  }

  const Problem& problem_;
  std::vector<Range> fields_;
  std::vector<Range> host_written_;
};

}  // namespace

std::optional<Verdict> check_provenance(std::span<const Operation> operations, const Problem& problem, const Shape& shape,
                                        std::span<const uint64_t> addresses) {
  Provenance provenance(problem, shape, addresses);
  bool launched = false;
  std::optional<Verdict> fetched;  // kept back: an output written by the host says more
  for (const Operation& operation : operations) {
    launched |= operation.kind == OperationKind::Launch && operation.refused.empty();
    if (operation.client == 0) continue;
    std::optional<Verdict> broken = provenance.see(operation);
    if (broken && broken->kind == VerdictKind::Cheating) return broken;
    if (broken && !fetched) fetched = std::move(broken);
  }
  if (fetched) return fetched;
  // Poison never passes, so a call without kernels is wrong in any case; this says why.
  if (!launched) return Verdict{VerdictKind::WrongResult, "no kernel was launched", {}};
  return std::nullopt;
}

}  // namespace hipbench
