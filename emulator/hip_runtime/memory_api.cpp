// Allocation, host memory, pointer queries, memory pools.

#include <cstring>

#include "emulator/hip_runtime/runtime.hpp"

using namespace hipbench;
using namespace hipbench::hip;

// The one memory pool: allocation does not wait for anything, so there is nothing to keep.
struct ihipMemPoolHandle_t {
  u64 release_threshold = 0;
};

namespace {

constexpr size_t kPitchAlignment = 256;

size_t pitch_of(size_t width) { return (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment; }

HandleSet<ihipMemPoolHandle_t>& pools() {
  static auto* set = new HandleSet<ihipMemPoolHandle_t>;
  return *set;
}

hipMemPool_t default_pool() {
  static hipMemPool_t pool = pools().add(std::make_unique<ihipMemPoolHandle_t>());
  return pool;
}

hipMemPool_t& current_pool() {
  static hipMemPool_t pool = default_pool();
  return pool;
}

hipError_t allocate_pitched(void** pointer, size_t* pitch, size_t width, size_t rows) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (pointer == nullptr || pitch == nullptr) return hipErrorInvalidValue;
    size_t size = 0;
    *pitch = pitch_of(width);
    if (*pitch < width || __builtin_mul_overflow(*pitch, rows, &size)) return hipErrorOutOfMemory;
    return runtime.allocate(pointer, size, MemoryKind::Device, 0);
  });
}

hipMemoryType type_of(const Buffer& buffer) {
  switch (buffer.kind) {
    case MemoryKind::Device: return hipMemoryTypeDevice;
    case MemoryKind::Managed: return hipMemoryTypeManaged;
    default: return hipMemoryTypeHost;
  }
}

bool capturing(Runtime& runtime, hipStream_t stream) { return runtime.stream_state(stream)->capture != nullptr; }

template <typename T>
hipError_t store(void* data, T value) {
  std::memcpy(data, &value, sizeof value);
  return hipSuccess;
}

}  // namespace

extern "C" {

hipError_t hipMalloc(void** pointer, size_t size) {
  return api([&](Runtime& runtime, Client&) { return runtime.allocate(pointer, size, MemoryKind::Device, 0); });
}

hipError_t hipExtMallocWithFlags(void** pointer, size_t size, unsigned int flags) {
  return api([&](Runtime& runtime, Client&) { return runtime.allocate(pointer, size, MemoryKind::Device, flags); });
}

hipError_t hipHostMalloc(void** pointer, size_t size, unsigned int flags) {
  return api([&](Runtime& runtime, Client&) { return runtime.allocate(pointer, size, MemoryKind::Host, flags); });
}

hipError_t hipHostAlloc(void** pointer, size_t size, unsigned int flags) { return hipHostMalloc(pointer, size, flags); }
hipError_t hipMallocHost(void** pointer, size_t size) { return hipHostMalloc(pointer, size, hipHostMallocDefault); }
hipError_t hipMemAllocHost(void** pointer, size_t size) { return hipHostMalloc(pointer, size, hipHostMallocDefault); }

hipError_t hipMallocManaged(void** pointer, size_t size, unsigned int flags) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (flags != hipMemAttachGlobal && flags != hipMemAttachHost) return hipErrorInvalidValue;
    if (size == 0) return hipErrorInvalidValue;
    return runtime.allocate(pointer, size, MemoryKind::Managed, flags);
  });
}

hipError_t hipMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return allocate_pitched(pointer, pitch, width, height);
}

hipError_t hipMemAllocPitch(hipDeviceptr_t* pointer, size_t* pitch, size_t width, size_t height,
                            unsigned int element_size) {
  if (element_size != 4 && element_size != 8 && element_size != 16) return finish(hipErrorInvalidValue);
  return allocate_pitched(pointer, pitch, width, height);
}

hipError_t hipMalloc3D(hipPitchedPtr* pitched, hipExtent extent) {
  if (pitched == nullptr) return finish(hipErrorInvalidValue);
  size_t rows = 0;
  if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return finish(hipErrorOutOfMemory);
  hipPitchedPtr result{};
  const hipError_t error = allocate_pitched(&result.ptr, &result.pitch, extent.width, rows);
  result.xsize = extent.width;
  result.ysize = extent.height;
  if (error == hipSuccess) *pitched = result;
  return error;
}

hipError_t hipFree(void* pointer) {
  return api([&](Runtime& runtime, Client&) {
    const hipError_t error = runtime.release(pointer, false);
    if (pointer != nullptr && error == hipSuccess)
      runtime.order.host_waited_for_all();  // as documented, it waits for the device
    return error;
  });
}

hipError_t hipHostFree(void* pointer) {
  return api([&](Runtime& runtime, Client&) {
    const hipError_t error = runtime.release(pointer, true);
    if (pointer != nullptr && error == hipSuccess)
      runtime.order.host_waited_for_all();  // as documented, it waits for the device
    return error;
  });
}

