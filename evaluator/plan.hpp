#pragma once
// The launch plan of the kernel track: TOML in a comment of the candidate that says which kernels to launch, with which
// grids and arguments (docs/candidate-format.md describes it). The plan is hostile input; whatever
// is wrong with it is a PlanError that points into the candidate's source.
//
// A plan is parsed once, then resolved for each shape into plain numbers. It launches nothing.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/expression.hpp"
#include "problems/problem.hpp"

namespace hipbench {

struct PlanError {
  int line = 0, column = 0;  // 1-based, in the candidate's source file
  std::string message;
  std::string where_and_what(std::string_view file) const;  // "file.hip:12:8: message"
};

struct SourcePosition {
  int line = 0, column = 0;
};

constexpr uint64_t kMaxWorkspaceBytes = uint64_t{8} << 30;
constexpr size_t kMaxSteps = 64;
constexpr uint64_t kMaxLdsBytes = 65536;  // static + dynamic of one workgroup

// What a pointer argument or a memset refers to.
struct BufferRef {
  enum class Kind { Field, Workspace } kind = Kind::Field;
  size_t index = 0;  // into Problem::pointer_fields() or ResolvedPlan::workspaces
  bool operator==(const BufferRef&) const = default;
};

struct ResolvedWorkspace {
  std::string name;
  uint64_t bytes = 0;  // may be 0
};

struct ResolvedArgument {
  enum class Kind { Struct, Pointer, Scalar } kind = Kind::Struct;
  BufferRef buffer;     // Pointer
  uint64_t offset = 0;  // Pointer: bytes into the buffer
  uint64_t bits = 0;    // Scalar, little-endian in the low `size` bytes
  uint32_t size = 0;    // bytes in the kernarg segment
  SourcePosition at;
};

struct MemsetStep {
  BufferRef buffer;
  uint64_t bytes = 0;
  uint8_t value = 0;
  SourcePosition at;
};

struct KernelStep {
  std::string kernel;  // an extern "C" name or a hipRTC name expression, as the plan writes it
  std::array<uint32_t, 3> grid{1, 1, 1};  // workgroups
  std::array<uint32_t, 3> block{1, 1, 1};
  uint32_t dynamic_lds_bytes = 0;
  bool cooperative = false;
  std::vector<ResolvedArgument> arguments;
  SourcePosition at;
};

struct ResolvedPlan {
  std::vector<ResolvedWorkspace> workspaces;
  std::vector<std::variant<MemsetStep, KernelStep>> steps;
};

class LaunchPlan {
 public:
  // Finds the one plan block of `source`, parses it and resolves it for every official shape of the problem.
  static std::variant<LaunchPlan, PlanError> parse(std::string_view source, const Problem& problem);

  // The plan in numbers for any shape of the problem.
  std::variant<ResolvedPlan, PlanError> resolve(const Shape& shape) const;

  // Compiler options from the allow-list, one argv element each.
  const std::vector<std::string>& options() const { return options_; }
  // Every kernel that a step names, each once, in the order of the steps: what to compile.
  std::vector<std::string> kernel_names() const;

  // The parsed form, in plan.cpp.
  struct Value {  // an expression and where it stands
    Expression expression;
    SourcePosition at;
    bool columns_exact = false;  // the text stands verbatim in the source, so offsets are columns
  };
  struct Argument {
    ResolvedArgument::Kind kind = ResolvedArgument::Kind::Struct;
    std::string buffer;        // Pointer
    std::string scalar_type;   // Scalar: "i32", …, "f64"
    double literal = 0;        // Scalar f32, f64
    std::optional<Value> value;  // Pointer: the offset; Scalar: the value
    SourcePosition at;
  };
  struct Named {
    std::string name;
    Value value;
  };
  struct Step {
    SourcePosition at;
    std::optional<Value> when;
    std::string kernel;  // empty: a memset
    std::string memset;
    SourcePosition memset_at;
    std::optional<Value> memset_value;
    std::vector<Value> grid, block;
    std::optional<Value> lds;
    bool cooperative = false;
    std::vector<Argument> arguments;
  };

 private:
  friend class PlanReader;
  LaunchPlan() = default;
  const Problem* problem_ = nullptr;
  std::vector<std::string> options_;
  std::vector<Named> lets_, workspaces_;
  std::vector<Step> steps_;
};

// What the code object says of a kernel, hidden arguments left out.
struct KernelParameter {
  uint32_t offset = 0, size = 0;
  std::string kind;  // metadata's word: "by_value", "global_buffer", …
};
struct KernelFacts {
  std::vector<KernelParameter> parameters;
  uint32_t static_lds_bytes = 0;
  uint32_t max_workgroup_size = 1024;
};

// Arguments, LDS and workgroup size of a resolved step against the compiled kernel.
std::optional<PlanError> check_kernel_step(const KernelStep& step, const KernelFacts& facts);

// The bytes of one argument. `addresses` are given per buffer: pointer fields and workspaces.
std::vector<std::byte> argument_bytes(const ResolvedArgument& argument, std::span<const std::byte> args_struct,
                                      std::span<const uint64_t> field_addresses,
                                      std::span<const uint64_t> workspace_addresses);

}  // namespace hipbench
