// Graphs of kernels, copies, fills, host functions, events and child graphs.

#include <algorithm>
#include <cstring>

#include "emulator/hip_runtime/graph.hpp"
#include "emulator/hip_runtime/launch.hpp"

using namespace hipbench;
using namespace hipbench::hip;

namespace hipbench::hip {
namespace {

HandleSet<ihipGraph>& graphs() {
  static auto* set = new HandleSet<ihipGraph>;
  return *set;
}
HandleSet<hipGraphExec>& executables() {
  static auto* set = new HandleSet<hipGraphExec>;
  return *set;
}

// Nodes are found through their graphs, child graphs and captures in progress included, so a stale one is an error.
std::mutex& nodes_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}
std::unordered_set<const hipGraphNode*>& nodes() {
  static auto* set = new std::unordered_set<const hipGraphNode*>;
  return *set;
}
bool valid_node(const hipGraphNode* node) {
  const std::lock_guard lock(nodes_mutex());
  return nodes().contains(node);
}

void forget_nodes(const ihipGraph& graph) {
  {
    const std::lock_guard lock(nodes_mutex());
    for (const auto& node : graph.nodes) nodes().erase(node.get());
  }
  for (const auto& child : graph.children) forget_nodes(*child);
}

// Dependencies first, otherwise in the order of addition. False if there is a cycle.
bool in_order(const ihipGraph& graph, std::vector<hipGraphNode*>& ordered) {
  std::unordered_set<const hipGraphNode*> done;
  while (ordered.size() < graph.nodes.size()) {
    const size_t before = ordered.size();
    for (const auto& node : graph.nodes) {
      if (done.contains(node.get())) continue;
      if (!std::all_of(node->dependencies.begin(), node->dependencies.end(), [&](const hipGraphNode* d) { return done.contains(d); })) continue;
      ordered.push_back(node.get());
      done.insert(node.get());
    }
    if (ordered.size() == before) return false;
  }
  return true;
}

hipError_t flatten(const ihipGraph& graph, std::vector<hipGraphExec::Step>& steps) {
  std::vector<hipGraphNode*> ordered;
  if (!in_order(graph, ordered)) return hipErrorInvalidValue;
  for (const hipGraphNode* node : ordered) {
    if (const auto* child = std::get_if<ChildNode>(&node->params)) {
      if (const hipError_t error = flatten(*child->graph, steps); error != hipSuccess) return error;
    } else {
      steps.push_back({node, node->type, node->work, true});
    }
  }
  return hipSuccess;
}

std::unique_ptr<ihipGraph> clone(const ihipGraph& graph) {
  auto copy = std::make_unique<ihipGraph>();
  std::unordered_map<const hipGraphNode*, hipGraphNode*> twin;
  for (const auto& node : graph.nodes) {
    hipGraphNode* added = add_node(*copy, node->type, {}, node->work, node->params);
    added->original = node.get();
    twin[node.get()] = added;
    if (auto* child = std::get_if<ChildNode>(&added->params)) {
      copy->children.push_back(clone(*child->graph));
      child->graph = copy->children.back().get();
    }
  }
  for (const auto& node : graph.nodes)
    for (hipGraphNode* dependency : node->dependencies) twin[node.get()]->dependencies.push_back(twin[dependency]);
  return copy;
}

// --- parameters to work ---

hipError_t kernel_work(Runtime& runtime, const hipKernelNodeParams& params, Work& work, KernelNode& kept) {
  hipFunction_t function = nullptr;
  if (runtime.valid_function(static_cast<hipFunction_t>(params.func)))
    function = static_cast<hipFunction_t>(params.func);
  else if (const hipError_t error = runtime.function_of(params.func, &function); error != hipSuccess)
    return error;
  const LaunchShape shape{Dim3{params.gridDim.x, params.gridDim.y, params.gridDim.z}, Dim3{params.blockDim.x, params.blockDim.y, params.blockDim.z},
                          params.sharedMemBytes, false};
  emulator::LaunchRequest request;
  if (const hipError_t error = prepare(runtime, function, shape, params.kernelParams, params.extra, request); error != hipSuccess) return error;
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
  if (params.dst == nullptr || (params.elementSize != 1 && params.elementSize != 2 && params.elementSize != 4)) return hipErrorInvalidValue;
  work = [params](Runtime& runtime) -> hipError_t {
    const size_t width = params.width * params.elementSize;
    const size_t pitch = params.height > 1 ? params.pitch : width;
    if (!runtime.device_address(params.dst, params.height > 0 ? pitch * (params.height - 1) + width : 0)) return hipErrorInvalidValue;
    const Result<void> sent = runtime.client()->fill_rows(*runtime.device_address(params.dst, 0), pitch, params.value, params.elementSize,
                                                          params.width, params.height);
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
hipError_t add(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count, hipGraphNodeType type, Work work,
               NodeParams params) {
  if (out == nullptr || !valid_graph(graph) || (count > 0 && dependencies == nullptr)) return hipErrorInvalidValue;
  for (size_t i = 0; i < count; ++i)
    if (!valid_node(dependencies[i])) return hipErrorInvalidValue;
  hipGraphNode* node = add_node(*graph, type, std::vector<hipGraphNode*>(dependencies, dependencies + count), std::move(work), std::move(params));
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

hipGraphExec::Step* step_of(hipGraphExec_t executable, hipGraphNode_t node, hipGraphNodeType type) {
  if (executable == nullptr || !executables().contains(executable)) return nullptr;
  const auto found = std::find_if(executable->steps.begin(), executable->steps.end(),
                                  [&](const hipGraphExec::Step& step) { return step.node == node && step.type == type; });
  return found == executable->steps.end() ? nullptr : &*found;
}

hipError_t set_step(hipGraphExec_t executable, hipGraphNode_t node, hipGraphNodeType type, Work work) {
  hipGraphExec::Step* step = step_of(executable, node, type);
  if (step == nullptr) return hipErrorInvalidValue;
  step->work = std::move(work);
  return hipSuccess;
}

template <typename Body>
hipError_t graph_api(Body body) {
  return api([&](Runtime& runtime, Client&) -> hipError_t { return body(runtime); });
}

// HIP's two-step lists: without an array only the count, else as many as fit.
template <typename T>
hipError_t list(const std::vector<T>& items, T* array, size_t* count) {
  if (count == nullptr) return hipErrorInvalidValue;
  if (array != nullptr) {
    for (size_t i = 0; i < *count; ++i) array[i] = i < items.size() ? items[i] : nullptr;
    *count = std::min(*count, items.size());
  } else {
    *count = items.size();
  }
  return hipSuccess;
}

hipError_t instantiate(hipGraphExec_t* out, hipGraph_t graph, unsigned long long flags) {
  if (out == nullptr || !valid_graph(graph)) return hipErrorInvalidValue;
  auto executable = std::make_unique<hipGraphExec>();
  executable->flags = flags;
  if (const hipError_t error = flatten(*graph, executable->steps); error != hipSuccess) return error;
  *out = executables().add(std::move(executable));
  return hipSuccess;
}

}  // namespace

hipGraphNode* add_node(ihipGraph& graph, hipGraphNodeType type, std::vector<hipGraphNode*> dependencies, Work work, NodeParams params) {
  for (const hipGraphNode* dependency : dependencies)
    if (dependency->graph != &graph) return nullptr;
  auto node = std::make_unique<hipGraphNode>();
  node->type = type;
  node->graph = &graph;
  node->dependencies = std::move(dependencies);
  node->work = std::move(work);
  node->params = std::move(params);
  hipGraphNode* added = node.get();
  graph.nodes.push_back(std::move(node));
  const std::lock_guard lock(nodes_mutex());
  nodes().insert(added);
  return added;
}

void record(ihipStream_t& stream, hipGraphNodeType type, Work work) {
  std::vector<hipGraphNode*>& frontier = stream.capture->frontier[&stream];
  hipGraphNode* node = add_node(*stream.capture->target, type, frontier, std::move(work));
  if (node != nullptr) frontier = {node};
}

hipGraph_t publish(std::unique_ptr<ihipGraph> graph) { return graphs().add(std::move(graph)); }

bool valid_graph(hipGraph_t graph) { return graph != nullptr && graphs().contains(graph); }

}  // namespace hipbench::hip

extern "C" {

hipError_t hipGraphCreate(hipGraph_t* graph, unsigned int flags) {
  return graph_api([&](Runtime&) {
    if (graph == nullptr || flags != 0) return hipErrorInvalidValue;
    *graph = publish(std::make_unique<ihipGraph>());
    return hipSuccess;
  });
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  return graph_api([&](Runtime&) {
    const std::unique_ptr<ihipGraph> removed = graphs().remove(graph);
    if (!removed) return hipErrorInvalidValue;
    forget_nodes(*removed);
    return hipSuccess;
  });
}

hipError_t hipGraphClone(hipGraph_t* out, hipGraph_t original) {
  return graph_api([&](Runtime&) {
    if (out == nullptr || !valid_graph(original)) return hipErrorInvalidValue;
    *out = publish(clone(*original));
    return hipSuccess;
  });
}

hipError_t hipGraphNodeFindInClone(hipGraphNode_t* out, hipGraphNode_t original, hipGraph_t cloned) {
  return graph_api([&](Runtime&) {
    if (out == nullptr || !valid_graph(cloned)) return hipErrorInvalidValue;
    const auto found = std::find_if(cloned->nodes.begin(), cloned->nodes.end(), [&](const auto& node) { return node->original == original; });
    if (found == cloned->nodes.end()) return hipErrorInvalidValue;
    *out = found->get();
    return hipSuccess;
  });
}

// --- running ---

hipError_t hipGraphInstantiate(hipGraphExec_t* out, hipGraph_t graph, hipGraphNode_t* error_node, char* log, size_t log_size) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && log_size > 0) *log = 0;
  return graph_api([&](Runtime&) { return instantiate(out, graph, 0); });
}

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* out, hipGraph_t graph, unsigned long long flags) {
  return graph_api([&](Runtime&) { return instantiate(out, graph, flags); });
}

