// The nodes of graphs: kernels, copies, fills, host functions, child graphs and events.

#include <algorithm>

#include "emulator/hip_runtime/graph.hpp"
#include "emulator/hip_runtime/launch.hpp"

using namespace hipbench;
using namespace hipbench::hip;

namespace hipbench::hip {
namespace {

hipError_t kernel_work(Runtime& runtime, const hipKernelNodeParams& params, Work& work, KernelNode& kept) {
  hipFunction_t function = nullptr;
  if (runtime.valid_function(static_cast<hipFunction_t>(params.func)))
    function = static_cast<hipFunction_t>(params.func);
  else if (const hipError_t error = runtime.function_of(params.func, &function); error != hipSuccess)
    return error;
  const LaunchShape shape{Dim3{params.gridDim.x, params.gridDim.y, params.gridDim.z},
                          Dim3{params.blockDim.x, params.blockDim.y, params.blockDim.z}, params.sharedMemBytes, false};
  emulator::LaunchRequest request;
  if (const hipError_t error = prepare(runtime, function, shape, params.kernelParams, params.extra, request);
      error != hipSuccess)
    return error;
  kept.params = params;
  kept.params.extra = nullptr;
  for (const emulator::KernelArgument& argument : function->kernel->arguments) {
    if (argument.value_kind.starts_with("hidden_")) continue;
    const std::byte* value = request.kernargs.data() + argument.offset;
    kept.values.emplace_back(value, value + argument.size);
  }
  work = launch_work(std::move(request));
  return hipSuccess;
}

Work memcpy_work(const hipMemcpy3DParms& params) {
  return [params](Runtime&) { return hipMemcpy3DAsync(&params, nullptr); };
}

Work memcpy_1d_work(void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
  return [=](Runtime& runtime) { return copy(runtime, nullptr, to, from, bytes, kind, false); };
}

hipError_t memset_work(const hipMemsetParams& params, Work& work) {
  if (params.dst == nullptr || (params.elementSize != 1 && params.elementSize != 2 && params.elementSize != 4))
    return hipErrorInvalidValue;
  work = [params](Runtime& runtime) -> hipError_t {
    const size_t width = params.width * params.elementSize;
    const size_t pitch = params.height > 1 ? params.pitch : width;
    if (!runtime.device_address(params.dst, params.height > 0 ? pitch * (params.height - 1) + width : 0))
      return hipErrorInvalidValue;
    const Result<void> sent = runtime.client()->fill_rows(*runtime.device_address(params.dst, 0), pitch, params.value,
                                                          params.elementSize, params.width, params.height);
    return sent ? hipSuccess : runtime.failed(sent.error(), hipErrorInvalidValue);
  };
  return hipSuccess;
}

Work host_work(const hipHostNodeParams& params) {
  return [params](Runtime& runtime) {
    const hipError_t error = runtime.synchronize();
    if (error == hipSuccess) params.fn(params.userData);
    return error;
  };
}

Work event_work(hipEvent_t event) {
  return [event](Runtime&) { return hipEventRecord(event, nullptr); };
}

// A graph and dependencies as hipGraphAdd… functions get them, checked; then the node is added.
hipError_t add(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
               hipGraphNodeType type, Work work, NodeParams params) {
  if (out == nullptr || !valid_graph(graph) || (count > 0 && dependencies == nullptr)) return hipErrorInvalidValue;
  for (size_t i = 0; i < count; ++i)
    if (!valid_node(dependencies[i])) return hipErrorInvalidValue;
  hipGraphNode* node = add_node(*graph, type, std::vector<hipGraphNode*>(dependencies, dependencies + count),
                                std::move(work), std::move(params));
  if (node == nullptr) return hipErrorInvalidValue;
  *out = node;
  return hipSuccess;
}

hipError_t set_node(hipGraphNode_t node, hipGraphNodeType type, Work work, NodeParams params) {
  if (!valid_node(node) || node->type != type) return hipErrorInvalidValue;
  node->work = std::move(work);
  node->params = std::move(params);
  return hipSuccess;
}

hipError_t set_step(hipGraphExec_t executable, hipGraphNode_t node, hipGraphNodeType type, Work work) {
  hipGraphExec::Step* step = step_of(executable, node, type);
  if (step == nullptr) return hipErrorInvalidValue;
  step->work = std::move(work);
  return hipSuccess;
}

}  // namespace
}  // namespace hipbench::hip

