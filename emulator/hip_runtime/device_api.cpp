// Devices: there is one, an MI300X. Its properties are what ROCm 6.4 reports for it, as far as they are public.

#include <dlfcn.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "emulator/device/device.hpp"
#include "emulator/hip_runtime/runtime.hpp"

using namespace hipbench;
using namespace hipbench::hip;
namespace mi300x = hipbench::emulator::mi300x;

namespace {

constexpr const char* kName = "AMD Instinct MI300X";
constexpr const char* kArchitecture = "gfx942:sramecc+:xnack-";
constexpr int kPciBus = 0xc1, kPciDevice = 0, kPciDomain = 0;
constexpr int kWallClockKhz = 100000;  // s_memrealtime
constexpr int kMemoryClockKhz = 1300000, kMemoryBusBits = 8192;
constexpr int kL2Bytes = 4 << 20;  // of one XCD
constexpr int kDriverVersion = 60443484;  // HIP 6.4.43484, whose structs these are

// The two generations of hipDeviceProp_t share most names.
template <typename Properties>
void fill_common(Properties& p) {
  std::snprintf(p.name, sizeof p.name, "%s", kName);
  std::snprintf(p.gcnArchName, sizeof p.gcnArchName, "%s", kArchitecture);
  p.totalGlobalMem = emulator::kDeviceMemorySize;
  p.sharedMemPerBlock = p.maxSharedMemoryPerMultiProcessor = mi300x::kLdsBytes;
  p.regsPerBlock = 65536;
  p.warpSize = 64;
  p.maxThreadsPerBlock = mi300x::kMaxWorkgroupSize;
  for (int& dim : p.maxThreadsDim) dim = mi300x::kMaxWorkgroupSize;
  p.maxGridSize[0] = INT_MAX;
  p.maxGridSize[1] = p.maxGridSize[2] = 65536;
  p.clockRate = mi300x::kClockMhz * 1000;
  p.memoryClockRate = kMemoryClockKhz;
  p.memoryBusWidth = kMemoryBusBits;
  p.totalConstMem = p.memPitch = INT_MAX;
  p.major = 9;
  p.minor = 4;
  p.multiProcessorCount = mi300x::kComputeUnits;
  p.l2CacheSize = kL2Bytes;
  p.maxThreadsPerMultiProcessor = mi300x::kSimdsPerCu * mi300x::kWavesPerSimd * 64;
  p.clockInstructionRate = kWallClockKhz;
  p.concurrentKernels = p.canMapHostMemory = p.cooperativeLaunch = p.managedMemory = p.isLargeBar = p.ECCEnabled = 1;
  p.concurrentManagedAccess = p.directManagedMemAccessFromHost = 1;
  p.pciDomainID = kPciDomain;
  p.pciBusID = kPciBus;
  p.pciDeviceID = kPciDevice;
  p.textureAlignment = p.texturePitchAlignment = 256;
  p.asicRevision = 1;
  hipDeviceArch_t& arch = p.arch;
  arch.hasGlobalInt32Atomics = arch.hasGlobalFloatAtomicExch = arch.hasSharedInt32Atomics =
      arch.hasSharedFloatAtomicExch = 1;
  arch.hasFloatAtomicAdd = arch.hasGlobalInt64Atomics = arch.hasSharedInt64Atomics = arch.hasDoubles = 1;
  arch.hasWarpVote = arch.hasWarpBallot = arch.hasWarpShuffle = arch.hasThreadFenceSystem = arch.has3dGrid = 1;
}

const hipDeviceProp_tR0600& properties() {
  static const hipDeviceProp_tR0600 filled = [] {
    hipDeviceProp_tR0600 p;
    std::memset(&p, 0, sizeof p);
    fill_common(p);
    std::memcpy(p.uuid.bytes, "hipbench-emu-942", sizeof p.uuid.bytes);
    p.sharedMemPerMultiprocessor = p.sharedMemPerBlockOptin = mi300x::kLdsBytes;
    p.regsPerMultiprocessor = 65536;
    p.asyncEngineCount = 8;
    p.deviceOverlap = p.unifiedAddressing = p.streamPrioritiesSupported = p.globalL1CacheSupported =
        p.localL1CacheSupported = 1;
    p.maxBlocksPerMultiProcessor = p.maxThreadsPerMultiProcessor / p.maxThreadsPerBlock;
    p.hostRegisterSupported = p.memoryPoolsSupported = p.hostNativeAtomicSupported = 1;
    return p;
  }();
  return filled;
}

int saturated(size_t value) { return static_cast<int>(std::min<size_t>(value, INT_MAX)); }

// Nothing: an attribute that does not exist. Images, which are not emulated, have size 0.
std::optional<int> attribute_value(hipDeviceAttribute_t attribute) {
  const hipDeviceProp_tR0600& p = properties();
  switch (attribute) {
    case hipDeviceAttributeEccEnabled: return p.ECCEnabled;
    case hipDeviceAttributeAsyncEngineCount: return p.asyncEngineCount;
    case hipDeviceAttributeCanMapHostMemory: return p.canMapHostMemory;
    case hipDeviceAttributeClockRate: return p.clockRate;
    case hipDeviceAttributeConcurrentKernels: return p.concurrentKernels;
    case hipDeviceAttributeConcurrentManagedAccess: return p.concurrentManagedAccess;
    case hipDeviceAttributeCooperativeLaunch: return p.cooperativeLaunch;
    case hipDeviceAttributeDeviceOverlap: return p.deviceOverlap;
    case hipDeviceAttributeDirectManagedMemAccessFromHost: return p.directManagedMemAccessFromHost;
    case hipDeviceAttributeGlobalL1CacheSupported: return p.globalL1CacheSupported;
    case hipDeviceAttributeHostNativeAtomicSupported: return p.hostNativeAtomicSupported;
    case hipDeviceAttributeL2CacheSize: return p.l2CacheSize;
    case hipDeviceAttributeLocalL1CacheSupported: return p.localL1CacheSupported;
    case hipDeviceAttributeComputeCapabilityMajor: return p.major;
    case hipDeviceAttributeComputeCapabilityMinor: return p.minor;
    case hipDeviceAttributeManagedMemory: return p.managedMemory;
    case hipDeviceAttributeMaxBlocksPerMultiProcessor: return p.maxBlocksPerMultiProcessor;
    case hipDeviceAttributeMaxBlockDimX:
    case hipDeviceAttributeMaxThreadsDim: return p.maxThreadsDim[0];
    case hipDeviceAttributeMaxBlockDimY: return p.maxThreadsDim[1];
    case hipDeviceAttributeMaxBlockDimZ: return p.maxThreadsDim[2];
    case hipDeviceAttributeMaxGridDimX: return p.maxGridSize[0];
    case hipDeviceAttributeMaxGridDimY: return p.maxGridSize[1];
    case hipDeviceAttributeMaxGridDimZ: return p.maxGridSize[2];
    case hipDeviceAttributeMaxThreadsPerBlock: return p.maxThreadsPerBlock;
    case hipDeviceAttributeMaxThreadsPerMultiProcessor: return p.maxThreadsPerMultiProcessor;
    case hipDeviceAttributeMaxPitch: return saturated(p.memPitch);
    case hipDeviceAttributeMemoryBusWidth: return p.memoryBusWidth;
    case hipDeviceAttributeMemoryClockRate: return p.memoryClockRate;
    case hipDeviceAttributeMultiprocessorCount:
    case hipDeviceAttributePhysicalMultiProcessorCount: return p.multiProcessorCount;
    case hipDeviceAttributePciBusId: return p.pciBusID;
    case hipDeviceAttributePciDeviceId: return p.pciDeviceID;
    case hipDeviceAttributePciDomainID: return p.pciDomainID;
    case hipDeviceAttributeMaxRegistersPerBlock: return p.regsPerBlock;
    case hipDeviceAttributeMaxRegistersPerMultiprocessor: return p.regsPerMultiprocessor;
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
    case hipDeviceAttributeSharedMemPerBlockOptin:
    case hipDeviceAttributeSharedMemPerMultiprocessor:
    case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor: return saturated(p.sharedMemPerBlock);
    case hipDeviceAttributeStreamPrioritiesSupported: return p.streamPrioritiesSupported;
    case hipDeviceAttributeTextureAlignment: return saturated(p.textureAlignment);
    case hipDeviceAttributeTexturePitchAlignment: return saturated(p.texturePitchAlignment);
    case hipDeviceAttributeTotalConstantMemory: return saturated(p.totalConstMem);
    case hipDeviceAttributeTotalGlobalMem: return saturated(p.totalGlobalMem);
    case hipDeviceAttributeUnifiedAddressing: return p.unifiedAddressing;
    case hipDeviceAttributeWarpSize: return p.warpSize;
    case hipDeviceAttributeMemoryPoolsSupported: return p.memoryPoolsSupported;
    case hipDeviceAttributeHostRegisterSupported: return p.hostRegisterSupported;
    case hipDeviceAttributeClockInstructionRate:
    case hipDeviceAttributeWallClockRate: return kWallClockKhz;
    case hipDeviceAttributeIsLargeBar: return p.isLargeBar;
    case hipDeviceAttributeAsicRevision: return p.asicRevision;
    case hipDeviceAttributeFineGrainSupport: return 1;
    default: break;
  }
  const bool known = (attribute >= hipDeviceAttributeCudaCompatibleBegin &&
                      attribute <= hipDeviceAttributeMemoryPoolSupportedHandleTypes) ||
                     (attribute >= hipDeviceAttributeAmdSpecificBegin && attribute <= hipDeviceAttributeWallClockRate);
  return known ? std::optional<int>(0) : std::nullopt;
}

hipCtx_t primary_context() { return reinterpret_cast<hipCtx_t>(&Runtime::get()); }

// A question about a device: its number checked, an answer wanted.
template <typename Body>
hipError_t about(int device, const void* answer, Body body) {
  return api([&](Runtime&, Client&) -> hipError_t {
    if (answer == nullptr) return hipErrorInvalidValue;
    if (device != 0) return hipErrorInvalidDevice;
    body();
    return hipSuccess;
  });
}

hipError_t peers(int device, int peer) {
  if (device != 0 || peer != 0) return hipErrorInvalidDevice;
  return hipSuccess;
}

thread_local unsigned t_flags = hipDeviceScheduleAuto;

}  // namespace

