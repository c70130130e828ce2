// The kernel whose code the executor's fuzz target replaces: two pointers, LDS, scratch, many registers and room for 2 KiB.
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))

extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(1, 256))) fuzz(unsigned* buffer, unsigned* guard) {
  __shared__ unsigned lds[1024];
  volatile unsigned scratch[16];
  const unsigned lane = __builtin_amdgcn_workitem_id_x();
  scratch[lane % 16] = buffer[lane];
  lds[lane] = guard[lane] + scratch[(lane + 1) % 16];
  __builtin_amdgcn_s_barrier();
  asm volatile("v_mov_b32 v100, v0\n v_accvgpr_write_b32 a99, v0\n s_mov_b32 s90, 0" ::: "v100", "a99", "s90");
  buffer[lane] = lds[lane ^ 1];
  asm volatile(".rept 512\n s_nop 0\n .endr");
}