hipError_t hipGraphInstantiateWithParams(hipGraphExec_t* out, hipGraph_t graph, hipGraphInstantiateParams* params) {
  return graph_api([&](Runtime&) {
    if (params == nullptr) return hipErrorInvalidValue;
    const hipError_t error = instantiate(out, graph, params->flags);
    params->result_out = error == hipSuccess ? hipGraphInstantiateSuccess : hipGraphInstantiateError;
    return error;
  });
}

hipError_t hipGraphLaunch(hipGraphExec_t executable, hipStream_t stream) {
  return graph_api([&](Runtime& runtime) -> hipError_t {
    if (executable == nullptr || !executables().contains(executable)) return hipErrorInvalidValue;
    if (!runtime.valid(stream)) return hipErrorInvalidHandle;
    for (const hipGraphExec::Step& step : executable->steps) {
      if (!step.enabled || !step.work) continue;
      if (const hipError_t error = runtime.enqueue(stream, step.type, step.work); error != hipSuccess) return error;
    }
    return hipSuccess;
  });
}

hipError_t hipGraphUpload(hipGraphExec_t executable, hipStream_t stream) {
  return graph_api([&](Runtime& runtime) {
    return executable != nullptr && executables().contains(executable) && runtime.valid(stream) ? hipSuccess : hipErrorInvalidValue;
  });
}

