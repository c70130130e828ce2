// hipCUB's device-wide algorithms: reduce, exclusive scan, and radix sort of pairs.
#include <hipcub/device/device_radix_sort.hpp>
#include <hipcub/device/device_reduce.hpp>
#include <hipcub/device/device_scan.hpp>

#include "check.hpp"

// Every hipCUB algorithm is called twice: once for the size of its temporary storage, once to run.
template <class Algorithm>
void with_storage(Algorithm algorithm) {
  size_t bytes = 0;
  HIP_CHECK(algorithm(nullptr, bytes));
  DeviceBuffer<char> storage(std::max(bytes, size_t{1}));
  HIP_CHECK(algorithm(storage.get(), bytes));
  HIP_CHECK(hipDeviceSynchronize());
}

int main() {
  Check check("device_algorithms");
  for (int n : {1, 1000, 20011}) {
    Rng rng{uint64_t(n)};
    const size_t size = size_t(n);
    std::vector<int> in(size), scanned(size);
    std::vector<unsigned> keys(size), order(size);
    int sum = 0;
    for (size_t i = 0; i < size; i++) {
      in[i] = int(rng.below(2001)) - 1000;
      scanned[i] = sum;
      sum += in[i];
      keys[i] = rng.u32() >> 12;
      order[i] = unsigned(i);
    }
    DeviceBuffer<int> d_in(in), d_out(size);
    with_storage([&](void* storage, size_t& bytes) { return hipcub::DeviceReduce::Sum(storage, bytes, d_in.get(), d_out.get(), n); });
    check.equal("DeviceReduce", size, d_out.download()[0], sum);
    with_storage([&](void* storage, size_t& bytes) { return hipcub::DeviceScan::ExclusiveSum(storage, bytes, d_in.get(), d_out.get(), n); });
    check.all_equal("DeviceScan", d_out.download(), scanned);

    DeviceBuffer<unsigned> d_keys(keys), d_order(order), d_sorted(size), d_sorted_order(size);
    with_storage([&](void* storage, size_t& bytes) {
      return hipcub::DeviceRadixSort::SortPairs(storage, bytes, d_keys.get(), d_sorted.get(), d_order.get(), d_sorted_order.get(), n);
    });
    std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
    check.all_equal("DeviceRadixSort order", d_sorted_order.download(), order);
    std::sort(keys.begin(), keys.end());
    check.all_equal("DeviceRadixSort keys", d_sorted.download(), keys);
  }
  return check.finish();
}
