// hipCUB's building blocks within a workgroup and a wave: BlockScan, BlockReduce, BlockRadixSort, WarpScan, WarpReduce.
#include <hipcub/block/block_radix_sort.hpp>
#include <hipcub/block/block_reduce.hpp>
#include <hipcub/block/block_scan.hpp>
#include <hipcub/warp/warp_reduce.hpp>
#include <hipcub/warp/warp_scan.hpp>

#include "check.hpp"

constexpr int kBlock = 128, kItems = 3, kTile = kBlock * kItems;

__global__ void blocks(const int* in, int* scanned, int* totals, unsigned* sorted) {
  using Scan = hipcub::BlockScan<int, kBlock>;
  using Reduce = hipcub::BlockReduce<int, kBlock>;
  using Sort = hipcub::BlockRadixSort<unsigned, kBlock, kItems>;
  __shared__ union {
    typename Scan::TempStorage scan;
    typename Reduce::TempStorage reduce;
    typename Sort::TempStorage sort;
  } shared;
  const unsigned first = blockIdx.x * kTile + threadIdx.x * kItems;
  int values[kItems], prefix[kItems];
  unsigned keys[kItems];
  for (int i = 0; i < kItems; i++) {
    values[i] = in[first + unsigned(i)];
    keys[i] = unsigned(values[i]);
  }
  Scan(shared.scan).InclusiveSum(values, prefix);
  __syncthreads();
  const int largest = Reduce(shared.reduce).Reduce(max(max(values[0], values[1]), values[2]), hipcub::Max());
  __syncthreads();
  Sort(shared.sort).Sort(keys);
  for (int i = 0; i < kItems; i++) {
    scanned[first + unsigned(i)] = prefix[i];
    sorted[first + unsigned(i)] = keys[i];
  }
  if (threadIdx.x == 0)
    totals[blockIdx.x] = largest;
}

__global__ void waves(const int* in, int* scanned, int* sums) {
  using Scan = hipcub::WarpScan<int>;
  using Reduce = hipcub::WarpReduce<int, 16>;
  __shared__ typename Scan::TempStorage scan_storage[kBlock / 64];
  __shared__ typename Reduce::TempStorage reduce_storage[kBlock / 16];
  int result;
  Scan(scan_storage[threadIdx.x / 64]).ExclusiveSum(in[threadIdx.x], result);
  scanned[threadIdx.x] = result;
  const int sum = Reduce(reduce_storage[threadIdx.x / 16]).Sum(in[threadIdx.x]);
  if (threadIdx.x % 16 == 0)
    sums[threadIdx.x / 16] = sum;
}

int main() {
  Check check("block_algorithms");
  constexpr int kBlocks = 3, n = kBlocks * kTile;
  Rng rng(64);
  std::vector<int> in(n), scanned(n), largest(kBlocks, -2147483647 - 1);
  std::vector<unsigned> sorted(n);
  for (int i = 0; i < n; i++) {
    const size_t at = size_t(i), block = at / kTile;
    in[at] = int(rng.below(2000000)) - 1000000;
    sorted[at] = unsigned(in[at]);
    scanned[at] = in[at] + (i % kTile ? scanned[at - 1] : 0);
    largest[block] = std::max(largest[block], in[at]);
  }
  for (int block = 0; block < kBlocks; block++)
    std::sort(sorted.begin() + block * kTile, sorted.begin() + (block + 1) * kTile);
  DeviceBuffer<int> d_in(in), d_scanned(n), d_largest(kBlocks);
  DeviceBuffer<unsigned> d_sorted(n);
  blocks<<<kBlocks, kBlock>>>(d_in.get(), d_scanned.get(), d_largest.get(), d_sorted.get());
  HIP_CHECK_LAUNCH();
  check.all_equal("BlockScan", d_scanned.download(), scanned);
  check.all_equal("BlockReduce", d_largest.download(), largest);
  check.all_equal("BlockRadixSort", d_sorted.download(), sorted);

  std::vector<int> wave_scanned(kBlock), sums(kBlock / 16);
  for (size_t i = 0; i < kBlock; i++) {
    wave_scanned[i] = i % 64 ? wave_scanned[i - 1] + in[i - 1] : 0;
    sums[i / 16] += in[i];
  }
  DeviceBuffer<int> d_wave(kBlock), d_sums(sums.size());
  waves<<<1, kBlock>>>(d_in.get(), d_wave.get(), d_sums.get());
  HIP_CHECK_LAUNCH();
  check.all_equal("WarpScan", d_wave.download(), wave_scanned);
  check.all_equal("WarpReduce", d_sums.download(), sums);
  return check.finish();
}