hipError_t hipGraphExecDestroy(hipGraphExec_t executable) {
  return graph_api([&](Runtime&) { return executables().remove(executable) ? hipSuccess : hipErrorInvalidValue; });
}

hipError_t hipGraphExecGetFlags(hipGraphExec_t executable, unsigned long long* flags) {
  return graph_api([&](Runtime&) {
    if (flags == nullptr || executable == nullptr || !executables().contains(executable)) return hipErrorInvalidValue;
    *flags = executable->flags;
    return hipSuccess;
  });
}

hipError_t hipGraphExecUpdate(hipGraphExec_t executable, hipGraph_t graph, hipGraphNode_t* error_node, hipGraphExecUpdateResult* result) {
  return graph_api([&](Runtime&) -> hipError_t {
    if (error_node == nullptr || result == nullptr || !valid_graph(graph) || executable == nullptr || !executables().contains(executable))
      return hipErrorInvalidValue;
    *error_node = nullptr;
    std::vector<hipGraphExec::Step> steps;
    *result = hipGraphExecUpdateError;
    if (const hipError_t error = flatten(*graph, steps); error != hipSuccess) return error;
    *result = hipGraphExecUpdateErrorTopologyChanged;
    if (steps.size() != executable->steps.size()) return hipErrorGraphExecUpdateFailure;
    for (size_t i = 0; i < steps.size(); ++i) {
      *result = hipGraphExecUpdateErrorNodeTypeChanged;
      if (steps[i].type != executable->steps[i].type) return hipErrorGraphExecUpdateFailure;
    }
    executable->steps = std::move(steps);
    *result = hipGraphExecUpdateSuccess;
    return hipSuccess;
  });
}

