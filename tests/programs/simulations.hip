// Classic demonstrations: game of life on a torus, n-body with LDS tiles, a Mandelbrot set, and a heat stencil in double.
#include "check.hpp"

__global__ void life(const uint8_t* from, uint8_t* to, int width, int height) {
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= width || y >= height)
    return;
  int neighbours = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
      if (dx != 0 || dy != 0)
        neighbours += from[(y + dy + height) % height * width + (x + dx + width) % width];
  const uint8_t alive = from[y * width + x];
  to[y * width + x] = neighbours == 3 || (alive && neighbours == 2);
}

constexpr unsigned kBodiesPerTile = 64;

__global__ void accelerations(const float4* bodies, float4* out, unsigned n) {
  __shared__ float4 tile[kBodiesPerTile];
  const unsigned i = blockIdx.x * kBodiesPerTile + threadIdx.x;
  const float4 me = i < n ? bodies[i] : float4{0, 0, 0, 0};
  float ax = 0, ay = 0, az = 0;
  for (unsigned start = 0; start < n; start += kBodiesPerTile) {
    tile[threadIdx.x] = start + threadIdx.x < n ? bodies[start + threadIdx.x] : float4{0, 0, 0, 0};
    __syncthreads();
    for (unsigned j = 0; j < kBodiesPerTile; j++) {
      const float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      const float strength = tile[j].w * inverse * inverse * inverse;
      ax += dx * strength;
      ay += dy * strength;
      az += dz * strength;
    }
    __syncthreads();
  }
  if (i < n)
    out[i] = float4{ax, ay, az, 0};
}

__host__ __device__ unsigned escape_time(int px, int py) {
#pragma clang fp contract(off)  // the CPU has to take the same path
  const double cx = -2.0 + px * (3.0 / 64), cy = -1.5 + py * (3.0 / 64);
  double x = 0, y = 0;
  unsigned step = 0;
  while (x * x + y * y <= 4 && step < 100) {
    const double next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    step++;
  }
  return step;
}

__global__ void mandelbrot(unsigned* out, int width, int height) {
  const int x = int(blockIdx.x * 16 + threadIdx.x), y = int(blockIdx.y * 16 + threadIdx.y);
  if (x < width && y < height)
    out[y * width + x] = escape_time(x, y);
}

__global__ void heat(const double* from, double* to, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n)
    to[i] = 0.5 * from[i] + 0.25 * from[i == 0 ? n - 1 : i - 1] + 0.25 * from[i == n - 1 ? 0 : i + 1];  // exact: powers of two
}

int main() {
  Check check("simulations");
  constexpr int kWidth = 75, kHeight = 41;
  Rng rng(77);
  std::vector<uint8_t> world(kWidth * kHeight), next(kWidth * kHeight);
  for (uint8_t& cell : world)
    cell = rng.below(3) == 0;
  DeviceBuffer<uint8_t> a(world), b(world.size());
  for (int step = 0; step < 6; step++) {
    life<<<dim3(5, 6), dim3(16, 8)>>>(step % 2 ? b.get() : a.get(), step % 2 ? a.get() : b.get(), kWidth, kHeight);
    for (int y = 0; y < kHeight; y++)
      for (int x = 0; x < kWidth; x++) {
        int around = 0;
        for (int k = 0; k < 9; k++)
          around += k == 4 ? 0 : world[size_t((y + k / 3 - 1 + kHeight) % kHeight * kWidth + (x + k % 3 - 1 + kWidth) % kWidth)];
        next[size_t(y * kWidth + x)] = around == 3 || (world[size_t(y * kWidth + x)] && around == 2);
      }
    std::swap(world, next);
  }
  HIP_CHECK_LAUNCH();
  check.all_equal("life", a.download(), world);

  for (unsigned n : {10u, 130u}) {
    std::vector<float4> bodies(n);
    for (float4& body : bodies)
      body = float4{float(rng.uniform(-1, 1)), float(rng.uniform(-1, 1)), float(rng.uniform(-1, 1)), float(rng.uniform(0.1, 1))};
    DeviceBuffer<float4> d_bodies(bodies), d_out(n);
    accelerations<<<ceil_div(n, kBodiesPerTile), kBodiesPerTile>>>(d_bodies.get(), d_out.get(), n);
    HIP_CHECK_LAUNCH();
    const auto got = d_out.download();
    for (unsigned i = 0; i < n; i++) {
      double sum[3] = {}, magnitude = 0;
      for (unsigned j = 0; j < n; j++) {
        const double d[3] = {double(bodies[j].x) - bodies[i].x, double(bodies[j].y) - bodies[i].y, double(bodies[j].z) - bodies[i].z};
        const double strength = bodies[j].w / std::pow(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01, 1.5);
        for (int k = 0; k < 3; k++) {
          sum[k] += d[k] * strength;
          magnitude += std::fabs(d[k] * strength);
        }
      }
      check.close("n-body x", i, got[i].x, sum[0], 1e-5 * magnitude);
      check.close("n-body y", i, got[i].y, sum[1], 1e-5 * magnitude);
      check.close("n-body z", i, got[i].z, sum[2], 1e-5 * magnitude);
    }
  }

  DeviceBuffer<unsigned> steps(70 * 50);
  mandelbrot<<<dim3(5, 4), dim3(16, 16)>>>(steps.get(), 70, 50);
  HIP_CHECK_LAUNCH();
  const auto image = steps.download();
  for (int i = 0; i < 70 * 50; i++)
    check.equal("mandelbrot", size_t(i), image[size_t(i)], escape_time(i % 70, i / 70));

  constexpr int kCells = 333;
  std::vector<double> rod(kCells), cooler(kCells);
  for (double& cell : rod)
    cell = rng.below(1000);
  DeviceBuffer<double> hot(rod), cold(kCells);
  for (int step = 0; step < 10; step++) {
    heat<<<4, 96>>>(step % 2 ? cold.get() : hot.get(), step % 2 ? hot.get() : cold.get(), kCells);
    for (int i = 0; i < kCells; i++)
      cooler[size_t(i)] = 0.5 * rod[size_t(i)] + 0.25 * rod[size_t((i + kCells - 1) % kCells)] + 0.25 * rod[size_t((i + 1) % kCells)];
    std::swap(rod, cooler);
  }
  HIP_CHECK_LAUNCH();
  check.all_equal("heat", hot.download(), rod);
  return check.finish();
}
