// Kernels for the tests of the device server and of libamdhip64; no HIP headers are needed.
#define GLOBAL extern "C" __attribute__((global))

__attribute__((device)) int device_variable = 5;

GLOBAL void store_value(int* to, int value) { *to = value; }

GLOBAL void add_indices(int* to, int first) {
  const unsigned i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  to[i] = first + static_cast<int>(i);
}

// Waits until the host (or an earlier kernel) has written there.
GLOBAL void wait_for_flag(int* flag, int* done) {
  while (__atomic_load_n(flag, __ATOMIC_RELAXED) == 0) __builtin_amdgcn_s_sleep(1);
  *done = 1;
}

GLOBAL void write_at(long* address) { *address = 1; }

GLOBAL void spin_for_ever(int* never) {
  while (__atomic_load_n(never, __ATOMIC_RELAXED) == 0) {
  }
}

GLOBAL __attribute__((amdgpu_flat_work_group_size(1, 128))) void at_most_128(int* to) { *to = 128; }
