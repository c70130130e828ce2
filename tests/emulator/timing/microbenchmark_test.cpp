// The figures that were measured on MI300X (docs/timing-model.md names the sources), each as a small kernel: the model
// gives them within 15 %.

#include <gtest/gtest.h>

#include <cstring>

#include "emulator/device/device.hpp"
#include "emulator/timing/launch_model.hpp"
#include "tests/emulator/loader/test_data.hpp"

namespace hipbench::emulator {
namespace {

constexpr f64 kTolerance = 0.15;

class Microbenchmark : public testing::Test {
 protected:
  Microbenchmark() {
    auto device = Device::create({.threads = 1, .timing = nullptr, .print = {}});
    EXPECT_TRUE(device);
    device_ = std::move(device).value();
    const std::string code = test_data("timing.elf");
    module_ = device_->load_module(as_bytes(code)).value();
  }

  u64 buffer(u64 bytes) { return device_->memory().allocate(bytes, "data").value(); }

  template <typename... T>
  LaunchResult run(const char* kernel, u32 grid, u32 block, T... arguments) {
    LaunchRequest request;
    request.module = module_;
    request.kernel = kernel;
    request.grid = {grid, 1, 1};
    request.block = {block, 1, 1};
    request.time = true;
    request.only_timed = grid > 8;  // of a large grid the sampled XCD is enough
    const auto add = [&](auto value) {
      const size_t at = (request.kernargs.size() + sizeof(value) - 1) / sizeof(value) * sizeof(value);
      request.kernargs.resize(at + sizeof(value));
      std::memcpy(request.kernargs.data() + at, &value, sizeof(value));
    };
    (add(arguments), ...);
    auto result = device_->launch(request);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    EXPECT_TRUE(result && result->completed()) << (result ? result->fault.to_string() : "");
    return result ? std::move(result).value() : LaunchResult{};
  }
  template <typename... T>
  f64 clocks(const char* kernel, u32 grid, u32 block, T... arguments) {
    return run(kernel, grid, block, arguments...).modelled->xcd.clocks;
  }
  // Of one of the 64 repetitions, for `waves` waves on one CU.
  f64 clocks_each(const char* kernel, u32 waves = 1) {
    return (clocks(kernel, 1, 64 * waves, 24) - clocks(kernel, 1, 64 * waves, 8)) / (16 * 64);
  }
  void expect_near(const char* what, f64 modelled, f64 measured) {
    EXPECT_NEAR(modelled, measured, kTolerance * measured) << what;
    RecordProperty(what, std::to_string(modelled));
  }
  void expect_each(const char* kernel, f64 measured, u32 waves = 1) {
    expect_near(kernel, clocks_each(kernel, waves), measured);
  }

  // A chain of pointers with `stride` between them, in `buffer_bytes` of which `used` are gone round. Clocks a step.
  f64 chase(u64 buffer_bytes, u64 used, u64 stride, int warm_rounds, const char* kernel = "chase") {
    const u64 first = buffer(buffer_bytes);
    for (u64 at = 0; at < used; at += stride) {
      const u64 next = first + (at + stride < used ? at + stride : 0);
      std::memcpy(*device_->memory().host_range(first + at, 8), &next, 8);
    }
    const f64 cold = clocks(kernel, 1, 1, first, warm_rounds);
    const f64 all = clocks(kernel, 1, 1, first, 2 * warm_rounds);
    return (all - cold) / (64.0 * warm_rounds);
  }

