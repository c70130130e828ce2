#include "evaluator/evaluate.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <thread>
#include <utility>

#include "common/files.hpp"
#include "evaluator/candidate.hpp"
#include "evaluator/check.hpp"
#include "evaluator/compile.hpp"
#include "evaluator/gpu_process.hpp"
#include "evaluator/hip_device.hpp"
#include "evaluator/inspect.hpp"
#include "evaluator/plan.hpp"
#include "evaluator/source_names.hpp"

namespace hipbench {

std::string_view to_string(DeviceKind kind) { return kind == DeviceKind::Emulated ? "emulated" : "hip"; }
std::string_view to_string(Track track) { return track == Track::Kernel ? "kernel" : "host"; }

namespace {
constexpr std::string_view kStages[] = {"plan", "compile", "inspect", "load", "check", "done"};
}

std::string_view to_string(Stage stage) { return kStages[static_cast<size_t>(stage)]; }

std::optional<Stage> stage_from(std::string_view name) {
  for (size_t k = 0; k < std::size(kStages); ++k)
    if (kStages[k] == name) return static_cast<Stage>(k);
  return std::nullopt;
}

Track detect_track(std::string_view source) {
  return source.find("/* hipbench-plan") != std::string_view::npos ? Track::Kernel : Track::Host;
}

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Secret: from the operating system, known to the judge alone until the candidate's processes are gone.
uint64_t draw_seed() {
  uint64_t seed = 0;
  while (::getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed)) {
  }
  return seed;
}

Evaluation describe(const Problem& problem, const std::string& file, const std::string& source,
                    const EvaluateOptions& options) {
  Evaluation evaluation;
  evaluation.problem = problem.id();
  evaluation.track = options.track.value_or(detect_track(source));
  evaluation.device = options.device;
  if (options.device == DeviceKind::Emulated) evaluation.device_description = "emulated MI300X (gfx942, 304 CUs)";
  evaluation.file = file;
  evaluation.source = source;
  evaluation.source_sha256 = sha256_hex(source);
  evaluation.seed = options.seed.value_or(draw_seed());
  evaluation.shape_set = options.shape_set;
  evaluation.sandboxed = !options.unsafe_no_sandbox;
  evaluation.check = options.check;
  evaluation.started_at = fmt::format(
      "{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  return evaluation;
}

// The most that a process ever had in memory at once; 0 when it cannot be seen.
uint64_t peak_memory_of(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string word; status >> word;) {
    uint64_t kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib << 10;
  }
  return 0;
}

// One evaluation in progress. Every step returns the Verdict that ends it, or nothing.
class Run {
 public:
  Run(const Problem& problem, const std::string& file, const std::string& source, const EvaluateOptions& options)
      : problem_(problem), options_(options), evaluation_(describe(problem, file, source, options)) {}

  Evaluation go() {
    const Clock::time_point start = Clock::now();
    std::optional<Verdict> ended = read_plan();
    if (!ended) ended = compile_candidate();
    if (!ended) ended = inspect_code();
    if (!ended) ended = start_device();
    if (!ended) ended = inspect_instructions();
    // From here on the candidate's code runs: on the device, and for the host track in the worker's sandbox.
    if (!ended) ended = options_.device == DeviceKind::Emulated ? check_shapes() : measure_shapes();
    evaluation_.verdict = std::move(*ended);
    if (evaluation_.verdict.passed()) evaluation_.stage = Stage::Done;
    end_device();
    if (options_.stop.stop_requested() && !evaluation_.verdict.passed()) {
      evaluation_.cancelled = true;
      evaluation_.verdict = Verdict::our_fault("cancelled");
    }
    name_users_file(evaluation_);
    evaluation_.total_seconds = seconds_since(start);
    return std::move(evaluation_);
  }

 private:
  void progress(const std::string& line) const {
    if (options_.progress) options_.progress(line);
  }

  // The launch plan, resolved for every official shape: what is wrong with it shows before anything is compiled.
  std::optional<Verdict> read_plan() {
    evaluation_.stage = Stage::Plan;
    if (std::optional<Verdict> refused = check_gpu_can_do()) return refused;
    if (evaluation_.track == Track::Host) return std::nullopt;
    auto parsed = LaunchPlan::parse(evaluation_.source, problem_);
    if (const PlanError* error = std::get_if<PlanError>(&parsed))
      return Verdict{VerdictKind::Rejected, "rule `plan`: " + error->where_and_what(evaluation_.file), {}};
    plan_ = std::move(std::get<LaunchPlan>(parsed));
    return std::nullopt;
  }

