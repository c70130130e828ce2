// HIP's error state: what is remembered, for whom, and until when.

#include <gtest/gtest.h>

#include <thread>

#include "emulator/hip_runtime/hip_api.hpp"

namespace {

TEST(Errors, LastErrorIsKeptUntilItIsFetched) {
  (void)hipGetLastError();
  int count = 0;
  EXPECT_EQ(hipMemset(nullptr, 0, 4), hipErrorInvalidValue);
  EXPECT_EQ(hipGetDeviceCount(&count), hipSuccess);  // a success does not clear it
  EXPECT_EQ(hipPeekAtLastError(), hipErrorInvalidValue);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidValue);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
  EXPECT_EQ(count, 1);
}

TEST(Errors, LastErrorIsEachThreadsOwn) {
  EXPECT_EQ(hipSetDevice(7), hipErrorInvalidDevice);
  std::thread([] { EXPECT_EQ(hipGetLastError(), hipSuccess); }).join();
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidDevice);
}

TEST(Errors, NotReadyIsNotRemembered) {
  (void)hipGetLastError();
  EXPECT_STREQ(hipGetErrorName(hipErrorNotReady), "hipErrorNotReady");
  EXPECT_EQ(hipPeekAtLastError(), hipSuccess);
}

TEST(Errors, EveryErrorHasNameAndText) {
  EXPECT_STREQ(hipGetErrorName(hipErrorIllegalAddress), "hipErrorIllegalAddress");
  EXPECT_STREQ(hipGetErrorString(hipErrorOutOfMemory), "out of memory");
  EXPECT_STREQ(hipGetErrorString(static_cast<hipError_t>(12345)), "unknown error");
  const char* name = nullptr;
  EXPECT_EQ(hipDrvGetErrorName(hipErrorInvalidImage, &name), hipSuccess);
  EXPECT_STREQ(name, "hipErrorInvalidImage");
  EXPECT_EQ(hipDrvGetErrorName(hipErrorInvalidImage, nullptr), hipErrorInvalidValue);
  (void)hipGetLastError();
}

// A wild handle or pointer anywhere is an error and nothing worse.
TEST(Errors, WildHandlesAndPointers) {
  const auto wild = [](auto& handle) {
    handle = reinterpret_cast<std::remove_reference_t<decltype(handle)>>(0x1234560ul);
  };
  hipStream_t stream;
  hipEvent_t event;
  hipModule_t module;
  hipFunction_t function;
  hipGraph_t graph;
  hipGraphExec_t executable;
  hipGraphNode_t node;
  hipMemPool_t pool;
  wild(stream), wild(event), wild(module), wild(function), wild(graph), wild(executable), wild(node), wild(pool);
  float milliseconds = 0;
  int blocks = 0;
  size_t count = 0;
  hipGraphNodeType type;
  EXPECT_NE(hipStreamSynchronize(stream), hipSuccess);
  EXPECT_NE(hipStreamDestroy(stream), hipSuccess);
  EXPECT_NE(hipStreamQuery(stream), hipSuccess);
  EXPECT_NE(hipEventRecord(event, nullptr), hipSuccess);
  EXPECT_NE(hipEventDestroy(event), hipSuccess);
  EXPECT_NE(hipEventElapsedTime(&milliseconds, event, event), hipSuccess);
  EXPECT_NE(hipModuleUnload(module), hipSuccess);
  EXPECT_NE(hipModuleGetFunction(&function, module, "kernel"), hipSuccess);
  EXPECT_NE(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), hipSuccess);
  EXPECT_NE(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 64, 0), hipSuccess);
  EXPECT_NE(hipLaunchKernel(reinterpret_cast<void*>(0x1234560), dim3(1), dim3(1), nullptr, 0, nullptr), hipSuccess);
  EXPECT_NE(hipGraphLaunch(executable, nullptr), hipSuccess);
  EXPECT_NE(hipGraphExecDestroy(executable), hipSuccess);
  EXPECT_NE(hipGraphDestroy(graph), hipSuccess);
  EXPECT_NE(hipGraphGetNodes(graph, nullptr, &count), hipSuccess);
  EXPECT_NE(hipGraphNodeGetType(node, &type), hipSuccess);
  EXPECT_NE(hipMemPoolDestroy(pool), hipSuccess);
  EXPECT_NE(hipFree(reinterpret_cast<void*>(0x1234560)), hipSuccess);
  EXPECT_NE(hipHostFree(reinterpret_cast<void*>(0x1234560)), hipSuccess);
  EXPECT_NE(hipMemcpy(reinterpret_cast<void*>(0x10), &count, 8, hipMemcpyHostToDevice), hipSuccess);
  EXPECT_NE(hipMemcpy(&count, nullptr, 8, hipMemcpyDeviceToHost), hipSuccess);
  EXPECT_NE(hipMemset(&count, 0, 8), hipSuccess);
  EXPECT_NE(hipMemcpyToSymbol(&count, &count, 8, 0, hipMemcpyHostToDevice), hipSuccess);
  EXPECT_NE(hipModuleLoadData(&module, nullptr), hipSuccess);
  EXPECT_NE(hipMalloc(nullptr, 4), hipSuccess);
  EXPECT_NE(hipHostMalloc(nullptr, 4, 0), hipSuccess);
  EXPECT_NE(hipGetDeviceProperties(nullptr, 0), hipSuccess);
  (void)hipGetLastError();
}

}  // namespace
