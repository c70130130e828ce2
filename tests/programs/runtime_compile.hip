// hipRTC and the module API: compile source at run time, load it, find kernels and globals by name, launch with an argument array and
// with a packed buffer; and the log of a compile error.
#include <hip/hiprtc.h>

#include "check.hpp"

#define RTC_CHECK(call)                                                                       \
  do {                                                                                        \
    const hiprtcResult rtc_status = (call);                                                   \
    if (rtc_status != HIPRTC_SUCCESS) {                                                       \
      std::printf("FAIL %s:%d: %s: %s\n", __FILE__, __LINE__, #call, hiprtcGetErrorString(rtc_status)); \
      return 1;                                                                               \
    }                                                                                         \
  } while (0)

const char* kSource = R"(
extern "C" __device__ int bias = 4;
extern "C" __global__ void affine(const int* in, int* out, int factor, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * factor + bias + OFFSET;
}
template <class T, int kShift>
__global__ void shift(T* data, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = data[i] << kShift;
}
)";

int main() {
  Check check("runtime_compile");
  hiprtcProgram program;
  RTC_CHECK(hiprtcCreateProgram(&program, kSource, "affine.hip", 0, nullptr, nullptr));
  RTC_CHECK(hiprtcAddNameExpression(program, "shift<unsigned, 3>"));
  const char* options[] = {"--offload-arch=gfx942", "-DOFFSET=1000"};
  RTC_CHECK(hiprtcCompileProgram(program, 2, options));
  const char* lowered = nullptr;
  RTC_CHECK(hiprtcGetLoweredName(program, "shift<unsigned, 3>", &lowered));
  const std::string shift_name = lowered;
  size_t size = 0;
  RTC_CHECK(hiprtcGetCodeSize(program, &size));
  std::vector<char> code(size);
  RTC_CHECK(hiprtcGetCode(program, code.data()));
  RTC_CHECK(hiprtcDestroyProgram(&program));

  hipModule_t module;
  hipFunction_t affine, shift;
  HIP_CHECK(hipModuleLoadData(&module, code.data()));
  HIP_CHECK(hipModuleGetFunction(&affine, module, "affine"));
  HIP_CHECK(hipModuleGetFunction(&shift, module, shift_name.c_str()));
  check.that(hipModuleGetFunction(&affine, module, "no_such_kernel") != hipSuccess, "an unknown kernel is refused");
  HIP_CHECK(hipModuleGetFunction(&affine, module, "affine"));
  hipDeviceptr_t bias;
  size_t bias_size = 0;
  HIP_CHECK(hipModuleGetGlobal(&bias, &bias_size, module, "bias"));
  check.equal("size of bias", 0, bias_size, sizeof(int));
  const int new_bias = -77;
  HIP_CHECK(hipMemcpyHtoD(bias, const_cast<int*>(&new_bias), sizeof new_bias));

  unsigned n = 205;
  std::vector<int> in(n), expected(n);
  int factor = 9;
  for (unsigned i = 0; i < n; i++) {
    in[i] = int(i) - 50;
    expected[i] = in[i] * factor + new_bias + 1000;
  }
  DeviceBuffer<int> d_in(in), d_out(n);
  const int* p_in = d_in.get();
  int* p_out = d_out.get();
  void* arguments[] = {&p_in, &p_out, &factor, &n};
  HIP_CHECK(hipModuleLaunchKernel(affine, ceil_div(n, 64), 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  HIP_CHECK(hipDeviceSynchronize());
  check.all_equal("affine", d_out.download(), expected);

  struct {
    int* data;
    unsigned n;
  } packed{p_out, n};
  size_t packed_size = sizeof packed;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &packed_size, HIP_LAUNCH_PARAM_END};
  HIP_CHECK(hipModuleLaunchKernel(shift, ceil_div(n, 64), 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra));
  HIP_CHECK(hipDeviceSynchronize());
  for (int& value : expected)
    value = int(unsigned(value) << 3);
  check.all_equal("shift", d_out.download(), expected);
  HIP_CHECK(hipModuleUnload(module));

  RTC_CHECK(hiprtcCreateProgram(&program, "extern \"C\" __global__ void broken() { undeclared = 1; }", "broken.hip", 0, nullptr, nullptr));
  check.that(hiprtcCompileProgram(program, 0, nullptr) == HIPRTC_ERROR_COMPILATION, "a broken program does not compile");
  RTC_CHECK(hiprtcGetProgramLogSize(program, &size));
  std::string log(size, '\0');
  RTC_CHECK(hiprtcGetProgramLog(program, log.data()));
  check.that(log.find("undeclared") != std::string::npos, "the log names the mistake");
  RTC_CHECK(hiprtcDestroyProgram(&program));
  return check.finish();
}
