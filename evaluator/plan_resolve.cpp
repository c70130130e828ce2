// A parsed plan in numbers for one shape, and those numbers against the compiled kernel.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <map>

#include "evaluator/plan.hpp"

namespace hipbench {
namespace {

constexpr int64_t kMaxBlockItems = 1024;
constexpr int64_t kMaxGridX = 2147483647, kMaxGridYZ = 65536;  // maxGridSize of an MI300X
constexpr int64_t kMaxItemsADimension = 4294967295;            // the dispatch packet counts work-items in 32 bits
constexpr uint64_t kWorkspaceAlignment = 256;

[[noreturn]] void fail(SourcePosition at, std::string message) {
  throw PlanError{at.line, at.column, std::move(message)};
}

uint64_t align_up(uint64_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

// The values of all names for one shape. A [let] that cannot be evaluated is an error only where it is used: a step
// that `when` leaves out may use it.
class Scope {
 public:
  Scope(const Problem& problem, const Shape& shape, const std::vector<LaunchPlan::Named>& sorted_lets)
      : label_(shape.label) {
    for (const auto& [name, value] : problem.named_values(shape)) values_[name] = value;
    for (const LaunchPlan::Named& let : sorted_lets) {
      try {
        values_[let.name] = evaluate(let.value);
      } catch (PlanError& error) {
        values_[let.name] = std::move(error);
      }
    }
  }

  int64_t evaluate(const LaunchPlan::Value& value) const {
    try {
      return value.expression.evaluate([&](const std::string& name, size_t) {
        const std::variant<int64_t, PlanError>& found = values_.at(name);  // the reader has checked that names exist
        if (const PlanError* error = std::get_if<PlanError>(&found)) throw *error;
        return std::get<int64_t>(found);
      });
    } catch (const ExpressionError& error) {
      const int offset = value.columns_exact ? static_cast<int>(error.offset) : 0;
      fail({value.at.line, value.at.column + offset}, fmt::format("{} (for {})", error.message, label_));
    }
  }

  // Evaluates and checks the range, both ends included.
  int64_t evaluate(const LaunchPlan::Value& value, std::string_view what, int64_t low, int64_t high) const {
    const int64_t result = evaluate(value);
    if (result < low || result > high) {
      fail(value.at, fmt::format("{} is {}, it must be {}..{} (for {})", what, result, low, high, label_));
    }
    return result;
  }

  const std::string& label() const { return label_; }

 private:
  std::string label_;
  std::map<std::string, std::variant<int64_t, PlanError>> values_;
};

class Resolver {
 public:
  Resolver(const Problem& problem, const Shape& shape, const Scope& scope)
      : problem_(problem), shape_(shape), scope_(scope) {}

  void add_workspace(const LaunchPlan::Named& named) {
    constexpr auto kMost = static_cast<int64_t>(kMaxWorkspaceBytes);
    const auto bytes = static_cast<uint64_t>(scope_.evaluate(named.value, "the workspace " + named.name, 0, kMost));
    workspace_bytes_ += align_up(bytes);
    if (workspace_bytes_ > kMaxWorkspaceBytes) {
      fail(named.value.at, fmt::format("the workspaces exceed 8 GiB in all (for {})", scope_.label()));
    }
    plan_.workspaces.push_back({named.name, bytes});
  }

  void add_step(const LaunchPlan::Step& step) {
    if (step.when && scope_.evaluate(*step.when) == 0) return;
    if (step.kernel.empty()) {
      plan_.steps.emplace_back(memset_step(step));
    } else {
      plan_.steps.emplace_back(kernel_step(step));
    }
  }

  ResolvedPlan take() { return std::move(plan_); }

 private:
  BufferRef find_buffer(std::string_view name) const {
    for (size_t i = 0; i < problem_.pointer_fields().size(); ++i) {
      if (problem_.pointer_fields()[i].name == name) return {BufferRef::Kind::Field, i};
    }
    for (size_t i = 0; i < plan_.workspaces.size(); ++i) {
      if (plan_.workspaces[i].name == name) return {BufferRef::Kind::Workspace, i};
    }
    CHECK(false, "the reader has checked that buffers exist");
    return {};
  }
  uint64_t bytes_of(BufferRef buffer) const {
    return buffer.kind == BufferRef::Kind::Field ? problem_.byte_count(shape_, buffer.index)
                                                 : plan_.workspaces[buffer.index].bytes;
  }

  MemsetStep memset_step(const LaunchPlan::Step& step) const {
    MemsetStep result;
    result.at = step.memset_at;
    result.buffer = find_buffer(step.memset);
    result.bytes = bytes_of(result.buffer);
    if (step.memset_value) result.value = static_cast<uint8_t>(scope_.evaluate(*step.memset_value, "value", 0, 255));
    return result;
  }

  KernelStep kernel_step(const LaunchPlan::Step& step) const {
    KernelStep result;
    result.at = step.at;
    result.kernel = step.kernel;
    result.cooperative = step.cooperative;
    int64_t items = 1;
    for (size_t i = 0; i < step.block.size(); ++i) {
      const int64_t size = scope_.evaluate(step.block[i], fmt::format("block {}", "xyz"[i]), 1, kMaxBlockItems);
      result.block[i] = static_cast<uint32_t>(size);
      items *= size;
    }
    if (items > kMaxBlockItems) {
      fail(step.block[0].at, fmt::format("the block has {} work-items, at most {} are possible (for {})", items,
                                         kMaxBlockItems, scope_.label()));
    }
    for (size_t i = 0; i < step.grid.size(); ++i) {
      const int64_t most = std::min(i == 0 ? kMaxGridX : kMaxGridYZ, kMaxItemsADimension / result.block[i]);
      const int64_t size = scope_.evaluate(step.grid[i], fmt::format("grid {}", "xyz"[i]), 1, most);
      result.grid[i] = static_cast<uint32_t>(size);
    }
    if (step.lds) {
      const int64_t bytes = scope_.evaluate(*step.lds, "lds", 0, static_cast<int64_t>(kMaxLdsBytes));
      result.dynamic_lds_bytes = static_cast<uint32_t>(bytes);
    }
    for (const LaunchPlan::Argument& argument : step.arguments) result.arguments.push_back(resolve_argument(argument));
    return result;
  }

  ResolvedArgument resolve_argument(const LaunchPlan::Argument& argument) const {
    ResolvedArgument result;
    result.kind = argument.kind;
    result.at = argument.at;
    switch (argument.kind) {
      case ResolvedArgument::Kind::Struct: result.size = problem_.args_size(); break;
      case ResolvedArgument::Kind::Pointer: {
        result.size = 8;
        result.buffer = find_buffer(argument.buffer);
        if (!argument.value) break;
        const auto bytes = static_cast<int64_t>(bytes_of(result.buffer));
        const int64_t offset = scope_.evaluate(*argument.value);
        if (offset < 0 || offset > bytes || (offset == bytes && offset != 0)) {
          fail(argument.value->at, fmt::format("the offset {} is outside {}, which has {} bytes (for {})", offset,
                                               argument.buffer, bytes, scope_.label()));
        }
        result.offset = static_cast<uint64_t>(offset);
        break;
      }
      case ResolvedArgument::Kind::Scalar: resolve_scalar(argument, result); break;
    }
    return result;
  }

  void resolve_scalar(const LaunchPlan::Argument& argument, ResolvedArgument& result) const {
    const std::string& type = argument.scalar_type;
    result.size = type.ends_with("64") ? 8 : 4;
    if (type == "f64") {
      result.bits = std::bit_cast<uint64_t>(argument.literal);
    } else if (type == "f32") {
      result.bits = std::bit_cast<uint32_t>(static_cast<float>(argument.literal));
    } else {
      constexpr int64_t kMax64 = std::numeric_limits<int64_t>::max();
      const int64_t low = type == "i64" ? std::numeric_limits<int64_t>::min() : type == "i32" ? -2147483648LL : 0;
      const int64_t high = result.size == 8 ? kMax64 : type == "i32" ? 2147483647LL : 4294967295LL;
      const int64_t value = scope_.evaluate(*argument.value, "the " + type + " argument", low, high);
      result.bits = static_cast<uint64_t>(value);
      if (result.size == 4) result.bits &= 0xffffffff;
    }
  }

  const Problem& problem_;
  const Shape& shape_;
  const Scope& scope_;
  ResolvedPlan plan_;
  uint64_t workspace_bytes_ = 0;
};

bool kind_fits(const ResolvedArgument& argument, std::string_view metadata_kind) {
  const bool pointer = metadata_kind == "global_buffer";
  return argument.kind == ResolvedArgument::Kind::Pointer ? pointer : metadata_kind == "by_value";
}

std::string describe(const ResolvedArgument& argument) {
  switch (argument.kind) {
    case ResolvedArgument::Kind::Struct: return fmt::format("the struct of {} bytes by value", argument.size);
    case ResolvedArgument::Kind::Pointer: return "a pointer";
    case ResolvedArgument::Kind::Scalar: return fmt::format("a number of {} bytes", argument.size);
  }
  return "";
}

std::string describe(const KernelParameter& parameter) {
  if (parameter.kind == "global_buffer") return "a pointer";
  if (parameter.kind == "by_value") return fmt::format("a value of {} bytes", parameter.size);
  return fmt::format("a {} of {} bytes", parameter.kind, parameter.size);
}

}  // namespace

std::variant<ResolvedPlan, PlanError> LaunchPlan::resolve(const Shape& shape) const {
  try {
    const Scope scope(*problem_, shape, lets_);
    Resolver resolver(*problem_, shape, scope);
    for (const Named& named : workspaces_) resolver.add_workspace(named);
    for (const Step& step : steps_) resolver.add_step(step);
    ResolvedPlan plan = resolver.take();
    if (plan.steps.empty()) fail(steps_.front().at, fmt::format("no step is left for {}", shape.label));
    return plan;
  } catch (PlanError& error) {
    return std::move(error);
  }
}

std::optional<PlanError> check_kernel_step(const KernelStep& step, const KernelFacts& facts) {
  const auto error = [](SourcePosition at, std::string message) {
    return PlanError{at.line, at.column, std::move(message)};
  };
  const size_t given = step.arguments.size(), wanted = facts.parameters.size();
  if (given != wanted) {
    return error(step.at,
                 fmt::format("the kernel {} takes {} arguments, the plan gives {}", step.kernel, wanted, given));
  }
  for (size_t i = 0; i < given; ++i) {
    const ResolvedArgument& argument = step.arguments[i];
    const KernelParameter& parameter = facts.parameters[i];
    if (kind_fits(argument, parameter.kind) && argument.size == parameter.size) continue;
    return error(argument.at, fmt::format("argument {} of the kernel {} is {}, the plan gives {}", i + 1, step.kernel,
                                          describe(parameter), describe(argument)));
  }
  const uint64_t lds = uint64_t{facts.static_lds_bytes} + step.dynamic_lds_bytes;
  if (lds > kMaxLdsBytes) {
    return error(step.at, fmt::format("the kernel {} needs {} bytes of LDS ({} static, {} dynamic); a workgroup has {}",
                                      step.kernel, lds, facts.static_lds_bytes, step.dynamic_lds_bytes, kMaxLdsBytes));
  }
  const uint64_t items = uint64_t{step.block[0]} * step.block[1] * step.block[2];
  if (items > facts.max_workgroup_size) {
    return error(step.at,
                 fmt::format("the kernel {} is compiled for at most {} work-items a workgroup, the plan asks for "
                             "{}; write __launch_bounds__({}) in front of it",
                             step.kernel, facts.max_workgroup_size, items, items));
  }
  return std::nullopt;
}

std::vector<std::byte> argument_bytes(const ResolvedArgument& argument, std::span<const std::byte> args_struct,
                                      std::span<const uint64_t> field_addresses,
                                      std::span<const uint64_t> workspace_addresses) {
  if (argument.kind == ResolvedArgument::Kind::Struct) return {args_struct.begin(), args_struct.end()};
  uint64_t bits = argument.bits;
  if (argument.kind == ResolvedArgument::Kind::Pointer) {
    const bool field = argument.buffer.kind == BufferRef::Kind::Field;
    bits = (field ? field_addresses : workspace_addresses)[argument.buffer.index] + argument.offset;
  }
  std::vector<std::byte> bytes(argument.size);
  std::memcpy(bytes.data(), &bits, bytes.size());
  return bytes;
}

}  // namespace hipbench