extern "C" {

hipError_t hipInit(unsigned int flags) {
  return api([&](Runtime&, Client&) { return flags == 0 ? hipSuccess : hipErrorInvalidValue; });
}

hipError_t hipDriverGetVersion(int* version) {
  if (version != nullptr) *version = kDriverVersion;
  return finish(version != nullptr ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipRuntimeGetVersion(int* version) { return hipDriverGetVersion(version); }

hipError_t hipGetDeviceCount(int* count) {
  if (count == nullptr) return finish(hipErrorInvalidValue);
  *count = 0;
  return api([&](Runtime&, Client&) {
    *count = 1;
    return hipSuccess;
  });
}

hipError_t hipGetDevice(int* device) {
  return about(0, device, [&] { *device = 0; });
}
hipError_t hipSetDevice(int device) {
  return about(device, &device, [] {});
}
hipError_t hipSetValidDevices(int* devices, int count) {
  if (devices == nullptr || count < 1) return finish(hipErrorInvalidValue);
  return finish(std::all_of(devices, devices + count, [](int device) { return device == 0; }) ? hipSuccess
                                                                                              : hipErrorInvalidDevice);
}
hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  return about(ordinal, device, [&] { *device = 0; });
}
hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t device) {
  return about(device, major != nullptr ? minor : nullptr, [&] {
    *major = properties().major;
    *minor = properties().minor;
  });
}
hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
  if (length <= 0) return finish(hipErrorInvalidValue);
  return about(device, name, [&] { std::snprintf(name, static_cast<size_t>(length), "%s", kName); });
}
hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  return about(device, uuid, [&] { *uuid = properties().uuid; });
}
hipError_t hipDeviceGetPCIBusId(char* id, int length, int device) {
  if (length <= 0) return finish(hipErrorInvalidValue);
  return about(device, id, [&] {
    std::snprintf(id, static_cast<size_t>(length), "%04x:%02x:%02x.0", static_cast<unsigned>(kPciDomain),
                  static_cast<unsigned>(kPciBus), static_cast<unsigned>(kPciDevice));
  });
}
hipError_t hipDeviceGetByPCIBusId(int* device, const char* id) {
  if (device == nullptr || id == nullptr) return finish(hipErrorInvalidValue);
  char ours[32];
  if (const hipError_t error = hipDeviceGetPCIBusId(ours, sizeof ours, 0); error != hipSuccess) return error;
  if (std::strncmp(ours, id, sizeof ours) != 0) return finish(hipErrorInvalidDevice);
  *device = 0;
  return finish(hipSuccess);
}
hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t device) {
  return about(device, bytes, [&] { *bytes = properties().totalGlobalMem; });
}
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  const std::optional<int> known = attribute_value(attribute);
  if (!known) return finish(hipErrorInvalidValue);
  return about(device, value, [&] { *value = *known; });
}
__attribute__((visibility("default"))) hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* answer,
                                                                              int device) {
  return about(device, answer, [&] { *answer = properties(); });
}
// For programs that were compiled before HIP 6: the older and shorter struct.
__attribute__((visibility("default"))) hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_tR0000* answer,
                                                                              int device) {
  return about(device, answer, [&] {
    std::memset(answer, 0, sizeof *answer);
    fill_common(*answer);
    answer->gcnArch = 942;
  });
}
hipError_t hipChooseDeviceR0600(int* device, const hipDeviceProp_tR0600* wanted) {
  return about(wanted != nullptr ? 0 : -1, device, [&] { *device = 0; });
}
__attribute__((visibility("default"))) hipError_t hipChooseDeviceR0000(int* device,
                                                                       const hipDeviceProp_tR0000* wanted) {
  return about(wanted != nullptr ? 0 : -1, device, [&] { *device = 0; });
}

