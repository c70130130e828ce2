#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <algorithm>
#include <numeric>
#include <vector>

#include "emulator/hip_runtime/hip_api.hpp"

namespace {

class Memory : public testing::Test {
 protected:
  void TearDown() override { (void)hipGetLastError(); }
};

TEST_F(Memory, CopiesInEveryDirection) {
  std::vector<int> data(1 << 20), back(1 << 20);
  std::iota(data.begin(), data.end(), 0);
  const size_t bytes = data.size() * sizeof(int);
  void *first = nullptr, *second = nullptr;
  ASSERT_EQ(hipMalloc(&first, bytes), hipSuccess);
  ASSERT_EQ(hipMalloc(&second, bytes), hipSuccess);
  EXPECT_EQ(hipMemcpy(first, data.data(), bytes, hipMemcpyHostToDevice), hipSuccess);
  EXPECT_EQ(hipMemcpy(second, first, bytes, hipMemcpyDeviceToDevice), hipSuccess);
  EXPECT_EQ(hipMemcpy(back.data(), second, bytes, hipMemcpyDefault), hipSuccess);
  EXPECT_EQ(data, back);
  EXPECT_EQ(hipMemcpy(back.data(), data.data(), 4, hipMemcpyHostToHost), hipSuccess);
  EXPECT_EQ(hipMemcpy(first, data.data(), 4, static_cast<hipMemcpyKind>(77)), hipErrorInvalidMemcpyDirection);
  EXPECT_EQ(hipMemcpy(back.data(), data.data(), 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(first, data.data(), bytes + 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(static_cast<char*>(first) + 4, data.data(), bytes, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(hipFree(first), hipSuccess);
  EXPECT_EQ(hipFree(first), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(back.data(), first, 4, hipMemcpyDeviceToHost), hipErrorInvalidValue) << "use after free";
  EXPECT_EQ(hipFree(second), hipSuccess);
}

TEST_F(Memory, EmptyAllocationIsNullAndFreeingNullIsFine) {
  void* pointer = &pointer;
  EXPECT_EQ(hipMalloc(&pointer, 0), hipSuccess);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(hipFree(nullptr), hipSuccess);
  EXPECT_EQ(hipHostFree(nullptr), hipSuccess);
}

TEST_F(Memory, MoreThanThereIsIsOutOfMemory) {
  void* pointer = nullptr;
  EXPECT_EQ(hipMalloc(&pointer, size_t{1} << 40), hipErrorOutOfMemory);
  EXPECT_EQ(hipGetLastError(), hipErrorOutOfMemory);
  EXPECT_EQ(hipMalloc(&pointer, 4096), hipSuccess);
  EXPECT_EQ(hipFree(pointer), hipSuccess);
}

TEST_F(Memory, FillsWithEveryWidth) {
  unsigned char* buffer = nullptr;
  ASSERT_EQ(hipMalloc(reinterpret_cast<void**>(&buffer), 64), hipSuccess);
  EXPECT_EQ(hipMemset(buffer, 0x1ab, 64), hipSuccess);  // the low byte counts
  EXPECT_EQ(hipMemsetD16(buffer + 8, 0x1234, 2), hipSuccess);
  EXPECT_EQ(hipMemsetD32(buffer + 16, 0x55667788, 2), hipSuccess);
  unsigned char got[64];
  ASSERT_EQ(hipMemcpy(got, buffer, 64, hipMemcpyDeviceToHost), hipSuccess);
  EXPECT_EQ(got[0], 0xab);
  EXPECT_EQ(got[8], 0x34);
  EXPECT_EQ(got[11], 0x12);
  EXPECT_EQ(got[12], 0xab);
  EXPECT_EQ(got[16], 0x88);
  EXPECT_EQ(got[23], 0x55);
  EXPECT_EQ(hipMemset(buffer, 0, 65), hipErrorInvalidValue);
  EXPECT_EQ(hipFree(buffer), hipSuccess);
}

TEST_F(Memory, PitchedCopiesLeaveThePaddingAlone) {
  void* device = nullptr;
  size_t pitch = 0;
  ASSERT_EQ(hipMallocPitch(&device, &pitch, 100, 8), hipSuccess);
  EXPECT_GE(pitch, 100u);
  ASSERT_EQ(hipMemset(device, 0xee, pitch * 8), hipSuccess);
  std::vector<unsigned char> source(8 * 128), back(pitch * 8);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i);
  ASSERT_EQ(hipMemcpy2D(device, pitch, source.data(), 128, 100, 8, hipMemcpyHostToDevice), hipSuccess);
  ASSERT_EQ(hipMemcpy(back.data(), device, back.size(), hipMemcpyDeviceToHost), hipSuccess);
  for (size_t row = 0; row < 8; ++row) {
    EXPECT_EQ(std::memcmp(&back[row * pitch], &source[row * 128], 100), 0);
    EXPECT_EQ(back[row * pitch + 100], 0xee);
  }
  EXPECT_EQ(hipMemcpy2D(device, 50, source.data(), 128, 100, 8, hipMemcpyHostToDevice), hipErrorInvalidPitchValue);
  EXPECT_EQ(hipFree(device), hipSuccess);
}

TEST_F(Memory, BoxesAreCopiedByPositionAndExtent) {
  hipPitchedPtr box{};
  ASSERT_EQ(hipMalloc3D(&box, hipExtent{64, 4, 3}), hipSuccess);
  ASSERT_EQ(hipMemset3D(box, 1, hipExtent{64, 4, 3}), hipSuccess);
  std::vector<unsigned char> source(8 * 2 * 2, 9), back(64 * 4 * 3);
  hipMemcpy3DParms params{};
  params.srcPtr = hipPitchedPtr{source.data(), 8, 8, 2};
  params.dstPtr = box;
  params.dstPos = hipPos{16, 1, 1};
  params.extent = hipExtent{8, 2, 2};
  params.kind = hipMemcpyHostToDevice;
  ASSERT_EQ(hipMemcpy3D(&params), hipSuccess);
  hipMemcpy3DParms all{};
  all.srcPtr = box;
  all.dstPtr = hipPitchedPtr{back.data(), 64, 64, 4};
  all.extent = hipExtent{64, 4, 3};
  all.kind = hipMemcpyDeviceToHost;
  ASSERT_EQ(hipMemcpy3D(&all), hipSuccess);
  EXPECT_EQ(std::count(back.begin(), back.end(), 9), 32);
  EXPECT_EQ(back[(2 * 4 + 2) * 64 + 23], 9);
  EXPECT_EQ(back[(0 * 4 + 1) * 64 + 16], 1);
  EXPECT_EQ(hipFree(box.ptr), hipSuccess);
}

TEST_F(Memory, PinnedMemoryHasOneAddressOnBothSides) {
  int *host = nullptr, *device = nullptr;
  ASSERT_EQ(hipHostMalloc(reinterpret_cast<void**>(&host), 4096, 0), hipSuccess);
  ASSERT_EQ(hipHostGetDevicePointer(reinterpret_cast<void**>(&device), host, 0), hipSuccess);
  EXPECT_EQ(host, device);
  ASSERT_EQ(hipMemsetD32Async(host, 77, 1024, nullptr), hipSuccess);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(host[1023], 77);
  hipPointerAttribute_t attributes{};
  ASSERT_EQ(hipPointerGetAttributes(&attributes, host + 1), hipSuccess);
  EXPECT_EQ(attributes.type, hipMemoryTypeHost);
  EXPECT_EQ(attributes.devicePointer, host + 1);
  EXPECT_EQ(hipHostFree(host), hipSuccess);
}

TEST_F(Memory, AttributesTellWhatAPointerIs) {
  void *device = nullptr, *managed = nullptr;
  ASSERT_EQ(hipMalloc(&device, 256), hipSuccess);
  ASSERT_EQ(hipMallocManaged(&managed, 256, hipMemAttachGlobal), hipSuccess);
  hipPointerAttribute_t attributes{};
  ASSERT_EQ(hipPointerGetAttributes(&attributes, device), hipSuccess);
  EXPECT_EQ(attributes.type, hipMemoryTypeDevice);
  ASSERT_EQ(hipPointerGetAttributes(&attributes, managed), hipSuccess);
  EXPECT_EQ(attributes.type, hipMemoryTypeManaged);
  EXPECT_EQ(attributes.isManaged, 1);
  int local = 0;
  ASSERT_EQ(hipPointerGetAttributes(&attributes, &local), hipSuccess);
  EXPECT_EQ(attributes.type, hipMemoryTypeUnregistered);
  void* base = nullptr;
  size_t size = 0;
  ASSERT_EQ(hipMemGetAddressRange(&base, &size, static_cast<char*>(device) + 100), hipSuccess);
  EXPECT_EQ(base, device);
  EXPECT_EQ(size, 256u);
  EXPECT_EQ(hipFree(device), hipSuccess);
  EXPECT_EQ(hipFree(managed), hipSuccess);
}

TEST_F(Memory, RegisteredMemoryIsSharedInPlace) {
  constexpr size_t kSize = 10000;
  auto* pages = static_cast<unsigned char*>(
      ::mmap(nullptr, 5 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::memset(pages, 3, 5 * 4096);
  unsigned char* host = pages + 100;
  ASSERT_EQ(hipHostRegister(host, kSize, hipHostRegisterDefault), hipSuccess);
  EXPECT_EQ(hipHostRegister(host, kSize, hipHostRegisterDefault), hipErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(host[kSize - 1], 3);
  void* device = nullptr;
  ASSERT_EQ(hipHostGetDevicePointer(&device, host + 8, 0), hipSuccess);
  ASSERT_EQ(hipMemset(device, 5, 16), hipSuccess);
  EXPECT_EQ(host[8], 5);
  EXPECT_EQ(host[7], 3);
  ASSERT_EQ(hipHostUnregister(host), hipSuccess);
  EXPECT_EQ(host[8], 5);
  EXPECT_EQ(hipHostUnregister(host), hipErrorHostMemoryNotRegistered);
  ::munmap(pages, 5 * 4096);
}

TEST_F(Memory, InfoCountsAllocations) {
  size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(hipMemGetInfo(&before, &total), hipSuccess);
  EXPECT_EQ(total, size_t{192} << 30);
  void* pointer = nullptr;
  ASSERT_EQ(hipMallocAsync(&pointer, 64 << 20, nullptr), hipSuccess);
  ASSERT_EQ(hipMemGetInfo(&after, &total), hipSuccess);
  EXPECT_GE(before - after, size_t{64} << 20);
  EXPECT_EQ(hipFreeAsync(pointer, nullptr), hipSuccess);
}

TEST_F(Memory, PoolsCanBeAskedFor) {
  hipMemPool_t pool = nullptr;
  ASSERT_EQ(hipDeviceGetDefaultMemPool(&pool, 0), hipSuccess);
  unsigned long long threshold = ~0ull, got = 0;
  EXPECT_EQ(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold), hipSuccess);
  EXPECT_EQ(hipMemPoolGetAttribute(pool, hipMemPoolAttrReleaseThreshold, &got), hipSuccess);
  EXPECT_EQ(got, threshold);
  void* pointer = nullptr;
  ASSERT_EQ(hipMallocFromPoolAsync(&pointer, 4096, pool, nullptr), hipSuccess);
  EXPECT_EQ(hipFreeAsync(pointer, nullptr), hipSuccess);
}

}  // namespace
