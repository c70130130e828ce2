// The float math library against double on the CPU, within the error bounds that the HIP documentation gives (in ULP).
#include "check.hpp"

constexpr unsigned kFunctions = 35;

__device__ float evaluate(unsigned function, float x, float y) {
  switch (function) {
    case 0: return sinf(x);
    case 1: return cosf(x);
    case 2: return tanf(x);
    case 3: return asinf(x);
    case 4: return acosf(x);
    case 5: return atanf(x);
    case 6: return atan2f(x, y);
    case 7: return sinhf(x);
    case 8: return coshf(x);
    case 9: return tanhf(x);
    case 10: return expf(x);
    case 11: return exp2f(x);
    case 12: return expm1f(x);
    case 13: return logf(x);
    case 14: return log2f(x);
    case 15: return log10f(x);
    case 16: return log1pf(x);
    case 17: return powf(x, y);
    case 18: return sqrtf(x);
    case 19: return rsqrtf(x);
    case 20: return cbrtf(x);
    case 21: return hypotf(x, y);
    case 22: return erff(x);
    case 23: return erfcf(x);
    case 24: return tgammaf(fabsf(x));
    case 25: return fmodf(x, y);
    case 26: return remainderf(x, y);
    case 27: return x / y;
    case 28: return floorf(x) + ceilf(y);
    case 29: return rintf(x) - truncf(y);
    case 30: return roundf(x) + copysignf(1, y);
    case 31: return ldexpf(x, int(y));
    case 32: return fmaf(x, y, x);
    case 33: return fdimf(x, y) + fminf(x, y);
    default: return nextafterf(x, y);
  }
}

struct Function {
  const char* name;
  double ulps;
  double (*oracle)(double x, double y);
};

const Function kTable[kFunctions] = {
    {"sinf", 2, [](double x, double) { return std::sin(x); }},
    {"cosf", 2, [](double x, double) { return std::cos(x); }},
    {"tanf", 4, [](double x, double) { return std::tan(x); }},
    {"asinf", 4, [](double x, double) { return std::asin(x); }},
    {"acosf", 4, [](double x, double) { return std::acos(x); }},
    {"atanf", 4, [](double x, double) { return std::atan(x); }},
    {"atan2f", 4, [](double x, double y) { return std::atan2(x, y); }},
    {"sinhf", 4, [](double x, double) { return std::sinh(x); }},
    {"coshf", 4, [](double x, double) { return std::cosh(x); }},
    {"tanhf", 4, [](double x, double) { return std::tanh(x); }},
    {"expf", 2, [](double x, double) { return std::exp(x); }},
    {"exp2f", 2, [](double x, double) { return std::exp2(x); }},
    {"expm1f", 2, [](double x, double) { return std::expm1(x); }},
    {"logf", 3, [](double x, double) { return std::log(x); }},
    {"log2f", 2, [](double x, double) { return std::log2(x); }},
    {"log10f", 3, [](double x, double) { return std::log10(x); }},
    {"log1pf", 2, [](double x, double) { return std::log1p(x); }},
    {"powf", 4, [](double x, double y) { return std::pow(x, y); }},
    {"sqrtf", 1, [](double x, double) { return std::sqrt(x); }},
    {"rsqrtf", 2, [](double x, double) { return 1 / std::sqrt(x); }},
    {"cbrtf", 2, [](double x, double) { return std::cbrt(x); }},
    {"hypotf", 4, [](double x, double y) { return std::hypot(x, y); }},
    {"erff", 4, [](double x, double) { return std::erf(x); }},
    {"erfcf", 4, [](double x, double) { return std::erfc(x); }},
    {"tgammaf", 8, [](double x, double) { return std::tgamma(std::fabs(x)); }},
    {"fmodf", 0, [](double x, double y) { return std::fmod(x, y); }},
    {"remainderf", 0, [](double x, double y) { return std::remainder(x, y); }},
    {"division", 0.5, [](double x, double y) { return x / y; }},
    {"floorf + ceilf", 0.5, [](double x, double y) { return std::floor(x) + std::ceil(y); }},
    {"rintf - truncf", 0.5, [](double x, double y) { return std::rint(x) - std::trunc(y); }},
    {"roundf + copysignf", 0.5, [](double x, double y) { return std::round(x) + std::copysign(1, y); }},
    {"ldexpf", 0, [](double x, double y) { return std::ldexp(x, int(y)); }},
    {"fmaf", 0.500001, [](double x, double y) { return x * y + x; }},
    {"fdimf + fminf", 0.5, [](double x, double y) { return double(float(std::fdim(x, y))) + std::fmin(x, y); }},
    {"nextafterf", 0, [](double x, double y) { return double(std::nextafter(float(x), float(y))); }},
};

__global__ void sweep(const float* x, const float* y, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[blockIdx.y * n + i] = evaluate(blockIdx.y, x[i], y[i]);
}

int main() {
  Check check("math_float");
  std::vector<float> x = {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, INFINITY, -INFINITY, NAN, 0x1p-126f, 1e-30f, 88.0f, 3.14159274f, 1e5f, 4.5f, 1e10f};
  std::vector<float> y = {1.0f, -2.0f, 0.5f, 3.0f, 2.0f, 2.0f, 3.0f, 1.0f, 1.5f, 7.0f, -1.0f, 2.0f, 17.0f, -0.25f, 3.0f};
  Rng rng(2024);
  for (double range : {1.0, 10.0, 80.0}) {
    for (int i = 0; i < 60; i++) {
      x.push_back(float(rng.uniform(-range, range)));
      y.push_back(float(rng.uniform(-range, range) / 2));
    }
  }
  const unsigned n = unsigned(x.size());
  DeviceBuffer<float> d_x(x), d_y(y), d_out(n * kFunctions);
  sweep<<<dim3(ceil_div(n, 64), kFunctions), 64>>>(d_x.get(), d_y.get(), d_out.get(), n);
  HIP_CHECK_LAUNCH();
  const std::vector<float> got = d_out.download();
  for (unsigned f = 0; f < kFunctions; f++)
    for (unsigned i = 0; i < n; i++) {
      const std::string where = std::string(kTable[f].name) + "(" + std::to_string(x[i]) + ", " + std::to_string(y[i]) + ")";
      // Half an ULP of slack for rounding the oracle's double.
      check.float_ulps(where.c_str(), i, got[f * n + i], kTable[f].oracle(x[i], y[i]), kTable[f].ulps + (kTable[f].ulps >= 1 ? 0.5 : 1e-6));
    }
  return check.finish();
}