hipError_t hipMallocAsync(void** pointer, size_t size, hipStream_t stream) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (!runtime.valid(stream)) return hipErrorInvalidHandle;
    if (capturing(runtime, stream)) return hipErrorStreamCaptureUnsupported;
    return runtime.allocate(pointer, size, MemoryKind::Device, 0);
  });
}

hipError_t hipFreeAsync(void* pointer, hipStream_t stream) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (!runtime.valid(stream)) return hipErrorInvalidHandle;
    if (pointer == nullptr) return hipErrorInvalidValue;
    if (capturing(runtime, stream)) return hipErrorStreamCaptureUnsupported;
    return runtime.release(pointer, false);
  });
}

hipError_t hipMallocFromPoolAsync(void** pointer, size_t size, hipMemPool_t pool, hipStream_t stream) {
  if (!pools().contains(pool)) return finish(hipErrorInvalidValue);
  return hipMallocAsync(pointer, size, stream);
}

hipError_t hipHostRegister(void* pointer, size_t size, unsigned int flags) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (pointer == nullptr || size == 0 || reinterpret_cast<u64>(pointer) + size < size) return hipErrorInvalidValue;
    if (runtime.find(pointer)) return hipErrorHostMemoryAlreadyRegistered;
    return runtime.register_host(pointer, size, flags);
  });
}

hipError_t hipHostUnregister(void* pointer) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (pointer == nullptr) return hipErrorInvalidValue;
    return runtime.unregister_host(pointer);
  });
}

hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned int flags) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (device == nullptr || host == nullptr || flags != 0) return hipErrorInvalidValue;
    const std::optional<Buffer> buffer = runtime.find(host);
    if (!buffer || buffer->kind == MemoryKind::Device) return hipErrorInvalidValue;
    *device = reinterpret_cast<void*>(*runtime.device_address(host, 1));
    return hipSuccess;
  });
}

hipError_t hipHostGetFlags(unsigned int* flags, void* host) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (flags == nullptr || host == nullptr) return hipErrorInvalidValue;
    const std::optional<Buffer> buffer = runtime.find(host);
    if (!buffer || buffer->kind == MemoryKind::Device) return hipErrorInvalidValue;
    *flags = buffer->flags;
    return hipSuccess;
  });
}

hipError_t hipMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return api([&](Runtime& runtime, Client& client) -> hipError_t {
    if (free_bytes == nullptr || total_bytes == nullptr) return hipErrorInvalidValue;
    const Result<emulator::MemoryInfo> info = client.memory_info();
    if (!info) return runtime.failed(info.error(), hipErrorUnknown);
    *free_bytes = info->free_bytes;
    *total_bytes = info->total_bytes;
    return hipSuccess;
  });
}

hipError_t hipMemPtrGetInfo(void* pointer, size_t* size) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (pointer == nullptr || size == nullptr) return hipErrorInvalidValue;
    const std::optional<Buffer> buffer = runtime.find(pointer);
    if (!buffer) return hipErrorInvalidValue;
    *size = buffer->size;
    return hipSuccess;
  });
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* size, hipDeviceptr_t pointer) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    const std::optional<Buffer> buffer = runtime.find(pointer);
    if (base == nullptr || size == nullptr) return hipErrorInvalidValue;
    if (!buffer) return hipErrorNotFound;
    *base = reinterpret_cast<void*>(buffer->address);
    *size = buffer->size;
    return hipSuccess;
  });
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (attributes == nullptr || pointer == nullptr) return hipErrorInvalidValue;
    *attributes = hipPointerAttribute_t{};
    const std::optional<Buffer> buffer = runtime.find(pointer);
    if (!buffer) {
      attributes->type = hipMemoryTypeUnregistered;
      attributes->device = -2;  // as ROCm marks memory that it does not know
      return hipSuccess;
    }
    const u64 device = *runtime.device_address(pointer, 0);
    attributes->type = type_of(*buffer);
    attributes->devicePointer = reinterpret_cast<void*>(device);
    if (buffer->host != nullptr)
      attributes->hostPointer = static_cast<char*>(buffer->host) + (device - buffer->address);
    attributes->isManaged = buffer->kind == MemoryKind::Managed;
    attributes->allocationFlags = buffer->flags;
    return hipSuccess;
  });
}

