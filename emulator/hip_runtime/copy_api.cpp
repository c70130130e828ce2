// Copies and fills in all their forms. Each becomes one 2-D transfer a slice, between what the device sees and what it
// does not (pageable host memory, which travels through the connection).

#include <chrono>
#include <cstring>
#include <thread>

#include "emulator/hip_runtime/graph.hpp"
#include "emulator/hip_runtime/runtime.hpp"

using namespace hipbench;
using namespace hipbench::hip;

namespace hipbench::hip {
namespace {

// A box of `depth` slices of `rows` rows of `width` bytes.
struct Box {
  size_t width = 0, rows = 1, depth = 1;
  bool empty() const { return width == 0 || rows == 0 || depth == 0; }
};

struct Side {
  void* pointer = nullptr;
  size_t pitch = 0, slice = 0;  // bytes from row to row, from slice to slice

  // Bytes from the first to the last, or nothing if that overflows.
  std::optional<u64> span(const Box& box) const {
    u64 rows = 0, slices = 0, sum = 0;
    if ((box.rows > 1 && pitch < box.width) || __builtin_mul_overflow(pitch, box.rows - 1, &rows) ||
        __builtin_mul_overflow(slice, box.depth - 1, &slices) || __builtin_add_overflow(rows, slices, &sum) ||
        __builtin_add_overflow(sum, box.width, &sum))
      return std::nullopt;
    return sum;
  }
};

// Addresses no process maps: enough to tell a forgotten check from a pointer.
bool plausible(const void* pointer, u64 span) {
  constexpr u64 kLowest = 4096, kHighest = u64{1} << 47;
  const u64 address = reinterpret_cast<u64>(pointer);
  return address >= kLowest && address < kHighest && span < kHighest - address;
}

bool in_device_range(const void* pointer) {
  const u64 address = reinterpret_cast<u64>(pointer);
  return address >= emulator::kDeviceMemoryBase && address < emulator::kHostSharedBase + emulator::kHostSharedSize;
}

struct Plan {
  Side to, from;
  Box box;
  std::optional<u64> to_device, from_device;  // empty: pageable
};

// Checks both sides against the buffers. Later, when the work runs, the server checks again.
hipError_t plan(Runtime& runtime, Plan& plan, hipMemcpyKind kind) {
  if (static_cast<unsigned>(kind) > hipMemcpyDeviceToDeviceNoCU ||
      (kind > hipMemcpyDefault && kind < hipMemcpyDeviceToDeviceNoCU))
    return hipErrorInvalidMemcpyDirection;
  const std::optional<u64> to_span = plan.to.span(plan.box), from_span = plan.from.span(plan.box);
  if (!to_span || !from_span) return hipErrorInvalidPitchValue;
  if (!plausible(plan.to.pointer, *to_span) || !plausible(plan.from.pointer, *from_span)) return hipErrorInvalidValue;
  plan.to_device = runtime.device_address(plan.to.pointer, *to_span);
  plan.from_device = runtime.device_address(plan.from.pointer, *from_span);
  if (!plan.to_device && (in_device_range(plan.to.pointer) || runtime.find(plan.to.pointer)))
    return hipErrorInvalidValue;
  if (!plan.from_device && (in_device_range(plan.from.pointer) || runtime.find(plan.from.pointer)))
    return hipErrorInvalidValue;
  const bool to_must_be_device =
      kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice || kind == hipMemcpyDeviceToDeviceNoCU;
  const bool from_must_be_device =
      kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice || kind == hipMemcpyDeviceToDeviceNoCU;
  if ((to_must_be_device && !plan.to_device) || (from_must_be_device && !plan.from_device)) return hipErrorInvalidValue;
  return hipSuccess;
}

hipError_t transfer_slice(Runtime& runtime, const Plan& plan, u64 slice) {
  Client& client = *runtime.client();
  const u64 to_offset = slice * plan.to.slice, from_offset = slice * plan.from.slice;
  auto* host_to = static_cast<std::byte*>(plan.to.pointer) + to_offset;
  const auto* host_from = static_cast<const std::byte*>(plan.from.pointer) + from_offset;
  const Box& box = plan.box;
  Result<void> done;
  if (plan.to_device && plan.from_device)
    done = client.copy_rows(*plan.to_device + to_offset, plan.to.pitch, *plan.from_device + from_offset,
                            plan.from.pitch, box.width, box.rows);
  else if (plan.to_device)
    done =
        client.write_rows(*plan.to_device + to_offset, plan.to.pitch, host_from, plan.from.pitch, box.width, box.rows);
  else if (plan.from_device)
    done =
        client.read_rows(host_to, plan.to.pitch, *plan.from_device + from_offset, plan.from.pitch, box.width, box.rows);
  else
    for (size_t row = 0; row < box.rows; ++row)
      std::memmove(host_to + row * plan.to.pitch, host_from + row * plan.from.pitch, box.width);
  return done ? hipSuccess : runtime.failed(done.error(), hipErrorInvalidValue);
}

hipError_t transfer(Runtime& runtime, const Plan& plan) {
  // What a pageable destination receives must be final; and a fault before it is this call's answer.
  if (!plan.to_device)
    if (const hipError_t error = runtime.synchronize(); error != hipSuccess) return error;
  for (u64 slice = 0; slice < plan.box.depth; ++slice)
    if (const hipError_t error = transfer_slice(runtime, plan, slice); error != hipSuccess) return error;
  return hipSuccess;
}

hipError_t copy_box(Runtime& runtime, hipStream_t stream, Side to, Side from, Box box, hipMemcpyKind kind, bool wait) {
  if (!runtime.valid(stream)) return hipErrorInvalidHandle;
  if (box.empty()) return hipSuccess;
  if (to.pointer == nullptr || from.pointer == nullptr) return hipErrorInvalidValue;
  Plan planned{to, from, box, {}, {}};
  if (const hipError_t error = plan(runtime, planned, kind); error != hipSuccess) return error;
  const bool captured = runtime.stream_state(stream)->capture != nullptr;
  const hipError_t error =
      runtime.enqueue(stream, hipGraphNodeTypeMemcpy, [planned](Runtime& r) { return transfer(r, planned); });
  return error == hipSuccess && wait && !captured ? runtime.synchronize() : error;
}

hipError_t copy_api(hipStream_t stream, void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                    size_t rows, hipMemcpyKind kind, bool wait) {
  return api([&](Runtime& runtime, Client&) {
    return copy_box(runtime, stream, Side{to, to_pitch, 0}, Side{const_cast<void*>(from), from_pitch, 0},
                    Box{width, rows, 1}, kind, wait);
  });
}

// The 3-D form: positions are in bytes for x, since neither side is an array.
hipError_t copy_3d(const hipMemcpy3DParms* params, hipStream_t stream, bool wait) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (params == nullptr) return hipErrorInvalidValue;
    if (params->srcArray != nullptr || params->dstArray != nullptr)
      return hipErrorNotSupported;  // textures are not emulated
    const auto side = [](const hipPitchedPtr& pointer, const hipPos& position) {
      const size_t slice = pointer.pitch * pointer.ysize;
      return Side{static_cast<std::byte*>(pointer.ptr) + position.z * slice + position.y * pointer.pitch + position.x,
                  pointer.pitch, slice};
    };
    if (params->srcPtr.ptr == nullptr || params->dstPtr.ptr == nullptr) return hipErrorInvalidValue;
    const Box box{params->extent.width, params->extent.height, params->extent.depth};
    return copy_box(runtime, stream, side(params->dstPtr, params->dstPos), side(params->srcPtr, params->srcPos), box,
                    params->kind, wait);
  });
}

