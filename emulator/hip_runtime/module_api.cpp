// Code objects: modules that the program loads, fat binaries that its start-up code registers, their functions and
// variables.

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "common/files.hpp"
#include "emulator/device/device.hpp"
#include "emulator/hip_runtime/launch.hpp"
#include "emulator/loader/code_object.hpp"

using namespace hipbench;
using namespace hipbench::hip;
namespace mi300x = hipbench::emulator::mi300x;

namespace hipbench::hip {

hipError_t Runtime::load(const void* image, size_t size, hipModule_t* module) {
  Result<ModuleInfo> info = client_->load_module({static_cast<const std::byte*>(image), size});
  if (!info) {
    complain_once("cannot load a code object: " + info.error().message);
    return failed(info.error(), hipErrorNoBinaryForGpu);
  }
  for (const std::string& warning : info->warnings) complain_once("warning: " + warning);
  auto loaded = std::make_unique<ihipModule_t>();
  loaded->info = std::move(info).value();
  *module = modules.add(std::move(loaded));
  const std::lock_guard lock(registration_mutex);
  for (const KernelInfo& kernel : (*module)->info.kernels) {
    ihipModuleSymbol_t& function = (*module)->functions[kernel.name];
    function = ihipModuleSymbol_t{*module, &kernel};
    loaded_functions_.insert(&function);
  }
  return hipSuccess;
}

hipError_t Runtime::unload(hipModule_t module) {
  if (!modules.contains(module)) return hipErrorInvalidHandle;
  const emulator::ModuleHandle handle = module->info.handle;
  {
    const std::lock_guard lock(registration_mutex);
    for (const auto& [name, function] : module->functions) loaded_functions_.erase(&function);
  }
  modules.remove(module);
  const Result<void> unloaded = client_->unload_module(handle);
  return unloaded ? hipSuccess : failed(unloaded.error(), hipErrorInvalidHandle);
}

hipError_t Runtime::load_registered(FatBinary& binary, hipModule_t* module) {
  const std::lock_guard lock(binary.mutex);
  if (!binary.module) {
    hipModule_t loaded = nullptr;
    const Result<u64> size = emulator::bundle_size(binary.bundle);
    if (!size) complain_once("cannot read the program's fat binary: " + size.error().message);
    binary.failure = size ? load(binary.bundle, *size, &loaded) : hipErrorInvalidImage;
    binary.module = loaded;
    if (binary.failure == hipSuccess) binary.failure = point_managed_variables(binary, *loaded);
  }
  *module = *binary.module;
  return binary.failure;
}

// The device's side of a __managed__ variable is a pointer to the memory that both sides see.
hipError_t Runtime::point_managed_variables(FatBinary& binary, const ihipModule_t& module) {
  const std::lock_guard lock(registration_mutex);
  for (const auto& [host, variable] : variables) {
    if (variable.binary != &binary || variable.managed == nullptr) continue;
    const emulator::GlobalInfo* global = module.info.find_global(variable.name);
    if (global == nullptr || global->size != sizeof(void*)) continue;
    const Result<void> sent = client_->write(global->address, std::as_bytes(std::span(&variable.managed, 1)));
    if (!sent) return failed(sent.error(), hipErrorUnknown);
  }
  return hipSuccess;
}

hipError_t Runtime::function_of(const void* host_function, hipFunction_t* function) {
  FatBinary* binary = nullptr;
  std::string name;
  {
    const std::lock_guard lock(registration_mutex);
    const auto found = functions.find(host_function);
    if (found == functions.end()) return hipErrorInvalidDeviceFunction;
    std::tie(binary, name) = found->second;
  }
  hipModule_t module = nullptr;
  if (const hipError_t error = load_registered(*binary, &module); error != hipSuccess) return error;
  const auto kernel = module->functions.find(name);
  if (kernel == module->functions.end()) return hipErrorInvalidDeviceFunction;
  *function = &kernel->second;
  return hipSuccess;
}

hipError_t Runtime::symbol_of(const void* host_variable, u64* address, size_t* size) {
  Variable variable;
  {
    const std::lock_guard lock(registration_mutex);
    const auto found = variables.find(host_variable);
    if (found == variables.end()) return hipErrorInvalidSymbol;
    variable = found->second;
  }
  if (variable.managed != nullptr) {
    *address = reinterpret_cast<u64>(variable.managed);
    *size = variable.size;
    return hipSuccess;
  }
  hipModule_t module = nullptr;
  if (const hipError_t error = load_registered(*variable.binary, &module); error != hipSuccess) return error;
  const emulator::GlobalInfo* global = module->info.find_global(variable.name);
  if (global == nullptr) return hipErrorInvalidSymbol;
  *address = global->address;
  *size = global->size;
  return hipSuccess;
}

bool Runtime::valid_function(hipFunction_t function) {
  const std::lock_guard lock(registration_mutex);
  return loaded_functions_.contains(function);
}

namespace {

// The wrapper that clang puts around a fat binary.
struct FatBinaryWrapper {
  u32 magic, version;
  const void* binary;
  const void* unused;
};
constexpr u32 kFatBinaryMagic = 0x48495046;  // "FPIH"

FatBinary* binary_of(void** handle) {
  Runtime& runtime = Runtime::get();
  auto* binary = reinterpret_cast<FatBinary*>(handle);
  const std::lock_guard lock(runtime.registration_mutex);
  return runtime.binaries.contains(binary) ? binary : nullptr;
}

// Registers as ROCm counts them: 512 VGPRs a lane for a wave that has a SIMD to itself.
hipFuncAttributes attributes_of(const KernelInfo& kernel) {
  hipFuncAttributes attributes{};
  attributes.localSizeBytes = kernel.scratch_per_lane;
  attributes.sharedSizeBytes = kernel.static_lds;
  attributes.maxDynamicSharedSizeBytes =
      static_cast<int>(mi300x::kLdsBytes - std::min(mi300x::kLdsBytes, kernel.static_lds));
  attributes.maxThreadsPerBlock = static_cast<int>(kernel.max_flat_workgroup_size);
  attributes.numRegs = static_cast<int>(kernel.vgprs);
  attributes.binaryVersion = 90;
  attributes.ptxVersion = 90;
  return attributes;
}

hipError_t occupancy_of(Runtime& runtime, hipFunction_t function, int block, size_t lds, int* blocks) {
  if (blocks == nullptr || block <= 0) return hipErrorInvalidValue;
  *blocks = 0;
  if (static_cast<u32>(block) > function->kernel->max_flat_workgroup_size || lds > mi300x::kLdsBytes) return hipSuccess;
  const Result<u32> resident = runtime.client()->occupancy(function->module->info.handle, function->kernel->name,
                                                           static_cast<u32>(block), static_cast<u32>(lds));
  if (resident) *blocks = static_cast<int>(*resident);
  return resident ? hipSuccess : runtime.failed(resident.error(), hipSuccess);
}

// The block size (a multiple of a wave) with the most waves resident; among equals the largest.
hipError_t best_block(Runtime& runtime, hipFunction_t function, size_t lds, int limit, int* grid, int* block) {
  if (grid == nullptr || block == nullptr || limit < 0) return hipErrorInvalidValue;
  const int most = static_cast<int>(function->kernel->max_flat_workgroup_size);
  const int largest = limit == 0 ? most : std::min(limit, most);
  int best_waves = 0;
  *grid = *block = 0;
  for (int size = largest / 64 * 64; size >= 64; size -= 64) {
    int blocks = 0;
    if (const hipError_t error = occupancy_of(runtime, function, size, lds, &blocks); error != hipSuccess) return error;
    if (blocks * (size / 64) <= best_waves) continue;
    best_waves = blocks * (size / 64);
    *block = size;
    *grid = blocks * static_cast<int>(mi300x::kComputeUnits);
  }
  return hipSuccess;
}

template <typename Body>
hipError_t with_function(hipFunction_t function, Body body) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    return runtime.valid_function(function) ? body(runtime, function) : hipErrorInvalidDeviceFunction;
  });
}

