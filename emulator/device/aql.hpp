#pragma once
// What kernels can see of their queue in memory: the dispatch packet and the queue object, as the HSA runtime lays them
// out. HSA Platform System Architecture Specification 1.2, §2.9.6; AMD's queue object: amd_hsa_queue.h of ROCR (field
// offsets).

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

struct DispatchPacket {
  u16 header = 2;  // type kernel dispatch
  u16 setup = 3;   // dimensions
  u16 workgroup_size_x = 1, workgroup_size_y = 1, workgroup_size_z = 1;
  u16 reserved0 = 0;
  u32 grid_size_x = 1, grid_size_y = 1, grid_size_z = 1;  // work-items
  u32 private_segment_size = 0, group_segment_size = 0;
  u64 kernel_object = 0;  // address of the kernel descriptor
  u64 kernarg_address = 0;
  u64 reserved2 = 0;
  u64 completion_signal = 0;
};
static_assert(sizeof(DispatchPacket) == 64);
// The sizes of the workgroup and of the grid.
inline constexpr u64 kPacketSizesBegin = offsetof(DispatchPacket, workgroup_size_x);
inline constexpr u64 kPacketSizesEnd = offsetof(DispatchPacket, private_segment_size);

// The queue object holds nothing that a kernel needs but the aperture bases (upper halves of flat addresses).
inline constexpr u64 kQueueObjectBytes = 256;
inline constexpr u64 kQueueSharedApertureOffset = 0x40;
inline constexpr u64 kQueuePrivateApertureOffset = 0x44;

// What a cooperative kernel synchronises its grid through (hidden_multigrid_sync_arg), as the device libraries of ROCm
// 6 read it. An ordinary launch has a null pointer there: that is how grid_group::is_valid() knows.
struct GridSync {
  u64 multi_grid = 0;  // only for launches over several GPUs
  u32 grid_id = 0, num_grids = 0;
  u64 previous_threads = 0, all_threads = 0;
  u32 arrived = 0, unused = 0;  // the barrier's own words
  u32 num_workgroups = 0;
  u32 padding = 0;
};
static_assert(sizeof(GridSync) == 48);

}  // namespace hipbench::emulator
