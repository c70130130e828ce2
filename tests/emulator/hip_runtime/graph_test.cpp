// Graphs, captured and built by hand. Host functions and fills suffice to see order and effect.

#include <gtest/gtest.h>

#include <vector>

#include "emulator/hip_runtime/hip_api.hpp"

namespace {

class Graphs : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(hipStreamCreate(&stream_), hipSuccess);
    ASSERT_EQ(hipStreamCreate(&other_), hipSuccess);
    ASSERT_EQ(hipHostMalloc(reinterpret_cast<void**>(&pinned_), 4096, 0), hipSuccess);
    for (int i = 0; i < 16; ++i) pinned_[i] = 0;
  }
  void TearDown() override {
    (void)hipHostFree(pinned_);
    (void)hipStreamDestroy(stream_);
    (void)hipStreamDestroy(other_);
    (void)hipGetLastError();
  }
  hipStream_t stream_ = nullptr, other_ = nullptr;
  int* pinned_ = nullptr;
};

void increment(void* data) { ++*static_cast<int*>(data); }

TEST_F(Graphs, CaptureRecordsAndRunsNothing) {
  ASSERT_EQ(hipStreamBeginCapture(stream_, hipStreamCaptureModeGlobal), hipSuccess);
  EXPECT_EQ(hipMemsetD32Async(pinned_, 7, 4, stream_), hipSuccess);
  EXPECT_EQ(hipMemcpyAsync(pinned_ + 8, pinned_, 16, hipMemcpyDefault, stream_), hipSuccess);
  EXPECT_EQ(hipLaunchHostFunc(stream_, increment, pinned_ + 8), hipSuccess);
  EXPECT_EQ(hipStreamSynchronize(stream_), hipErrorStreamCaptureUnsupported);
  hipStreamCaptureStatus status;
  EXPECT_EQ(hipStreamIsCapturing(stream_, &status), hipSuccess);
  EXPECT_EQ(status, hipStreamCaptureStatusActive);
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipStreamEndCapture(stream_, &graph), hipSuccess);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(pinned_[0], 0);

  hipGraphExec_t executable = nullptr;
  ASSERT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), hipSuccess);
  EXPECT_EQ(hipGraphDestroy(graph), hipSuccess);  // the executable lives on
  for (int i = 0; i < 3; ++i) ASSERT_EQ(hipGraphLaunch(executable, stream_), hipSuccess);
  ASSERT_EQ(hipStreamSynchronize(stream_), hipSuccess);
  EXPECT_EQ(pinned_[0], 7);
  EXPECT_EQ(pinned_[8], 8);
  EXPECT_EQ(pinned_[9], 7);
  EXPECT_EQ(hipGraphExecDestroy(executable), hipSuccess);
  EXPECT_EQ(hipGraphLaunch(executable, stream_), hipErrorInvalidValue);
}

TEST_F(Graphs, StreamsJoinACaptureThroughEvents) {
  hipEvent_t fork, join;
  ASSERT_EQ(hipEventCreate(&fork), hipSuccess);
  ASSERT_EQ(hipEventCreate(&join), hipSuccess);
  ASSERT_EQ(hipStreamBeginCapture(stream_, hipStreamCaptureModeGlobal), hipSuccess);
  ASSERT_EQ(hipMemsetD32Async(pinned_, 1, 1, stream_), hipSuccess);
  ASSERT_EQ(hipEventRecord(fork, stream_), hipSuccess);
  ASSERT_EQ(hipStreamWaitEvent(other_, fork, 0), hipSuccess);
  ASSERT_EQ(hipMemsetD32Async(pinned_ + 1, 2, 1, other_), hipSuccess);
  ASSERT_EQ(hipEventRecord(join, other_), hipSuccess);
  ASSERT_EQ(hipStreamWaitEvent(stream_, join, 0), hipSuccess);
  ASSERT_EQ(hipMemsetD32Async(pinned_ + 2, 3, 1, stream_), hipSuccess);
  hipGraph_t graph = nullptr;
  EXPECT_EQ(hipStreamEndCapture(other_, &graph), hipErrorStreamCaptureUnmatched);
  ASSERT_EQ(hipStreamEndCapture(stream_, &graph), hipSuccess);
  size_t nodes = 0, roots = 0, edges = 0;
  EXPECT_EQ(hipGraphGetNodes(graph, nullptr, &nodes), hipSuccess);
  EXPECT_EQ(hipGraphGetRootNodes(graph, nullptr, &roots), hipSuccess);
  EXPECT_EQ(hipGraphGetEdges(graph, nullptr, nullptr, &edges), hipSuccess);
  EXPECT_EQ(nodes, 3u);
  EXPECT_EQ(roots, 1u);
  EXPECT_EQ(edges, 3u);
  EXPECT_EQ(hipStreamSynchronize(other_), hipSuccess) << "no longer capturing";
  EXPECT_EQ(hipGraphDestroy(graph), hipSuccess);
  EXPECT_EQ(hipEventDestroy(fork), hipSuccess);
  EXPECT_EQ(hipEventDestroy(join), hipSuccess);
}

