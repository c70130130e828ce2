// Modules and launches through the real library and device server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "common/files.hpp"
#include "emulator/hip_runtime/hip_api.hpp"

namespace {

constexpr const char* kCode = HIPBENCH_BINARY_DIR "/tests/data/runtime.elf";

class Modules : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(hipModuleLoad(&module_, kCode), hipSuccess);
    ASSERT_EQ(hipMalloc(reinterpret_cast<void**>(&buffer_), 4096), hipSuccess);
    ASSERT_EQ(hipMemset(buffer_, 0, 4096), hipSuccess);
  }
  void TearDown() override {
    (void)hipFree(buffer_);
    (void)hipModuleUnload(module_);
    (void)hipGetLastError();
  }

  hipFunction_t function(const char* name) {
    hipFunction_t found = nullptr;
    EXPECT_EQ(hipModuleGetFunction(&found, module_, name), hipSuccess) << name;
    return found;
  }
  template <typename... Args>
  hipError_t launch(const char* name, unsigned grid, unsigned block, Args... args) {
    void* params[] = {&args...};
    return hipModuleLaunchKernel(function(name), grid, 1, 1, block, 1, 1, 0, nullptr, params, nullptr);
  }
  int at(size_t index) {
    int value = -1;
    EXPECT_EQ(hipMemcpy(&value, buffer_ + index, sizeof value, hipMemcpyDeviceToHost), hipSuccess);
    return value;
  }

  hipModule_t module_ = nullptr;
  int* buffer_ = nullptr;
};

TEST_F(Modules, KernelsRunWithTheirParameters) {
  ASSERT_EQ(launch("add_indices", 2, 64, buffer_, 1000), hipSuccess);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(at(0), 1000);
  EXPECT_EQ(at(127), 1127);
  EXPECT_EQ(at(128), 0);
}

