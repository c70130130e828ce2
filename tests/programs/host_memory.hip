// Memory kinds and copies: pinned, mapped and managed memory used by both sides, registered host memory, 2D copies, fills,
// pointer attributes, and memory information.
#include "check.hpp"

__managed__ unsigned managed_total = 3;

__global__ void increment(unsigned* data, unsigned n, unsigned by) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] += by + i;
  if (i == 0)
    managed_total += n;
}

void check_increments(Check& check, const char* where, const unsigned* data, unsigned n, unsigned start, unsigned by) {
  for (unsigned i = 0; i < n; i++)
    check.equal(where, i, data[i], start + by + i);
}

int main() {
  Check check("host_memory");
  constexpr unsigned n = 1001;
  const unsigned blocks = ceil_div(n, 128);

  unsigned* pinned = nullptr;
  HIP_CHECK(hipHostMalloc(reinterpret_cast<void**>(&pinned), n * sizeof(unsigned), hipHostMallocMapped));
  std::fill(pinned, pinned + n, 7u);
  unsigned* mapped = nullptr;
  HIP_CHECK(hipHostGetDevicePointer(reinterpret_cast<void**>(&mapped), pinned, 0));
  increment<<<blocks, 128>>>(mapped, n, 10);
  HIP_CHECK_LAUNCH();
  check_increments(check, "pinned", pinned, n, 7, 10);

  unsigned* managed = nullptr;
  HIP_CHECK(hipMallocManaged(reinterpret_cast<void**>(&managed), n * sizeof(unsigned)));
  std::fill(managed, managed + n, 100u);
  increment<<<blocks, 128>>>(managed, n, 20);
  HIP_CHECK_LAUNCH();
  check_increments(check, "managed", managed, n, 100, 20);
  check.equal("managed variable", 0, managed_total, 3 + 2 * n);

  // Rows of 23 words inside pitched rows, there and back.
  constexpr size_t kWidth = 23, kHeight = 9;
  unsigned* pitched = nullptr;
  size_t pitch = 0;
  HIP_CHECK(hipMallocPitch(reinterpret_cast<void**>(&pitched), &pitch, kWidth * 4, kHeight));
  check.that(pitch >= kWidth * 4, "pitch holds a row");
  std::vector<unsigned> in(kWidth * kHeight), out(kWidth * kHeight);
  for (size_t i = 0; i < in.size(); i++)
    in[i] = unsigned(i * 2654435761u);
  HIP_CHECK(hipMemcpy2D(pitched, pitch, in.data(), kWidth * 4, kWidth * 4, kHeight, hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy2D(out.data(), kWidth * 4, pitched, pitch, kWidth * 4, kHeight, hipMemcpyDeviceToHost));
  check.all_equal("2D copy", out, in);

  DeviceBuffer<unsigned> a(n), b(n);
  HIP_CHECK(hipMemsetD32(reinterpret_cast<hipDeviceptr_t>(a.get()), int(0xdeadbeefu), n));
  HIP_CHECK(hipMemset(reinterpret_cast<char*>(a.get()) + 5, 0x11, 6));
  HIP_CHECK(hipMemcpy(b.get(), a.get(), n * sizeof(unsigned), hipMemcpyDeviceToDevice));
  const std::vector<unsigned> filled = b.download();
  check.equal("fill", 0, filled[0], 0xdeadbeefu);
  check.equal("fill", 1, filled[1], 0x111111efu);
  check.equal("fill", 2, filled[2], 0xde111111u);
  check.equal("fill", n - 1, filled[n - 1], 0xdeadbeefu);
  HIP_CHECK(hipMemcpy(out.data(), a.get(), 4, hipMemcpyDefault));
  check.equal("direction found out", 0, out[0], 0xdeadbeefu);

  hipPointerAttribute_t attributes;
  HIP_CHECK(hipPointerGetAttributes(&attributes, a.get()));
  check.that(attributes.type == hipMemoryTypeDevice, "hipMalloc gives device memory");
  size_t free_bytes = 0, total_bytes = 0;
  HIP_CHECK(hipMemGetInfo(&free_bytes, &total_bytes));
  check.that(free_bytes > 0 && free_bytes <= total_bytes, "free memory is within the total");

  hipDeviceProp_t properties;
  HIP_CHECK(hipGetDeviceProperties(&properties, 0));
  check.equal("wave size", 0, properties.warpSize, 64);
  check.that(std::string(properties.gcnArchName).rfind("gfx942", 0) == 0, "the device is a gfx942");
  check.equal("LDS", 0, properties.sharedMemPerBlock, size_t{65536});
  check.that(hipFree(reinterpret_cast<char*>(a.get()) + 4) != hipSuccess, "freeing the middle of a buffer is refused");
  (void)hipGetLastError();
  HIP_CHECK(hipFree(pitched));
  HIP_CHECK(hipFree(managed));
  HIP_CHECK(hipHostFree(pinned));
  return check.finish();
}
