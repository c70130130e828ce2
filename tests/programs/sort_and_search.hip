// Text and key processing: bitonic sort in LDS, string search over overlapping chunks, word counting by boundaries, binary search.
#include "check.hpp"

constexpr unsigned kSort = 512;

__global__ void bitonic_sort(const int* in, int* out, unsigned n) {
  __shared__ int keys[kSort];
  for (unsigned i = threadIdx.x; i < kSort; i += blockDim.x)
    keys[i] = i < n ? in[blockIdx.x * n + i] : 0x7fffffff;
  __syncthreads();
  for (unsigned size = 2; size <= kSort; size *= 2)
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      for (unsigned t = threadIdx.x; t < kSort / 2; t += blockDim.x) {
        const unsigned i = 2 * t - (t & (stride - 1)), j = i + stride;
        const bool ascending = (i & size) == 0;
        if ((keys[i] > keys[j]) == ascending) {
          const int swapped = keys[i];
          keys[i] = keys[j];
          keys[j] = swapped;
        }
      }
      __syncthreads();
    }
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
    out[blockIdx.x * n + i] = keys[i];
}

__global__ void find_all(const char* text, unsigned length, const char* pattern, unsigned pattern_length, unsigned* count, unsigned* first) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i + pattern_length <= length; i += gridDim.x * blockDim.x) {
    unsigned matched = 0;
    while (matched < pattern_length && text[i + matched] == pattern[matched])
      matched++;
    if (matched == pattern_length) {
      atomicAdd(count, 1u);
      atomicMin(first, i);
    }
  }
}

__global__ void count_words(const char* text, unsigned length, unsigned* words) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool starts = i < length && text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
  const unsigned long long mask = __ballot(starts);
  if (threadIdx.x % 64 == 0)
    atomicAdd(words, unsigned(__popcll(mask)));
}

__global__ void lower_bounds(const int* sorted, unsigned n, const int* keys, unsigned* where, unsigned m) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m)
    return;
  unsigned low = 0, high = n;
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (sorted[middle] < keys[i])
      low = middle + 1;
    else
      high = middle;
  }
  where[i] = low;
}

int main() {
  Check check("sort_and_search");
  Rng rng(41);
  for (unsigned n : {1u, 100u, 511u, 512u}) {
    std::vector<int> in(3 * n);
    for (int& value : in)
      value = int(rng.u32());
    DeviceBuffer<int> d_in(in), d_out(in.size());
    bitonic_sort<<<3, 128>>>(d_in.get(), d_out.get(), n);
    HIP_CHECK_LAUNCH();
    for (unsigned block = 0; block < 3; block++)
      std::sort(in.begin() + block * n, in.begin() + (block + 1) * n);
    check.all_equal("bitonic_sort", d_out.download(), in);
    DeviceBuffer<int> keys(in);
    DeviceBuffer<unsigned> where(in.size());
    lower_bounds<<<ceil_div(3 * n, 64), 64>>>(d_out.get(), n, keys.get(), where.get(), 3 * n);
    HIP_CHECK_LAUNCH();
    const auto got = where.download();
    for (unsigned i = 0; i < 3 * n; i++)
      check.equal("lower_bound", i, got[i], unsigned(std::lower_bound(in.begin(), in.begin() + n, in[i]) - in.begin()));
  }

  std::string text;
  for (int i = 0; i < 5000; i++)
    text += "ab "[rng.below(3)];
  for (const std::string pattern : {"a", "abab", "bb a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}) {
    unsigned count = 0, first = ~0u;
    for (size_t at = text.find(pattern); at != std::string::npos; at = text.find(pattern, at + 1)) {
      count++;
      first = std::min(first, unsigned(at));
    }
    DeviceBuffer<char> d_text(std::vector<char>(text.begin(), text.end())), d_pattern(std::vector<char>(pattern.begin(), pattern.end()));
    DeviceBuffer<unsigned> results(std::vector<unsigned>{0, ~0u});
    find_all<<<9, 128>>>(d_text.get(), unsigned(text.size()), d_pattern.get(), unsigned(pattern.size()), results.get(), results.get() + 1);
    HIP_CHECK_LAUNCH();
    check.equal("matches", pattern.size(), results.download()[0], count);
    check.equal("first match", pattern.size(), results.download()[1], first);
  }
  unsigned words = 0;
  for (size_t i = 0; i < text.size(); i++)
    words += text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
  DeviceBuffer<char> d_text(std::vector<char>(text.begin(), text.end()));
  DeviceBuffer<unsigned> d_words(1);
  d_words.fill_bytes(0);
  count_words<<<ceil_div(unsigned(text.size()), 192), 192>>>(d_text.get(), unsigned(text.size()), d_words.get());
  HIP_CHECK_LAUNCH();
  check.equal("words", 0, d_words.download()[0], words);
  return check.finish();
}
