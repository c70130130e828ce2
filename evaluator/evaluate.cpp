#include "evaluator/evaluate.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <thread>
#include <utility>

#include "common/files.hpp"
#include "evaluator/candidate.hpp"
#include "evaluator/check.hpp"
#include "evaluator/compile.hpp"
#include "evaluator/inspect.hpp"
#include "evaluator/plan.hpp"

namespace hipbench {

std::string_view to_string(DeviceKind kind) { return kind == DeviceKind::Emulated ? "emulated" : "hip"; }
std::string_view to_string(Track track) { return track == Track::Kernel ? "kernel" : "host"; }

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

Evaluation describe(const Problem& problem, const std::string& file, const std::string& source, const EvaluateOptions& options) {
  Evaluation evaluation;
  evaluation.problem = problem.id();
  evaluation.track = options.track.value_or(detect_track(source));
  evaluation.device = options.device;
  evaluation.file = file;
  evaluation.source = source;
  evaluation.source_sha256 = sha256_hex(source);
  evaluation.seed = options.seed.value_or(draw_seed());
  evaluation.shape_set = options.shape_set;
  evaluation.sandboxed = !options.unsafe_no_sandbox;
  evaluation.started_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  return evaluation;
}

Verdict infrastructure(const Error& error) { return {VerdictKind::Infrastructure, error.message, {}}; }

// The candidate's base name, for the compiler's messages; made safe to be a file name inside the sandbox.
std::string safe_name(const std::string& file) {
  std::string name = std::filesystem::path(file).filename().string();
  for (char& c : name)
    if ((c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '.' && c != '-') c = '_';
  return name.empty() || name.front() == '.' || name.front() == '-' ? "candidate.hip" : name;
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
    evaluation_.verdict = ended ? std::move(*ended) : check_shapes();
    name_users_file();
    evaluation_.total_seconds = seconds_since(start);
    return std::move(evaluation_);
  }

 private:
  void progress(const std::string& line) const {
    if (options_.progress) options_.progress(line);
  }

  // The launch plan, resolved for every official shape: what is wrong with it shows before anything is compiled.
  std::optional<Verdict> read_plan() {
    if (evaluation_.track == Track::Host) return std::nullopt;
    auto parsed = LaunchPlan::parse(evaluation_.source, problem_);
    if (const PlanError* error = std::get_if<PlanError>(&parsed))
      return Verdict{VerdictKind::Rejected, "rule `plan`: " + error->where_and_what(evaluation_.file), {}};
    plan_ = std::move(std::get<LaunchPlan>(parsed));
    return std::nullopt;
  }

  std::optional<Verdict> compile_candidate() {
    const Result<Toolchain> toolchain = Toolchain::locate();
    if (!toolchain) return infrastructure(toolchain.error());
    evaluation_.toolchain = fmt::format("{}; HIP {}", toolchain->clang_version, toolchain->hip_version);
    progress("compiling");
    CompileRequest request;
    request.problem = &problem_;
    request.track = evaluation_.track;
    request.file_name = safe_name(evaluation_.file);
    request.source = evaluation_.source;
    request.unsafe_no_sandbox = options_.unsafe_no_sandbox;
    if (plan_) {
      request.kernels = plan_->kernel_names();
      request.options = plan_->options();
    }
    auto result = compile(*toolchain, request);
    if (Verdict* verdict = std::get_if<Verdict>(&result)) return std::move(*verdict);
    compiled_ = std::move(std::get<Compiled>(result));
    evaluation_.compile_seconds = compiled_.seconds;
    evaluation_.compile_was_cached = compiled_.from_cache;
    if (!compiled_.warnings.empty()) evaluation_.warnings.push_back(compiled_.warnings);
    return std::nullopt;
  }

  std::optional<Verdict> start_device() {
    if (options_.device != DeviceKind::Emulated) return infrastructure(Error{"only the emulated device is supported: use --device emulated"});
    emulator::DeviceServerOptions device;
    device.threads = options_.threads;
    Result<emulator::DeviceServer> server = emulator::DeviceServer::start(device);
    if (!server) return infrastructure(server.error());
    server_.emplace(std::move(*server));
    if (options_.check) {  // before there is memory to watch
      emulator::Limits limits;
      limits.check = true;
      if (Result<void> set = server_->trusted().set_limits(limits); !set) return infrastructure(set.error());
    }
    return std::nullopt;
  }

  std::optional<Verdict> inspect_code() {
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
    if (const Result<void> unloaded = device.unload_module(module->handle); !unloaded) return infrastructure(unloaded.error());
    return check_instructions(problem_, module->instructions);
  }

  Verdict check_shapes() {
    const CandidateSetup setup{problem_, compiled_, *server_, printed_, evaluation_.file, options_.unsafe_no_sandbox, options_.host_patience};
    const std::unique_ptr<Candidate> candidate = plan_ ? make_kernel_candidate(setup, *plan_) : make_host_candidate(setup);
    CheckOptions check;
    check.check = options_.check;
    check.oracle_threads = options_.threads != 0 ? options_.threads : std::max(1u, std::thread::hardware_concurrency());
    Verdict first_failure = Verdict::pass();
    if (options_.shapes.empty()) return {VerdictKind::Infrastructure, "no shape was asked for", {}};
    for (size_t k = 0; k < options_.shapes.size(); ++k) {
      progress(fmt::format("checking {} ({} of {})", options_.shapes[k].label, k + 1, options_.shapes.size()));
      // Shapes share nothing a candidate could carry over, the inputs' seed included.
      check.seed = evaluation_.seed + 0x9e3779b97f4a7c15 * (k + 1);
      printed_.clear();
      evaluation_.shapes.push_back(check_shape(problem_, options_.shapes[k], *candidate, *server_, check));
      show_printed(evaluation_.shapes.back().verdict);
      const Verdict& verdict = evaluation_.shapes.back().verdict;
      if (verdict.passed()) continue;
      if (first_failure.passed()) first_failure = verdict;
      if (!options_.keep_going || !server_->trusted().connected()) break;
    }
    return first_failure;
  }

  // Once the shape's verdict is final, and nothing of the candidate runs any more.
  void show_printed(Verdict& verdict) {
    if (!verdict.passed()) return printed_.append_to(verdict);
    if (printed_.has_output() && !std::exchange(warned_of_printing_, true)) evaluation_.warnings.push_back(printed_.warning());
  }

  // Line tables hold the source's place in the compile sandbox: a path (host track) or its base name (kernel track).
  void name_users_file() {
    const std::string name = safe_name(evaluation_.file), place = "  source     ";
    const auto replace = [](std::string& text, const std::string& from, const std::string& to) {
      for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
    };
    // A header of the toolchain: "hip/amd_detail/…", wherever that folder was when the candidate was compiled.
    const auto shorten = [&](std::string& text) {
      for (size_t at = text.find(place + "/"); at != std::string::npos; at = text.find(place + "/", at + 1)) {
        const size_t path = at + place.size(), header = text.substr(0, text.find('\n', path)).rfind("/hip/");
        if (header != std::string::npos && header >= path) text.erase(path, header + 1 - path);
      }
    };
    const auto rename = [&](std::string& text) {
      shorten(text);
      replace(text, "/candidate/" + name, evaluation_.file);
      replace(text, place + name + ":", place + evaluation_.file + ":");
    };
    rename(evaluation_.verdict.reason);
    rename(evaluation_.verdict.evidence);
    for (ShapeResult& shape : evaluation_.shapes) {
      rename(shape.verdict.reason);
      rename(shape.verdict.evidence);
    }
    for (std::string& warning : evaluation_.warnings) replace(warning, "/candidate/" + name, evaluation_.file);
  }

  const Problem& problem_;
  const EvaluateOptions& options_;
  Evaluation evaluation_;
  std::optional<LaunchPlan> plan_;
  Compiled compiled_;
  Printed printed_;  // outlives the device, which adds to it
  bool warned_of_printing_ = false;
  std::optional<emulator::DeviceServer> server_;
};

}  // namespace

Evaluation evaluate(const Problem& problem, const std::string& file, const std::string& source, const EvaluateOptions& options) {
  EvaluateOptions attempt = options;
  Evaluation first = Run(problem, file, source, attempt).go();
  // What is our fault and may go better is tried once more, with the same inputs.
  if (first.verdict.kind != VerdictKind::Infrastructure || options.shapes.empty() || options.device != DeviceKind::Emulated ||
      is_gap_of_the_emulator(first.verdict))
    return first;
  attempt.seed = first.seed;
  if (options.progress) options.progress("trying again: " + first.verdict.reason);
  Evaluation second = Run(problem, file, source, attempt).go();
  second.warnings.push_back("the first attempt failed for a reason of ours: " + first.verdict.reason);
  second.total_seconds += first.total_seconds;
  return second;
}

}  // namespace hipbench
