#include "evaluator/gpu_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "evaluator/candidate.hpp"
#include "evaluator/device_buffers.hpp"

namespace hipbench {

namespace {

// Before and behind every buffer: poisoned, and looked at after every call.
constexpr uint64_t kRedZoneBytes = uint64_t{64} << 10;
constexpr size_t kMostEvidence = 4000;

const emulator::KernelInfo* find(const GpuCode& code, const KernelStep& step) {
  return code.module.find_kernel(code.compiled.symbols.at(step.kernel));
}

// A plan may ask for other grids, blocks and LDS in every shape.
std::optional<Verdict> check_steps(const ResolvedPlan& plan, const GpuCode& code, const std::string& file) {
  for (const auto& step : plan.steps) {
    const KernelStep* launch = std::get_if<KernelStep>(&step);
    if (launch == nullptr) continue;
    const emulator::KernelInfo* kernel = find(code, *launch);
    if (kernel == nullptr) return Verdict::our_fault("the compiled code lost the kernel " + launch->kernel);
    if (const std::optional<PlanError> error = check_kernel_step(*launch, facts_of(*kernel)))
      return Verdict{VerdictKind::Rejected, "rule `plan`: " + error->where_and_what(file), {}};
    if (launch->arguments.size() > gpu::kMostArguments || kernel->explicit_kernarg_size > gpu::kMostArgumentBytes)
      return Verdict::our_fault(fmt::format("kernel {} takes more than {} arguments or {} bytes of them",
                                            launch->kernel, gpu::kMostArguments, gpu::kMostArgumentBytes));
  }
  return std::nullopt;
}

gpu::Launch launch_of(const KernelStep& step, const KernelFacts& facts, std::span<const std::byte> args,
                      std::span<const uint64_t> fields, std::span<const uint64_t> workspaces) {
  gpu::Launch launch;
  std::copy(step.grid.begin(), step.grid.end(), launch.grid);
  std::copy(step.block.begin(), step.block.end(), launch.block);
  launch.dynamic_lds = step.dynamic_lds_bytes;
  launch.cooperative = step.cooperative;
  launch.argument_count = static_cast<uint32_t>(step.arguments.size());
  for (size_t k = 0; k < step.arguments.size(); ++k) {
    const std::vector<std::byte> bytes = argument_bytes(step.arguments[k], args, fields, workspaces);
    const uint32_t offset = facts.parameters[k].offset;
    CHECK(offset + bytes.size() <= gpu::kMostArgumentBytes);
    launch.offsets[k] = offset;
    std::memcpy(launch.arguments + offset, bytes.data(), bytes.size());
  }
  return launch;
}

bool is_poison(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == kPoison; });
}

}  // namespace

std::variant<std::unique_ptr<GpuSession>, Verdict> GpuSession::start(const Setup& setup) {
  auto resolved = setup.code.plan.resolve(setup.shape);
  if (const PlanError* error = std::get_if<PlanError>(&resolved))
    return Verdict{VerdictKind::Rejected, "rule `plan`: " + error->where_and_what(setup.file), {}};
  const ResolvedPlan& plan = std::get<ResolvedPlan>(resolved);
  if (std::optional<Verdict> rejected = check_steps(plan, setup.code, setup.file)) return std::move(*rejected);
  Result<std::unique_ptr<GpuProcess>> process = GpuProcess::start(setup.runtime, setup.patience, setup.stop);
  if (!process) return Verdict::our_fault(process.error());
  std::unique_ptr<GpuSession> session(new GpuSession(setup));
  session->process_ = std::move(*process);
  for (size_t k = 0; k < setup.problem.pointer_fields().size(); ++k) {
    const Result<Block> block = session->allocate(setup.problem.byte_count(setup.shape, k));
    if (!block) return Verdict::our_fault(block.error());
    session->fields_.push_back(*block);
  }
  if (std::optional<Verdict> failed = session->allocate_workspaces(plan)) return std::move(*failed);
  if (const Result<void> ready = session->add_steps(plan, setup.code); !ready) return Verdict::our_fault(ready.error());
  if (const Result<void> idle = session->wait_until_idle(); !idle) return Verdict::our_fault(idle.error());
  return session;
}

Result<GpuSession::Block> GpuSession::allocate(uint64_t bytes) {
  const uint64_t whole = kRedZoneBytes + bytes + kRedZoneBytes, base = TRY(process_->allocate(whole));
  TRY(process_->fill(base, kPoison, whole));
  return Block{base, base + kRedZoneBytes, bytes};
}

std::optional<Verdict> GpuSession::allocate_workspaces(const ResolvedPlan& plan) {
  for (const ResolvedWorkspace& wanted : plan.workspaces) {
    if (wanted.bytes == 0) {
      workspaces_.emplace_back();
      continue;
    }
    const Result<Block> block = allocate(wanted.bytes);
    if (!block)
      return Verdict{
          VerdictKind::OutOfMemory, fmt::format("workspace '{}': {}", wanted.name, block.error().message), {}};
    workspaces_.push_back(*block);
  }
  return std::nullopt;
}

std::vector<uint64_t> GpuSession::addresses_of(const std::vector<Block>& blocks) {
  std::vector<uint64_t> addresses;
  for (const Block& block : blocks) addresses.push_back(block.address);
  return addresses;
}

