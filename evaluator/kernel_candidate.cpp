// Kernel track: the judge itself launches the candidate's kernels as its plan says. No code of the candidate runs on
// the host.

#include <fmt/format.h>

#include "evaluator/candidate.hpp"

namespace hipbench {

namespace {

using emulator::Client;
using emulator::KernelInfo;

class KernelCandidate final : public Candidate {
 public:
  KernelCandidate(const CandidateSetup& setup, const LaunchPlan& plan) : setup_(setup), plan_(plan) {
    // All launches on this connection are the candidate's.
    device().set_print_handler([printed = &setup_.printed](std::string_view text) { printed->add_output(text); });
  }
  ~KernelCandidate() override {
    end();
    device().set_print_handler({});
  }

  std::optional<Verdict> begin(const Shape& shape, const CallLimits& limits) override {
    end();
    shape_ = shape;
    limits_ = limits;
    auto resolved = plan_.resolve(shape);
    if (const PlanError* error = std::get_if<PlanError>(&resolved)) return rejected(*error);
    steps_ = std::move(std::get<ResolvedPlan>(resolved));
    Result<emulator::ModuleInfo> module = device().load_module(std::as_bytes(std::span(setup_.compiled.code)));
    if (!module) return Verdict{VerdictKind::Rejected, "rule `code object`: " + module.error().message, {}};
    module_ = std::move(*module);
    for (const auto& step : steps_.steps) {
      const KernelStep* launch = std::get_if<KernelStep>(&step);
      if (launch == nullptr) continue;
      const KernelInfo* kernel = find(launch->kernel);
      if (kernel == nullptr)
        return Verdict{VerdictKind::Infrastructure, "the compiled code lost the kernel " + launch->kernel, {}};
      if (std::optional<PlanError> error = check_kernel_step(*launch, facts_of(*kernel))) return rejected(*error);
    }
    return std::nullopt;
  }

  std::optional<Verdict> call(std::span<const uint64_t> field_addresses) override {
    // The limit counts from here, over all launches of the call.
    const emulator::Limits limits{
        .instructions_in_all = limits_.wave_instructions,
        .check = limits_.check,
        .time = limits_.time,
        .timing_secret = limits_.timing_secret};
    if (Result<void> set = device().set_limits(limits); !set) return Verdict::our_fault(set.error());
    std::vector<uint64_t> workspaces;
    std::optional<Verdict> verdict = allocate_workspaces(workspaces);
    if (!verdict) verdict = run_steps(field_addresses, workspaces);
    for (uint64_t workspace : workspaces)
      if (workspace != 0) static_cast<void>(device().free(workspace));
    return verdict;
  }

  void end() override {
    if (module_.handle == 0) return;
    static_cast<void>(device().unload_module(module_.handle));
    module_ = {};
  }

 private:
  Client& device() { return setup_.server.trusted(); }
  Verdict rejected(const PlanError& error) const {
    return {VerdictKind::Rejected, "rule `plan`: " + error.where_and_what(setup_.file), {}};
  }
  const KernelInfo* find(const std::string& kernel) const {
    return module_.find_kernel(setup_.compiled.symbols.at(kernel));
  }

  // Filled with 0xFF before every call, so that a kernel that counts on zeros fails.
  std::optional<Verdict> allocate_workspaces(std::vector<uint64_t>& addresses) {
    for (const ResolvedWorkspace& workspace : steps_.workspaces) {
      if (workspace.bytes == 0) {
        addresses.push_back(0);
        continue;
      }
      const Result<uint64_t> address = device().allocate(workspace.bytes, "workspace '" + workspace.name + "'");
      if (!address) return Verdict{VerdictKind::OutOfMemory, address.error().message, {}};
      addresses.push_back(*address);
      if (Result<void> filled = device().fill(*address, 0xff, 1, workspace.bytes); !filled)
        return Verdict::our_fault(filled.error());
    }
    if (std::optional<Verdict> failed = wait()) return failed;
    // From here on the log holds the candidate's operations only.
    if (auto log = device().drain_log(); !log) return Verdict::our_fault(log.error());
    return std::nullopt;
  }

  std::optional<Verdict> run_steps(std::span<const uint64_t> fields, std::span<const uint64_t> workspaces) {
    const std::vector<std::byte> args = setup_.problem.make_args(shape_, fields);
    for (const auto& step : steps_.steps) {
      Result<void> submitted;
      if (const MemsetStep* memset = std::get_if<MemsetStep>(&step)) {
        const auto& addresses = memset->buffer.kind == BufferRef::Kind::Field ? fields : workspaces;
        if (memset->bytes != 0)
          submitted = device().fill(addresses[memset->buffer.index], memset->value, 1, memset->bytes);
      } else {
        submitted = launch(std::get<KernelStep>(step), args, fields, workspaces);
      }
      if (!submitted) return Verdict::our_fault(submitted.error());
    }
    return wait();
  }

  // Faults and refused launches are in the log, where the judge finds them; a refused fill is not.
  std::optional<Verdict> wait() {
    const auto failure = device().synchronize();
    if (!failure) return Verdict::our_fault(failure.error());
    if (!*failure) return std::nullopt;
    if (auto cleared = device().clear_failure(); !cleared) return Verdict::our_fault(cleared.error());
    if ((*failure)->refused && (*failure)->report.kernel.empty())
      return Verdict{VerdictKind::OutOfMemory, (*failure)->text, {}};
    return std::nullopt;
  }

  Result<void> launch(const KernelStep& step, std::span<const std::byte> args, std::span<const uint64_t> fields,
                      std::span<const uint64_t> workspaces) {
    const KernelInfo& kernel = *find(step.kernel);
    emulator::LaunchRequest request;
    request.module = module_.handle;
    request.kernel = kernel.name;
    request.grid = {step.grid[0], step.grid[1], step.grid[2]};
    request.block = {step.block[0], step.block[1], step.block[2]};
    request.dynamic_lds = step.dynamic_lds_bytes;
    request.cooperative = step.cooperative;
    request.check = limits_.check;
    request.time = limits_.time;
    request.no_eight_bit_math = !limits_.eight_bit_math;
    const KernelFacts facts = facts_of(kernel);
    request.kernargs.assign(kernel.explicit_kernarg_size, std::byte{0});
    for (size_t k = 0; k < step.arguments.size(); ++k) {
      const std::vector<std::byte> bytes = argument_bytes(step.arguments[k], args, fields, workspaces);
      CHECK(k < facts.parameters.size() && facts.parameters[k].offset + bytes.size() <= request.kernargs.size());
      std::copy(bytes.begin(), bytes.end(), request.kernargs.begin() + facts.parameters[k].offset);
    }
    return device().launch(request);
  }

  const CandidateSetup& setup_;
  const LaunchPlan& plan_;
  Shape shape_;
  CallLimits limits_;
  ResolvedPlan steps_;
  emulator::ModuleInfo module_;
};

}  // namespace

KernelFacts facts_of(const KernelInfo& kernel) {
  KernelFacts facts;
  for (const emulator::KernelArgument& argument : kernel.arguments)
    if (!argument.value_kind.starts_with("hidden_"))
      facts.parameters.push_back({argument.offset, argument.size, argument.value_kind});
  facts.static_lds_bytes = kernel.static_lds;
  facts.max_workgroup_size = kernel.max_flat_workgroup_size;
  return facts;
}

std::unique_ptr<Candidate> make_kernel_candidate(const CandidateSetup& setup, const LaunchPlan& plan) {
  return std::make_unique<KernelCandidate>(setup, plan);
}

}  // namespace hipbench
