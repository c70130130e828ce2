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

// Dependencies first, otherwise in the order of addition. False if there is a cycle.
bool in_order(const ihipGraph& graph, std::vector<hipGraphNode*>& ordered) {
  std::unordered_set<const hipGraphNode*> done;
  while (ordered.size() < graph.nodes.size()) {
    const size_t before = ordered.size();
    for (const auto& node : graph.nodes) {
      if (done.contains(node.get())) continue;
      if (!std::all_of(node->dependencies.begin(), node->dependencies.end(),
                       [&](const hipGraphNode* d) { return done.contains(d); }))
        continue;
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

hipGraphExec::Step* step_of(hipGraphExec_t executable, const hipGraphNode* node, hipGraphNodeType type) {
  if (executable == nullptr || !executables().contains(executable)) return nullptr;
  const auto found =
      std::find_if(executable->steps.begin(), executable->steps.end(),
                   [&](const hipGraphExec::Step& step) { return step.node == node && step.type == type; });
  return found == executable->steps.end() ? nullptr : &*found;
}

hipGraphNode* add_node(ihipGraph& graph, hipGraphNodeType type, std::vector<hipGraphNode*> dependencies, Work work,
                       NodeParams params) {
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
    const auto found = std::find_if(cloned->nodes.begin(), cloned->nodes.end(),
                                    [&](const auto& node) { return node->original == original; });
    if (found == cloned->nodes.end()) return hipErrorInvalidValue;
    *out = found->get();
    return hipSuccess;
  });
}

// --- running ---

hipError_t hipGraphInstantiate(hipGraphExec_t* out, hipGraph_t graph, hipGraphNode_t* error_node, char* log,
                               size_t log_size) {
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
    return executable != nullptr && executables().contains(executable) && runtime.valid(stream) ? hipSuccess
                                                                                                : hipErrorInvalidValue;
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

hipError_t hipGraphExecUpdate(hipGraphExec_t executable, hipGraph_t graph, hipGraphNode_t* error_node,
                              hipGraphExecUpdateResult* result) {
  return graph_api([&](Runtime&) -> hipError_t {
    if (error_node == nullptr || result == nullptr || !valid_graph(graph) || executable == nullptr ||
        !executables().contains(executable))
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

hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                   size_t count) {
  return graph_api([&](Runtime&) {
    if (!valid_graph(graph) || (count > 0 && (from == nullptr || to == nullptr))) return hipErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      if (!valid_node(from[i]) || !valid_node(to[i]) || from[i]->graph != graph || to[i]->graph != graph)
        return hipErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) to[i]->dependencies.push_back(from[i]);
    return hipSuccess;
  });
}

hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                      size_t count) {
  return graph_api([&](Runtime&) {
    if (!valid_graph(graph) || (count > 0 && (from == nullptr || to == nullptr))) return hipErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      if (!valid_node(from[i]) || !valid_node(to[i]) || to[i]->graph != graph ||
          std::erase(to[i]->dependencies, from[i]) == 0)
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
  return graph_api(
      [&](Runtime&) { return valid_node(node) ? list(node->dependencies, array, count) : hipErrorInvalidValue; });
}

hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t* array, size_t* count) {
  return graph_api([&](Runtime&) {
    if (!valid_node(node)) return hipErrorInvalidValue;
    std::vector<hipGraphNode_t> dependents;
    for (const auto& other : node->graph->nodes)
      if (std::count(other->dependencies.begin(), other->dependencies.end(), node) > 0)
        dependents.push_back(other.get());
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

}  // extern "C"
