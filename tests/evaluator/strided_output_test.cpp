// A buffer that is input and output at once, of which a candidate may write a strided range: what is poisoned, what
// must stay as it was, what comes back, and what host code may do with it. On a problem of this file's own, as small as
// can be.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "emulator/protocol/device_server.hpp"
#include "evaluator/device_buffers.hpp"
#include "evaluator/provenance.hpp"
#include "problems/registry.hpp"

namespace hipbench {
namespace {

using emulator::Operation;
using emulator::OperationKind;

constexpr ProblemFiles kFiles = {.id = "cache",
                                 .toml = R"(
title = "One row of a cache"
[tolerance]
relative = 0.0
absolute = 0.0
[limits]
base_wave_instructions = 1000
wave_instructions_per_flop = 1.0
modelled_ms = 1
[tensors]
x = ["bs", "8"]
cache = ["bs", "rows", "8"]
[writable.cache]
offset = "at * 8"
length = "8"
stride = "rows * 8"
rows = "bs"
[shapes]
quick = [ { bs = 3, rows = 4, at = 2 } ]
tests = []
benchmarks = []
)",
                                 .header = {}, .readme = {}, .starter_kernel = {}, .starter_host = {}};

// Row `at` of each batch becomes x.
class CacheProblem final : public Problem {
 public:
  CacheProblem() : Problem(kFiles) {
    finish(32, {{"bs", 16}, {"rows", 20}, {"at", 24}},
           {{"x", 0, Access::In, ElementType::F16}, {"cache", 8, Access::InOut, ElementType::F16}},
           {"bs", "rows", "at"});
  }
  int64_t row_count(const Shape& shape) const override { return value(shape, "bs"); }
  std::span<const std::string_view> input_families() const override { return {}; }
  Buffers generate(const Shape& shape, const Draw&) const override {
    return {std::vector(byte_count(shape, 0), std::byte{1}), std::vector(byte_count(shape, 1), std::byte{2})};
  }
  Buffers expected(const Shape&, const Buffers& inputs, std::span<const int64_t>, unsigned) const override {
    return {{}, inputs[0]};
  }
  Case transform(const Shape&, Case drawn, Extent, uint64_t, unsigned) const override { return drawn; }
  Work work(const Shape&) const override { return {}; }

 protected:
  Result<std::vector<int32_t>> complete_shape(std::span<const int64_t> dimensions) const override {
    return std::vector<int32_t>{static_cast<int32_t>(dimensions[0]), static_cast<int32_t>(dimensions[1]),
                                static_cast<int32_t>(dimensions[2])};
  }
};

constexpr size_t kRowBytes = 16, kBatchBytes = 4 * kRowBytes, kWritten = 2 * kRowBytes;

class StridedOutputTest : public ::testing::Test {
 protected:
  void SetUp() override {
    emulator::DeviceServerOptions options;
    options.threads = 1;
    options.program = HIPBENCH_BINARY_DIR "/hipbench-device";
    Result<emulator::DeviceServer> started = emulator::DeviceServer::start(options);
    ASSERT_TRUE(started) << started.error().message;
    server_.emplace(std::move(started).value());
    Result<DeviceBuffers> buffers = DeviceBuffers::create(server_->trusted(), problem_, shape_);
    ASSERT_TRUE(buffers) << buffers.error().message;
    buffers_.emplace(std::move(buffers).value());
    ASSERT_TRUE(buffers_->prepare(inputs_));
  }