  std::optional<Verdict> compile_candidate() {
    evaluation_.stage = Stage::Compile;
    const Result<Toolchain> toolchain = Toolchain::locate();
    if (!toolchain) return Verdict::our_fault(toolchain.error());
    evaluation_.toolchain = fmt::format("{}; HIP {}", toolchain->clang_version, toolchain->hip_version);
    progress("compiling");
    CompileRequest request;
    request.problem = &problem_;
    request.track = evaluation_.track;
    request.file_name = safe_name(evaluation_.file);
    request.source = evaluation_.source;
    if (plan_) {
      request.kernels = plan_->kernel_names();
      request.options = plan_->options();
    }
    auto result = compile_with_limits(*toolchain, std::move(request));
    if (Verdict* verdict = std::get_if<Verdict>(&result)) return std::move(*verdict);
    compiled_ = std::move(std::get<Compiled>(result));
    evaluation_.compile_seconds = compiled_.seconds;
    evaluation_.compile_was_cached = compiled_.from_cache;
    note_peak(compiled_.peak_memory_bytes);
    if (!compiled_.warnings.empty()) evaluation_.warnings.push_back(compiled_.warnings);
    return std::nullopt;
  }

  std::variant<Compiled, Verdict> compile_with_limits(const Toolchain& toolchain, CompileRequest request) const {
    request.unsafe_no_sandbox = options_.unsafe_no_sandbox;
    request.time_limit = options_.compile_limit;
    request.stop = options_.stop;
    return compile(toolchain, request);
  }

  // Also for a GPU: what the emulated device cannot accept is never run on one.
  std::optional<Verdict> start_device() {
    evaluation_.stage = Stage::Load;
    emulator::DeviceServerOptions device;
    device.threads = options_.threads;
    Result<emulator::DeviceServer> server = emulator::DeviceServer::start(device);
    if (!server) return Verdict::our_fault(server.error());
    server_.emplace(std::move(*server));
    // Its end ends every wait of ours, and of the candidate's host code.
    on_stop_.emplace(options_.stop, [pid = server_->pid()] { ::kill(pid, SIGKILL); });
    if (options_.check) {  // before there is memory to watch
      emulator::Limits limits;
      limits.check = true;
      if (Result<void> set = server_->trusted().set_limits(limits); !set) return Verdict::our_fault(set.error());
    }
    return std::nullopt;
  }

  // What it has cost is known once nothing runs any more. Its process is only reaped when `server_` goes.
  void end_device() {
    if (server_) note_peak(peak_memory_of(server_->pid()));
    on_stop_.reset();
    server_.reset();
  }
  // For the record, beside the other versions that a time depends on.
  void note_timing_model(const std::string& model) {
    const std::string note = "; timing model " + model;
    if (!model.empty() && !evaluation_.toolchain.ends_with(note)) evaluation_.toolchain += note;
  }
  void note_peak(uint64_t bytes) { evaluation_.peak_memory_bytes = std::max(evaluation_.peak_memory_bytes, bytes); }

  std::optional<Verdict> inspect_code() {
    evaluation_.stage = Stage::Inspect;
    auto facts = inspect(compiled_, evaluation_.track);
    if (Verdict* verdict = std::get_if<Verdict>(&facts)) return std::move(*verdict);
    evaluation_.kernels = std::move(std::get<std::vector<KernelResources>>(facts));
    return std::nullopt;
  }

  // The device decodes the code, so that the judge does not have to.
  std::optional<Verdict> inspect_instructions() {
    emulator::Client& device = server_->trusted();
    const auto module = device.load_module(std::as_bytes(std::span(device_code(compiled_, evaluation_.track))));
    if (!module) return Verdict{VerdictKind::Rejected, "rule `code object`: " + module.error().message, {}};
    if (const Result<void> unloaded = device.unload_module(module->handle); !unloaded)
      return Verdict::our_fault(unloaded.error());
    return check_instructions(problem_, module->instructions);
  }

  Verdict check_shapes() {
    evaluation_.stage = Stage::Check;
    return check_on_emulator(options_.shapes, evaluation_.shapes, true);
  }

