// Kernels for the tests of the device facade. They need no headers.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))

__device__ int bias = 100;

// What the hidden arguments and the dispatch packet say, one word each.
extern "C" __global__ void describe(unsigned* out) {
  if (__builtin_amdgcn_workitem_id_x() + __builtin_amdgcn_workgroup_id_x() + __builtin_amdgcn_workgroup_id_y() != 0) return;
  out[0] = __builtin_amdgcn_workgroup_size_x();
  out[1] = __builtin_amdgcn_workgroup_size_y();
  out[2] = __builtin_amdgcn_workgroup_size_z();
  out[3] = __builtin_amdgcn_grid_size_x();  // from the dispatch packet
  out[4] = __builtin_amdgcn_grid_size_y();
  const auto* implicit = (const __attribute__((address_space(4))) unsigned*)__builtin_amdgcn_implicitarg_ptr();
  out[5] = implicit[0];  // block counts
  out[6] = implicit[1];
  out[7] = implicit[2];
}

extern "C" __global__ void add_bias(int* data, int n) {
  int i = static_cast<int>(__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x());
  if (i < n) data[i] += bias;
}

extern "C" __global__ void clock_now(unsigned long* out) { *out = __builtin_readcyclecounter(); }
// The first clock that the first workgroup sees and, much later, the last.
extern "C" __global__ void clock_span(unsigned long* out) {
  if (__builtin_amdgcn_workgroup_id_x() != 0) return;
  const unsigned long first = __builtin_readcyclecounter();
  unsigned long last = first;
  while (last - first < 100000) last = __builtin_readcyclecounter();
  out[0] = first;
  out[1] = last;
}

extern "C" __global__ void forever(int* flag) {
  while (__atomic_load_n(flag, __ATOMIC_RELAXED) == 0) {
  }
}

extern "C" __global__ void trap() { __builtin_trap(); }
