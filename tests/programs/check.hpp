#pragma once
// What every program of this folder shares: error checks, buffers, a random generator, and the one line that a program
// prints:
//   ok NAME
//   FAIL NAME: where[index]: got X, expected Y

#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#define HIP_CHECK(call)                                                                                                \
  do {                                                                                                                 \
    const hipError_t hip_check_status = (call);                                                                        \
    if (hip_check_status != hipSuccess) {                                                                              \
      std::printf("FAIL %s:%d: %s returned %s (%s)\n", __FILE__, __LINE__, #call, hipGetErrorName(hip_check_status),   \
                  hipGetErrorString(hip_check_status));                                                                \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

// After every `<<<>>>`: the launch was accepted and the kernel ran to its end.
#define HIP_CHECK_LAUNCH()           \
  do {                               \
    HIP_CHECK(hipGetLastError());    \
    HIP_CHECK(hipDeviceSynchronize()); \
  } while (0)

// splitmix64: small, and the same on every host.
class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}
  uint64_t u64() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint32_t u32() { return uint32_t(u64() >> 32); }
  uint32_t below(uint32_t bound) { return uint32_t((uint64_t{u32()} * bound) >> 32); }
  double uniform(double low, double high) { return low + (high - low) * (double(u64() >> 11) * 0x1p-53); }

 private:
  uint64_t state_;
};

// Device memory that holds `size` values of T.
template <class T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t size) : size_(size) {
    HIP_CHECK(hipMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T)));
  }
  explicit DeviceBuffer(const std::vector<T>& values) : DeviceBuffer(values.size()) { upload(values); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { (void)hipFree(data_); }

  T* get() const { return data_; }
  size_t size() const { return size_; }
  void upload(const std::vector<T>& values) {
    HIP_CHECK(hipMemcpy(data_, values.data(), size_ * sizeof(T), hipMemcpyHostToDevice));
  }
  void fill_bytes(int byte) { HIP_CHECK(hipMemset(data_, byte, size_ * sizeof(T))); }
  std::vector<T> download() const {
    std::vector<T> values(size_);
    HIP_CHECK(hipMemcpy(values.data(), data_, size_ * sizeof(T), hipMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  size_t size_;
};

// The value of one unit in the last place of a float (or double) near `value`, denormals included.
inline double float_ulp(double value) {
  const int exponent = value == 0 ? -126 : std::max(std::ilogb(value), -126);
  return std::ldexp(1.0, exponent - 23);
}
inline double double_ulp(double value) {
  const int exponent = value == 0 ? -1022 : std::max(std::ilogb(value), -1022);
  return std::ldexp(1.0, exponent - 52);
}

// Collects comparisons; the first mismatch is the one reported.
class Check {
 public:
  explicit Check(const char* name) : name_(name) {}

  void that(bool condition, const char* where) {
    if (!condition)
      fail(where, 0, "false", "true");
  }

  template <class T>
  void equal(const char* where, size_t index, T got, T expected) {
    if (std::memcmp(&got, &expected, sizeof(T)) != 0)
      fail(where, index, text(got), text(expected));
  }

  template <class T>
  void all_equal(const char* where, const std::vector<T>& got, const std::vector<T>& expected) {
    if (got.size() != expected.size())
      return fail(where, 0, std::to_string(got.size()) + " values", std::to_string(expected.size()) + " values");
    for (size_t i = 0; i < got.size() && ok_; i++)
      equal(where, i, got[i], expected[i]);
  }

  // |got - expected| <= tolerance; NaN and infinities must be the same on both sides.
  void close(const char* where, size_t index, double got, double expected, double tolerance) {
    if (std::isnan(expected)   ? std::isnan(got)
        : std::isinf(expected) ? got == expected
                               : std::fabs(got - expected) <= tolerance)
      return;
    fail(where, index, text(got), text(expected) + " +- " + text(tolerance));
  }

  void float_ulps(const char* where, size_t index, float got, double expected, double ulps) {
    // A float function may overflow where the double oracle does not.
    if (std::fabs(expected) > 0x1.fffffep127 && !std::isinf(expected) && std::isinf(got) && (got > 0) == (expected > 0))
      return;
    close(where, index, got, expected, ulps * float_ulp(std::isfinite(expected) ? expected : 1));
  }
  void double_ulps(const char* where, size_t index, double got, double expected, double ulps) {
    close(where, index, got, expected, ulps * double_ulp(std::isfinite(expected) ? expected : 1));
  }

  // Prints the verdict; the program's exit status.
  int finish() const {
    if (ok_)
      std::printf("ok %s\n", name_);
    else
      std::printf("FAIL %s: %s\n", name_, first_failure_.c_str());
    return ok_ ? 0 : 1;
  }

 private:
  void fail(const char* where, size_t index, const std::string& got, const std::string& expected) {
    if (ok_)
      first_failure_ = std::string(where) + "[" + std::to_string(index) + "]: got " + got + ", expected " + expected;
    ok_ = false;
  }

  template <class T>
  static std::string text(T value) {
    char buffer[64];
    if constexpr (std::is_floating_point_v<T>)
      std::snprintf(buffer, sizeof buffer, "%.17g", double(value));
    else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
      std::snprintf(buffer, sizeof buffer, "%lld", static_cast<long long>(value));
    else if constexpr (std::is_integral_v<T>)
      std::snprintf(buffer, sizeof buffer, "%llu", static_cast<unsigned long long>(value));
    else
      return "(bytes differ)";
    return buffer;
  }

  const char* name_;
  bool ok_ = true;
  std::string first_failure_;
};

inline unsigned ceil_div(unsigned a, unsigned b) { return (a + b - 1) / b; }