  Verdict check_on_emulator(std::span<const Shape> shapes, std::vector<ShapeResult>& results, bool time) {
    const CandidateSetup setup{problem_,
                               compiled_,
                               *server_,
                               printed_,
                               evaluation_.file,
                               options_.unsafe_no_sandbox,
                               options_.host_patience,
                               options_.stop,
                               evaluation_.peak_memory_bytes};
    const std::unique_ptr<Candidate> candidate =
        plan_ ? make_kernel_candidate(setup, *plan_) : make_host_candidate(setup);
    CheckOptions check;
    check.check = options_.check;
    check.time = time;
    check.wave_instructions = options_.wave_instructions;
    check.inputs = options_.inputs;
    check.observe = options_.observe;
    check.oracle_threads = options_.threads != 0 ? options_.threads : std::max(1u, std::thread::hardware_concurrency());
    Verdict first_failure = Verdict::pass();
    if (shapes.empty()) return {VerdictKind::Infrastructure, "no shape was asked for", {}};
    for (size_t k = 0; k < shapes.size(); ++k) {
      progress(fmt::format("checking {} ({} of {})", shapes[k].label, k + 1, shapes.size()));
      check.seed = seed_of_shape(k);
      printed_.clear();
      results.push_back(check_shape(problem_, shapes[k], *candidate, *server_, check));
      note_timing_model(results.back().timing_model);
      drop_impossible_time(results.back());
      show_printed(results.back().verdict);
      const Verdict& verdict = results.back().verdict;
      if (verdict.passed()) continue;
      if (first_failure.passed()) first_failure = verdict;
      if (!options_.keep_going || !server_->trusted().connected()) break;
    }
    return first_failure;
  }

  // Shapes share nothing a candidate could carry over, the inputs' seed included.
  uint64_t seed_of_shape(size_t k) const { return evaluation_.seed + 0x9e3779b97f4a7c15 * (k + 1); }

  // What a GPU is not asked for, and why.
  std::optional<Verdict> check_gpu_can_do() const {
    if (options_.device == DeviceKind::Emulated) return std::nullopt;
    if (evaluation_.track == Track::Host)
      return Verdict::our_fault(Error{
          "--device hip times the kernel track only: there is no sandbox for host code on a GPU yet. Use --device "
          "emulated, or give the file a launch plan"});
    if (options_.check || options_.inputs != nullptr)
      return Verdict::our_fault(
          Error{"--device hip only times: memory checks and tensors of your own need --device emulated"});
    return std::nullopt;
  }

  // On a GPU. All rules of the judge are rules of the emulated device, which sees what a kernel does; so the candidate
  // first passes there, on the same shapes: a plan may launch other kernels in each.
  Verdict measure_shapes() {
    evaluation_.stage = Stage::Check;
    std::vector<ShapeResult> checked;
    Verdict allowed = check_on_emulator(options_.shapes, checked, false);
    if (!allowed.passed()) {
      for (ShapeResult& shape : checked)
        if (!shape.verdict.passed()) evaluation_.shapes.push_back(std::move(shape));
      allowed.reason = "on the emulated device, where a candidate has to pass before a GPU runs it: " + allowed.reason;
      return allowed;
    }
    const Result<GpuCode> candidate = load_for_gpu({compiled_, *plan_, {}});
    if (!candidate) return Verdict::our_fault(candidate.error());
    const ReferenceSolution* reference = problem_.reference(ReferenceRole::Baseline);
    std::optional<GpuCode> baseline;
    if (reference != nullptr && reference->sha256 != evaluation_.source_sha256) {
      Result<GpuCode> compiled = compile_baseline(*reference);
      if (!compiled) return Verdict::our_fault(compiled.error().with_context("the baseline"));
      baseline = std::move(*compiled);
    }
    const Result<Compiled> own = compile_ours(own_kernels_request(problem_));
    if (!own) return Verdict::our_fault(own.error());
    return measure_all(*candidate, baseline ? &*baseline : nullptr, *own);
  }

  Verdict measure_all(const GpuCode& candidate, const GpuCode* baseline, const Compiled& own) {
    const unsigned threads =
        options_.threads != 0 ? options_.threads : std::max(1u, std::thread::hardware_concurrency());
    Verdict first_failure = Verdict::pass();
    for (size_t k = 0; k < options_.shapes.size(); ++k) {
      const Shape& shape = options_.shapes[k];
      progress(fmt::format("measuring {} ({} of {})", shape.label, k + 1, options_.shapes.size()));
      const GpuOptions& gpu = options_.gpu;
      const HipDeviceOptions device{.problem = problem_, .shape = shape, .candidate = candidate, .baseline = baseline,
                                    .own_kernels = own, .file = evaluation_.file,
                                    .runtime = gpu.runtime.empty() ? find_hip_runtime() : gpu.runtime,
                                    .patience = gpu.patience, .seed = seed_of_shape(k), .threads = threads,
                                    .allow_stand_in = gpu.allow_stand_in, .stop = options_.stop};
      const MeasureOptions protocol{.rounds = gpu.rounds, .warm_up_rounds = gpu.warm_up_rounds,
                                    .with_baseline = baseline != nullptr, .seed = device.seed,
                                    .floor_us = problem_.roofs(shape).floor_us};
      MeasuredShape measured = measure_shape(device, protocol, gpu.wrap);
      if (!measured.description.empty()) evaluation_.device_description = measured.description;
      evaluation_.shapes.push_back(std::move(measured.result));
      const Verdict& verdict = evaluation_.shapes.back().verdict;
      if (verdict.passed()) continue;
      if (first_failure.passed()) first_failure = verdict;
      if (!options_.keep_going || verdict.kind == VerdictKind::Infrastructure) break;
    }
    return first_failure;
  }

