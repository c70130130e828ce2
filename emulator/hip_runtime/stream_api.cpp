// Streams, events and stream capture.

#include <cstring>

#include "emulator/hip_runtime/graph.hpp"
#include "emulator/hip_runtime/runtime.hpp"

using namespace hipbench;
using namespace hipbench::hip;

namespace hipbench::hip {

hipError_t Runtime::enqueue(hipStream_t stream, hipGraphNodeType type, Work work) {
  if (!valid(stream)) return hipErrorInvalidHandle;
  ihipStream_t* state = stream_state(stream);
  if (state->capture) {
    record(*state, type, std::move(work));
    return hipSuccess;
  }
  const hipError_t error = work(*this);
  state->last_operation = client_->submitted();
  order.submitted(state->id, state->last_operation);
  return error;
}

namespace {

constexpr int kLeastPriority = 1, kGreatestPriority = -1;

hipError_t create_stream(hipStream_t* stream, unsigned flags, int priority) {
  return api([&](Runtime& runtime, Client&) {
    if (stream == nullptr || (flags != hipStreamDefault && flags != hipStreamNonBlocking)) return hipErrorInvalidValue;
    auto created = std::make_unique<ihipStream_t>();
    created->flags = flags;
    created->id = runtime.order.add_stream(flags == hipStreamDefault);
    created->priority = std::max(kGreatestPriority, std::min(kLeastPriority, priority));
    *stream = runtime.streams.add(std::move(created));
    return hipSuccess;
  });
}

hipError_t create_event(hipEvent_t* event, unsigned flags) {
  return api([&](Runtime& runtime, Client&) {
    constexpr unsigned kKnown = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess |
                                hipEventReleaseToDevice | hipEventReleaseToSystem | hipEventDisableSystemFence;
    if (event == nullptr || (flags & ~kKnown) != 0) return hipErrorInvalidValue;
    auto created = std::make_unique<ihipEvent_t>();
    created->flags = flags;
    {
      const std::lock_guard lock(runtime.slot_mutex);
      if (!runtime.free_slots.empty()) {
        created->slot = runtime.free_slots.back();
        runtime.free_slots.pop_back();
      } else if (runtime.next_slot < emulator::kMaxTimestampSlots) {
        created->slot = runtime.next_slot++;
      } else {
        return hipErrorOutOfMemory;
      }
    }
    *event = runtime.events.add(std::move(created));
    return hipSuccess;
  });
}

hipError_t record_now(Runtime& runtime, Client& client, hipEvent_t event) {
  const Result<void> sent = client.timestamp(event->slot);
  if (!sent) return runtime.failed(sent.error(), hipErrorUnknown);
  event->recorded = true;
  event->operation = client.submitted();
  return hipSuccess;
}

hipError_t record_event(hipEvent_t event, hipStream_t stream) {
  return api([&](Runtime& runtime, Client& client) -> hipError_t {
    if (event == nullptr || !runtime.events.contains(event) || !runtime.valid(stream)) return hipErrorInvalidHandle;
    ihipStream_t* state = runtime.stream_state(stream);
    if (state->capture) {
      // Inside a capture an event marks a point that other streams can join at; it gets no time.
      state->capture->events[event] = state->capture->frontier[state];
      event->capture = state->capture;
      return hipSuccess;
    }
    event->capture.reset();
    const hipError_t error = record_now(runtime, client, event);
    state->last_operation = event->operation;
    event->after = runtime.order.tail_of(state->id);
    return error;
  });
}

hipError_t begin_capture(hipStream_t stream, ihipGraph* target, std::vector<hipGraphNode*> after) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    // The legacy default stream cannot be captured, as on ROCm and CUDA.
    if (stream == nullptr || stream == hipStreamLegacy) return hipErrorStreamCaptureUnsupported;
    if (!runtime.valid(stream)) return hipErrorInvalidHandle;
    ihipStream_t* state = runtime.stream_state(stream);
    if (state->capture) return hipErrorIllegalState;
    static std::atomic<unsigned long long> next_id{1};
    auto capture = std::make_shared<Capture>();
    if (target == nullptr) capture->graph = std::make_unique<ihipGraph>();
    capture->target = target == nullptr ? capture->graph.get() : target;
    capture->id = next_id++;
    capture->origin = state;
    capture->frontier[state] = std::move(after);
    state->capture = std::move(capture);
    return hipSuccess;
  });
}

}  // namespace
}  // namespace hipbench::hip

extern "C" {

hipError_t hipStreamCreate(hipStream_t* stream) { return create_stream(stream, hipStreamDefault, 0); }
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned int flags) { return create_stream(stream, flags, 0); }
hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned int flags, int priority) {
  return create_stream(stream, flags, priority);
}
hipError_t hipExtStreamCreateWithCUMask(hipStream_t* stream, uint32_t size, const uint32_t* mask) {
  if (mask == nullptr || size == 0) return finish(hipErrorInvalidValue);
  return create_stream(stream, hipStreamDefault, 0);
}

hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return host_api([&] {
    if (least != nullptr) *least = kLeastPriority;
    if (greatest != nullptr) *greatest = kGreatestPriority;
    return hipSuccess;
  });
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  return api([&](Runtime& runtime, Client&) {
    // Work that was submitted still runs: the device does not know of streams.
    return runtime.streams.remove(stream) ? hipSuccess : hipErrorInvalidHandle;
  });
}

hipError_t hipStreamQuery(hipStream_t stream) {
  return api([&](Runtime& runtime, Client& client) -> hipError_t {
    if (!runtime.valid(stream)) return hipErrorInvalidHandle;
    ihipStream_t* state = runtime.stream_state(stream);
    if (state->capture) return hipErrorStreamCaptureUnsupported;
    const Result<u64> completed = client.completed();
    if (!completed) return runtime.failed(completed.error(), hipErrorUnknown);
    if (*completed < state->last_operation) return hipErrorNotReady;
    runtime.order.host_waited(runtime.order.tail_of(state->id));
    return runtime.wait_for(state->last_operation);  // done: only fetches a failure
  });
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (!runtime.valid(stream)) return hipErrorInvalidHandle;
    ihipStream_t* state = runtime.stream_state(stream);
    if (state->capture) return hipErrorStreamCaptureUnsupported;
    // The default stream waits for all others too.
    if (stream == nullptr || stream == hipStreamLegacy) return runtime.synchronize();
    runtime.order.host_waited(runtime.order.tail_of(state->id));
    return runtime.wait_for(state->last_operation);
  });
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (event == nullptr || !runtime.events.contains(event) || !runtime.valid(stream)) return hipErrorInvalidHandle;
    if (flags > 1) return hipErrorInvalidValue;
    const std::shared_ptr<Capture> capture = event->capture.lock();
    ihipStream_t* state = runtime.stream_state(stream);
    if (!capture) {  // what was submitted before runs before anyhow
      runtime.order.wait(state->id, event->after);
      return hipSuccess;
    }
    if (state->capture && state->capture != capture) return hipErrorStreamCaptureIsolation;
    state->capture = capture;
    std::vector<hipGraphNode*>& frontier = capture->frontier[state];
    const std::vector<hipGraphNode*>& joined = capture->events[event];
    frontier.insert(frontier.end(), joined.begin(), joined.end());
    return hipSuccess;
  });
}

hipError_t hipStreamGetFlags(hipStream_t stream, unsigned int* flags) {
  return api([&](Runtime& runtime, Client&) {
    if (flags == nullptr) return hipErrorInvalidValue;
    if (!runtime.valid(stream)) return hipErrorInvalidHandle;
    *flags = runtime.stream_state(stream)->flags;
    return hipSuccess;
  });
}

hipError_t hipStreamGetPriority(hipStream_t stream, int* priority) {
  return api([&](Runtime& runtime, Client&) {
    if (priority == nullptr) return hipErrorInvalidValue;
    if (!runtime.valid(stream)) return hipErrorInvalidHandle;
    *priority = runtime.stream_state(stream)->priority;
    return hipSuccess;
  });
}

hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device) {
  return api([&](Runtime& runtime, Client&) {
    if (device == nullptr) return hipErrorInvalidValue;
    if (!runtime.valid(stream)) return hipErrorInvalidHandle;
    *device = 0;
    return hipSuccess;
  });
}

int hipbench_unordered_streams(hipStream_t stream) {
  Runtime& runtime = Runtime::get();
  return runtime.valid(stream) ? runtime.order.unordered_streams(runtime.stream_state(stream)->id) : 0;
}

int hipGetStreamDeviceId(hipStream_t stream) { return Runtime::get().valid(stream) ? 0 : -1; }

hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* data) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (function == nullptr) return hipErrorInvalidValue;
    return runtime.enqueue(stream, hipGraphNodeTypeHost, [function, data](Runtime& r) {
      const hipError_t error = r.synchronize();
      if (error == hipSuccess) function(data);
      return error;
    });
  });
}

hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void* data, unsigned int flags) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (callback == nullptr || flags != 0) return hipErrorInvalidValue;
    return runtime.enqueue(stream, hipGraphNodeTypeHost, [stream, callback, data](Runtime& r) {
      const hipError_t error = r.synchronize();
      callback(stream, error, data);
      return error;
    });
  });
}

// --- events ---

hipError_t hipEventCreate(hipEvent_t* event) { return create_event(event, hipEventDefault); }
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) { return create_event(event, flags); }

hipError_t hipEventDestroy(hipEvent_t event) {
  return api([&](Runtime& runtime, Client&) {
    const std::unique_ptr<ihipEvent_t> removed = runtime.events.remove(event);
    if (!removed) return hipErrorInvalidHandle;
    const std::lock_guard lock(runtime.slot_mutex);
    runtime.free_slots.push_back(removed->slot);
    return hipSuccess;
  });
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) { return record_event(event, stream); }
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned int flags) {
  if (flags > 1) return finish(hipErrorInvalidValue);
  return record_event(event, stream);
}

