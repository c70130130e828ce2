// Launching kernels: hipLaunchKernel and what <<<>>> compiles to, hipModuleLaunchKernel, cooperative launches.

#include "emulator/hip_runtime/launch.hpp"

#include <cstring>

#include "emulator/device/device.hpp"

using namespace hipbench;
using namespace hipbench::hip;
namespace mi300x = hipbench::emulator::mi300x;

namespace hipbench::hip {
namespace {

bool hidden(const emulator::KernelArgument& argument) { return argument.value_kind.starts_with("hidden_"); }

hipError_t pack_extra(const KernelInfo& kernel, void** extra, std::vector<std::byte>& kernargs) {
  const void* buffer = nullptr;
  size_t size = 0;
  // A list of key and value pairs that ends with HIP_LAUNCH_PARAM_END; no key has more than one meaning, so three
  // suffice.
  for (int i = 0; i < 3 && extra[0] != HIP_LAUNCH_PARAM_END; ++i, extra += 2) {
    if (extra[0] == HIP_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = extra[1];
    else if (extra[0] == HIP_LAUNCH_PARAM_BUFFER_SIZE && extra[1] != nullptr)
      size = *static_cast<const size_t*>(extra[1]);
    else
      return hipErrorInvalidValue;
  }
  if (extra[0] != HIP_LAUNCH_PARAM_END || (size > 0 && buffer == nullptr) || size > emulator::kMaxKernargBytes)
    return hipErrorInvalidValue;
  // Programs may hand a little more (padding of their struct); less would leave arguments undefined.
  if (size < kernel.explicit_kernarg_size) return hipErrorInvalidValue;
  const auto* bytes = static_cast<const std::byte*>(buffer);
  kernargs.assign(bytes, bytes + kernel.explicit_kernarg_size);
  return hipSuccess;
}

hipError_t pack_params(const KernelInfo& kernel, void** params, std::vector<std::byte>& kernargs) {
  kernargs.assign(kernel.explicit_kernarg_size, std::byte{0});
  size_t index = 0;
  for (const emulator::KernelArgument& argument : kernel.arguments) {
    if (hidden(argument)) continue;
    if (params == nullptr || params[index] == nullptr) return hipErrorInvalidValue;
    std::memcpy(kernargs.data() + argument.offset, params[index], argument.size);
    ++index;
  }
  return hipSuccess;
}

hipError_t check_shape(Runtime& runtime, hipFunction_t function, const LaunchShape& shape) {
  const KernelInfo& kernel = *function->kernel;
  constexpr u64 kMaxGridItems = u64{1} << 32;
  for (const u32 dim : {shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x, shape.block.y, shape.block.z})
    if (dim == 0) return hipErrorInvalidConfiguration;
  // The dispatch packet counts work-items in 32 bits a dimension.
  if (u64{shape.grid.x} * shape.block.x >= kMaxGridItems || u64{shape.grid.y} * shape.block.y >= kMaxGridItems ||
      u64{shape.grid.z} * shape.block.z >= kMaxGridItems)
    return hipErrorInvalidConfiguration;
  if (shape.block.count() > mi300x::kMaxWorkgroupSize) return hipErrorInvalidConfiguration;
  if (shape.block.count() > kernel.max_flat_workgroup_size) {
    complain_once(kernel.demangled + " was compiled for at most " + std::to_string(kernel.max_flat_workgroup_size) +
                  " work-items a workgroup (__launch_bounds__) and launched with " +
                  std::to_string(shape.block.count()));
    return hipErrorLaunchFailure;
  }
  if (shape.dynamic_lds > mi300x::kLdsBytes || kernel.static_lds + shape.dynamic_lds > mi300x::kLdsBytes) {
    complain_once(kernel.demangled + " asks for " + std::to_string(kernel.static_lds + shape.dynamic_lds) +
                  " bytes of LDS; a workgroup has " + std::to_string(mi300x::kLdsBytes));
    return hipErrorInvalidValue;
  }
  if (!shape.cooperative) return hipSuccess;
  const Result<u32> resident =
      runtime.client()->occupancy(function->module->info.handle, kernel.name, static_cast<u32>(shape.block.count()),
                                  static_cast<u32>(shape.dynamic_lds));
  if (!resident) return runtime.failed(resident.error(), hipErrorInvalidConfiguration);
  return shape.grid.count() > u64{*resident} * mi300x::kComputeUnits ? hipErrorCooperativeLaunchTooLarge : hipSuccess;
}

hipError_t launch_function(Runtime& runtime, hipFunction_t function, const LaunchShape& shape, hipStream_t stream,
                           void** params, void** extra) {
  if (!runtime.valid(stream)) return hipErrorInvalidHandle;
  emulator::LaunchRequest request;
  if (const hipError_t error = prepare(runtime, function, shape, params, extra, request); error != hipSuccess)
    return error;
  return runtime.enqueue(stream, hipGraphNodeTypeKernel, launch_work(std::move(request)));
}

hipError_t launch_host_function(const void* host, dim3 grid, dim3 block, void** params, size_t lds, hipStream_t stream,
                                bool cooperative) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    hipFunction_t function = nullptr;
    if (const hipError_t error = runtime.function_of(host, &function); error != hipSuccess) return error;
    const LaunchShape shape{Dim3{grid.x, grid.y, grid.z}, Dim3{block.x, block.y, block.z}, lds, cooperative};
    return launch_function(runtime, function, shape, stream, params, nullptr);
  });
}