template <typename Body>
hipError_t with_host_function(const void* host, Body body) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    hipFunction_t function = nullptr;
    const hipError_t error = runtime.function_of(host, &function);
    return error == hipSuccess ? body(runtime, function) : error;
  });
}

}  // namespace
}  // namespace hipbench::hip

extern "C" {

// --- registration, called by the code that clang emits ---

__attribute__((visibility("default"))) void** __hipRegisterFatBinary(const void* data) {
  const auto* wrapper = static_cast<const FatBinaryWrapper*>(data);
  if (wrapper == nullptr || wrapper->magic != kFatBinaryMagic || wrapper->binary == nullptr) {
    complain_once("a fat binary that does not look like one was registered; its kernels will not be found");
    return nullptr;
  }
  auto binary = std::make_unique<FatBinary>();
  binary->bundle = wrapper->binary;
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.registration_mutex);
  runtime.binaries.insert(binary.get());
  return reinterpret_cast<void**>(binary.release());
}

__attribute__((visibility("default"))) void __hipRegisterFunction(void** handle, const void* host, char*,
                                                                  const char* name, unsigned, void*, void*, void*,
                                                                  void*, int*) {
  FatBinary* binary = binary_of(handle);
  if (binary == nullptr || name == nullptr) return;
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.registration_mutex);
  runtime.functions[host] = {binary, name};
}

