// Included by tests/data/inlined.hip, from another folder.
#define __device__ __attribute__((device))
static inline __device__ float twice(float x) { return x + x; }
static inline __device__ void double_one(float* p) {
  float* mine = p + __builtin_amdgcn_workitem_id_x();
  *mine = twice(*mine);
}