  std::vector<std::byte> cache() {
    std::vector<std::byte> bytes(3 * kBatchBytes);
    EXPECT_TRUE(server_->trusted().read(buffers_->addresses()[1], bytes));
    return bytes;
  }
  void write(size_t offset, std::byte value) {
    EXPECT_TRUE(server_->trusted().write(buffers_->addresses()[1] + offset, std::vector{value}));
  }
  DeviceBuffers::Contents read_back() {
    Result<DeviceBuffers::Contents> contents = buffers_->read_back(inputs_);
    EXPECT_TRUE(contents);
    return std::move(contents).value();
  }
  // What the log of one operation of the candidate's host code, followed by a launch, means.
  std::optional<Verdict> verdict_of(OperationKind kind, uint64_t address, uint64_t source) {
    Operation operation;
    operation.client = 1;
    operation.kind = kind;
    operation.address = address;
    operation.source = source;
    operation.bytes = kRowBytes;
    Operation launch;
    launch.client = 1;
    const std::vector<Operation> log = {operation, launch};
    return check_provenance(log, problem_, shape_, buffers_->addresses());
  }

  CacheProblem problem_;
  Shape shape_ = problem_.shapes(ShapeSet::Quick)[0].shape;
  Buffers inputs_ = problem_.generate(shape_, {});
  std::optional<emulator::DeviceServer> server_;
  std::optional<DeviceBuffers> buffers_;
};

TEST_F(StridedOutputTest, ExactlyTheWritableRangeIsPoisoned) {
  const std::vector<std::byte> bytes = cache();
  for (size_t at = 0; at < bytes.size(); ++at) {
    const size_t within = at % kBatchBytes;
    EXPECT_EQ(bytes[at], within >= kWritten && within < kWritten + kRowBytes ? kPoison : std::byte{2}) << at;
  }
}

TEST_F(StridedOutputTest, OutputsComeBackPacked) {
  for (size_t batch = 0; batch < 3; ++batch)
    for (size_t i = 0; i < kRowBytes; ++i) write(batch * kBatchBytes + kWritten + i, std::byte(16 * batch + i));
  const DeviceBuffers::Contents contents = read_back();
  EXPECT_EQ(contents.changed, "");
  EXPECT_TRUE(contents.outputs[0].empty());
  ASSERT_EQ(contents.outputs[1].size(), 3 * kRowBytes);
  for (size_t i = 0; i < 3 * kRowBytes; ++i) EXPECT_EQ(contents.outputs[1][i], std::byte(i));
}

TEST_F(StridedOutputTest, EveryByteBesideIsWatched) {
  for (size_t at = 0; at < 3 * kBatchBytes; ++at) {
    const size_t within = at % kBatchBytes;
    const bool writable = within >= kWritten && within < kWritten + kRowBytes;
    write(at, std::byte{9});
    const DeviceBuffers::Contents contents = read_back();
    EXPECT_EQ(contents.changed, writable ? "" : "cache") << at;
    EXPECT_EQ(contents.changed_beside_output, !writable);
    write(at, std::byte{2});
  }
}

TEST_F(StridedOutputTest, APureInputIsWatchedToo) {
  EXPECT_TRUE(server_->trusted().write(buffers_->addresses()[0] + 5, std::vector{std::byte{9}}));
  EXPECT_EQ(read_back().changed, "x");
  EXPECT_FALSE(read_back().changed_beside_output);
}

TEST_F(StridedOutputTest, HostCodeMayNeitherWriteNorFetchIt) {
  const uint64_t cache = buffers_->addresses()[1], host = emulator::kHostSharedBase;
  for (const uint64_t offset : {uint64_t{0}, uint64_t{kWritten}}) {
    const auto written = verdict_of(OperationKind::Write, cache + offset, 0);
    ASSERT_TRUE(written);
    EXPECT_EQ(written->kind, VerdictKind::Cheating);
    const auto read = verdict_of(OperationKind::Read, cache + offset, 0);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->kind, VerdictKind::Rejected);
    EXPECT_EQ(verdict_of(OperationKind::Copy, host, cache + offset)->kind, VerdictKind::Rejected);
  }
  EXPECT_FALSE(verdict_of(OperationKind::Copy, cache + kWritten, buffers_->addresses()[0]));  // within the device
}

}  // namespace
}  // namespace hipbench