TEST_F(Modules, KernelsRunWithAParameterBuffer) {
  struct {
    int* to;
    int value;
  } arguments = {buffer_ + 3, -5};
  size_t size = sizeof arguments;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   HIP_LAUNCH_PARAM_END};
  ASSERT_EQ(hipModuleLaunchKernel(function("store_value"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra), hipSuccess);
  EXPECT_EQ(at(3), -5);
  size = 4;
  EXPECT_EQ(hipModuleLaunchKernel(function("store_value"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra),
            hipErrorInvalidValue);
}

TEST_F(Modules, ImpossibleLaunchesAreRefusedAtOnce) {
  EXPECT_EQ(launch("store_value", 0, 64, buffer_, 1), hipErrorInvalidConfiguration);
  EXPECT_EQ(launch("store_value", 1, 2048, buffer_, 1), hipErrorInvalidConfiguration);
  EXPECT_EQ(launch("at_most_128", 1, 256, buffer_), hipErrorLaunchFailure);
  void* params[] = {&buffer_, &buffer_};
  EXPECT_EQ(hipModuleLaunchKernel(function("store_value"), 1, 1, 1, 1, 1, 1, 65537, nullptr, params, nullptr),
            hipErrorInvalidValue);
  EXPECT_EQ(hipModuleLaunchKernel(function("store_value"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            hipErrorInvalidValue);
  EXPECT_EQ(hipModuleLaunchCooperativeKernel(function("add_indices"), 1u << 20, 1, 1, 64, 1, 1, 0, nullptr, params),
            hipErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(launch("at_most_128", 1, 128, buffer_), hipSuccess);
  EXPECT_EQ(at(0), 128);
}

TEST_F(Modules, WhatIsMissingIsNotFound) {
  hipFunction_t missing = nullptr;
  void* global = nullptr;
  size_t size = 0;
  EXPECT_EQ(hipModuleGetFunction(&missing, module_, "no_such_kernel"), hipErrorNotFound);
  EXPECT_EQ(hipModuleGetGlobal(&global, &size, module_, "no_such_variable"), hipErrorNotFound);
  hipModule_t other = nullptr;
  EXPECT_EQ(hipModuleLoad(&other, "/nonexistent"), hipErrorFileNotFound);
  const char garbage[4096] = "this is no code object";
  EXPECT_EQ(hipModuleLoadData(&other, garbage), hipErrorInvalidImage);
}

TEST_F(Modules, GlobalsCanBeReadAndWritten) {
  void* global = nullptr;
  size_t size = 0;
  ASSERT_EQ(hipModuleGetGlobal(&global, &size, module_, "device_variable"), hipSuccess);
  EXPECT_EQ(size, 4u);
  int value = 0;
  ASSERT_EQ(hipMemcpy(&value, global, 4, hipMemcpyDeviceToHost), hipSuccess);
  EXPECT_EQ(value, 5);
  value = 6;
  EXPECT_EQ(hipMemcpy(global, &value, 4, hipMemcpyHostToDevice), hipSuccess);
}

TEST_F(Modules, OccupancyAndAttributes) {
  int blocks = 0, grid = 0, block = 0, value = 0;
  ASSERT_EQ(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("store_value"), 1024, 0), hipSuccess);
  EXPECT_EQ(blocks, 2);  // 32 waves a CU
  ASSERT_EQ(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("store_value"), 64, 32768),
            hipSuccess);
  EXPECT_EQ(blocks, 2);  // LDS
  ASSERT_EQ(hipModuleOccupancyMaxPotentialBlockSize(&grid, &block, function("store_value"), 0, 0), hipSuccess);
  EXPECT_EQ(block, 1024);
  EXPECT_EQ(grid, 608);
  ASSERT_EQ(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function("at_most_128")), hipSuccess);
  EXPECT_EQ(value, 128);
}

TEST_F(Modules, QueriesAnswerWhileAKernelWaitsForTheHost) {
  std::atomic<int>* flags = nullptr;
  ASSERT_EQ(hipHostMalloc(reinterpret_cast<void**>(&flags), 4096, 0), hipSuccess);
  flags[0] = flags[1] = 0;
  hipEvent_t start, stop;
  ASSERT_EQ(hipEventCreate(&start), hipSuccess);
  ASSERT_EQ(hipEventCreate(&stop), hipSuccess);
  ASSERT_EQ(hipEventRecord(start, nullptr), hipSuccess);
  ASSERT_EQ(launch("wait_for_flag", 1, 1, flags, flags + 1), hipSuccess);
  ASSERT_EQ(hipEventRecord(stop, nullptr), hipSuccess);
  float milliseconds = -1;
  EXPECT_EQ(hipStreamQuery(nullptr), hipErrorNotReady);
  EXPECT_EQ(hipEventQuery(stop), hipErrorNotReady);
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, start, stop), hipErrorNotReady);
  flags[0] = 1;
  EXPECT_EQ(hipEventSynchronize(stop), hipSuccess);
  EXPECT_EQ(flags[1], 1);
  EXPECT_EQ(hipStreamQuery(nullptr), hipSuccess);
  ASSERT_EQ(hipEventElapsedTime(&milliseconds, start, stop), hipSuccess);
  EXPECT_GT(milliseconds, 0);
  EXPECT_EQ(hipEventDestroy(start), hipSuccess);
  EXPECT_EQ(hipEventDestroy(stop), hipSuccess);
  EXPECT_EQ(hipHostFree(flags), hipSuccess);
}

TEST_F(Modules, FaultIsStickyUntilTheDeviceIsReset) {
  testing::internal::CaptureStderr();
  ASSERT_EQ(launch("write_at", 1, 1, 0x123000l), hipSuccess);  // asynchronous: the launch itself is fine
  EXPECT_EQ(hipDeviceSynchronize(), hipErrorIllegalAddress);
  EXPECT_EQ(hipGetLastError(), hipErrorIllegalAddress);
  void* pointer = nullptr;
  EXPECT_EQ(hipMalloc(&pointer, 64), hipErrorIllegalAddress);
  EXPECT_EQ(hipDeviceSynchronize(), hipErrorIllegalAddress);
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_THAT(report, testing::AllOf(testing::HasSubstr("write_at"), testing::HasSubstr("runtime.hip"),
                                     testing::HasSubstr("global_store")));
  EXPECT_EQ(report.find("write_at"), report.rfind("write_at")) << "reported more than once";
  ASSERT_EQ(hipDeviceReset(), hipSuccess);
  EXPECT_EQ(hipMalloc(&pointer, 64), hipSuccess);
  EXPECT_EQ(hipModuleUnload(module_), hipErrorInvalidHandle) << "a reset unloads modules";
}

}  // namespace
