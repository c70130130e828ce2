// Calls whose target is known only at run time: a device table of functions, a pointer fetched from a symbol and passed back as an
// argument, divergent targets within a wave, and virtual functions of objects made on the device.
#include "check.hpp"

using Operation = int (*)(int, int);

__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int multiply(int a, int b) { return a * b; }
__device__ __noinline__ int larger(int a, int b) { return a > b ? a : b; }
__device__ Operation operations[4] = {add, subtract, multiply, larger};

__global__ void call_table(const int* a, const int* b, const unsigned* which, int* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = operations[which[i]](a[i], b[i]);
}

__global__ void call_argument(Operation operation, const int* a, const int* b, int* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = operation(b[i], a[i]);
}

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual unsigned corners() const { return 4; }
};
struct Rectangle : Shape {
  float width, height;
  __device__ Rectangle(float w, float h) : width(w), height(h) {}
  __device__ float area() const override { return width * height; }
};
struct Triangle : Shape {
  float base, height;
  __device__ Triangle(float b, float h) : base(b), height(h) {}
  __device__ float area() const override { return base * height * 0.5f; }
  __device__ unsigned corners() const override { return 3; }
};

__global__ void virtual_calls(float* areas, unsigned* corners, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  Rectangle rectangle(float(i), 2);
  Triangle triangle(float(i), 3);
  const Shape* shape = i % 3 == 0 ? static_cast<const Shape*>(&triangle) : &rectangle;
  areas[i] = shape->area();
  corners[i] = shape->corners();
}

int apply(unsigned which, int a, int b) {
  switch (which) {
    case 0: return int(unsigned(a) + unsigned(b));
    case 1: return int(unsigned(a) - unsigned(b));
    case 2: return int(unsigned(a) * unsigned(b));
    default: return std::max(a, b);
  }
}

int main() {
  Check check("function_pointers");
  constexpr unsigned n = 301;
  Rng rng(11);
  std::vector<int> a(n), b(n), expected(n);
  std::vector<unsigned> which(n);
  for (unsigned i = 0; i < n; i++) {
    a[i] = int(rng.below(20000)) - 10000;
    b[i] = int(rng.below(20000)) - 10000;
    which[i] = rng.below(4);
    expected[i] = apply(which[i], a[i], b[i]);
  }
  DeviceBuffer<int> d_a(a), d_b(b), d_out(n);
  DeviceBuffer<unsigned> d_which(which), d_corners(n);
  call_table<<<ceil_div(n, 100), 100>>>(d_a.get(), d_b.get(), d_which.get(), d_out.get(), n);
  HIP_CHECK_LAUNCH();
  check.all_equal("table", d_out.download(), expected);

  Operation table[4];
  HIP_CHECK(hipMemcpyFromSymbol(table, HIP_SYMBOL(operations), sizeof table));
  for (unsigned w = 0; w < 4; w++) {
    call_argument<<<ceil_div(n, 64), 64>>>(table[w], d_a.get(), d_b.get(), d_out.get(), n);
    HIP_CHECK_LAUNCH();
    const std::vector<int> got = d_out.download();
    for (unsigned i = 0; i < n; i++)
      check.equal("argument", w * 1000 + i, got[i], apply(w, b[i], a[i]));
  }

  DeviceBuffer<float> d_areas(n);
  virtual_calls<<<ceil_div(n, 64), 64>>>(d_areas.get(), d_corners.get(), n);
  HIP_CHECK_LAUNCH();
  const std::vector<float> areas = d_areas.download();
  const std::vector<unsigned> corners = d_corners.download();
  for (unsigned i = 0; i < n; i++) {
    check.equal("area", i, areas[i], i % 3 == 0 ? float(i) * 1.5f : float(i) * 2);
    check.equal("corners", i, corners[i], i % 3 == 0 ? 3u : 4u);
  }
  return check.finish();
}
