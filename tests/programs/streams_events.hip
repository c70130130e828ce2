// Streams and events: order within a stream, waits across streams, asynchronous copies from pinned memory, elapsed times, host
// callbacks, and the errors of misuse.
#include "check.hpp"

__global__ void scale_add(unsigned* data, unsigned n, unsigned factor, unsigned term) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    data[i] = data[i] * factor + term;
}

__global__ void combine(const unsigned* a, const unsigned* b, unsigned* out, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = a[i] ^ (b[i] * 3);
}

int main() {
  Check check("streams_events");
  constexpr unsigned n = 3001, kBytes = n * sizeof(unsigned);
  hipStream_t first, second;
  HIP_CHECK(hipStreamCreate(&first));
  HIP_CHECK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
  hipEvent_t begin, end, first_done, second_done;
  for (hipEvent_t* event : {&begin, &end, &first_done})
    HIP_CHECK(hipEventCreate(event));
  HIP_CHECK(hipEventCreateWithFlags(&second_done, hipEventDisableTiming));

  unsigned *host_a, *host_b, *host_out;
  for (unsigned** pointer : {&host_a, &host_b, &host_out})
    HIP_CHECK(hipHostMalloc(reinterpret_cast<void**>(pointer), kBytes, hipHostMallocDefault));
  DeviceBuffer<unsigned> a(n), b(n), out(n);
  for (unsigned seed = 0; seed < 4; seed++) {
    Rng rng(seed);
    std::vector<unsigned> expected(n);
    for (unsigned i = 0; i < n; i++) {
      host_a[i] = rng.u32();
      host_b[i] = rng.u32();
      const unsigned x = (host_a[i] * 5 + 1) * 7 + 2;
      expected[i] = x ^ ((host_b[i] * 11 + seed) * 3);
    }
    HIP_CHECK(hipEventRecord(begin, first));
    HIP_CHECK(hipMemcpyAsync(a.get(), host_a, kBytes, hipMemcpyHostToDevice, first));
    HIP_CHECK(hipMemcpyAsync(b.get(), host_b, kBytes, hipMemcpyHostToDevice, second));
    scale_add<<<5, 128, 0, first>>>(a.get(), n, 5, 1);
    scale_add<<<5, 128, 0, first>>>(a.get(), n, 7, 2);
    scale_add<<<5, 128, 0, second>>>(b.get(), n, 11, seed);
    HIP_CHECK(hipEventRecord(second_done, second));
    HIP_CHECK(hipStreamWaitEvent(first, second_done, 0));
    combine<<<7, 64, 0, first>>>(a.get(), b.get(), out.get(), n);
    HIP_CHECK(hipMemcpyAsync(host_out, out.get(), kBytes, hipMemcpyDeviceToHost, first));
    HIP_CHECK(hipEventRecord(end, first));
    HIP_CHECK(hipEventSynchronize(end));
    for (unsigned i = 0; i < n; i++)
      check.equal("combine", i, host_out[i], expected[i]);
    float milliseconds = -1;
    HIP_CHECK(hipEventElapsedTime(&milliseconds, begin, end));
    check.that(milliseconds > 0 && milliseconds < 60000, "elapsed time between events is positive and sane");
    HIP_CHECK(hipEventQuery(end));
    HIP_CHECK(hipStreamQuery(first));
  }

  // A host callback runs after the work before it.
  scale_add<<<5, 128, 0, first>>>(a.get(), n, 1, 1);
  bool called = false;
  HIP_CHECK(hipLaunchHostFunc(first, [](void* flag) { *static_cast<bool*>(flag) = true; }, &called));
  HIP_CHECK(hipStreamSynchronize(first));
  check.that(called, "host function was called");

  // Errors are returned, and the sticky last error is cleared by reading it.
  float unused;
  check.that(hipEventElapsedTime(&unused, begin, second_done) != hipSuccess, "an event without timing has no elapsed time");
  (void)hipGetLastError();
  check.that(hipGetLastError() == hipSuccess, "last error is cleared");
  check.that(hipMemcpy(nullptr, host_a, 16, hipMemcpyHostToDevice) != hipSuccess, "copy to null is refused");
  (void)hipGetLastError();

  for (hipEvent_t event : {begin, end, first_done, second_done})
    HIP_CHECK(hipEventDestroy(event));
  HIP_CHECK(hipStreamDestroy(first));
  HIP_CHECK(hipStreamDestroy(second));
  for (unsigned* pointer : {host_a, host_b, host_out})
    HIP_CHECK(hipHostFree(pointer));
  return check.finish();
}
