#include "emulator/timing/validation/run_points.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "common/files.hpp"
#include "emulator/timing/launch_model.hpp"

namespace hipbench::emulator {

namespace {

template <typename T>
void add_argument(std::vector<std::byte>& kernargs, T value) {
  const size_t at = (kernargs.size() + sizeof value - 1) / sizeof value * sizeof value;
  kernargs.resize(at + sizeof value);
  std::memcpy(kernargs.data() + at, &value, sizeof value);
}

}  // namespace

Result<PointRunner> PointRunner::create(const TimingParameters& parameters) {
  PointRunner runner;
  runner.device_ = TRY(Device::create({.threads = 1, .timing = &parameters, .print = {}}));
  return runner;
}

Result<LaunchResult> PointRunner::run(const std::string& code_path, const MeasuredPoint& point) {
  const std::string code = TRY(read_file(code_path));
  const ModuleHandle module = TRY(device_->load_module(std::as_bytes(std::span(code))));
  std::vector<u64> buffers;
  const auto allocate = [&](u64 bytes) -> Result<u64> {
    buffers.push_back(TRY(device_->memory().allocate(bytes, "buffer")));
    return buffers.back();
  };
  const u64 m = point.m, n = point.n, k = point.k, groups = k / 128;
  LaunchRequest request;
  request.module = module;
  request.kernel = device_->module(module)->kernels()[0].name;
  request.time = request.only_timed = true;
  const u64 a = TRY(allocate(m * k)), b = TRY(allocate(n * k));
  // The kernel reads up to a block past the last scales.
  const u64 a_scale = TRY(allocate((groups * m + 1024) * 4)),
            b_scale = TRY(allocate((groups * ((n + 127) / 128) + 64) * 4));
  const u64 c = TRY(allocate(m * n * 2)), partial = TRY(allocate(4096)), counter = TRY(allocate(4096));
  for (const u64 pointer : {a, b, a_scale, b_scale, c}) add_argument(request.kernargs, pointer);
  for (const u64 size : {m, n, k, k}) add_argument(request.kernargs, static_cast<u32>(size));
  for (const u64 pointer : {partial, counter}) add_argument(request.kernargs, pointer);
  request.grid = {1, static_cast<u32>((m + point.block_m - 1) / point.block_m),
                  static_cast<u32>((n + point.block_n - 1) / point.block_n)};
  request.block = {point.threads, 1, 1};
  // Small workgroups read the scales past the end of their LDS, which the chip lets them.
  request.dynamic_lds = 1024;
  Result<LaunchResult> result = device_->launch(request);
  for (const u64 buffer : buffers) TRY(device_->memory().free(buffer));
  TRY(device_->unload_module(module));
  if (result && !result->completed()) return Error{result->fault.to_string()};
  return result;
}

}  // namespace hipbench::emulator