hipError_t hipDeviceSynchronize() {
  return api([&](Runtime& runtime, Client&) { return runtime.synchronize(); });
}

hipError_t hipDeviceReset() {
  // Also the way back after a fault, so it must not be refused because of one.
  return host_api([&] {
    Runtime& runtime = Runtime::get();
    return runtime.client() == nullptr ? hipErrorNoDevice : runtime.reset();
  });
}

hipError_t hipGetDeviceFlags(unsigned int* flags) {
  return about(0, flags, [&] { *flags = t_flags; });
}
hipError_t hipSetDeviceFlags(unsigned flags) {
  constexpr unsigned kKnown = hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;
  if ((flags & ~kKnown) != 0) return finish(hipErrorInvalidValue);
  return about(0, &flags, [&] { t_flags = flags; });
}

hipError_t hipDeviceGetLimit(size_t* value, enum hipLimit_t limit) {
  if (limit < hipLimitStackSize || limit >= hipLimitRange) return finish(hipErrorUnsupportedLimit);
  return about(0, value, [&] {
    constexpr size_t kStack = 1024, kPrintf = 1 << 20, kHeap = 8 << 20;  // as ROCm reports them
    *value = limit == hipLimitStackSize ? kStack : limit == hipLimitPrintfFifoSize ? kPrintf : kHeap;
  });
}
hipError_t hipDeviceSetLimit(enum hipLimit_t limit, size_t) {
  // Stack, printf buffer and heap grow as needed here.
  return finish(limit >= hipLimitStackSize && limit < hipLimitRange ? hipSuccess : hipErrorUnsupportedLimit);
}
hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* config) {
  return about(0, config, [&] { *config = hipFuncCachePreferNone; });
}
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t) { return finish(hipSuccess); }
hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig* config) {
  return about(0, config, [&] { *config = hipSharedMemBankSizeFourByte; });
}
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig) { return finish(hipSuccess); }