extern "C" {

hipError_t hipGraphAddEmptyNode(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                size_t count) {
  return graph_api([&](Runtime&) { return add(out, graph, dependencies, count, hipGraphNodeTypeEmpty, {}, {}); });
}

hipError_t hipGraphAddKernelNode(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipKernelNodeParams* params) {
  return graph_api([&](Runtime& runtime) -> hipError_t {
    if (params == nullptr || params->func == nullptr) return hipErrorInvalidValue;
    Work work;
    KernelNode kept;
    if (const hipError_t error = kernel_work(runtime, *params, work, kept); error != hipSuccess) return error;
    return add(out, graph, dependencies, count, hipGraphNodeTypeKernel, std::move(work), std::move(kept));
  });
}

hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams* params) {
  return graph_api([&](Runtime&) {
    KernelNode* kept = params != nullptr && valid_node(node) ? std::get_if<KernelNode>(&node->params) : nullptr;
    if (kept == nullptr) return hipErrorInvalidValue;
    kept->pointers.clear();
    for (std::vector<std::byte>& value : kept->values) kept->pointers.push_back(value.data());
    *params = kept->params;
    params->kernelParams = kept->pointers.data();
    return hipSuccess;
  });
}

hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams* params) {
  return graph_api([&](Runtime& runtime) -> hipError_t {
    if (params == nullptr || params->func == nullptr) return hipErrorInvalidValue;
    Work work;
    KernelNode kept;
    if (const hipError_t error = kernel_work(runtime, *params, work, kept); error != hipSuccess) return error;
    return set_node(node, hipGraphNodeTypeKernel, std::move(work), std::move(kept));
  });
}

hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t executable, hipGraphNode_t node,
                                           const hipKernelNodeParams* params) {
  return graph_api([&](Runtime& runtime) -> hipError_t {
    if (params == nullptr || params->func == nullptr) return hipErrorInvalidValue;
    Work work;
    KernelNode kept;
    if (const hipError_t error = kernel_work(runtime, *params, work, kept); error != hipSuccess) return error;
    return set_step(executable, node, hipGraphNodeTypeKernel, std::move(work));
  });
}

hipError_t hipGraphAddMemcpyNode(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipMemcpy3DParms* params) {
  return graph_api([&](Runtime&) {
    if (params == nullptr) return hipErrorInvalidValue;
    return add(out, graph, dependencies, count, hipGraphNodeTypeMemcpy, memcpy_work(*params), *params);
  });
}

hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms* params) {
  return graph_api([&](Runtime&) {
    const auto* kept = params != nullptr && valid_node(node) ? std::get_if<hipMemcpy3DParms>(&node->params) : nullptr;
    if (kept == nullptr) return hipErrorInvalidValue;
    *params = *kept;
    return hipSuccess;
  });
}

hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms* params) {
  return graph_api([&](Runtime&) {
    return params == nullptr ? hipErrorInvalidValue
                             : set_node(node, hipGraphNodeTypeMemcpy, memcpy_work(*params), *params);
  });
}

hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t executable, hipGraphNode_t node, hipMemcpy3DParms* params) {
  return graph_api([&](Runtime&) {
    return params == nullptr ? hipErrorInvalidValue
                             : set_step(executable, node, hipGraphNodeTypeMemcpy, memcpy_work(*params));
  });
}

hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                   size_t count, void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
  return graph_api([&](Runtime&) {
    if (to == nullptr || from == nullptr) return hipErrorInvalidValue;
    return add(out, graph, dependencies, count, hipGraphNodeTypeMemcpy, memcpy_1d_work(to, from, bytes, kind), {});
  });
}

hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void* to, const void* from, size_t bytes,
                                         hipMemcpyKind kind) {
  return graph_api([&](Runtime&) {
    if (to == nullptr || from == nullptr) return hipErrorInvalidValue;
    return set_node(node, hipGraphNodeTypeMemcpy, memcpy_1d_work(to, from, bytes, kind), {});
  });
}

hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t executable, hipGraphNode_t node, void* to, const void* from,
                                             size_t bytes, hipMemcpyKind kind) {
  return graph_api([&](Runtime&) {
    if (to == nullptr || from == nullptr) return hipErrorInvalidValue;
    return set_step(executable, node, hipGraphNodeTypeMemcpy, memcpy_1d_work(to, from, bytes, kind));
  });
}

hipError_t hipGraphAddMemsetNode(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipMemsetParams* params) {
  return graph_api([&](Runtime&) -> hipError_t {
    Work work;
    if (params == nullptr) return hipErrorInvalidValue;
    if (const hipError_t error = memset_work(*params, work); error != hipSuccess) return error;
    return add(out, graph, dependencies, count, hipGraphNodeTypeMemset, std::move(work), *params);
  });
}

hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams* params) {
  return graph_api([&](Runtime&) {
    const auto* kept = params != nullptr && valid_node(node) ? std::get_if<hipMemsetParams>(&node->params) : nullptr;
    if (kept == nullptr) return hipErrorInvalidValue;
    *params = *kept;
    return hipSuccess;
  });
}

hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams* params) {
  return graph_api([&](Runtime&) -> hipError_t {
    Work work;
    if (params == nullptr) return hipErrorInvalidValue;
    if (const hipError_t error = memset_work(*params, work); error != hipSuccess) return error;
    return set_node(node, hipGraphNodeTypeMemset, std::move(work), *params);
  });
}

hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t executable, hipGraphNode_t node,
                                           const hipMemsetParams* params) {
  return graph_api([&](Runtime&) -> hipError_t {
    Work work;
    if (params == nullptr) return hipErrorInvalidValue;
    if (const hipError_t error = memset_work(*params, work); error != hipSuccess) return error;
    return set_step(executable, node, hipGraphNodeTypeMemset, std::move(work));
  });
}

hipError_t hipGraphAddHostNode(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                               const hipHostNodeParams* params) {
  return graph_api([&](Runtime&) {
    if (params == nullptr || params->fn == nullptr) return hipErrorInvalidValue;
    return add(out, graph, dependencies, count, hipGraphNodeTypeHost, host_work(*params), *params);
  });
}

hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams* params) {
  return graph_api([&](Runtime&) {
    const auto* kept = params != nullptr && valid_node(node) ? std::get_if<hipHostNodeParams>(&node->params) : nullptr;
    if (kept == nullptr) return hipErrorInvalidValue;
    *params = *kept;
    return hipSuccess;
  });
}

hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams* params) {
  return graph_api([&](Runtime&) {
    if (params == nullptr || params->fn == nullptr) return hipErrorInvalidValue;
    return set_node(node, hipGraphNodeTypeHost, host_work(*params), *params);
  });
}

hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t executable, hipGraphNode_t node,
                                         const hipHostNodeParams* params) {
  return graph_api([&](Runtime&) {
    if (params == nullptr || params->fn == nullptr) return hipErrorInvalidValue;
    return set_step(executable, node, hipGraphNodeTypeHost, host_work(*params));
  });
}

hipError_t hipGraphAddChildGraphNode(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                     size_t count, hipGraph_t child) {
  return graph_api([&](Runtime&) -> hipError_t {
    if (!valid_graph(child) || !valid_graph(graph)) return hipErrorInvalidValue;
    // A copy: what happens to the child afterwards does not change its parent.
    std::unique_ptr<ihipGraph> copied = clone(*child);
    const hipError_t error = add(out, graph, dependencies, count, hipGraphNodeTypeGraph, {}, ChildNode{copied.get()});
    if (error == hipSuccess)
      graph->children.push_back(std::move(copied));
    else
      forget_nodes(*copied);
    return error;
  });
}

hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t* graph) {
  return graph_api([&](Runtime&) {
    const auto* kept = graph != nullptr && valid_node(node) ? std::get_if<ChildNode>(&node->params) : nullptr;
    if (kept == nullptr) return hipErrorInvalidValue;
    *graph = kept->graph;
    return hipSuccess;
  });
}

hipError_t hipGraphAddEventRecordNode(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                      size_t count, hipEvent_t event) {
  return graph_api([&](Runtime& runtime) {
    if (event == nullptr || !runtime.events.contains(event)) return hipErrorInvalidValue;
    return add(out, graph, dependencies, count, hipGraphNodeTypeEventRecord, event_work(event), EventNode{event});
  });
}

hipError_t hipGraphAddEventWaitNode(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                    size_t count, hipEvent_t event) {
  return graph_api([&](Runtime& runtime) {
    if (event == nullptr || !runtime.events.contains(event)) return hipErrorInvalidValue;
    return add(out, graph, dependencies, count, hipGraphNodeTypeWaitEvent, {},
               EventNode{event});  // streams run in order anyhow
  });
}

hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {
  return graph_api([&](Runtime&) {
    if (event == nullptr || !valid_node(node) || node->type != hipGraphNodeTypeEventRecord) return hipErrorInvalidValue;
    *event = std::get<EventNode>(node->params).event;
    return hipSuccess;
  });
}

hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {
  return graph_api([&](Runtime&) {
    if (event == nullptr || !valid_node(node) || node->type != hipGraphNodeTypeWaitEvent) return hipErrorInvalidValue;
    *event = std::get<EventNode>(node->params).event;
    return hipSuccess;
  });
}

}  // extern "C"
