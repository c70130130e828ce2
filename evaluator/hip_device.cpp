#include "evaluator/hip_device.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "evaluator/check.hpp"
#include "evaluator/gpu_process.hpp"
#include "problems/random.hpp"

namespace hipbench {

namespace {

// One call in so many gets inputs that differ from the last ones in few places.
constexpr uint64_t kSlightOneIn = 4;
// As many workgroups as keep 304 compute units busy.
constexpr uint32_t kOwnWorkgroups = 304 * 8, kOwnWorkgroupSize = 256;

constexpr const char* kOwnKernels = R"(// Kernels of the judge.
#include <hip/hip_runtime.h>

extern "C" __global__ void hb_nothing(uint4* data, unsigned long long count) {}

// Stores only what never comes about, so that no compiler leaves the loads out.
extern "C" __global__ void hb_read(uint4* data, unsigned long long count) {
  unsigned bits = 0;
  for (unsigned long long i = blockIdx.x * 256ull + threadIdx.x; i < count; i += gridDim.x * 256ull) {
    const uint4 value = data[i];
    bits |= value.x | value.y | value.z | value.w;
  }
  if (bits != 0) data[threadIdx.x].x = bits;
}

extern "C" __global__ void hb_read_and_write(uint4* data, unsigned long long count) {
  for (unsigned long long i = blockIdx.x * 256ull + threadIdx.x; i < count; i += gridDim.x * 256ull) {
    uint4 value = data[i];
    value.x += 1;
    data[i] = value;
  }
}
)";

// One measurement at a time on a GPU, whoever makes it: the name of a socket is taken by one process and free with its
// end.
Result<UniqueFd> lock_gpu(const std::string& bus_id, const std::stop_token& stop) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "hipbench-gpu-" + bus_id;  // behind a zero: it lies in no folder
  std::memcpy(address.sun_path + 1, name.data(), std::min(name.size(), sizeof address.sun_path - 2));
  UniqueFd lock(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!lock.valid()) return Error{fmt::format("cannot create a socket: {}", std::strerror(errno))};
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  while (::bind(lock.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    if (errno != EADDRINUSE) return Error{fmt::format("cannot reserve the GPU: {}", std::strerror(errno))};
    if (stop.stop_requested()) return Error{"cancelled"};
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return lock;
}

class HipDevice final : public TimedDevice {
 public:
  // The options outlive the device.
  // `calls`: of the candidate, that the measurement is going to make.
  static Result<std::unique_ptr<HipDevice>> start(const HipDeviceOptions& options, int calls);

  std::optional<Verdict> begin(Subject subject) override;
  Result<void> wait_until_idle() override;
  Result<void> prepare(Subject subject, uint64_t call) override;
  Result<void> flush_caches(uint64_t bytes) override;
  Result<double> read_canary_us(uint64_t bytes) override;
  Result<ClockReadings> time_nothing() override;
  std::variant<ClockReadings, Verdict> time(Subject subject) override;
  Verdict verify(Subject subject, uint64_t call) override;
  Telemetry telemetry() override;

  bool is_stand_in() const { return own_->is_stand_in(); }
  const std::string& description() const { return own_->device(); }
  // Of the candidate: how its last output compared, how many rows of each were, how many outputs there were.
  const Comparison& comparison() const { return subjects_[0].comparison; }
  int64_t checked_rows() const;
  int calls() const { return subjects_[0].calls; }

 private:
  // What belongs to one subject.
  struct Own {
    std::unique_ptr<GpuSession> session;
    Case current;  // of the last prepare()
    bool may_differ_slightly = false;
    Comparison comparison;
    int calls = 0;
  };

  explicit HipDevice(const HipDeviceOptions& options) : options_(options) {}
  Verdict verify_structured(std::string_view family);
  // What lies on the device; what is wrong is called again.
  static Verdict compare(GpuSession& session, const Case& one, Comparison& comparison);
  Own& of(Subject subject) { return subjects_[subject == Subject::Candidate ? 0 : 1]; }
  Result<ClockReadings> run_own(const char* kernel, uint64_t address, uint64_t bytes, uint32_t workgroups);
  // A block of at least so many bytes in our own process, zero.
  Result<uint64_t> own_block(std::pair<uint64_t, uint64_t>& block, uint64_t bytes);

  const HipDeviceOptions& options_;
  UniqueFd lock_;
  std::unique_ptr<GpuProcess> own_;
  std::map<std::string, uint32_t> own_kernels_;
  std::pair<uint64_t, uint64_t> flushed_, canary_;  // address and bytes
  std::array<Own, 2> subjects_;                     // the candidate, the baseline
  Case drawn_;                                      // the oracle's one case, from which every call's follows
  // Behind which of the candidate's calls one more is made, with structured inputs. It is not timed, and nothing tells
  // it from those that are.
  std::multimap<int, std::string_view> structured_;
};

Result<std::unique_ptr<HipDevice>> HipDevice::start(const HipDeviceOptions& options, int calls) {
  std::unique_ptr<HipDevice> device(new HipDevice(options));
  device->own_ = TRY(GpuProcess::start(options.runtime, options.patience, options.stop));
  if (device->own_->is_stand_in() && !options.allow_stand_in)
    return Error{fmt::format(
        "{} is hipbench's drop-in library, which emulates a GPU: nothing timed with it would be measured. Install ROCm "
        "or set ROCM_PATH, or use --device emulated",
        options.runtime.string())};
  device->drawn_ = draw_case(options.problem, options.shape, kNormalInputs, options.seed, options.threads);
  RandomStream when("structured inputs on the GPU", options.seed, 0);
  for (const std::string_view family : families_to_check(options.problem, options.shape, options.seed, true))
    device->structured_.emplace(1 + static_cast<int>(when.below(static_cast<uint64_t>(calls))), family);
  device->lock_ = TRY(lock_gpu(device->own_->bus_id(), options.stop));
  TRY(device->own_->load_module(std::as_bytes(std::span(options.own_kernels.code))));
  for (const auto& [name, symbol] : options.own_kernels.symbols)
    device->own_kernels_[name] = TRY(device->own_->find_kernel(symbol));
  return device;
}

std::optional<Verdict> HipDevice::begin(Subject subject) {
  Own& own = of(subject);
  own = {};
  const GpuCode& code = subject == Subject::Candidate ? options_.candidate : *options_.baseline;
  auto started =
      GpuSession::start({options_.problem, options_.shape, code, options_.file, options_.runtime, options_.patience,
                         options_.stop});
  if (Verdict* failed = std::get_if<Verdict>(&started)) return std::move(*failed);
  own.session = std::move(std::get<std::unique_ptr<GpuSession>>(started));
  return std::nullopt;
}

Result<void> HipDevice::wait_until_idle() {
  TRY(own_->synchronize());
  // The candidate last: its process then still watches for the call.
  for (const Subject subject : {Subject::Baseline, Subject::Candidate})
    if (of(subject).session) TRY(of(subject).session->wait_until_idle());
  return {};
}

// A whole transform of what was drawn; now and then a slight one of that, so that what a candidate kept of the last
// call under a sample of its contents does not fit.
Result<void> HipDevice::prepare(Subject subject, uint64_t call) {
  Own& own = of(subject);
  RandomStream random("gpu call", options_.seed, call);
  const uint64_t seed = random.next();
  const bool slight = own.may_differ_slightly && random.below(kSlightOneIn) == 0;
  own.current = options_.problem.transform(options_.shape, slight ? std::move(own.current) : drawn_,
                                           slight ? Extent::Slight : Extent::Whole, seed, options_.threads);
  own.may_differ_slightly = !slight;
  return own.session->fill(own.current);
}

Result<uint64_t> HipDevice::own_block(std::pair<uint64_t, uint64_t>& block, uint64_t bytes) {
  if (block.second < bytes) {
    block = {TRY(own_->allocate(bytes)), bytes};
    TRY(own_->fill(block.first, std::byte{0}, bytes));
    TRY(own_->synchronize());
  }
  return block.first;
}

Result<ClockReadings> HipDevice::run_own(const char* kernel, uint64_t address, uint64_t bytes, uint32_t workgroups) {
  gpu::Launch launch;
  launch.kernel = own_kernels_.at(kernel);
  launch.grid[0] = workgroups;
  launch.block[0] = kOwnWorkgroupSize;
  launch.argument_count = 2;
  launch.offsets[1] = sizeof address;
  const uint64_t count = bytes / 16;  // of uint4
  std::memcpy(launch.arguments, &address, sizeof address);
  std::memcpy(launch.arguments + sizeof address, &count, sizeof count);
  TRY(own_->clear_steps());
  TRY(own_->add_launch(launch));
  return own_->call();
}

Result<void> HipDevice::flush_caches(uint64_t bytes) {
  const uint64_t address = TRY(own_block(flushed_, bytes));
  TRY(run_own("hb_read_and_write", address, bytes, kOwnWorkgroups));
  return {};
}

Result<double> HipDevice::read_canary_us(uint64_t bytes) {
  const uint64_t address = TRY(own_block(canary_, bytes));
  return TRY(run_own("hb_read", address, bytes, kOwnWorkgroups)).events_us;
}

Result<ClockReadings> HipDevice::time_nothing() { return run_own("hb_nothing", 0, 0, 1); }

std::variant<ClockReadings, Verdict> HipDevice::time(Subject subject) { return of(subject).session->call(); }

Verdict HipDevice::verify(Subject subject, uint64_t call) {
  Own& own = of(subject);
  ++own.calls;
  Verdict verdict = compare(*own.session, own.current, own.comparison);
  if (subject == Subject::Candidate) {
    const auto [first, end] = structured_.equal_range(own.calls);
    for (auto one = first; one != end && verdict.passed(); ++one) verdict = verify_structured(one->second);
  }
  if (verdict.kind == VerdictKind::WrongResult)
    verdict.evidence = fmt::format("call {} of the measurement on the GPU", call + 1);
  return verdict;
}

Verdict HipDevice::verify_structured(std::string_view family) {
  Own& own = of(Subject::Candidate);
  own.may_differ_slightly = false;  // from what lies on the device then
  const Case one = draw_case(options_.problem, options_.shape, family, options_.seed, options_.threads);
  if (const Result<void> filled = own.session->fill(one); !filled) return Verdict::our_fault(filled.error());
  std::variant<ClockReadings, Verdict> called = own.session->call();
  if (Verdict* failed = std::get_if<Verdict>(&called)) return std::move(*failed);
  Comparison comparison;
  Verdict verdict = compare(*own.session, one, comparison);
  if (!verdict.passed())
    verdict.reason = fmt::format("with structured inputs ({}) on the GPU: {}", family, verdict.reason);
  return verdict;
}

Verdict HipDevice::compare(GpuSession& session, const Case& one, Comparison& comparison) {
  Verdict verdict = session.compare(one, comparison);
  if (verdict.kind != VerdictKind::WrongResult) return verdict;
  // The same inputs once more: a wrong kernel, or luck?
  Comparison second;
  if (!session.fill(one)) return verdict;
  const std::variant<ClockReadings, Verdict> again = session.call();
  if (!std::holds_alternative<ClockReadings>(again) || !session.compare(one, second).passed()) return verdict;
  return {VerdictKind::Nondeterministic,
          "the same inputs gave a right and a wrong result: a race or uninitialised memory", verdict.reason};
}

Telemetry HipDevice::telemetry() {
  std::string bus = own_->bus_id();
  std::transform(bus.begin(), bus.end(), bus.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return read_telemetry("/sys/bus/pci/devices/" + bus);
}

int64_t HipDevice::checked_rows() const {
  return drawn_.rows.empty() ? options_.problem.row_count(options_.shape) : static_cast<int64_t>(drawn_.rows.size());
}

}  // namespace

CompileRequest own_kernels_request(const Problem& problem) {
  CompileRequest request;
  request.problem = &problem;
  request.track = Track::Kernel;
  request.file_name = "gpu_kernels.hip";
  request.source = kOwnKernels;
  request.kernels = {"hb_nothing", "hb_read", "hb_read_and_write"};
  request.options = {"-O3"};
  return request;
}

MeasuredShape measure_shape(const HipDeviceOptions& options, const MeasureOptions& protocol,
                            const WrapTimedDevice& wrap) {
  MeasuredShape measured;
  ShapeResult& result = measured.result;
  result.shape = options.shape;
  result.row_count = result.checked_rows = options.problem.row_count(options.shape);
  result.time_is_modelled = false;
  const int calls = (protocol.rounds + protocol.warm_up_rounds) * (protocol.with_baseline ? 1 : 2);
  const Result<std::unique_ptr<HipDevice>> device = HipDevice::start(options, calls);
  if (!device) {
    result.verdict = Verdict::our_fault(device.error());
    return measured;
  }
  const std::unique_ptr<TimedDevice> wrapped = wrap ? wrap(**device) : nullptr;
  Measured times = measure(wrapped ? *wrapped : **device, protocol);
  measured.description = (*device)->description();
  result.verdict = std::move(times.verdict);
  result.comparison = (*device)->comparison();
  result.checked_rows = (*device)->checked_rows();
  result.rounds = (*device)->calls();
  if ((*device)->is_stand_in()) {
    measured.description = "stand-in for a GPU: " + measured.description;
    return measured;  // an emulator's clock measures nothing
  }
  if (result.verdict.passed()) result.time_us = times.measurement.candidate.median;
  result.measurement = std::make_shared<const Measurement>(std::move(times.measurement));
  return measured;
}

}  // namespace hipbench
