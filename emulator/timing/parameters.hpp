#pragma once
// The constants of the timing model, read from mi300x.toml (which is in the program) with their units and sources.

#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"
#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

struct TimingParameters {
  struct {
    f64 clock_mhz, xcds, cus_per_xcd, shader_engines_per_xcd, launch_overhead_us, launch_gap_us,
        workgroup_launch_clocks, waves_launched_per_clock;
  } device;
  struct {
    f64 valu_clocks, straddle_clocks, transcendental_clocks, double_clocks, packed_f32_after_mfma_clocks, scalar_clocks,
        branch_taken_clocks, branch_not_taken_clocks, barrier_clocks, sleep_clocks;
  } issue;
  struct {
    f64 bytes, line_bytes, miss_clocks;
  } instruction_cache;
  struct {
    f64 latency_b32, latency_b64, latency_b128, port_bytes_per_clock, write_extra_clocks, queue_entries,
        crossbar_clocks;
  } lds;
  struct {
    f64 lanes_per_clock, segment_bytes, queue_entries;
  } vector_memory;
  struct {
    f64 hit_clocks, miss_clocks;
  } scalar_memory;
  struct {
    f64 bytes, sets, hit_clocks, fill_bytes_per_clock, write_bytes_per_clock;
  } l1;
  struct {
    f64 bytes, ways, channels, interleave_bytes, hit_clocks, channel_bytes_per_clock;
  } l2;
  struct {
    f64 bytes, hit_clocks, terabytes_per_second;
  } infinity_cache;
  struct {
    f64 clocks, terabytes_per_second;
  } hbm;
  struct {
    f64 host_gigabytes_per_second;
  } transfers;
  struct {
    f64 traced_instructions, quantum_clocks;
  } sampling;

  // "issue.valu_clocks" and the like; an unknown name is an Error.
  Result<void> set(std::string_view name, f64 value);
};

// The text has every constant exactly once, each a table with value, unit and source.
Result<TimingParameters> parse_timing_parameters(std::string_view toml);

// mi300x.toml as built in. Also what the model calls itself in results: it changes with any constant.
const TimingParameters& mi300x_timing();
std::string_view timing_model_version();

}  // namespace hipbench::emulator