hipError_t hipEventSynchronize(hipEvent_t event) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (event == nullptr || !runtime.events.contains(event)) return hipErrorInvalidHandle;
    if (event->capture.lock()) return hipErrorCapturedEvent;
    if (!event->recorded) return hipSuccess;
    runtime.order.host_waited(event->after);
    return runtime.wait_for(event->operation);
  });
}

hipError_t hipEventQuery(hipEvent_t event) {
  return api([&](Runtime& runtime, Client& client) -> hipError_t {
    if (event == nullptr || !runtime.events.contains(event)) return hipErrorInvalidHandle;
    if (event->capture.lock()) return hipErrorCapturedEvent;
    if (!event->recorded) return hipSuccess;
    const Result<u64> completed = client.completed();
    if (!completed) return runtime.failed(completed.error(), hipErrorUnknown);
    if (*completed < event->operation) return hipErrorNotReady;
    runtime.order.host_waited(event->after);
    return runtime.wait_for(event->operation);
  });
}

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  return api([&](Runtime& runtime, Client& client) -> hipError_t {
    if (milliseconds == nullptr) return hipErrorInvalidValue;
    for (const hipEvent_t event : {start, stop}) {
      if (event == nullptr || !runtime.events.contains(event) || !event->recorded) return hipErrorInvalidHandle;
      if ((event->flags & hipEventDisableTiming) != 0) return hipErrorInvalidHandle;
    }
    u64 times[2] = {0, 0};
    for (int i = 0; i < 2; ++i) {
      const Result<std::optional<u64>> time = client.timestamp_value(i == 0 ? start->slot : stop->slot);
      if (!time) return runtime.failed(time.error(), hipErrorUnknown);
      if (!*time) return hipErrorNotReady;
      times[i] = **time;
    }
    constexpr double kNsPerMs = 1e6;
    *milliseconds = static_cast<float>((static_cast<double>(times[1]) - static_cast<double>(times[0])) / kNsPerMs);
    return hipSuccess;
  });
}

// --- capture ---

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  if (static_cast<unsigned>(mode) > hipStreamCaptureModeRelaxed) return finish(hipErrorInvalidValue);
  return begin_capture(stream, nullptr, {});
}

hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                        const hipGraphEdgeData* edges, size_t count, hipStreamCaptureMode mode) {
  if (!valid_graph(graph) || edges != nullptr || (count > 0 && dependencies == nullptr) ||
      static_cast<unsigned>(mode) > hipStreamCaptureModeRelaxed)
    return finish(hipErrorInvalidValue);
  return begin_capture(stream, graph, std::vector<hipGraphNode*>(dependencies, dependencies + count));
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return api([&](Runtime& runtime, Client&) -> hipError_t {
    if (graph == nullptr) return hipErrorInvalidValue;
    *graph = nullptr;
    if (!runtime.valid(stream)) return hipErrorInvalidHandle;
    ihipStream_t* state = runtime.stream_state(stream);
    const std::shared_ptr<Capture> capture = state->capture;
    if (!capture) return hipErrorIllegalState;
    if (capture->origin != state) return hipErrorStreamCaptureUnmatched;
    // Streams that joined leave with the one that began.
    for (const auto& [joined, frontier] : capture->frontier)
      if (joined == state || runtime.streams.contains(joined)) joined->capture.reset();
    *graph = capture->graph ? publish(std::move(capture->graph)) : capture->target;
    return hipSuccess;
  });
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  return api([&](Runtime& runtime, Client&) {
    if (status == nullptr) return hipErrorInvalidValue;
    if (!runtime.valid(stream)) return hipErrorInvalidHandle;
    *status = runtime.stream_state(stream)->capture ? hipStreamCaptureStatusActive : hipStreamCaptureStatusNone;
    return hipSuccess;
  });
}

hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id) {
  return hipStreamGetCaptureInfo_v2(stream, status, id, nullptr, nullptr, nullptr);
}

hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id,
                                      hipGraph_t* graph, const hipGraphNode_t** dependencies, size_t* count) {
  return api([&](Runtime& runtime, Client&) {
    if (status == nullptr) return hipErrorInvalidValue;
    if (!runtime.valid(stream)) return hipErrorInvalidHandle;
    ihipStream_t* state = runtime.stream_state(stream);
    *status = state->capture ? hipStreamCaptureStatusActive : hipStreamCaptureStatusNone;
    if (!state->capture) return hipSuccess;
    const std::vector<hipGraphNode*>& frontier = state->capture->frontier[state];
    if (id != nullptr) *id = state->capture->id;
    if (graph != nullptr) *graph = state->capture->target;
    if (dependencies != nullptr) *dependencies = frontier.data();
    if (count != nullptr) *count = frontier.size();
    return hipSuccess;
  });
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return host_api([&] {
    thread_local hipStreamCaptureMode current = hipStreamCaptureModeGlobal;
    if (mode == nullptr || static_cast<unsigned>(*mode) > hipStreamCaptureModeRelaxed) return hipErrorInvalidValue;
    std::swap(*mode, current);
    return hipSuccess;
  });
}

}  // extern "C"