hipError_t launch_module_function(hipFunction_t function, Dim3 grid, Dim3 block, unsigned lds, hipStream_t stream,
                                  void** params, void** extra, bool cooperative) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (params != nullptr && extra != nullptr) return hipErrorInvalidValue;
    return launch_function(runtime, function, LaunchShape{grid, block, lds, cooperative}, stream, params, extra);
  });
}

// Events around a launch, as hipExtLaunchKernel wants them.
template <typename Launch>
hipError_t with_events(hipEvent_t start, hipEvent_t stop, hipStream_t stream, Launch launch) {
  if (start != nullptr)
    if (const hipError_t error = hipEventRecord(start, stream); error != hipSuccess) return error;
  if (const hipError_t error = launch(); error != hipSuccess) return error;
  return stop != nullptr ? hipEventRecord(stop, stream) : hipSuccess;
}

struct CallConfiguration {
  dim3 grid, block;
  size_t lds = 0;
  hipStream_t stream = nullptr;
  std::vector<std::byte> arguments;  // of hipSetupArgument
};
thread_local std::vector<CallConfiguration> t_configurations;

}  // namespace

hipError_t prepare(Runtime& runtime, hipFunction_t function, const LaunchShape& shape, void** params, void** extra,
                   emulator::LaunchRequest& request) {
  if (!runtime.valid_function(function)) return hipErrorInvalidDeviceFunction;
  if (const hipError_t error = check_shape(runtime, function, shape); error != hipSuccess) return error;
  request.module = function->module->info.handle;
  request.kernel = function->kernel->name;
  request.grid = shape.grid;
  request.block = shape.block;
  request.dynamic_lds = static_cast<u32>(shape.dynamic_lds);
  request.cooperative = shape.cooperative;
  return extra != nullptr ? pack_extra(*function->kernel, extra, request.kernargs)
                          : pack_params(*function->kernel, params, request.kernargs);
}

Work launch_work(emulator::LaunchRequest request) {
  return [request = std::move(request)](Runtime& runtime) {
    const Result<void> sent = runtime.client()->launch(request);
    return sent ? hipSuccess : runtime.failed(sent.error(), hipErrorInvalidValue);
  };
}

}  // namespace hipbench::hip

extern "C" {

hipError_t hipLaunchKernel(const void* function, dim3 grid, dim3 block, void** params, size_t lds, hipStream_t stream) {
  return launch_host_function(function, grid, block, params, lds, stream, false);
}

hipError_t hipExtLaunchKernel(const void* function, dim3 grid, dim3 block, void** params, size_t lds,
                              hipStream_t stream, hipEvent_t start, hipEvent_t stop, int) {
  return with_events(start, stop, stream, [&] { return hipLaunchKernel(function, grid, block, params, lds, stream); });
}

hipError_t hipLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** params, unsigned int lds,
                                      hipStream_t stream) {
  return launch_host_function(function, grid, block, params, lds, stream, true);
}

hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams* list, int count, unsigned int) {
  // There is one device, so a valid list has one entry.
  if (list == nullptr || count != 1) return finish(hipErrorInvalidValue);
  return hipLaunchCooperativeKernel(list->func, list->gridDim, list->blockDim, list->args,
                                    static_cast<unsigned>(list->sharedMem), list->stream);
}

