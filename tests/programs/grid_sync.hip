// Cooperative groups: grid-wide barriers (an iterative stencil that needs every workgroup of the step before), tiles, and groups
// of the active lanes.
#include <hip/hip_cooperative_groups.h>

#include "check.hpp"

namespace cg = cooperative_groups;

__global__ void smooth(int* a, int* b, unsigned n, unsigned steps) {
  cg::grid_group grid = cg::this_grid();
  for (unsigned step = 0; step < steps; step++) {
    const int* from = step % 2 == 0 ? a : b;
    int* to = step % 2 == 0 ? b : a;
    for (unsigned i = unsigned(grid.thread_rank()); i < n; i += unsigned(grid.size()))
      to[i] = 2 * from[i] - from[(i + n - 1) % n] + 3 * from[(i + 77) % n];
    grid.sync();
  }
}

__global__ void tiles(const int* in, int* sums, unsigned* ranks) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  int value = in[block.thread_rank()];
  for (unsigned offset = tile.size() / 2; offset > 0; offset /= 2)
    value += tile.shfl_down(value, offset);
  if (tile.thread_rank() == 0)
    sums[block.thread_rank() / 16] = value;
  ranks[block.thread_rank()] = ~0u;
  if (in[block.thread_rank()] % 3 == 0) {
    cg::coalesced_group active = cg::coalesced_threads();
    ranks[block.thread_rank()] = unsigned(active.thread_rank() * 100 + active.size());
  }
  block.sync();
}

int main() {
  Check check("grid_sync");
  constexpr unsigned kSteps = 5;
  for (unsigned n : {100u, 5001u}) {
    Rng rng(n);
    std::vector<int> from(n), to(n);
    for (int& value : from)
      value = int(rng.below(1000));
    DeviceBuffer<int> a(from), b(n);
    for (unsigned step = 0; step < kSteps; step++) {
      for (unsigned i = 0; i < n; i++)
        to[i] = int(2u * unsigned(from[i]) - unsigned(from[(i + n - 1) % n]) + 3u * unsigned(from[(i + 77) % n]));
      std::swap(from, to);
    }
    int* pa = a.get();
    int* pb = b.get();
    unsigned size = n, steps = kSteps;
    void* arguments[] = {&pa, &pb, &size, &steps};
    HIP_CHECK(hipLaunchCooperativeKernel(reinterpret_cast<void*>(smooth), dim3(23), dim3(96), arguments, 0, nullptr));
    HIP_CHECK(hipDeviceSynchronize());
    check.all_equal("smooth", b.download(), from);
  }

  constexpr unsigned kBlock = 128;
  std::vector<int> in(kBlock), sums(kBlock / 16);
  std::vector<unsigned> ranks(kBlock, ~0u);
  Rng rng(3);
  for (unsigned i = 0; i < kBlock; i++) {
    in[i] = int(rng.below(1000));
    sums[i / 16] += in[i];
  }
  for (unsigned wave = 0; wave < kBlock; wave += 64) {
    unsigned size = 0, rank = 0;
    for (unsigned i = wave; i < wave + 64; i++)
      size += in[i] % 3 == 0;
    for (unsigned i = wave; i < wave + 64; i++)
      if (in[i] % 3 == 0)
        ranks[i] = rank++ * 100 + size;
  }
  DeviceBuffer<int> d_in(in), d_sums(sums.size());
  DeviceBuffer<unsigned> d_ranks(kBlock);
  tiles<<<1, kBlock>>>(d_in.get(), d_sums.get(), d_ranks.get());
  HIP_CHECK_LAUNCH();
  check.all_equal("tile sums", d_sums.download(), sums);
  check.all_equal("coalesced ranks", d_ranks.download(), ranks);
  return check.finish();
}