Result<void> GpuSession::add_steps(const ResolvedPlan& plan, const GpuCode& code) {
  const std::vector<uint64_t> fields = addresses_of(fields_), workspaces = addresses_of(workspaces_);
  const std::vector<std::byte> args = problem_.make_args(shape_, fields);
  TRY(process_->load_module(std::as_bytes(std::span(code.compiled.code))));
  std::map<std::string, uint32_t> numbers;
  for (const auto& step : plan.steps) {
    if (const MemsetStep* memset = std::get_if<MemsetStep>(&step)) {
      const auto& addresses = memset->buffer.kind == BufferRef::Kind::Field ? fields : workspaces;
      if (memset->bytes != 0) TRY(process_->add_fill(addresses[memset->buffer.index], memset->value, memset->bytes));
      continue;
    }
    const KernelStep& wanted = std::get<KernelStep>(step);
    const emulator::KernelInfo& kernel = *find(code, wanted);
    if (!numbers.contains(kernel.name)) numbers[kernel.name] = TRY(process_->find_kernel(kernel.name));
    gpu::Launch launch = launch_of(wanted, facts_of(kernel), args, fields, workspaces);
    launch.kernel = numbers[kernel.name];
    TRY(process_->add_launch(launch));
  }
  return {};
}

Result<void> GpuSession::fill(const Case& one) {
  for (size_t k = 0; k < fields_.size(); ++k)
    if (problem_.pointer_fields()[k].access != Access::Out) TRY(process_->write(fields_[k].address, one.inputs[k]));
  TRY(process_->synchronize());
  for (size_t k = 0; k < fields_.size(); ++k) {
    const Block& field = fields_[k];
    const bool whole = problem_.pointer_fields()[k].access == Access::Out;
    if (whole) TRY(process_->fill(field.address, kPoison, field.bytes));
    const StridedRange writable = problem_.writable(shape_, k);
    for (uint64_t row = 0; !whole && row < writable.rows; ++row)
      TRY(process_->fill(field.address + writable.offset + row * writable.stride_bytes, kPoison, writable.row_bytes));
  }
  for (const Block& workspace : workspaces_)
    if (workspace.bytes != 0) TRY(process_->fill(workspace.address, kPoison, workspace.bytes));
  return process_->synchronize();
}

std::variant<ClockReadings, Verdict> GpuSession::call() {
  const Result<ClockReadings> clocks = process_->call();
  if (!clocks) return verdict_of(clocks.error());
  return *clocks;
}

// What a request that failed while the subject's code runs says of it.
Verdict GpuSession::verdict_of(const Error& error) const {
  if (stop_.stop_requested()) return Verdict::our_fault(error);
  std::string evidence = process_->errors();
  if (evidence.size() > kMostEvidence) evidence.resize(kMostEvidence);
  switch (process_->last_failure()) {
    case GpuProcess::Failure::Ended:
      return {VerdictKind::Crashed, "the HIP runtime ended the process during a call, as it does when a kernel faults",
              evidence};
    case GpuProcess::Failure::Late:
      return {VerdictKind::TimedOut, "a call did not end on the GPU: " + error.message, evidence};
    case GpuProcess::Failure::Refused:
      break;
  }
  return {VerdictKind::Crashed, "a call failed on the GPU: " + error.message, evidence};
}

Verdict GpuSession::compare(const Case& one, Comparison& comparison) {
  Buffers outputs;
  for (size_t k = 0; k < fields_.size(); ++k) {
    const StridedRange writable = problem_.writable(shape_, k);
    const std::span<const std::byte> before = one.inputs[k];  // empty for outputs
    std::vector<std::byte> whole;
    bool changed = false;
    const auto look = [&](uint64_t at, std::span<const std::byte> piece) {
      changed = changed || changed_outside(writable, before, at, piece);
      if (writable.rows != 0) whole.insert(whole.end(), piece.begin(), piece.end());
      return !changed;
    };
    if (const Result<void> read = process_->read(fields_[k].address, fields_[k].bytes, look); !read)
      return verdict_of(read.error());
    if (changed)
      return {VerdictKind::WrongResult,
              fmt::format("the candidate changed '{}' where it may only read", problem_.pointer_fields()[k].name),
              {}};
    outputs.push_back(writable.rows == 0 ? std::vector<std::byte>() : Problem::pack(writable, whole));
  }
  if (std::optional<Verdict> outside = look_at_red_zones()) return std::move(*outside);
  comparison = problem_.compare(shape_, one.expected, outputs, one.rows, kPoison);
  if (comparison.passed) return Verdict::pass();
  return {VerdictKind::WrongResult, comparison.sentence(), {}};
}

std::optional<Verdict> GpuSession::look_at_red_zones() {
  const auto look = [&](const Block& block, const std::string& name) -> std::optional<Verdict> {
    if (block.base == 0) return std::nullopt;
    const Result<bool> hold = red_zones_hold(block);
    if (!hold) return verdict_of(hold.error());
    if (*hold) return std::nullopt;
    return Verdict{VerdictKind::Crashed, "a kernel wrote before the start or behind the end of " + name, {}};
  };
  for (size_t k = 0; k < fields_.size(); ++k)
    if (auto broken = look(fields_[k], "'" + problem_.pointer_fields()[k].name + "'")) return broken;
  for (const Block& workspace : workspaces_)
    if (auto broken = look(workspace, "a workspace")) return broken;
  return std::nullopt;
}

Result<bool> GpuSession::red_zones_hold(const Block& block) {
  bool hold = true;
  const auto look = [&](uint64_t, std::span<const std::byte> piece) { return hold = hold && is_poison(piece); };
  TRY(process_->read(block.base, kRedZoneBytes, look));
  TRY(process_->read(block.address + block.bytes, kRedZoneBytes, look));
  return hold;
}

}  // namespace hipbench