TEST_F(Graphs, NodesRunAfterWhatTheyDependOn) {
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipGraphCreate(&graph, 0), hipSuccess);
  hipMemsetParams later{pinned_, 4, 1, 0, 2, 1}, earlier{pinned_, 4, 1, 0, 1, 1};
  hipGraphNode_t second, first, copy;
  ASSERT_EQ(hipGraphAddMemsetNode(&second, graph, nullptr, 0, &later), hipSuccess);
  ASSERT_EQ(hipGraphAddMemsetNode(&first, graph, nullptr, 0, &earlier), hipSuccess);
  ASSERT_EQ(hipGraphAddDependencies(graph, &first, &second, 1), hipSuccess);
  ASSERT_EQ(hipGraphAddMemcpyNode1D(&copy, graph, &second, 1, pinned_ + 1, pinned_, 4, hipMemcpyDefault), hipSuccess);
  hipGraphExec_t executable = nullptr;
  ASSERT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), hipSuccess);
  ASSERT_EQ(hipGraphLaunch(executable, nullptr), hipSuccess);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(pinned_[1], 2);
  later.value = 9;
  ASSERT_EQ(hipGraphExecMemsetNodeSetParams(executable, second, &later), hipSuccess);
  ASSERT_EQ(hipGraphLaunch(executable, nullptr), hipSuccess);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(pinned_[1], 9);
  // A cycle cannot be instantiated.
  ASSERT_EQ(hipGraphAddDependencies(graph, &second, &first, 1), hipSuccess);
  hipGraphExec_t impossible = nullptr;
  EXPECT_EQ(hipGraphInstantiate(&impossible, graph, nullptr, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphExecDestroy(executable), hipSuccess);
  EXPECT_EQ(hipGraphDestroy(graph), hipSuccess);
  hipGraphNodeType type;
  EXPECT_EQ(hipGraphNodeGetType(first, &type), hipErrorInvalidValue) << "its graph is gone";
}

TEST_F(Graphs, ChildGraphsAreCopies) {
  hipGraph_t parent = nullptr, child = nullptr;
  ASSERT_EQ(hipGraphCreate(&parent, 0), hipSuccess);
  ASSERT_EQ(hipGraphCreate(&child, 0), hipSuccess);
  const hipHostNodeParams host{increment, pinned_};
  hipGraphNode_t node;
  ASSERT_EQ(hipGraphAddHostNode(&node, child, nullptr, 0, &host), hipSuccess);
  ASSERT_EQ(hipGraphAddChildGraphNode(&node, parent, nullptr, 0, child), hipSuccess);
  ASSERT_EQ(hipGraphAddChildGraphNode(&node, parent, nullptr, 0, child), hipSuccess);
  EXPECT_EQ(hipGraphDestroy(child), hipSuccess);
  hipGraphExec_t executable = nullptr;
  ASSERT_EQ(hipGraphInstantiateWithFlags(&executable, parent, 0), hipSuccess);
  ASSERT_EQ(hipGraphLaunch(executable, nullptr), hipSuccess);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(pinned_[0], 2);
  EXPECT_EQ(hipGraphExecDestroy(executable), hipSuccess);
  EXPECT_EQ(hipGraphDestroy(parent), hipSuccess);
}

}  // namespace