hipError_t hipGraphNodeSetEnabled(hipGraphExec_t executable, hipGraphNode_t node, unsigned int enabled) {
  return graph_api([&](Runtime&) {
    hipGraphExec::Step* step = valid_node(node) ? step_of(executable, node, node->type) : nullptr;
    if (step == nullptr) return hipErrorInvalidValue;
    step->enabled = enabled != 0;
    return hipSuccess;
  });
}

hipError_t hipGraphNodeGetEnabled(hipGraphExec_t executable, hipGraphNode_t node, unsigned int* enabled) {
  return graph_api([&](Runtime&) {
    const hipGraphExec::Step* step = valid_node(node) ? step_of(executable, node, node->type) : nullptr;
    if (step == nullptr || enabled == nullptr) return hipErrorInvalidValue;
    *enabled = step->enabled ? 1 : 0;
    return hipSuccess;
  });
}

// --- shape ---

hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to, size_t count) {
  return graph_api([&](Runtime&) {
    if (!valid_graph(graph) || (count > 0 && (from == nullptr || to == nullptr))) return hipErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      if (!valid_node(from[i]) || !valid_node(to[i]) || from[i]->graph != graph || to[i]->graph != graph) return hipErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) to[i]->dependencies.push_back(from[i]);
    return hipSuccess;
  });
}

hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to, size_t count) {
  return graph_api([&](Runtime&) {
    if (!valid_graph(graph) || (count > 0 && (from == nullptr || to == nullptr))) return hipErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      if (!valid_node(from[i]) || !valid_node(to[i]) || to[i]->graph != graph || std::erase(to[i]->dependencies, from[i]) == 0)
        return hipErrorInvalidValue;
    return hipSuccess;
  });
}

hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* array, size_t* count) {
  return graph_api([&](Runtime&) {
    if (!valid_graph(graph)) return hipErrorInvalidValue;
    std::vector<hipGraphNode_t> all;
    for (const auto& node : graph->nodes) all.push_back(node.get());
    return list(all, array, count);
  });
}

hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t* array, size_t* count) {
  return graph_api([&](Runtime&) {
    if (!valid_graph(graph)) return hipErrorInvalidValue;
    std::vector<hipGraphNode_t> roots;
    for (const auto& node : graph->nodes)
      if (node->dependencies.empty()) roots.push_back(node.get());
    return list(roots, array, count);
  });
}

hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t* from, hipGraphNode_t* to, size_t* count) {
  return graph_api([&](Runtime&) {
    if (!valid_graph(graph) || (from == nullptr) != (to == nullptr) || count == nullptr) return hipErrorInvalidValue;
    std::vector<hipGraphNode_t> sources, targets;
    for (const auto& node : graph->nodes)
      for (hipGraphNode* dependency : node->dependencies) {
        sources.push_back(dependency);
        targets.push_back(node.get());
      }
    size_t again = *count;
    const hipError_t error = list(sources, from, count);
    return error == hipSuccess ? list(targets, to, &again) : error;
  });
}

hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t* array, size_t* count) {
  return graph_api([&](Runtime&) { return valid_node(node) ? list(node->dependencies, array, count) : hipErrorInvalidValue; });
}

hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t* array, size_t* count) {
  return graph_api([&](Runtime&) {
    if (!valid_node(node)) return hipErrorInvalidValue;
    std::vector<hipGraphNode_t> dependents;
    for (const auto& other : node->graph->nodes)
      if (std::count(other->dependencies.begin(), other->dependencies.end(), node) > 0) dependents.push_back(other.get());
    return list(dependents, array, count);
  });
}

hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* type) {
  return graph_api([&](Runtime&) {
    if (type == nullptr || !valid_node(node)) return hipErrorInvalidValue;
    *type = node->type;
    return hipSuccess;
  });
}

hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
  return graph_api([&](Runtime&) {
    if (!valid_node(node)) return hipErrorInvalidValue;
    ihipGraph& graph = *node->graph;
    for (const auto& other : graph.nodes) std::erase(other->dependencies, node);
    {
      const std::lock_guard lock(nodes_mutex());
      nodes().erase(node);
    }
    std::erase_if(graph.nodes, [&](const auto& owned) { return owned.get() == node; });
    return hipSuccess;
  });
}

// --- nodes ---

hipError_t hipGraphAddEmptyNode(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count) {
  return graph_api([&](Runtime&) { return add(out, graph, dependencies, count, hipGraphNodeTypeEmpty, {}, {}); });
}

hipError_t hipGraphAddKernelNode(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                                 const hipKernelNodeParams* params) {
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

hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t executable, hipGraphNode_t node, const hipKernelNodeParams* params) {
  return graph_api([&](Runtime& runtime) -> hipError_t {
    if (params == nullptr || params->func == nullptr) return hipErrorInvalidValue;
    Work work;
    KernelNode kept;
    if (const hipError_t error = kernel_work(runtime, *params, work, kept); error != hipSuccess) return error;
    return set_step(executable, node, hipGraphNodeTypeKernel, std::move(work));
  });
}

hipError_t hipGraphAddMemcpyNode(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                                 const hipMemcpy3DParms* params) {
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
    return params == nullptr ? hipErrorInvalidValue : set_node(node, hipGraphNodeTypeMemcpy, memcpy_work(*params), *params);
  });
}

hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t executable, hipGraphNode_t node, hipMemcpy3DParms* params) {
  return graph_api([&](Runtime&) {
    return params == nullptr ? hipErrorInvalidValue : set_step(executable, node, hipGraphNodeTypeMemcpy, memcpy_work(*params));
  });
}

hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count, void* to,
                                   const void* from, size_t bytes, hipMemcpyKind kind) {
  return graph_api([&](Runtime&) {
    if (to == nullptr || from == nullptr) return hipErrorInvalidValue;
    return add(out, graph, dependencies, count, hipGraphNodeTypeMemcpy, memcpy_1d_work(to, from, bytes, kind), {});
  });
}

hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
  return graph_api([&](Runtime&) {
    if (to == nullptr || from == nullptr) return hipErrorInvalidValue;
    return set_node(node, hipGraphNodeTypeMemcpy, memcpy_1d_work(to, from, bytes, kind), {});
  });
}

hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t executable, hipGraphNode_t node, void* to, const void* from, size_t bytes,
                                             hipMemcpyKind kind) {
  return graph_api([&](Runtime&) {
    if (to == nullptr || from == nullptr) return hipErrorInvalidValue;
    return set_step(executable, node, hipGraphNodeTypeMemcpy, memcpy_1d_work(to, from, bytes, kind));
  });
}

hipError_t hipGraphAddMemsetNode(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                                 const hipMemsetParams* params) {
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

hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t executable, hipGraphNode_t node, const hipMemsetParams* params) {
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

hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t executable, hipGraphNode_t node, const hipHostNodeParams* params) {
  return graph_api([&](Runtime&) {
    if (params == nullptr || params->fn == nullptr) return hipErrorInvalidValue;
    return set_step(executable, node, hipGraphNodeTypeHost, host_work(*params));
  });
}

hipError_t hipGraphAddChildGraphNode(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count, hipGraph_t child) {
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

hipError_t hipGraphAddEventRecordNode(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count, hipEvent_t event) {
  return graph_api([&](Runtime& runtime) {
    if (event == nullptr || !runtime.events.contains(event)) return hipErrorInvalidValue;
    return add(out, graph, dependencies, count, hipGraphNodeTypeEventRecord, event_work(event), EventNode{event});
  });
}

hipError_t hipGraphAddEventWaitNode(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count, hipEvent_t event) {
  return graph_api([&](Runtime& runtime) {
    if (event == nullptr || !runtime.events.contains(event)) return hipErrorInvalidValue;
    return add(out, graph, dependencies, count, hipGraphNodeTypeWaitEvent, {}, EventNode{event});  // streams run in order anyhow
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
