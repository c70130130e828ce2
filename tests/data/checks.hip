// Kernels with one mistake each, for the tests of the memory and race checks, and clean relatives of them. They need no headers.
// The tests find the lines by the marks in the comments.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))

typedef __attribute__((address_space(3))) unsigned lds_unsigned;

__device__ inline unsigned thread() { return __builtin_amdgcn_workitem_id_x(); }
__device__ inline unsigned block() { return __builtin_amdgcn_workgroup_id_x(); }
__device__ inline void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
__device__ inline unsigned add(unsigned* counter, unsigned value) {
  return __hip_atomic_fetch_add(counter, value, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
}

// ---- LDS ----

extern "C" __global__ void lds_read_race(unsigned* out) {
  __shared__ unsigned tile[128];
  tile[thread()] = thread();  // mark: lds_read_race writes
  __builtin_amdgcn_wave_barrier();
  out[block() * 128 + thread()] = tile[127 - thread()];  // mark: lds_read_race reads
}

extern "C" __global__ void lds_read_clean(unsigned* out) {
  __shared__ unsigned tile[128];
  tile[thread()] = thread();
  barrier();
  out[block() * 128 + thread()] = tile[127 - thread()];
}

// The second round overwrites what other waves still read.
extern "C" __global__ void lds_write_race(unsigned* out) {
  __shared__ unsigned tile[128];
  tile[thread()] = thread();
  barrier();
  unsigned value = tile[127 - thread()];  // mark: lds_write_race reads
  out[thread()] = value;
  tile[thread()] = value + 1000;  // mark: lds_write_race writes
  barrier();
  out[thread()] += tile[127 - thread()];
}

extern "C" __global__ void lds_byte_neighbours(unsigned char* out) {
  __shared__ unsigned char bytes[256];
  // Every second byte is the other wave's: no byte is shared.
  const unsigned wave = thread() / 64, lane = thread() % 64;
  bytes[2 * lane + wave] = static_cast<unsigned char>(thread());
  out[thread()] = bytes[2 * lane + wave];
  bytes[2 * lane + wave] = static_cast<unsigned char>(lane);
  out[thread()] ^= bytes[2 * lane + wave];
}

extern "C" __global__ void lds_same_value(unsigned* out) {
  __shared__ unsigned found;
  if (thread() == 0) found = 0;
  barrier();
  if (out[thread()] < 1000000) found = 1;  // everybody writes the same
  barrier();
  out[thread()] = found;
}

extern "C" __global__ void lds_histogram(unsigned* out, unsigned synchronised) {
  __shared__ unsigned bins[128];
  bins[thread()] = 0;
  barrier();
  __hip_atomic_fetch_add(&bins[(thread() * 7) % 128], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);  // mark: lds_histogram adds
  if (synchronised) barrier();
  out[thread()] = bins[127 - thread()];  // mark: lds_histogram reads
}

extern "C" __global__ void lds_uninitialised(unsigned* out) {
  __shared__ unsigned tile[128];
  if (thread() != 5) tile[thread()] = thread();
  barrier();
  out[thread()] = tile[thread() ^ 64];  // mark: lds_uninitialised reads
}

// ---- Global memory ----

extern "C" __global__ void global_read(const unsigned* in, unsigned* out) {
  const unsigned i = block() * 64 + thread();
  out[i] = in[i];  // mark: global_read reads
}

extern "C" __global__ void global_count(unsigned* counter) {
  add(counter, 1);  // mark: global_count adds
}

extern "C" __global__ void global_write_race(unsigned* out) {
  out[thread()] = block();  // mark: global_write_race writes
}

extern "C" __global__ void global_same_value(unsigned* out) { out[thread()] = 7; }

extern "C" __global__ void global_read_race(unsigned* data) {
  const unsigned i = block() * 64 + thread();
  data[i] = i + 1;  // mark: global_read_race writes
  if (block() != 0) data[4096 + i] = data[i - 64];  // mark: global_read_race reads
}

// The last block to come adds up what the others wrote.
extern "C" __global__ void global_last_block(unsigned* data, unsigned* counter, unsigned blocks, unsigned* sum) {
  __shared__ unsigned last;
  data[block() * 64 + thread()] = block();
  barrier();
  if (thread() == 0) last = add(counter, 1) == blocks - 1;
  barrier();
  if (!last) return;
  unsigned total = 0;
  for (unsigned b = 0; b < blocks; ++b) total += data[b * 64 + thread()];
  sum[thread()] = total;
}

// Each block waits for the one before it.
extern "C" __global__ void global_chain(unsigned* flags, unsigned* data) {
  if (block() != 0 && thread() == 0)
    while (__hip_atomic_load(&flags[block() - 1], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) __builtin_amdgcn_s_sleep(1);
  barrier();
  const unsigned before = block() == 0 ? 0 : data[(block() - 1) * 64 + thread()];
  data[block() * 64 + thread()] = before + 1;
  barrier();
  if (thread() == 0) __hip_atomic_store(&flags[block()], 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

// ---- Barriers and waiting ----

extern "C" __global__ void divergent_barrier(unsigned* out) {
  if (thread() % 64 < 32) {
    out[thread()] = 1;
    barrier();  // mark: divergent_barrier waits
  }
  out[128 + thread()] = 2;  // mark: divergent_barrier goes on
}

extern "C" __global__ void early_return(unsigned* out, unsigned n) {
  __shared__ unsigned tile[256];
  if (thread() >= n) return;
  tile[thread()] = thread();
  barrier();
  out[thread()] = tile[n - 1 - thread()];
}

extern "C" __global__ void wait_for_nobody(unsigned* flag) {
  while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0) {  // mark: wait_for_nobody waits
  }
}

// Lanes of one wave take the lock from each other: the one that has it waits for those that want it.
extern "C" __global__ void lane_lock(unsigned* lock, unsigned* count) {
  unsigned expected = 0;
  while (!__hip_atomic_compare_exchange_strong(lock, &expected, 1u, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) {  // mark: lane_lock waits
    expected = 0;
  }
  *count += 1;
  __hip_atomic_store(lock, 0u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

// Slow, but not stuck.
extern "C" __global__ void long_loop(unsigned* out, unsigned turns) {
  unsigned x = thread();
  for (unsigned k = 0; k < turns; ++k) x = x * 1664525u + 1013904223u;
  out[thread()] = x;
}

// ---- Waiting for memory: what compilers do and inline assembly may forget ----

extern "C" __global__ void use_before_vector_load(const unsigned* in, unsigned* out) {
  unsigned value;
  asm volatile("global_load_dword %0, %1, off" : "=&v"(value) : "v"(in + thread()));  // mark: use_before_vector_load loads
  asm volatile("v_add_u32 %0, 1, %0" : "+v"(value));                                  // mark: use_before_vector_load uses
  out[thread()] = value;
}

// The first of two loads has arrived, not the second.
extern "C" __global__ void two_vector_loads(const unsigned* in, unsigned* out, unsigned second_too) {
  unsigned first, second;
  asm volatile(
      "global_load_dword %0, %2, off\n"
      "global_load_dword %1, %2, off offset:256\n"
      "s_waitcnt vmcnt(1)\n"
      "v_add_u32 %0, 1, %0"
      : "=&v"(first), "=&v"(second) : "v"(in + thread()));
  if (second_too) asm volatile("v_add_u32 %0, %0, %1" : "+v"(first) : "v"(second));
  asm volatile("s_waitcnt vmcnt(0)");
  out[thread()] = first;
}

extern "C" __global__ void use_before_scalar_load(const unsigned* in, unsigned* out) {
  unsigned value;
  asm volatile("s_load_dword %0, %1, 0x0\n s_add_u32 %0, %0, 1" : "=&s"(value) : "s"(in) : "scc");
  out[thread()] = value;
}

// Scalar loads come back in any order: a wait for all but one of them says nothing.
extern "C" __global__ void count_scalar_loads(const unsigned* in, unsigned* out) {
  unsigned first, second;
  asm volatile("s_load_dword %0, %2, 0x0\n s_load_dword %1, %2, 0x4\n s_waitcnt lgkmcnt(1)\n s_add_u32 %0, %0, 1" : "=&s"(first), "=&s"(second) : "s"(in) : "scc");
  out[thread()] = first;
}

extern "C" __global__ void use_before_lds_load(unsigned* out, unsigned wait) {
  __shared__ unsigned tile[64];
  tile[thread()] = thread();
  unsigned value;
  if (wait)
    asm volatile("ds_read_b32 %0, %1\n s_waitcnt lgkmcnt(0)\n v_add_u32 %0, 1, %0" : "=&v"(value) : "v"((lds_unsigned*)&tile[thread()]));
  else
    asm volatile("ds_read_b32 %0, %1\n v_add_u32 %0, 1, %0" : "=&v"(value) : "v"((lds_unsigned*)&tile[thread()]));
  out[thread()] = value;
}

// FLAT may go to LDS: it counts in both counters.
extern "C" __global__ void wait_for_half_of_flat(const unsigned* in, unsigned* out, unsigned both) {
  unsigned value;
  if (both)
    asm volatile("flat_load_dword %0, %1\n s_waitcnt vmcnt(0) lgkmcnt(0)\n v_add_u32 %0, 1, %0" : "=&v"(value) : "v"(in + thread()));
  else
    asm volatile("flat_load_dword %0, %1\n s_waitcnt vmcnt(0)\n v_add_u32 %0, 1, %0" : "=&v"(value) : "v"(in + thread()));
  out[thread()] = value;
}

extern "C" __global__ void overwritten_by_a_late_load(const unsigned* in, unsigned* out) {
  unsigned value;
  asm volatile("global_load_dword %0, %1, off\n v_mov_b32 %0, 7\n s_waitcnt vmcnt(0)" : "=&v"(value) : "v"(in + thread()));
  out[thread()] = value;
}

// Lanes that were not switched on have nothing to wait for.
extern "C" __global__ void other_lanes_use_the_register(const unsigned* in, unsigned* out) {
  unsigned value = 0;
  asm volatile(
      "s_mov_b64 s[20:21], exec\n"
      "s_mov_b64 exec, 1\n"
      "global_load_dword %0, %1, off\n"
      "s_mov_b64 exec, 2\n"
      "v_add_u32 %0, 1, %0\n"
      "s_waitcnt vmcnt(0)\n"
      "s_mov_b64 exec, s[20:21]"
      : "+v"(value) : "v"(in + thread()) : "s20", "s21");
  out[thread()] = value;
}

// ---- Registers to which nothing was written ----

extern "C" __global__ void accumulator_without_start(float* out) {
  float sum;
  asm volatile("v_fmac_f32 v40, 1.0, 2.0" ::: "v40");  // mark: accumulator_without_start adds
  asm volatile("v_add_f32 %0, v40, v40" : "=v"(sum));
  out[thread()] = sum;  // mark: accumulator_without_start stores
}

extern "C" __global__ void matrix_without_start(float* out) {
  float sum;
  asm volatile("v_mov_b32 v40, 0\nv_mov_b32 v41, 0\nv_mov_b32 v42, 0\ns_nop 1\n"
               "v_mfma_f32_4x4x1_16b_f32 v[40:43], v40, v41, v[40:43]\ns_nop 7"
               ::: "v40", "v41", "v42", "v43");
  asm volatile("v_mov_b32 %0, v40" : "=v"(sum));
  out[thread()] = sum;  // clean: of the four only v43 was not set
  asm volatile("v_mov_b32 %0, v43" : "=v"(sum));
  out[64 + thread()] = sum;  // mark: matrix_without_start stores
}

extern "C" __global__ void address_without_start(float* out) {
  float value;
  asm volatile("global_load_dword %0, v[44:45], off\ns_waitcnt vmcnt(0)" : "=v"(value) :: "v44", "v45");  // mark: address_without_start loads
  out[thread()] = value;
}

// Lanes from 32 on hold nothing. all: they store it.
extern "C" __global__ void half_of_the_lanes(float* out, unsigned all) {
  float value;
  if (thread() < 32) asm volatile("v_mov_b32 v40, 1.0" ::: "v40");
  if (thread() < 32 || all != 0) {
    asm volatile("v_mov_b32 %0, v40" : "=v"(value));
    out[thread()] = value;
  }
}

// What nothing was written to is read, but does not matter.
extern "C" __global__ void registers_that_do_not_matter(float* out) {
  float value;
  asm volatile("v_mov_b32 v40, 1.0\ns_mov_b64 vcc, 0\nv_cndmask_b32 %0, v40, v41, vcc" : "=v"(value) :: "v40", "v41", "vcc");
  out[thread()] = value;
  asm volatile("v_mov_b32 v42, 1.0\nv_lshlrev_b64 v[44:45], 1, v[42:43]\nv_mov_b32 %0, v44" : "=v"(value) :: "v42", "v43", "v44", "v45");
  out[thread()] = value;
  asm volatile("v_writelane_b32 v46, 5, 3\nv_mov_b32 %0, v46" : "=v"(value) :: "v46");
  out[thread()] = value;
  asm volatile("v_mov_b32 v47, 1.0\nv_mov_b32 v48, v49\nv_perm_b32 %0, v47, v48, 0" : "=v"(value) :: "v47", "v48", "v49");
  out[thread()] = value;
}