__attribute__((visibility("default"))) void __hipRegisterVar(void** handle, void* host, char*, const char* name, int,
                                                             size_t size, int, int) {
  FatBinary* binary = binary_of(handle);
  if (binary == nullptr || name == nullptr) return;
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.registration_mutex);
  runtime.variables[host] = Variable{binary, name, size, nullptr};
}

// The host reads and writes a managed variable before it has called any HIP function, so its memory must be there at
// once.
__attribute__((visibility("default"))) void __hipRegisterManagedVar(void* handle, void** pointer, void* initial,
                                                                    const char* name, size_t size, unsigned) {
  FatBinary* binary = binary_of(static_cast<void**>(handle));
  if (binary == nullptr || name == nullptr || pointer == nullptr) return;
  Runtime& runtime = Runtime::get();
  void* memory = nullptr;
  if (runtime.client() == nullptr ||
      runtime.allocate(&memory, size, MemoryKind::Managed, kManagedVariable) != hipSuccess) {
    complain_once(std::string("no memory for the managed variable ") + name);
    return;
  }
  if (initial != nullptr) std::memcpy(memory, initial, size);
  *pointer = memory;
  const std::lock_guard lock(runtime.registration_mutex);
  runtime.variables[pointer] = Variable{binary, name, size, memory};
}

__attribute__((visibility("default"))) void __hipUnregisterFatBinary(void** handle) {
  FatBinary* binary = binary_of(handle);
  if (binary == nullptr) return;
  // Only forgotten. At exit the server goes anyway, and a library that is unloaded may still have launches in flight.
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.registration_mutex);
  std::erase_if(runtime.functions, [&](const auto& entry) { return entry.second.first == binary; });
  std::erase_if(runtime.variables, [&](const auto& entry) { return entry.second.binary == binary; });
}

// --- modules ---

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (module == nullptr || image == nullptr) return hipErrorInvalidValue;
    const Result<u64> size = emulator::bundle_size(image);
    if (!size) return hipErrorInvalidImage;
    return runtime.load(image, *size, module);
  });
}

hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned int, hipJitOption*, void**) {
  return hipModuleLoadData(module, image);
}

hipError_t hipModuleLoad(hipModule_t* module, const char* path) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (module == nullptr || path == nullptr) return hipErrorInvalidValue;
    const Result<std::string> content = read_file(path);
    if (!content) return hipErrorFileNotFound;
    return runtime.load(content->data(), content->size(), module);
  });
}

hipError_t hipModuleUnload(hipModule_t module) {
  return api([&](Runtime& runtime, Client&) { return runtime.unload(module); });
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (function == nullptr || name == nullptr || *name == 0) return hipErrorInvalidValue;
    if (!runtime.modules.contains(module)) return hipErrorInvalidHandle;
    const auto found = module->functions.find(std::string_view(name));
    if (found == module->functions.end()) return hipErrorNotFound;
    *function = &found->second;
    return hipSuccess;
  });
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t* pointer, size_t* size, hipModule_t module, const char* name) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (name == nullptr || (pointer == nullptr && size == nullptr)) return hipErrorInvalidValue;
    if (!runtime.modules.contains(module)) return hipErrorInvalidHandle;
    const emulator::GlobalInfo* global = module->info.find_global(name);
    if (global == nullptr) return hipErrorNotFound;
    if (pointer != nullptr) *pointer = reinterpret_cast<void*>(global->address);
    if (size != nullptr) *size = global->size;
    return hipSuccess;
  });
}

hipError_t hipGetSymbolAddress(void** pointer, const void* symbol) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (pointer == nullptr) return hipErrorInvalidValue;
    u64 address = 0;
    size_t size = 0;
    const hipError_t error = runtime.symbol_of(symbol, &address, &size);
    if (error == hipSuccess) *pointer = reinterpret_cast<void*>(address);
    return error;
  });
}

hipError_t hipGetSymbolSize(size_t* size, const void* symbol) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (size == nullptr) return hipErrorInvalidValue;
    u64 address = 0;
    return runtime.symbol_of(symbol, &address, size);
  });
}

