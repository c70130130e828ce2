#include <gtest/gtest.h>

#include <vector>

#include "emulator/hip_runtime/hip_api.hpp"

namespace {

TEST(Streams, KnowTheirFlagsAndPriority) {
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, -5), hipSuccess);
  unsigned flags = 0;
  int priority = 0, least = 0, greatest = 0;
  EXPECT_EQ(hipStreamGetFlags(stream, &flags), hipSuccess);
  EXPECT_EQ(hipStreamGetPriority(stream, &priority), hipSuccess);
  EXPECT_EQ(hipDeviceGetStreamPriorityRange(&least, &greatest), hipSuccess);
  EXPECT_EQ(flags, static_cast<unsigned>(hipStreamNonBlocking));
  EXPECT_EQ(priority, greatest);
  EXPECT_EQ(hipStreamDestroy(stream), hipSuccess);
  EXPECT_EQ(hipStreamSynchronize(stream), hipErrorInvalidHandle);
  EXPECT_EQ(hipStreamCreateWithFlags(&stream, 77), hipErrorInvalidValue);
  (void)hipGetLastError();
}

TEST(Streams, DefaultStreamsCanBeNamed) {
  EXPECT_EQ(hipStreamSynchronize(nullptr), hipSuccess);
  EXPECT_EQ(hipStreamSynchronize(hipStreamPerThread), hipSuccess);
  EXPECT_EQ(hipStreamSynchronize(hipStreamLegacy), hipSuccess);
}

TEST(Streams, HostFunctionsRunInOrder) {
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), hipSuccess);
  int* pinned = nullptr;
  ASSERT_EQ(hipHostMalloc(reinterpret_cast<void**>(&pinned), 64, 0), hipSuccess);
  *pinned = 0;
  ASSERT_EQ(hipMemsetD32Async(pinned, 5, 1, stream), hipSuccess);
  ASSERT_EQ(hipLaunchHostFunc(stream, [](void* data) { *static_cast<int*>(data) *= 2; }, pinned), hipSuccess);
  ASSERT_EQ(hipStreamSynchronize(stream), hipSuccess);
  EXPECT_EQ(*pinned, 10);
  EXPECT_EQ(hipHostFree(pinned), hipSuccess);
  EXPECT_EQ(hipStreamDestroy(stream), hipSuccess);
}

TEST(Streams, EventsThatCannotBeTimed) {
  hipEvent_t timed = nullptr, untimed = nullptr;
  ASSERT_EQ(hipEventCreate(&timed), hipSuccess);
  ASSERT_EQ(hipEventCreateWithFlags(&untimed, hipEventDisableTiming), hipSuccess);
  float milliseconds = 0;
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, timed, timed), hipErrorInvalidHandle) << "never recorded";
  ASSERT_EQ(hipEventRecord(timed, nullptr), hipSuccess);
  ASSERT_EQ(hipEventRecord(untimed, nullptr), hipSuccess);
  ASSERT_EQ(hipEventSynchronize(untimed), hipSuccess);
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, timed, untimed), hipErrorInvalidHandle);
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, timed, timed), hipSuccess);
  EXPECT_EQ(milliseconds, 0);
  EXPECT_EQ(hipEventDestroy(timed), hipSuccess);
  EXPECT_EQ(hipEventDestroy(untimed), hipSuccess);
  (void)hipGetLastError();
}

TEST(Streams, ValuesAreWrittenAndWaitedFor) {
  unsigned* pinned = nullptr;
  ASSERT_EQ(hipHostMalloc(reinterpret_cast<void**>(&pinned), 64, 0), hipSuccess);
  pinned[0] = pinned[1] = pinned[2] = 0;
  ASSERT_EQ(hipStreamWriteValue32(nullptr, pinned, 9, 0), hipSuccess);
  ASSERT_EQ(hipStreamWaitValue32(nullptr, pinned, 9, hipStreamWaitValueEq, ~0u), hipSuccess);
  ASSERT_EQ(hipStreamWriteValue64(nullptr, pinned + 1, 0x0000000200000001ull, 0), hipSuccess);
  ASSERT_EQ(hipStreamSynchronize(nullptr), hipSuccess);
  EXPECT_EQ(pinned[0], 9u);
  EXPECT_EQ(pinned[2], 2u);
  EXPECT_EQ(hipHostFree(pinned), hipSuccess);
}

}  // namespace
