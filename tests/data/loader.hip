// A code object with everything the loader reads: several kernels, device variables, a relocation, hidden arguments.
// Needs no headers, so that it compiles without a toolchain folder.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))

__device__ int counter = 7;
__device__ int* pointer_to_counter = &counter;
__constant__ float table[4] = {1, 2, 3, 4};
__device__ char big[1 << 20];

extern "C" __global__ void copy(float* out, const float* in, int n) {
  __shared__ float tile[256];
  unsigned i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
  tile[i % 256] = in[i];
  __builtin_amdgcn_s_barrier();
  if (i < n) out[i] = tile[255 - i % 256] + table[i % 4];
}

template <int N>
__global__ __attribute__((amdgpu_flat_work_group_size(1, 128))) void fill(int* p) {
  *p = N + counter + big[N] + *pointer_to_counter;
}
template __global__ void fill<3>(int*);

struct Point {
  double x;
  char tag;
};
extern "C" __global__ void argument_layout(char a, Point b, short c, void* d) {
  *static_cast<double*>(d) = a + b.x + b.tag + c + __builtin_amdgcn_grid_size_x() + __builtin_amdgcn_workgroup_size_y();
}