  std::unique_ptr<Device> device_;
  ModuleHandle module_ = 0;
};

TEST_F(Microbenchmark, VectorAndScalarIssue) {
  expect_each("valu", 4.008);
  expect_near("valu_packed", clocks_each("valu_packed") / 2, 4.008);
  expect_each("valu_exp", 16.0);
  expect_each("valu_exp_add", 20.0);
  expect_each("valu_straddling", 5.0);
  expect_each("salu", 4.0);
  expect_each("nop", 16.0);
  expect_each("sleep", 128.0);
  expect_each("branch", 24.0);
}

TEST_F(Microbenchmark, MatrixInstructions) {
  expect_near("mfma_bf16", clocks_each("mfma_bf16") / 2, 16.026);
  expect_each("mfma_f16", 32.0);
  expect_each("mfma_fp8", 32.0);
  expect_each("mfma_fp8_small", 16.0);
}

TEST_F(Microbenchmark, MatrixAndVectorInstructionsOverlap) {
  expect_each("mfma_3_valu", 16.03);
  expect_each("mfma_4_valu", 20.0);
  expect_each("mfma_exp", 20.0);
  expect_each("mfma_2_exp", 36.0);
  expect_each("mfma_packed", 28.0);
  expect_each("mfma_3_valu_mfma_exp", 36.05);
}

TEST_F(Microbenchmark, LocalDataShare) {
  expect_each("lds_latency_b32", 52.0);
  expect_each("lds_latency_b128", 64.0);
  expect_each("lds_read_b32", 4.0);
  expect_each("lds_read_b128", 16.0);
  expect_near("lds_read_b128, both SIMD pairs", clocks_each("lds_read_b128", 4) / 4, 8.0);
  expect_each("lds_write_b32", 8.0);
  expect_each("lds_write_b128", 20.0);
  expect_each("lds_conflict_8", 16.0);
  expect_each("lds_conflict_32", 64.0);
  expect_each("lds_swizzle", 50.0);
}

TEST_F(Microbenchmark, LatencyOfEachLevel) {
  expect_near("L1", chase(16384, 16384, 128, 4), 116);
  expect_near("L2", chase(1 << 21, 1 << 20, 1024 + 128, 16), 213);
  expect_near("Infinity Cache", chase(u64{64} << 20, u64{64} << 20, 16384 + 128, 16), 456);
  expect_near("HBM", chase(u64{1} << 30, u64{64} << 20, 16384 + 128, 16), 880);
  expect_near("scalar cache", chase(4096, 4096, 64, 2, "chase_scalar"), 48);
}

TEST_F(Microbenchmark, LaunchingTakesMicroseconds) {
  expect_near("empty", run("empty", 1, 64, 0).modelled_seconds * 1e6, 4.2);
}

TEST_F(Microbenchmark, BandwidthOfTheCaches) {
  // Bytes a clock and CU, of repetitions after the first.
  const auto rate = [&](u32 grid, u32 waves, int bytes, int rounds) {
    const u64 from = buffer(static_cast<u64>(bytes));
    const f64 first = clocks("reread", grid, 64 * waves, from, bytes, 0, rounds);
    const f64 more = clocks("reread", grid, 64 * waves, from, bytes, 0, 3 * rounds);

    return 2.0 * rounds * bytes / (more - first);
  };
  expect_near("L1", rate(8, 2, 1 << 14, 4), 60.8);
  expect_near("L2", rate(304, 16, 1 << 20, 1), 43);
}

TEST_F(Microbenchmark, BandwidthOfMemory) {
  constexpr u64 kBytes = u64{192} << 20;
  const u64 a = buffer(kBytes), b = buffer(kBytes), c = buffer(kBytes);
  const u32 grid = kBytes / 16 / 256;
  const auto terabytes = [&](f64 bytes, const LaunchResult& result) {
    return bytes / result.modelled->kernel_seconds / 1e12;
  };
  expect_near("copy", terabytes(2.0 * kBytes, run("copy", grid, 256, a, b)), 4.2);
  expect_near("scale", terabytes(2.0 * kBytes, run("scale", grid, 256, a, b)), 4.2);
  expect_near("triad", terabytes(3.0 * kBytes, run("triad", grid, 256, a, b, c)), 4.0);
  // What fits the Infinity Cache comes from there: 5.5 to 5.8 (MT4G).
  expect_near("copy of 64 MiB",
              terabytes(2.0 * (u64{64} << 20),
                        run("copy", (u64{64} << 20) / 16 / 256, 256, buffer(u64{64} << 20), buffer(u64{64} << 20))),
              5.8);
}

}  // namespace
}  // namespace hipbench::emulator