hipError_t hipPointerGetAttribute(void* data, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (data == nullptr || pointer == nullptr) return hipErrorInvalidValue;
    const std::optional<Buffer> buffer = runtime.find(pointer);
    if (!buffer) return hipErrorInvalidValue;
    const u64 device = *runtime.device_address(pointer, 0);
    switch (attribute) {
      case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE: return store(data, static_cast<unsigned>(type_of(*buffer)));
      case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER: return store(data, device);
      case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
        if (buffer->host == nullptr) return hipErrorInvalidValue;
        return store(data, reinterpret_cast<u64>(buffer->host) + (device - buffer->address));
      case HIP_POINTER_ATTRIBUTE_IS_MANAGED: return store(data, buffer->kind == MemoryKind::Managed);
      case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return store(data, 0);
      case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR: return store(data, buffer->address);
      case HIP_POINTER_ATTRIBUTE_RANGE_SIZE: return store(data, buffer->size);
      case HIP_POINTER_ATTRIBUTE_MAPPED: return store(data, true);
      default: return hipErrorNotSupported;
    }
  });
}

// --- hints for managed memory: all memory is where both sides see it, so there is nothing to move ---

hipError_t hipMemPrefetchAsync(const void* pointer, size_t, int device, hipStream_t stream) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (!runtime.valid(stream)) return hipErrorInvalidHandle;
    if (device != 0 && device != hipCpuDeviceId) return hipErrorInvalidDevice;
    return runtime.find(pointer) ? hipSuccess : hipErrorInvalidValue;
  });
}

hipError_t hipMemAdvise(const void* pointer, size_t, hipMemoryAdvise, int device) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (device != 0 && device != hipCpuDeviceId) return hipErrorInvalidDevice;
    return runtime.find(pointer) ? hipSuccess : hipErrorInvalidValue;
  });
}

hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* pointer, size_t, unsigned int flags) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (!runtime.valid(stream)) return hipErrorInvalidHandle;
    if (flags != hipMemAttachGlobal && flags != hipMemAttachHost && flags != hipMemAttachSingle)
      return hipErrorInvalidValue;
    const std::optional<Buffer> buffer = runtime.find(pointer);
    return buffer && buffer->kind == MemoryKind::Managed ? hipSuccess : hipErrorInvalidValue;
  });
}

// --- pools ---

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device) {
  return host_api([&] {
    if (pool == nullptr) return hipErrorInvalidValue;
    if (device != 0) return hipErrorInvalidDevice;
    *pool = default_pool();
    return hipSuccess;
  });
}

hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int device) {
  return host_api([&] {
    if (pool == nullptr) return hipErrorInvalidValue;
    if (device != 0) return hipErrorInvalidDevice;
    *pool = current_pool();
    return hipSuccess;
  });
}

hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool) {
  return host_api([&] {
    if (device != 0) return hipErrorInvalidDevice;
    if (!pools().contains(pool)) return hipErrorInvalidValue;
    current_pool() = pool;
    return hipSuccess;
  });
}

hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* properties) {
  return host_api([&] {
    if (pool == nullptr || properties == nullptr) return hipErrorInvalidValue;
    if (properties->location.type != hipMemLocationTypeDevice || properties->location.id != 0)
      return hipErrorInvalidDevice;
    *pool = pools().add(std::make_unique<ihipMemPoolHandle_t>());
    return hipSuccess;
  });
}

hipError_t hipMemPoolDestroy(hipMemPool_t pool) {
  return host_api([&] {
    if (pool == default_pool() || !pools().remove(pool)) return hipErrorInvalidValue;
    if (current_pool() == pool) current_pool() = default_pool();
    return hipSuccess;
  });
}

hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t) {
  return host_api([&] { return pools().contains(pool) ? hipSuccess : hipErrorInvalidValue; });
}

hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return host_api([&] {
    if (!pools().contains(pool) || value == nullptr) return hipErrorInvalidValue;
    if (attribute == hipMemPoolAttrReleaseThreshold) std::memcpy(&pool->release_threshold, value, sizeof(u64));
    return attribute >= hipMemPoolReuseFollowEventDependencies && attribute <= hipMemPoolAttrUsedMemHigh
               ? hipSuccess
               : hipErrorInvalidValue;
  });
}

hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return host_api([&] {
    if (!pools().contains(pool) || value == nullptr) return hipErrorInvalidValue;
    switch (attribute) {
      case hipMemPoolReuseFollowEventDependencies:
      case hipMemPoolReuseAllowOpportunistic:
      case hipMemPoolReuseAllowInternalDependencies: return store(value, 1);
      case hipMemPoolAttrReleaseThreshold: return store(value, pool->release_threshold);
      default: return hipErrorNotSupported;
    }
  });
}

hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc* descriptors, size_t count) {
  return host_api([&] {
    if (!pools().contains(pool) || (count > 0 && descriptors == nullptr)) return hipErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      if (descriptors[i].location.id != 0) return hipErrorInvalidDevice;
    return hipSuccess;
  });
}

hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t pool, hipMemLocation* location) {
  return host_api([&] {
    if (flags == nullptr || location == nullptr || !pools().contains(pool)) return hipErrorInvalidValue;
    if (location->id != 0) return hipErrorInvalidDevice;
    *flags = hipMemAccessFlagsProtReadWrite;
    return hipSuccess;
  });
}

}  // extern "C"
