#include "emulator/timing/parameters.hpp"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <cmath>

namespace hipbench::emulator {

extern const char* const kMi300xTimingToml;  // generated from mi300x.toml

namespace {

// Changes with the model's code.
constexpr u32 kModelRevision = 1;

struct Entry {
  std::string_view name;
  f64& (*place)(TimingParameters&);
};

#define HIPBENCH_TIMING(group, field)                                            \
  Entry {                                                                        \
    #group "." #field, [](TimingParameters& p) -> f64& { return p.group.field; } \
  }
constexpr Entry kEntries[] = {
    HIPBENCH_TIMING(device, clock_mhz),
    HIPBENCH_TIMING(device, xcds),
    HIPBENCH_TIMING(device, cus_per_xcd),
    HIPBENCH_TIMING(device, shader_engines_per_xcd),
    HIPBENCH_TIMING(device, launch_overhead_us),
    HIPBENCH_TIMING(device, launch_gap_us),
    HIPBENCH_TIMING(device, workgroup_launch_clocks),
    HIPBENCH_TIMING(device, waves_launched_per_clock),
    HIPBENCH_TIMING(issue, valu_clocks),
    HIPBENCH_TIMING(issue, straddle_clocks),
    HIPBENCH_TIMING(issue, transcendental_clocks),
    HIPBENCH_TIMING(issue, double_clocks),
    HIPBENCH_TIMING(issue, packed_f32_after_mfma_clocks),
    HIPBENCH_TIMING(issue, scalar_clocks),
    HIPBENCH_TIMING(issue, branch_taken_clocks),
    HIPBENCH_TIMING(issue, branch_not_taken_clocks),
    HIPBENCH_TIMING(issue, barrier_clocks),
    HIPBENCH_TIMING(issue, sleep_clocks),
    HIPBENCH_TIMING(instruction_cache, bytes),
    HIPBENCH_TIMING(instruction_cache, line_bytes),
    HIPBENCH_TIMING(instruction_cache, miss_clocks),
    HIPBENCH_TIMING(lds, latency_b32),
    HIPBENCH_TIMING(lds, latency_b64),
    HIPBENCH_TIMING(lds, latency_b128),
    HIPBENCH_TIMING(lds, port_bytes_per_clock),
    HIPBENCH_TIMING(lds, write_extra_clocks),
    HIPBENCH_TIMING(lds, queue_entries),
    HIPBENCH_TIMING(lds, crossbar_clocks),
    HIPBENCH_TIMING(vector_memory, lanes_per_clock),
    HIPBENCH_TIMING(vector_memory, segment_bytes),
    HIPBENCH_TIMING(vector_memory, queue_entries),
    HIPBENCH_TIMING(scalar_memory, hit_clocks),
    HIPBENCH_TIMING(scalar_memory, miss_clocks),
    HIPBENCH_TIMING(l1, bytes),
    HIPBENCH_TIMING(l1, sets),
    HIPBENCH_TIMING(l1, hit_clocks),
    HIPBENCH_TIMING(l1, fill_bytes_per_clock),
    HIPBENCH_TIMING(l1, write_bytes_per_clock),
    HIPBENCH_TIMING(l2, bytes),
    HIPBENCH_TIMING(l2, ways),
    HIPBENCH_TIMING(l2, channels),
    HIPBENCH_TIMING(l2, interleave_bytes),
    HIPBENCH_TIMING(l2, hit_clocks),
    HIPBENCH_TIMING(l2, channel_bytes_per_clock),
    HIPBENCH_TIMING(infinity_cache, bytes),
    HIPBENCH_TIMING(infinity_cache, hit_clocks),
    HIPBENCH_TIMING(infinity_cache, terabytes_per_second),
    HIPBENCH_TIMING(hbm, clocks),
    HIPBENCH_TIMING(hbm, terabytes_per_second),
    HIPBENCH_TIMING(transfers, host_gigabytes_per_second),
    HIPBENCH_TIMING(sampling, traced_instructions),
    HIPBENCH_TIMING(sampling, quantum_clocks),
};
#undef HIPBENCH_TIMING

std::string fingerprint(std::string_view text) {
  u64 hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<u8>(c)) * 0x100000001b3;
  return fmt::format("{:08x}", static_cast<u32>(hash ^ hash >> 32));
}

}  // namespace

Result<void> TimingParameters::set(std::string_view name, f64 value) {
  if (!std::isfinite(value) || value <= 0) return Error{fmt::format("{}: {} is not a positive number", name, value)};
  for (const Entry& entry : kEntries)
    if (entry.name == name) {
      entry.place(*this) = value;
      return {};
    }
  return Error{fmt::format("the timing model has no constant {}", name)};
}

Result<TimingParameters> parse_timing_parameters(std::string_view text) {
  toml::table document;
  try {
    document = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return Error{fmt::format("timing constants, line {}: {}", error.source().begin.line, error.description())};
  }
  TimingParameters parameters{};
  size_t found = 0;
  for (const auto& [group_name, group] : document) {
    if (!group.is_table()) return Error{fmt::format("timing constants: {} is not a table", group_name.str())};
    for (const auto& [name, node] : *group.as_table()) {
      const std::string full = fmt::format("{}.{}", group_name.str(), name.str());
      const toml::table* entry = node.as_table();
      const auto value = entry != nullptr ? (*entry)["value"].value<f64>() : std::nullopt;
      const bool explained = value && (*entry)["unit"].is_string() && (*entry)["source"].is_string();
      if (!explained) return Error{fmt::format("timing constants: {} needs a value, a unit and a source", full)};
      TRY(parameters.set(full, *value));
      ++found;
    }
  }
  if (found != std::size(kEntries))
    return Error{fmt::format("timing constants: {} of {} are given", found, std::size(kEntries))};
  return parameters;
}

const TimingParameters& mi300x_timing() {
  static const TimingParameters parameters = [] {
    Result<TimingParameters> parsed = parse_timing_parameters(kMi300xTimingToml);
    CHECK(parsed.has_value(), parsed.has_value() ? "" : parsed.error().message);
    return *parsed;
  }();
  return parameters;
}

std::string_view timing_model_version() {
  static const std::string version = fmt::format("mi300x-{}.{}", kModelRevision, fingerprint(kMi300xTimingToml));
  return version;
}

}  // namespace hipbench::emulator
