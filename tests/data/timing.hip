// Micro-benchmarks for the timing model: each repeats one thing `n` times 64-fold, so that two launches of different n tell its time.
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))

#define LANE __builtin_amdgcn_workitem_id_x()

// `body` 64 times, n times. It may use v0 (the lane's number) to v63 and s0 to s31.
#define REPEAT(name, setup, body) REPEAT_BEHIND(name, setup, "", body)
// `head` comes before them each time.
#define REPEAT_BEHIND(name, setup, head, body)                                                                                           \
  extern "C" __global__ void name(int n) {                                                                                  \
    __shared__ float storage[8192];                                                                                         \
    asm volatile("" ::"v"(storage));                                                                                        \
    asm volatile("v_mov_b32 v0, %1\n v_mov_b32 v1, 0\n" setup                                                                  \
                 "\n s_mov_b32 s0, %0\n s_waitcnt vmcnt(0) lgkmcnt(0)\n .p2align 6\n"                                         \
                 "1:\n" head "\n .rept 64\n" body "\n .endr\n s_sub_u32 s0, s0, 1\n s_cmp_lg_u32 s0, 0\n s_cbranch_scc1 1b\n"           \
                 "s_waitcnt lgkmcnt(0)\n" ::"s"(n), "v"(LANE)                                                               \
                 : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",   \
                   "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", \
                   "v31", "v32", "v33", "v34", "v35", "v36", "v37", "v38", "v39", "v40", "v41", "v42", "v43", "v44", "v45", \
                   "v46", "v47", "s0", "s1", "s2", "s3", "scc", "memory");                                                  \
  }

REPEAT(valu, "", "v_add_f32 v1, v1, v1")
REPEAT(valu_packed, "", "v_pk_add_f32 v[2:3], v[2:3], v[2:3]\n v_pk_add_f32 v[4:5], v[4:5], v[4:5]")
REPEAT(valu_exp, "", "v_exp_f32 v1, v2")
REPEAT(valu_exp_add, "", "v_exp_f32 v1, v2\n v_add_f32 v3, v3, v3")
REPEAT_BEHIND(valu_straddling, "", "s_nop 0", "v_fma_f32 v1, v2, v2, v2")
REPEAT(salu, "", "s_add_u32 s1, s1, s1")
REPEAT(nop, "", "s_nop 3")
REPEAT(sleep, "", "s_sleep 2")
REPEAT(branch, "", "s_branch 2f\n s_nop 0\n 2:")
REPEAT(barrier, "", "s_barrier")

#define MFMA_BF16 "v_mfma_f32_16x16x16_bf16 v[8:11], v[2:3], v[2:3], v[8:11]\n"
REPEAT(mfma_bf16, "", MFMA_BF16 "v_mfma_f32_16x16x16_bf16 v[12:15], v[2:3], v[2:3], v[12:15]")
REPEAT(mfma_f16, "", "v_mfma_f32_32x32x8_f16 v[8:23], v[2:3], v[2:3], v[8:23]")
REPEAT(mfma_fp8, "", "v_mfma_f32_32x32x16_fp8_fp8 v[8:23], v[2:3], v[2:3], v[8:23]")
REPEAT(mfma_fp8_small, "", "v_mfma_f32_16x16x32_fp8_fp8 v[8:11], v[2:3], v[2:3], v[8:11]")
#define ADD "v_add_f32 v1, v2, v2\n"
REPEAT(mfma_3_valu, "", MFMA_BF16 ADD ADD ADD)
REPEAT(mfma_4_valu, "", MFMA_BF16 ADD ADD ADD ADD)
REPEAT(mfma_exp, "", MFMA_BF16 "v_exp_f32 v1, v2")
REPEAT(mfma_2_exp, "", MFMA_BF16 "v_exp_f32 v1, v2\n v_exp_f32 v4, v2")
REPEAT(mfma_packed, "", MFMA_BF16 "v_pk_add_f32 v[4:5], v[4:5], v[4:5]")
REPEAT(mfma_3_valu_mfma_exp, "", MFMA_BF16 ADD ADD ADD MFMA_BF16 "v_exp_f32 v1, v2")

// LDS: addresses in v1. Latency: each read waits for the one before.
#define SCALE(bytes) "v_mul_u32_u24 v1, " #bytes ", v0"
REPEAT(lds_latency_b32, SCALE(4), "ds_read_b32 v2, v1\n s_waitcnt lgkmcnt(0)")
REPEAT(lds_latency_b128, SCALE(16), "ds_read_b128 v[4:7], v1\n s_waitcnt lgkmcnt(0)")
REPEAT(lds_read_b32, SCALE(4), "ds_read_b32 v2, v1")
REPEAT(lds_read_b128, SCALE(16), "ds_read_b128 v[4:7], v1")
REPEAT(lds_write_b32, SCALE(4), "ds_write_b32 v1, v2")
REPEAT(lds_write_b128, SCALE(16), "ds_write_b128 v1, v[4:7]")
REPEAT(lds_conflict_8, SCALE(32), "ds_read_b32 v2, v1")
REPEAT(lds_conflict_32, SCALE(128), "ds_read_b32 v2, v1")
REPEAT(lds_swizzle, "", "ds_swizzle_b32 v2, v0 offset:0x8000\n s_waitcnt lgkmcnt(0)")

extern "C" __global__ void empty(int) {}

// One lane goes along a chain of pointers, 64 n steps.
extern "C" __global__ void chase(unsigned long first, int n) {
  asm volatile("v_mov_b32 v2, %0\n v_mov_b32 v3, %1\n s_mov_b32 s0, %2\n 1:\n .rept 64\n global_load_dwordx2 v[2:3], v[2:3], off\n"
               "s_waitcnt vmcnt(0)\n .endr\n s_sub_u32 s0, s0, 1\n s_cmp_lg_u32 s0, 0\n s_cbranch_scc1 1b\n" ::"s"(static_cast<int>(first)),
               "s"(static_cast<int>(first >> 32)), "s"(n)
               : "v2", "v3", "s0", "scc", "memory");
}
extern "C" __global__ void chase_scalar(unsigned long first, int n) {
  asm volatile("s_mov_b64 s[2:3], %0\n s_mov_b32 s0, %1\n 1:\n .rept 64\n s_load_dwordx2 s[2:3], s[2:3], 0x0\n s_waitcnt lgkmcnt(0)\n .endr\n"
               "s_sub_u32 s0, s0, 1\n s_cmp_lg_u32 s0, 0\n s_cbranch_scc1 1b\n" ::"s"(first), "s"(n)
               : "s0", "s2", "s3", "scc", "memory");
}

typedef float float4 __attribute__((ext_vector_type(4)));
inline __attribute__((device, always_inline)) long item() {
  return static_cast<long>(__builtin_amdgcn_workgroup_id_x()) * __builtin_amdgcn_workgroup_size_x() + LANE;
}
extern "C" __global__ void copy(float4* to, const float4* from) { to[item()] = from[item()]; }
extern "C" __global__ void triad(float4* to, const float4* a, const float4* b) { to[item()] = a[item()] + 0.4f * b[item()]; }
extern "C" __global__ void scale(float4* to, const float4* from) { to[item()] = 0.4f * from[item()]; }

// Every workgroup reads the same `bytes` again and again, or its own, 16 bytes a lane.
extern "C" __global__ void reread(const char* from, int bytes, int own, int n) {
  const char* mine = from + static_cast<long>(own) * __builtin_amdgcn_workgroup_id_x();
  float4 sum = 0;
  for (int k = 0; k < n; ++k)
    for (int at = static_cast<int>(LANE) * 16; at < bytes; at += 8 * 16 * static_cast<int>(__builtin_amdgcn_workgroup_size_x())) {
#pragma unroll
      for (int u = 0; u < 8; ++u) {
        float4 value;
        asm volatile("global_load_dwordx4 %0, %1, off" : "=v"(value) : "v"(mine + at + u * 16 * static_cast<int>(__builtin_amdgcn_workgroup_size_x())));
        asm volatile("" ::"v"(value));
      }
    }
  asm volatile("s_waitcnt vmcnt(0)");
}

// In each XCD but one all workgroups load the same line over and over, without waiting. In the XCD `working` they follow a chain of
// pointers: as many instructions and bytes.
extern "C" __global__ void work_in_one_xcd(unsigned long chain, int n, unsigned working) {
  const bool works = __builtin_amdgcn_workgroup_id_x() % 8 == working;
  unsigned long at = chain, seen = 0;
  for (int k = 0; k < n; ++k) {
    const unsigned long next = *(const volatile unsigned long*)at;
    if (works) at = next; else seen ^= next;
  }
  if (at == 1 || seen == 1) *(volatile unsigned long*)chain = at;
}
