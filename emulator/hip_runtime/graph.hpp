#pragma once
// Graphs: recorded work. A node keeps its work as a function over the runtime and, for the kinds whose parameters HIP
// lets a program read back and change, those parameters. Nodes run in the order in which they were added; an edge that
// contradicts that order makes instantiation sort them.

#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "emulator/hip_runtime/runtime.hpp"

namespace hipbench::hip {

// A kernel node's parameters with the storage that their pointers lead to.
struct KernelNode {
  hipKernelNodeParams params{};
  std::vector<std::vector<std::byte>> values;
  std::vector<void*> pointers;
};

struct ChildNode {
  ihipGraph* graph = nullptr;  // owned by the parent graph
};

struct EventNode {
  hipEvent_t event = nullptr;
};

using NodeParams = std::variant<std::monostate, KernelNode, hipMemcpy3DParms, hipMemsetParams, hipHostNodeParams,
                                ChildNode, EventNode>;

struct Capture {
  std::unique_ptr<ihipGraph> graph;  // what is being recorded
  ihipGraph* target = nullptr;       // the same, or the program's own graph (hipStreamBeginCaptureToGraph)
  unsigned long long id = 0;
  ihipStream_t* origin = nullptr;
  std::map<ihipStream_t*, std::vector<hipGraphNode*>> frontier;  // what the next node of each stream follows
  std::map<hipEvent_t, std::vector<hipGraphNode*>> events;       // recorded inside the capture
};

// Adds a node with its dependencies; null if one of them is not of this graph.
hipGraphNode* add_node(ihipGraph& graph, hipGraphNodeType type, std::vector<hipGraphNode*> dependencies, Work work,
                       NodeParams params = {});
// Records work on a stream that is being captured.
void record(ihipStream_t& stream, hipGraphNodeType type, Work work);

// The graph becomes a handle of the program.
hipGraph_t publish(std::unique_ptr<ihipGraph> graph);
bool valid_graph(hipGraph_t graph);


bool valid_node(const hipGraphNode* node);
void forget_nodes(const ihipGraph& graph);  // their handles are stale from now on
std::unique_ptr<ihipGraph> clone(const ihipGraph& graph);

template <typename Body>
hipError_t graph_api(Body body) {
  return api([&](Runtime& runtime, Client&) -> hipError_t { return body(runtime); });
}

}  // namespace hipbench::hip

struct hipGraphNode {
  hipGraphNodeType type = hipGraphNodeTypeEmpty;
  ihipGraph* graph = nullptr;
  std::vector<hipGraphNode*> dependencies;
  hipbench::hip::Work work;  // null for nodes that do nothing
  hipbench::hip::NodeParams params;
  hipGraphNode* original = nullptr;  // of a clone
};

struct ihipGraph {
  std::vector<std::unique_ptr<hipGraphNode>> nodes;
  std::vector<std::unique_ptr<ihipGraph>> children;
};

struct hipGraphExec {
  struct Step {
    const hipGraphNode* node = nullptr;  // by which the program names it; may be gone
    hipGraphNodeType type = hipGraphNodeTypeEmpty;
    hipbench::hip::Work work;
    bool enabled = true;
  };
  std::vector<Step> steps;
  unsigned long long flags = 0;
};

namespace hipbench::hip {

// The step of an executable graph that came from a node; null if there is none of that type.
hipGraphExec::Step* step_of(hipGraphExec_t executable, const hipGraphNode* node, hipGraphNodeType type);

}  // namespace hipbench::hip