hipError_t copy_param_2d(const hip_Memcpy2D* params, hipStream_t stream, bool wait) {
  if (params == nullptr) return finish(hipErrorInvalidValue);
  if (params->srcMemoryType == hipMemoryTypeArray || params->dstMemoryType == hipMemoryTypeArray)
    return finish(hipErrorNotSupported);
  const void* from = params->srcMemoryType == hipMemoryTypeHost ? params->srcHost : params->srcDevice;
  void* to = params->dstMemoryType == hipMemoryTypeHost ? params->dstHost : params->dstDevice;
  if (from == nullptr || to == nullptr) return finish(hipErrorInvalidValue);
  const size_t from_pitch = params->srcPitch == 0 ? params->WidthInBytes + params->srcXInBytes : params->srcPitch;
  const size_t to_pitch = params->dstPitch == 0 ? params->WidthInBytes + params->dstXInBytes : params->dstPitch;
  return copy_api(stream, static_cast<char*>(to) + params->dstY * to_pitch + params->dstXInBytes, to_pitch,
                  static_cast<const char*>(from) + params->srcY * from_pitch + params->srcXInBytes, from_pitch,
                  params->WidthInBytes, params->Height, hipMemcpyDefault, wait);
}

hipError_t fill_api(hipStream_t stream, void* to, size_t pitch, u32 value, u32 value_size, size_t count, size_t rows,
                    size_t depth, size_t slice, bool wait) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (!runtime.valid(stream)) return hipErrorInvalidHandle;
    const Box box{count * value_size, rows, depth};
    if (box.empty()) return hipSuccess;
    const Side side{to, pitch, slice};
    const std::optional<u64> span = side.span(box);
    if (to == nullptr || !span || count > (u64{1} << 48)) return hipErrorInvalidValue;
    const std::optional<u64> address = runtime.device_address(to, *span);
    if (!address) return hipErrorInvalidValue;
    const bool captured = runtime.stream_state(stream)->capture != nullptr;
    const hipError_t error = runtime.enqueue(stream, hipGraphNodeTypeMemset, [=](Runtime& r) {
      for (u64 i = 0; i < depth; ++i) {
        const Result<void> sent = r.client()->fill_rows(*address + i * slice, pitch, value, value_size, count, rows);
        if (!sent) return r.failed(sent.error(), hipErrorInvalidValue);
      }
      return hipSuccess;
    });
    return error == hipSuccess && wait && !captured ? runtime.synchronize() : error;
  });
}

