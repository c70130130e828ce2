// The double math library against long double on the CPU, within the error bounds that the HIP documentation gives (in ULP).
#include "check.hpp"

constexpr unsigned kFunctions = 20;

__device__ double evaluate(unsigned function, double x, double y) {
  switch (function) {
    case 0: return sin(x);
    case 1: return cos(x);
    case 2: return tan(x);
    case 3: return atan2(x, y);
    case 4: return exp(x);
    case 5: return exp2(x);
    case 6: return expm1(x);
    case 7: return log(x);
    case 8: return log1p(x);
    case 9: return pow(x, y);
    case 10: return sqrt(x);
    case 11: return rsqrt(x);
    case 12: return cbrt(x);
    case 13: return erf(x);
    case 14: return tgamma(fabs(x));
    case 15: return fmod(x, y);
    case 16: return x / y;
    case 17: return floor(x) + rint(y);
    case 18: return fma(x, y, x);
    default: return ldexp(x, int(y));
  }
}

struct Function {
  const char* name;
  double ulps;
  long double (*oracle)(long double x, long double y);
};

const Function kTable[kFunctions] = {
    {"sin", 2, [](long double x, long double) { return std::sin(x); }},
    {"cos", 2, [](long double x, long double) { return std::cos(x); }},
    {"tan", 4, [](long double x, long double) { return std::tan(x); }},
    {"atan2", 4, [](long double x, long double y) { return std::atan2(x, y); }},
    {"exp", 2, [](long double x, long double) { return std::exp(x); }},
    {"exp2", 2, [](long double x, long double) { return std::exp2(x); }},
    {"expm1", 2, [](long double x, long double) { return std::expm1(x); }},
    {"log", 2, [](long double x, long double) { return std::log(x); }},
    {"log1p", 2, [](long double x, long double) { return std::log1p(x); }},
    {"pow", 4, [](long double x, long double y) { return std::pow(x, y); }},
    {"sqrt", 0.5, [](long double x, long double) { return static_cast<long double>(std::sqrt(double(x))); }},
    {"rsqrt", 2, [](long double x, long double) { return 1 / std::sqrt(x); }},
    {"cbrt", 2, [](long double x, long double) { return std::cbrt(x); }},
    {"erf", 4, [](long double x, long double) { return std::erf(x); }},
    {"tgamma", 10, [](long double x, long double) { return std::tgamma(std::fabs(x)); }},
    {"fmod", 0, [](long double x, long double y) { return std::fmod(x, y); }},
    {"division", 0.5, [](long double x, long double y) { return static_cast<long double>(double(x) / double(y)); }},
    {"floor + rint", 0.5, [](long double x, long double y) { return std::floor(x) + std::rint(y); }},
    {"fma", 0.5, [](long double x, long double y) { return static_cast<long double>(std::fma(double(x), double(y), double(x))); }},
    {"ldexp", 0, [](long double x, long double y) { return std::ldexp(x, int(y)); }},
};

__global__ void sweep(const double* x, const double* y, double* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[blockIdx.y * n + i] = evaluate(blockIdx.y, x[i], y[i]);
}

int main() {
  Check check("math_double");
  std::vector<double> x = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 0x1p-1022, 0x1p-1070, 700.0, 3.141592653589793, 1e5, 4.5};
  std::vector<double> y = {1.0, -2.0, 0.5, 3.0, 2.0, 3.0, 1.0, 1.5, 2.0, -1.0, 2.0, 17.0, -0.25};
  Rng rng(2025);
  for (double range : {1.0, 10.0, 100.0})
    for (int i = 0; i < 50; i++) {
      x.push_back(rng.uniform(-range, range));
      y.push_back(rng.uniform(-range, range) / 2);
    }
  const unsigned n = unsigned(x.size());
  DeviceBuffer<double> d_x(x), d_y(y), d_out(n * kFunctions);
  sweep<<<dim3(ceil_div(n, 64), kFunctions), 64>>>(d_x.get(), d_y.get(), d_out.get(), n);
  HIP_CHECK_LAUNCH();
  const std::vector<double> got = d_out.download();
  for (unsigned f = 0; f < kFunctions; f++)
    for (unsigned i = 0; i < n; i++) {
      const std::string where = std::string(kTable[f].name) + "(" + std::to_string(x[i]) + ", " + std::to_string(y[i]) + ")";
      // Beyond the slack for rounding the oracle to double: half an ULP, where the bound is not exact anyway.
      const double slack = kTable[f].ulps > 0.5 ? 0.5 : 0;
      const double expected = double(kTable[f].oracle(x[i], y[i]));
      check.double_ulps(where.c_str(), i, got[f * n + i], expected, (slack > 0 ? kTable[f].ulps : 0) + slack);
    }
  return check.finish();
}
