// What programs that were linked elsewhere need to find in libamdhip64.so.6.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "emulator/hip_runtime/hip_api.hpp"

namespace {

void* library() {
  static void* handle = ::dlopen(HIPBENCH_BINARY_DIR "/lib/libamdhip64.so.6", RTLD_NOW);
  return handle;
}

TEST(Exports, EverySymbolOfTheTableHasItsVersion) {
  ASSERT_NE(library(), nullptr) << ::dlerror();
  std::ifstream table(HIPBENCH_SOURCE_DIR "/emulator/hip_runtime/exports.txt");
  std::string line;
  int count = 0;
  while (std::getline(table, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string node, name;
    words >> node >> name;
    EXPECT_NE(::dlvsym(library(), name.c_str(), node.c_str()), nullptr) << name << "@" << node;
    ++count;
  }
  EXPECT_GT(count, 450);
}

TEST(Exports, NothingElseIsExported) {
  EXPECT_EQ(::dlsym(library(), "_ZN8hipbench3hip7Runtime3getEv"), nullptr);
}

// A program linked against an older library refers to the older version by name.
__asm__(".symver old_get_device_properties, hipGetDeviceProperties@hip_4.2");
extern "C" hipError_t old_get_device_properties(hipDeviceProp_tR0000*, int);

TEST(Exports, ProgramsFromBeforeHip6GetTheOlderStruct) {
  hipDeviceProp_tR0000 properties[2];
  std::memset(properties, 0x5a, sizeof properties);
  ASSERT_EQ(old_get_device_properties(properties, 0), hipSuccess);
  EXPECT_STREQ(properties[0].name, "AMD Instinct MI300X");
  EXPECT_EQ(properties[0].multiProcessorCount, 304);
  EXPECT_EQ(properties[0].warpSize, 64);
  EXPECT_EQ(properties[0].gcnArch, 942);
  EXPECT_STREQ(properties[0].gcnArchName, "gfx942:sramecc+:xnack-");
  EXPECT_EQ(properties[1].name[0], 0x5a) << "wrote past the older struct";
}

TEST(Exports, PropertiesOfAnMi300x) {
  hipDeviceProp_t properties;
  ASSERT_EQ(hipGetDeviceProperties(&properties, 0), hipSuccess);
  EXPECT_STREQ(properties.gcnArchName, "gfx942:sramecc+:xnack-");
  EXPECT_EQ(properties.multiProcessorCount, 304);
  EXPECT_EQ(properties.sharedMemPerBlock, 65536u);
  EXPECT_EQ(properties.totalGlobalMem, size_t{192} << 30);
  EXPECT_EQ(properties.maxThreadsPerBlock, 1024);
  EXPECT_EQ(properties.cooperativeLaunch, 1);
}

TEST(Exports, EveryAttributeOfTheHeaderHasAValue) {
  int value = -1;
  for (int attribute = hipDeviceAttributeCudaCompatibleBegin;
       attribute <= hipDeviceAttributeMemoryPoolSupportedHandleTypes; ++attribute)
    EXPECT_EQ(hipDeviceGetAttribute(&value, static_cast<hipDeviceAttribute_t>(attribute), 0), hipSuccess) << attribute;
  for (int attribute = hipDeviceAttributeAmdSpecificBegin; attribute <= hipDeviceAttributeWallClockRate; ++attribute)
    EXPECT_EQ(hipDeviceGetAttribute(&value, static_cast<hipDeviceAttribute_t>(attribute), 0), hipSuccess) << attribute;
  EXPECT_EQ(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0), hipSuccess);
  EXPECT_EQ(value, 64);
  EXPECT_EQ(hipDeviceGetAttribute(&value, static_cast<hipDeviceAttribute_t>(777777), 0), hipErrorInvalidValue);
  EXPECT_EQ(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 1), hipErrorInvalidDevice);
  EXPECT_EQ(hipDeviceGetAttribute(nullptr, hipDeviceAttributeWarpSize, 0), hipErrorInvalidValue);
}

TEST(Exports, WhatIsNotEmulatedSaysSo) {
  hipArray_t array = nullptr;
  const hipChannelFormatDesc format = hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindFloat);
  testing::internal::CaptureStderr();
  EXPECT_EQ(hipMallocArray(&array, &format, 4, 4, 0), hipErrorNotSupported);
  EXPECT_EQ(hipMallocArray(&array, &format, 4, 4, 0), hipErrorNotSupported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "hipbench: hipMallocArray is not supported on the emulated device\n");
  EXPECT_EQ(hipGetLastError(), hipErrorNotSupported);
}

TEST(Exports, ProcAddressesAreThoseOfTheLibrary) {
  void* function = nullptr;
  hipDriverProcAddressQueryResult status{};
  ASSERT_EQ(hipGetProcAddress("hipMalloc", &function, 60443484, 0, &status), hipSuccess);
  EXPECT_EQ(function, ::dlsym(library(), "hipMalloc"));
  EXPECT_EQ(hipGetProcAddress("hipNoSuchFunction", &function, 60443484, 0, &status), hipErrorNotFound);
  (void)hipGetLastError();
}

}  // namespace