hipError_t fill_linear(hipStream_t stream, void* to, u32 value, u32 value_size, size_t count, bool wait) {
  return fill_api(stream, to, count * value_size, value, value_size, count, 1, 1, 0, wait);
}

// A symbol's storage, offset and bounds checked.
hipError_t symbol_range(Runtime& runtime, const void* symbol, size_t bytes, size_t offset, void** pointer) {
  u64 address = 0;
  size_t size = 0;
  if (symbol == nullptr) return hipErrorInvalidSymbol;
  if (const hipError_t error = runtime.symbol_of(symbol, &address, &size); error != hipSuccess) return error;
  if (offset > size || size - offset < bytes) return hipErrorInvalidValue;
  *pointer = reinterpret_cast<void*>(address + offset);
  return hipSuccess;
}

hipError_t copy_to_symbol(const void* symbol, const void* from, size_t bytes, size_t offset, hipMemcpyKind kind,
                          hipStream_t stream, bool wait) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    void* to = nullptr;
    if (const hipError_t error = symbol_range(runtime, symbol, bytes, offset, &to); error != hipSuccess) return error;
    if (kind != hipMemcpyHostToDevice && kind != hipMemcpyDeviceToDevice && kind != hipMemcpyDefault)
      return hipErrorInvalidMemcpyDirection;
    return copy(runtime, stream, to, from, bytes, kind, wait);
  });
}

hipError_t copy_from_symbol(void* to, const void* symbol, size_t bytes, size_t offset, hipMemcpyKind kind,
                            hipStream_t stream, bool wait) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    void* from = nullptr;
    if (const hipError_t error = symbol_range(runtime, symbol, bytes, offset, &from); error != hipSuccess) return error;
    if (kind != hipMemcpyDeviceToHost && kind != hipMemcpyDeviceToDevice && kind != hipMemcpyDefault)
      return hipErrorInvalidMemcpyDirection;
    return copy(runtime, stream, to, from, bytes, kind, wait);
  });
}