hipError_t hipGetFuncBySymbol(hipFunction_t* function, const void* symbol) {
  if (function == nullptr) return finish(hipErrorInvalidValue);
  return with_host_function(symbol, [&](Runtime&, hipFunction_t found) {
    *function = found;
    return hipSuccess;
  });
}

// --- functions ---

hipError_t hipFuncGetAttributes(struct hipFuncAttributes* attributes, const void* host) {
  if (attributes == nullptr) return finish(hipErrorInvalidValue);
  return with_host_function(host, [&](Runtime&, hipFunction_t function) {
    *attributes = attributes_of(*function->kernel);
    return hipSuccess;
  });
}

hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute, hipFunction_t function) {
  if (value == nullptr) return finish(hipErrorInvalidValue);
  return with_function(function, [&](Runtime&, hipFunction_t found) {
    const hipFuncAttributes attributes = attributes_of(*found->kernel);
    switch (attribute) {
      case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = attributes.maxThreadsPerBlock; break;
      case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = static_cast<int>(attributes.sharedSizeBytes); break;
      case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = 0; break;
      case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = static_cast<int>(attributes.localSizeBytes); break;
      case HIP_FUNC_ATTRIBUTE_NUM_REGS: *value = attributes.numRegs; break;
      case HIP_FUNC_ATTRIBUTE_PTX_VERSION: *value = attributes.ptxVersion; break;
      case HIP_FUNC_ATTRIBUTE_BINARY_VERSION: *value = attributes.binaryVersion; break;
      case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; break;
      case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = attributes.maxDynamicSharedSizeBytes; break;
      case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = 0; break;
      default: return hipErrorInvalidValue;
    }
    return hipSuccess;
  });
}

hipError_t hipFuncSetAttribute(const void* host, hipFuncAttribute attribute, int value) {
  return with_host_function(host, [&](Runtime&, hipFunction_t function) -> hipError_t {
    if (attribute == hipFuncAttributePreferredSharedMemoryCarveout)
      return hipSuccess;  // LDS is not shared with a cache here
    if (attribute != hipFuncAttributeMaxDynamicSharedMemorySize) return hipErrorInvalidValue;
    const int most = attributes_of(*function->kernel).maxDynamicSharedSizeBytes;
    return value >= 0 && value <= most ? hipSuccess : hipErrorInvalidValue;
  });
}

hipError_t hipFuncSetCacheConfig(const void* host, hipFuncCache_t) {
  return with_host_function(host, [](Runtime&, hipFunction_t) { return hipSuccess; });
}

hipError_t hipFuncSetSharedMemConfig(const void* host, hipSharedMemConfig) {
  return with_host_function(host, [](Runtime&, hipFunction_t) { return hipSuccess; });
}

const char* hipKernelNameRef(const hipFunction_t function) {
  return Runtime::get().valid_function(function) ? function->kernel->name.c_str() : nullptr;
}

const char* hipKernelNameRefByPtr(const void* host, hipStream_t) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.registration_mutex);
  const auto found = runtime.functions.find(host);
  return found == runtime.functions.end() ? nullptr : found->second.second.c_str();
}

// --- occupancy ---

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host, int block, size_t lds) {
  return with_host_function(host, [&](Runtime& runtime, hipFunction_t function) {
    return occupancy_of(runtime, function, block, lds, blocks);
  });
}
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host, int block, size_t lds,
                                                                 unsigned int) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, host, block, lds);
}
hipError_t hipOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* host, size_t lds, int limit) {
  return with_host_function(host, [&](Runtime& runtime, hipFunction_t function) {
    return best_block(runtime, function, lds, limit, grid, block);
  });
}
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t function, int block,
                                                              size_t lds) {
  return with_function(function, [&](Runtime& runtime, hipFunction_t found) {
    return occupancy_of(runtime, found, block, lds, blocks);
  });
}
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, hipFunction_t function, int block,
                                                                       size_t lds, unsigned int) {
  return hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block, lds);
}
hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* grid, int* block, hipFunction_t function, size_t lds,
                                                   int limit) {
  return with_function(function, [&](Runtime& runtime, hipFunction_t found) {
    return best_block(runtime, found, lds, limit, grid, block);
  });
}
hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, hipFunction_t function, size_t lds,
                                                            int limit, unsigned int) {
  return hipModuleOccupancyMaxPotentialBlockSize(grid, block, function, lds, limit);
}

}  // extern "C"