  // What the emulated device says of the code's kernels is what their launches need.
  Result<GpuCode> load_for_gpu(GpuCode code) {
    code.module = TRY(server_->trusted().load_module(std::as_bytes(std::span(code.compiled.code))));
    TRY(server_->trusted().unload_module(code.module.handle));
    return code;
  }

  Result<Compiled> compile_ours(CompileRequest request) const {
    auto result = compile_with_limits(TRY(Toolchain::locate()), std::move(request));
    if (const Verdict* failed = std::get_if<Verdict>(&result)) return Error{failed->reason + "\n" + failed->evidence};
    return std::move(std::get<Compiled>(result));
  }

  Result<GpuCode> compile_baseline(const ReferenceSolution& reference) {
    auto plan = LaunchPlan::parse(reference.source, problem_);
    if (const PlanError* error = std::get_if<PlanError>(&plan)) return Error{error->where_and_what(reference.path)};
    CompileRequest request;
    request.problem = &problem_;
    request.track = Track::Kernel;
    request.file_name = "baseline.hip";
    request.source = reference.source;
    request.kernels = std::get<LaunchPlan>(plan).kernel_names();
    request.options = std::get<LaunchPlan>(plan).options();
    return load_for_gpu({TRY(compile_ours(std::move(request))), std::move(std::get<LaunchPlan>(plan)), {}});
  }

  // All work of a call is seen on the emulated device, so a modelled time below the floor is the model's mistake. It is
  // no score either.
  void drop_impossible_time(ShapeResult& shape) {
    const double floor_us = problem_.roofs(shape.shape).floor_us;
    if (!(shape.time_us > 0) || shape.time_us >= floor_us) return;
    evaluation_.warnings.push_back(
        fmt::format("{}: the timing model says {:.3g} µs, but nothing that does the work can take less than {:.3g} µs; "
                    "so there is no time",
                    shape.shape.label, shape.time_us, floor_us));
    shape.time_us = 0;
  }

  // Once the shape's verdict is final, and nothing of the candidate runs any more.
  void show_printed(Verdict& verdict) {
    if (!verdict.passed()) return printed_.append_to(verdict);
    if (options_.inputs != nullptr && printed_.has_output()) return evaluation_.warnings.push_back(printed_.sections());
    if (printed_.has_output() && !std::exchange(warned_of_printing_, true))
      evaluation_.warnings.push_back(printed_.warning());
  }

  const Problem& problem_;
  const EvaluateOptions& options_;
  Evaluation evaluation_;
  std::optional<LaunchPlan> plan_;
  Compiled compiled_;
  Printed printed_;  // outlives the device, which adds to it
  bool warned_of_printing_ = false;
  std::optional<emulator::DeviceServer> server_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

}  // namespace

namespace {

// What fails for a reason of this machine often goes better a moment later. False: asked to stop meanwhile.
bool pause_before(int attempt, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any nothing;
  std::unique_lock lock(mutex);
  nothing.wait_for(lock, stop, std::chrono::milliseconds(100) * attempt * attempt, [] { return false; });
  return !stop.stop_requested();
}

bool worth_another_attempt(const Evaluation& evaluation, const EvaluateOptions& options) {
  return evaluation.verdict.kind == VerdictKind::Infrastructure && !evaluation.cancelled && !options.shapes.empty() &&
         options.device == DeviceKind::Emulated && !is_gap_of_the_emulator(evaluation.verdict);
}

}  // namespace

Evaluation evaluate(const Problem& problem, const std::string& file, const std::string& source,
                    const EvaluateOptions& options) {
  EvaluateOptions attempt = options;
  Evaluation evaluation = Run(problem, file, source, attempt).go();
  attempt.seed = evaluation.seed;
  while (evaluation.attempts < options.attempts && worth_another_attempt(evaluation, options) &&
         pause_before(evaluation.attempts, options.stop)) {
    if (options.progress) options.progress("trying again: " + evaluation.verdict.reason);
    Evaluation again = Run(problem, file, source, attempt).go();
    again.attempts = evaluation.attempts + 1;
    again.total_seconds += evaluation.total_seconds;
    again.peak_memory_bytes = std::max(again.peak_memory_bytes, evaluation.peak_memory_bytes);
    // Where it fails for the same reason again, one sentence says so.
    if (again.verdict.reason != evaluation.verdict.reason)
      again.warnings.push_back("the first attempt failed for a reason of ours: " + evaluation.verdict.reason);
    evaluation = std::move(again);
  }
  return evaluation;
}

}  // namespace hipbench