// One word written by the stream.
hipError_t write_value(hipStream_t stream, void* to, u64 value, size_t size) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    const std::optional<u64> address = to == nullptr ? std::nullopt : runtime.device_address(to, size);
    if (!address) return hipErrorInvalidValue;
    return runtime.enqueue(stream, hipGraphNodeTypeBatchMemOp, [=](Runtime& r) {
      const Result<void> sent = r.client()->write(*address, std::as_bytes(std::span(&value, 1)).first(size));
      return sent ? hipSuccess : r.failed(sent.error(), hipErrorInvalidValue);
    });
  });
}

bool satisfied(u64 value, u64 wanted, unsigned flags) {
  switch (flags) {
    case hipStreamWaitValueGte: return static_cast<long long>(value - wanted) >= 0;
    case hipStreamWaitValueEq: return value == wanted;
    case hipStreamWaitValueAnd: return (value & wanted) != 0;
    default: return (~(value | wanted)) != 0;
  }
}

// The host thread waits in the stream's place, since streams run in submission order.
hipError_t wait_value(hipStream_t stream, void* from, u64 wanted, u64 mask, unsigned flags, size_t size) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    const std::optional<u64> address = from == nullptr ? std::nullopt : runtime.device_address(from, size);
    if (!address || flags > hipStreamWaitValueNor) return hipErrorInvalidValue;
    return runtime.enqueue(stream, hipGraphNodeTypeBatchMemOp, [=](Runtime& r) -> hipError_t {
      for (;;) {
        u64 value = 0;
        const Result<void> got = r.client()->read(*address, std::as_writable_bytes(std::span(&value, 1)).first(size));
        if (!got) return r.failed(got.error(), hipErrorInvalidValue);
        // Comparisons of 32-bit words wrap at 32 bits.
        const u64 difference_base = size == 4 ? static_cast<u64>(static_cast<int>(value & mask)) : value & mask;
        const u64 wanted_base = size == 4 ? static_cast<u64>(static_cast<int>(wanted)) : wanted;
        if (satisfied(difference_base, wanted_base, flags)) return hipSuccess;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
  });
}

}  // namespace

hipError_t copy(Runtime& runtime, hipStream_t stream, void* to, const void* from, size_t bytes, hipMemcpyKind kind,
                bool wait) {
  return copy_box(runtime, stream, Side{to, bytes, 0}, Side{const_cast<void*>(from), bytes, 0}, Box{bytes, 1, 1}, kind,
                  wait);
}

}  // namespace hipbench::hip

extern "C" {

hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
  return copy_api(nullptr, to, bytes, from, bytes, bytes, 1, kind, true);
}
hipError_t hipMemcpyWithStream(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  return copy_api(stream, to, bytes, from, bytes, bytes, 1, kind, true);
}
hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  return copy_api(stream, to, bytes, from, bytes, bytes, 1, kind, false);
}
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void* from, size_t bytes) {
  return hipMemcpy(to, from, bytes, hipMemcpyHostToDevice);
}
hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, size_t bytes) {
  return hipMemcpy(to, from, bytes, hipMemcpyDeviceToHost);
}
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes) {
  return hipMemcpy(to, from, bytes, hipMemcpyDeviceToDevice);
}
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void* from, size_t bytes, hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyHostToDevice, stream);
}
hipError_t hipMemcpyDtoHAsync(void* to, hipDeviceptr_t from, size_t bytes, hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToHost, stream);
}
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes, hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice, stream);
}
hipError_t hipMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  if (to_device != 0 || from_device != 0) return finish(hipErrorInvalidDevice);
  return hipMemcpy(to, from, bytes, hipMemcpyDeviceToDevice);
}
hipError_t hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                              hipStream_t stream) {
  if (to_device != 0 || from_device != 0) return finish(hipErrorInvalidDevice);
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice, stream);
}