// --- peers: the one device has none ---

hipError_t hipDeviceCanAccessPeer(int* answer, int device, int peer) {
  if (answer == nullptr) return finish(hipErrorInvalidValue);
  *answer = 0;
  return finish(peers(device, peer));
}
hipError_t hipDeviceEnablePeerAccess(int, unsigned int flags) {
  return finish(flags != 0 ? hipErrorInvalidValue : hipErrorInvalidDevice);
}
hipError_t hipDeviceDisablePeerAccess(int peer) {
  return finish(peer == 0 ? hipErrorPeerAccessNotEnabled : hipErrorInvalidDevice);
}
hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr, int, int) {
  return finish(value == nullptr ? hipErrorInvalidValue : hipErrorInvalidDevice);
}

// --- contexts: the one device's primary one ---

hipError_t hipCtxCreate(hipCtx_t* context, unsigned int, hipDevice_t device) {
  return about(device, context, [&] { *context = primary_context(); });
}
hipError_t hipCtxDestroy(hipCtx_t context) {
  return finish(context == primary_context() ? hipSuccess : hipErrorInvalidContext);
}
hipError_t hipCtxGetCurrent(hipCtx_t* context) {
  return about(0, context, [&] { *context = primary_context(); });
}
hipError_t hipCtxSetCurrent(hipCtx_t context) {
  return finish(context == nullptr || context == primary_context() ? hipSuccess : hipErrorInvalidContext);
}
hipError_t hipCtxPushCurrent(hipCtx_t context) {
  return finish(context == primary_context() ? hipSuccess : hipErrorInvalidContext);
}
hipError_t hipCtxPopCurrent(hipCtx_t* context) {
  if (context != nullptr) *context = primary_context();
  return finish(hipSuccess);
}
hipError_t hipCtxGetDevice(hipDevice_t* device) {
  return about(0, device, [&] { *device = 0; });
}
hipError_t hipCtxSynchronize() { return hipDeviceSynchronize(); }
hipError_t hipCtxGetFlags(unsigned int* flags) { return hipGetDeviceFlags(flags); }
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* context, hipDevice_t device) {
  return about(device, context, [&] { *context = primary_context(); });
}
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  return finish(device == 0 ? hipSuccess : hipErrorInvalidDevice);
}
hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned int* flags, int* active) {
  return about(device, flags != nullptr ? active : nullptr, [&] {
    *flags = t_flags;
    *active = 1;
  });
}
hipError_t hipDevicePrimaryCtxReset(hipDevice_t device) {
  return device == 0 ? hipDeviceReset() : finish(hipErrorInvalidDevice);
}
hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned int flags) {
  return device == 0 ? hipSetDeviceFlags(flags) : finish(hipErrorInvalidDevice);
}

hipError_t hipProfilerStart() { return finish(hipSuccess); }
hipError_t hipProfilerStop() { return finish(hipSuccess); }

hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind kind) {
  return hipChannelFormatDesc{x, y, z, w, kind};
}

hipError_t hipGetProcAddress(const char* symbol, void** function, int, uint64_t,
                             hipDriverProcAddressQueryResult* status) {
  return host_api([&] {
    if (symbol == nullptr || function == nullptr) return hipErrorInvalidValue;
    // Among our own symbols only: the program may have functions of the same name.
    Dl_info self{};
    *function = nullptr;
    if (::dladdr(reinterpret_cast<const void*>(&properties), &self) != 0)
      if (void* library = ::dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD)) {
        *function = ::dlsym(library, symbol);
        ::dlclose(library);
      }
    if (status != nullptr)
      *status = *function != nullptr ? HIP_GET_PROC_ADDRESS_SUCCESS : HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *function != nullptr ? hipSuccess : hipErrorNotFound;
  });
}

const char* hipApiName(uint32_t) { return "unknown"; }
const char* hipGetCmdName(unsigned) { return "unknown"; }

}  // extern "C"
