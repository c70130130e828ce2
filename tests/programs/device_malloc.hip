// malloc and free, new and delete on the device: a linked list a lane, freed by another kernel, and blocks that do not overlap.
#include "check.hpp"

struct Node {
  unsigned value;
  Node* next;
};

__global__ void build(Node** heads, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  Node* head = nullptr;
  for (unsigned j = 0; j <= i % 5; j++) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    if (node == nullptr)
      break;
    *node = {i * 10 + j, head};
    head = node;
  }
  heads[i] = head;
}

__global__ void sum_and_free(Node** heads, unsigned* sums, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned sum = 0;
  for (Node* node = heads[n - 1 - i]; node != nullptr;) {
    sum += node->value;
    Node* next = node->next;
    free(node);
    node = next;
  }
  sums[n - 1 - i] = sum;
}

__global__ void private_blocks(unsigned* bad, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const unsigned words = 1 + i % 37;
  unsigned* block = static_cast<unsigned*>(malloc(words * sizeof(unsigned)));
  if (block == nullptr) {
    atomicAdd(bad, 1u);
    return;
  }
  for (unsigned j = 0; j < words; j++)
    block[j] = i * 1000 + j;
  __syncthreads();
  for (unsigned j = 0; j < words; j++)
    if (block[j] != i * 1000 + j)
      atomicAdd(bad, 1u);
  free(block);
}

struct Counter {
  unsigned* total;
  unsigned amount;
  __device__ Counter(unsigned* where, unsigned by) : total(where), amount(by) {}
  __device__ ~Counter() { atomicAdd(total, amount); }
};

__global__ void new_and_delete(unsigned* total, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    Counter* counter = new Counter(total, i);
    delete counter;
  }
}

int main() {
  Check check("device_malloc");
  constexpr unsigned n = 200;
  DeviceBuffer<Node*> heads(n);
  DeviceBuffer<unsigned> sums(n), bad(1), total(1);
  std::vector<unsigned> expected(n);
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = 0; j <= i % 5; j++)
      expected[i] += i * 10 + j;
  for (int round = 0; round < 2; round++) {
    build<<<2, 100>>>(heads.get(), n);
    sum_and_free<<<2, 100>>>(heads.get(), sums.get(), n);
    HIP_CHECK_LAUNCH();
    check.all_equal("sums", sums.download(), expected);
  }
  bad.fill_bytes(0);
  private_blocks<<<4, 50>>>(bad.get(), n);
  HIP_CHECK_LAUNCH();
  check.equal("blocks overlap or are missing", 0, bad.download()[0], 0u);
  total.fill_bytes(0);
  new_and_delete<<<2, 128>>>(total.get(), n);
  HIP_CHECK_LAUNCH();
  check.equal("destructors", 0, total.download()[0], n * (n - 1) / 2);
  return check.finish();
}