hipError_t hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                       hipMemcpyKind kind) {
  if (width > to_pitch || width > from_pitch) return finish(hipErrorInvalidPitchValue);
  return copy_api(nullptr, to, to_pitch, from, from_pitch, width, height, kind, true);
}
hipError_t hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                            hipMemcpyKind kind, hipStream_t stream) {
  if (width > to_pitch || width > from_pitch) return finish(hipErrorInvalidPitchValue);
  return copy_api(stream, to, to_pitch, from, from_pitch, width, height, kind, false);
}
hipError_t hipMemcpyParam2D(const hip_Memcpy2D* params) { return copy_param_2d(params, nullptr, true); }
hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* params, hipStream_t stream) {
  return copy_param_2d(params, stream, false);
}
hipError_t hipMemcpy3D(const struct hipMemcpy3DParms* params) { return copy_3d(params, nullptr, true); }
hipError_t hipMemcpy3DAsync(const struct hipMemcpy3DParms* params, hipStream_t stream) {
  return copy_3d(params, stream, false);
}

hipError_t hipMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, hipMemcpyKind kind) {
  return copy_to_symbol(symbol, from, bytes, offset, kind, nullptr, true);
}
hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset, hipMemcpyKind kind,
                                  hipStream_t stream) {
  return copy_to_symbol(symbol, from, bytes, offset, kind, stream, false);
}
hipError_t hipMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, hipMemcpyKind kind) {
  return copy_from_symbol(to, symbol, bytes, offset, kind, nullptr, true);
}
hipError_t hipMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, hipMemcpyKind kind,
                                    hipStream_t stream) {
  return copy_from_symbol(to, symbol, bytes, offset, kind, stream, false);
}

// --- fills ---

hipError_t hipMemset(void* to, int value, size_t bytes) {
  return fill_linear(nullptr, to, static_cast<u32>(value), 1, bytes, true);
}
hipError_t hipMemsetAsync(void* to, int value, size_t bytes, hipStream_t stream) {
  return fill_linear(stream, to, static_cast<u32>(value), 1, bytes, false);
}
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count) {
  return fill_linear(nullptr, to, value, 1, count, true);
}
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count, hipStream_t stream) {
  return fill_linear(stream, to, value, 1, count, false);
}
hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count) {
  return fill_linear(nullptr, to, value, 2, count, true);
}
hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count, hipStream_t stream) {
  return fill_linear(stream, to, value, 2, count, false);
}
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count) {
  return fill_linear(nullptr, to, static_cast<u32>(value), 4, count, true);
}
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t stream) {
  return fill_linear(stream, to, static_cast<u32>(value), 4, count, false);
}
hipError_t hipMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return fill_api(nullptr, to, pitch, static_cast<u32>(value), 1, width, height, 1, 0, true);
}
hipError_t hipMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, hipStream_t stream) {
  return fill_api(stream, to, pitch, static_cast<u32>(value), 1, width, height, 1, 0, false);
}
hipError_t hipMemset3D(hipPitchedPtr to, int value, hipExtent extent) {
  return fill_api(nullptr, to.ptr, to.pitch, static_cast<u32>(value), 1, extent.width, extent.height, extent.depth,
                  to.pitch * to.ysize, true);
}
hipError_t hipMemset3DAsync(hipPitchedPtr to, int value, hipExtent extent, hipStream_t stream) {
  return fill_api(stream, to.ptr, to.pitch, static_cast<u32>(value), 1, extent.width, extent.height, extent.depth,
                  to.pitch * to.ysize, false);
}

// --- words that streams write and wait for ---

hipError_t hipStreamWriteValue32(hipStream_t stream, void* to, uint32_t value, unsigned int) {
  return write_value(stream, to, value, 4);
}
hipError_t hipStreamWriteValue64(hipStream_t stream, void* to, uint64_t value, unsigned int) {
  return write_value(stream, to, value, 8);
}
hipError_t hipStreamWaitValue32(hipStream_t stream, void* from, uint32_t value, unsigned int flags, uint32_t mask) {
  return wait_value(stream, from, value, mask, flags, 4);
}
hipError_t hipStreamWaitValue64(hipStream_t stream, void* from, uint64_t value, unsigned int flags, uint64_t mask) {
  return wait_value(stream, from, value, mask, flags, 8);
}

}  // extern "C"