hipError_t hipExtLaunchMultiKernelMultiDevice(hipLaunchParams* list, int count, unsigned int) {
  if (list == nullptr || count != 1) return finish(hipErrorInvalidValue);
  return hipLaunchKernel(list->func, list->gridDim, list->blockDim, list->args, list->sharedMem, list->stream);
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                 unsigned by, unsigned bz, unsigned lds, hipStream_t stream, void** params,
                                 void** extra) {
  return launch_module_function(function, Dim3{gx, gy, gz}, Dim3{bx, by, bz}, lds, stream, params, extra, false);
}

hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                            unsigned by, unsigned bz, unsigned lds, hipStream_t stream, void** params) {
  return launch_module_function(function, Dim3{gx, gy, gz}, Dim3{bx, by, bz}, lds, stream, params, nullptr, true);
}

hipError_t hipModuleLaunchCooperativeKernelMultiDevice(hipFunctionLaunchParams* list, unsigned int count,
                                                       unsigned int) {
  if (list == nullptr || count != 1) return finish(hipErrorInvalidValue);
  return hipModuleLaunchCooperativeKernel(list->function, list->gridDimX, list->gridDimY, list->gridDimZ,
                                          list->blockDimX, list->blockDimY, list->blockDimZ, list->sharedMemBytes,
                                          list->hStream, list->kernelParams);
}

// Sizes are in work-items here. A last workgroup that is not full is not something that HIP kernels are compiled for.
__attribute__((visibility("default"))) hipError_t hipExtModuleLaunchKernel(
    hipFunction_t function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t lds,
    hipStream_t stream, void** params, void** extra, hipEvent_t start, hipEvent_t stop, uint32_t) {
  if (bx == 0 || by == 0 || bz == 0 || gx % bx != 0 || gy % by != 0 || gz % bz != 0 || lds > mi300x::kLdsBytes)
    return finish(hipErrorInvalidValue);
  return with_events(start, stop, stream, [&] {
    return hipModuleLaunchKernel(function, gx / bx, gy / by, gz / bz, bx, by, bz, static_cast<unsigned>(lds), stream,
                                 params, extra);
  });
}

// --- what <<<>>> compiles to ---

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds, hipStream_t stream) {
  t_configurations.push_back({grid, block, lds, stream, {}});
  return hipSuccess;
}

hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* lds, hipStream_t* stream) {
  if (t_configurations.empty() || grid == nullptr || block == nullptr || lds == nullptr || stream == nullptr)
    return finish(hipErrorMissingConfiguration);
  const CallConfiguration& top = t_configurations.back();
  *grid = top.grid;
  *block = top.block;
  *lds = top.lds;
  *stream = top.stream;
  t_configurations.pop_back();
  return hipSuccess;
}

// The older form of the same: configure, one call an argument, launch.
hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t lds, hipStream_t stream) {
  return finish(__hipPushCallConfiguration(grid, block, lds, stream));
}

hipError_t hipSetupArgument(const void* argument, size_t size, size_t offset) {
  return host_api([&] {
    if (t_configurations.empty()) return hipErrorMissingConfiguration;
    if (argument == nullptr || offset > emulator::kMaxKernargBytes || size > emulator::kMaxKernargBytes - offset)
      return hipErrorInvalidValue;
    std::vector<std::byte>& arguments = t_configurations.back().arguments;
    arguments.resize(std::max(arguments.size(), offset + size));
    std::memcpy(arguments.data() + offset, argument, size);
    return hipSuccess;
  });
}

hipError_t hipLaunchByPtr(const void* host) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (t_configurations.empty()) return hipErrorMissingConfiguration;
    CallConfiguration top = std::move(t_configurations.back());
    t_configurations.pop_back();
    hipFunction_t function = nullptr;
    if (const hipError_t error = runtime.function_of(host, &function); error != hipSuccess) return error;
    size_t size = top.arguments.size();
    void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, top.arguments.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     HIP_LAUNCH_PARAM_END};
    const LaunchShape shape{Dim3{top.grid.x, top.grid.y, top.grid.z}, Dim3{top.block.x, top.block.y, top.block.z},
                            top.lds, false};
    return launch_function(runtime, function, shape, top.stream, nullptr, extra);
  });
}

}  // extern "C"
