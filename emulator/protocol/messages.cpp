#include "emulator/protocol/messages.hpp"

#include <algorithm>

namespace hipbench::emulator::wire {

void put(Writer& writer, const Rows& rows) {
  writer.put(rows.address);
  writer.put(rows.pitch);
  writer.put(rows.width);
  writer.put(rows.rows);
}

Rows get_rows(Reader& reader) {
  Rows rows;
  rows.address = reader.get<u64>();
  rows.pitch = reader.get<u64>();
  rows.width = reader.get<u64>();
  rows.rows = reader.get<u64>();
  return rows;
}

void put(Writer& writer, const FillRequest& fill) {
  put(writer, fill.to);
  writer.put(fill.value);
  writer.put(fill.value_size);
}

FillRequest get_fill(Reader& reader) {
  FillRequest fill;
  fill.to = get_rows(reader);
  fill.value = reader.get<u32>();
  fill.value_size = reader.get<u32>();
  return fill;
}

void put(Writer& writer, const CopyRequest& copy) {
  put(writer, copy.to);
  writer.put(copy.from);
  writer.put(copy.from_pitch);
}

CopyRequest get_copy(Reader& reader) {
  CopyRequest copy;
  copy.to = get_rows(reader);
  copy.from = reader.get<u64>();
  copy.from_pitch = reader.get<u64>();
  return copy;
}

void put(Writer& writer, const LaunchRequest& launch) {
  writer.put(launch.module);
  writer.put(launch.kernel);
  writer.put(launch.grid);
  writer.put(launch.block);
  writer.put(launch.dynamic_lds);
  writer.put(u8{launch.cooperative});
  writer.put(launch.instruction_limit);
  writer.put(u8{launch.check});
  writer.put(u8{launch.time});
  writer.put(u8{launch.no_eight_bit_math});
  writer.put(static_cast<u32>(launch.kernargs.size()));
  writer.bytes(launch.kernargs);
}

LaunchRequest get_launch(Reader& reader) {
  LaunchRequest launch;
  launch.module = reader.get<u32>();
  launch.kernel = reader.text();
  launch.grid = reader.dim();
  launch.block = reader.dim();
  launch.dynamic_lds = reader.get<u32>();
  launch.cooperative = reader.get<u8>() != 0;
  launch.instruction_limit = reader.get<u64>();
  launch.check = reader.get<u8>() != 0;
  launch.time = reader.get<u8>() != 0;
  launch.no_eight_bit_math = reader.get<u8>() != 0;
  const auto kernargs = reader.bytes(reader.count());
  launch.kernargs.assign(kernargs.begin(), kernargs.end());
  return launch;
}

namespace {

void put(Writer& writer, const KernelInfo& kernel) {
  writer.put(kernel.name);
  writer.put(kernel.demangled);
  writer.put(static_cast<u32>(kernel.arguments.size()));
  for (const KernelArgument& argument : kernel.arguments) {
    writer.put(argument.name);
    writer.put(argument.value_kind);
    writer.put(argument.offset);
    writer.put(argument.size);
    writer.put(argument.type_name);
  }
  for (const u32 field : {kernel.kernarg_segment_size, kernel.explicit_kernarg_size, kernel.static_lds,
                          kernel.scratch_per_lane, kernel.max_flat_workgroup_size, kernel.required_workgroup_size[0],
                          kernel.required_workgroup_size[1], kernel.required_workgroup_size[2], kernel.vgprs,
                          kernel.agprs, kernel.sgprs, kernel.vgpr_spills, kernel.sgpr_spills, kernel.allocated_vgprs})
    writer.put(field);
  writer.put(u8{kernel.dynamic_stack});
}

KernelInfo get_kernel(Reader& reader) {
  KernelInfo kernel;
  kernel.name = reader.text();
  kernel.demangled = reader.text();
  for (u32 n = reader.count(); n > 0; --n) {
    KernelArgument argument;
    argument.name = reader.text();
    argument.value_kind = reader.text();
    argument.offset = reader.get<u32>();
    argument.size = reader.get<u32>();
    argument.type_name = reader.text();
    kernel.arguments.push_back(std::move(argument));
  }
  for (u32* field : {&kernel.kernarg_segment_size, &kernel.explicit_kernarg_size, &kernel.static_lds,
                     &kernel.scratch_per_lane, &kernel.max_flat_workgroup_size, &kernel.required_workgroup_size[0],
                     &kernel.required_workgroup_size[1], &kernel.required_workgroup_size[2], &kernel.vgprs,
                     &kernel.agprs, &kernel.sgprs, &kernel.vgpr_spills, &kernel.sgpr_spills, &kernel.allocated_vgprs})
    *field = reader.get<u32>();
  kernel.dynamic_stack = reader.get<u8>() != 0;
  return kernel;
}

void put(Writer& writer, const FaultReport& report) {
  writer.put(report.kind);
  writer.put(report.message);
  writer.put(report.kernel);
  writer.put(report.workgroup);
  writer.put(report.wave);
  writer.put(report.lane);
  writer.put(report.pc);
  writer.put(report.instruction);
  writer.put(report.source);
}

FaultReport get_report(Reader& reader) {
  FaultReport report;
  report.kind = reader.get<FaultKind>();
  report.message = reader.text();
  report.kernel = reader.text();
  report.workgroup = reader.dim();
  report.wave = reader.get<u32>();
  report.lane = reader.get<int>();
  report.pc = reader.get<u64>();
  report.instruction = reader.text();
  report.source = reader.text();
  return report;
}

// Counters hold 64-bit numbers only, so they travel as they lie.
static_assert(std::is_trivially_copyable_v<Counters> && sizeof(Counters) % sizeof(u64) == 0);
static_assert(std::is_trivially_copyable_v<ClassSeconds> && sizeof(ClassSeconds) == 8 * sizeof(double));

// Its numbers in one fixed order, for both directions.
template <typename Breakdown, typename Visit>
void visit_numbers(Breakdown& b, const Visit& visit) {
  for (auto* number :
       {&b.kernel_seconds, &b.launch_seconds, &b.mfma_busy, &b.valu_busy, &b.lds_busy, &b.vector_memory_busy,
        &b.l1_hit_rate, &b.l2_hit_rate, &b.l2_bytes, &b.beyond_l2_bytes, &b.hbm_bytes, &b.lds_conflicts})
    visit(*number);
  for (auto& share : b.shares) visit(share);
}

void put(Writer& writer, const TimeBreakdown& breakdown) {
  visit_numbers(breakdown, [&](const double& number) { writer.put(number); });
  writer.put(breakdown.traced_workgroups);
  writer.put(static_cast<u32>(breakdown.lines.size()));
  for (const HotLine& line : breakdown.lines) {
    writer.put(line.source);
    writer.put(line.share);
    writer.put(line.cause);
  }
}

TimeBreakdown get_breakdown(Reader& reader) {
  TimeBreakdown breakdown;
  visit_numbers(breakdown, [&](double& number) { number = reader.get<double>(); });
  breakdown.traced_workgroups = reader.get<u64>();
  for (u32 n = reader.count(); n > 0; --n) {
    HotLine line;
    line.source = reader.text();
    line.share = reader.get<double>();
    line.cause = static_cast<TimeCause>(std::min<u8>(reader.get<u8>(), kTimeCauses - 1));
    breakdown.lines.push_back(std::move(line));
  }
  return breakdown;
}

void put(Writer& writer, const LaunchResult& result) {
  put(writer, result.fault);
  writer.bytes(std::as_bytes(std::span(&result.counters, 1)));
  writer.put(result.host_seconds);
  writer.bytes(std::as_bytes(std::span(&result.class_seconds, 1)));
  for (const double modelled : {result.modelled_seconds, result.modelled_saved_seconds, result.modelled_error})
    writer.put(modelled);
  writer.put(result.timing_model);
  put(writer, result.time_breakdown);
  writer.put(result.occupancy_workgroups_per_cu);
  writer.put(result.bytes_written_to_host);
  for (const bool used : {result.used_hostcall, result.used_dispatch_packet, result.used_queue_object})
    writer.put(u8{used});
}

LaunchResult get_result(Reader& reader) {
  LaunchResult result;
  result.fault = get_report(reader);
  const auto counters = reader.bytes(sizeof result.counters);
  if (counters.size() == sizeof result.counters) std::memcpy(&result.counters, counters.data(), counters.size());
  result.host_seconds = reader.get<double>();
  const auto seconds = reader.bytes(sizeof result.class_seconds);
  if (seconds.size() == sizeof result.class_seconds) std::memcpy(&result.class_seconds, seconds.data(), seconds.size());
  for (double* modelled : {&result.modelled_seconds, &result.modelled_saved_seconds, &result.modelled_error})
    *modelled = reader.get<double>();
  result.timing_model = reader.text();
  result.time_breakdown = get_breakdown(reader);
  result.occupancy_workgroups_per_cu = reader.get<u32>();
  result.bytes_written_to_host = reader.get<u64>();
  for (bool* used : {&result.used_hostcall, &result.used_dispatch_packet, &result.used_queue_object})
    *used = reader.get<u8>() != 0;
  return result;
}

}  // namespace

void put(Writer& writer, const ModuleInfo& module) {
  writer.put(module.handle);
  writer.put(static_cast<u32>(module.kernels.size()));
  for (const KernelInfo& kernel : module.kernels) put(writer, kernel);
  writer.put(static_cast<u32>(module.globals.size()));
  for (const GlobalInfo& global : module.globals) {
    writer.put(global.name);
    writer.put(global.address);
    writer.put(global.size);
  }
  writer.put(static_cast<u32>(module.warnings.size()));
  for (const std::string& warning : module.warnings) writer.put(warning);
  writer.put(static_cast<u32>(module.instructions.size()));
  for (const InstructionUse& use : module.instructions) {
    writer.put(use.mnemonic);
    writer.put(use.offset);
    writer.put(use.source);
  }
}

ModuleInfo get_module(Reader& reader) {
  ModuleInfo module;
  module.handle = reader.get<u32>();
  for (u32 n = reader.count(); n > 0; --n) module.kernels.push_back(get_kernel(reader));
  for (u32 n = reader.count(); n > 0; --n) {
    GlobalInfo global;
    global.name = reader.text();
    global.address = reader.get<u64>();
    global.size = reader.get<u64>();
    module.globals.push_back(std::move(global));
  }
  for (u32 n = reader.count(); n > 0; --n) module.warnings.push_back(reader.text());
  for (u32 n = reader.count(); n > 0; --n) {
    InstructionUse use;
    use.mnemonic = reader.text();
    use.offset = reader.get<u64>();
    use.source = reader.text();
    module.instructions.push_back(std::move(use));
  }
  return module;
}

void put(Writer& writer, const OperationFailure& failure) {
  put(writer, failure.report);
  writer.put(failure.text);
  writer.put(u8{failure.refused});
}

OperationFailure get_failure(Reader& reader) {
  OperationFailure failure;
  failure.report = get_report(reader);
  failure.text = reader.text();
  failure.refused = reader.get<u8>() != 0;
  return failure;
}

void put(Writer& writer, const Operation& operation) {
  writer.put(operation.sequence);
  writer.put(operation.client);
  writer.put(operation.kind);
  writer.put(operation.address);
  writer.put(operation.source);
  writer.put(operation.bytes);
  writer.put(operation.timestamp_slot);
  writer.put(operation.module);
  writer.put(operation.kernel);
  writer.put(operation.grid);
  writer.put(operation.block);
  writer.put(operation.dynamic_lds);
  put(writer, operation.result);
  writer.put(operation.refused);
  writer.put(operation.start_ns);
  writer.put(operation.end_ns);
}

Operation get_operation(Reader& reader) {
  Operation operation;
  operation.sequence = reader.get<u64>();
  operation.client = reader.get<u32>();
  operation.kind = reader.get<OperationKind>();
  operation.address = reader.get<u64>();
  operation.source = reader.get<u64>();
  operation.bytes = reader.get<u64>();
  operation.timestamp_slot = reader.get<u32>();
  operation.module = reader.get<u32>();
  operation.kernel = reader.text();
  operation.grid = reader.dim();
  operation.block = reader.dim();
  operation.dynamic_lds = reader.get<u32>();
  operation.result = get_result(reader);
  operation.refused = reader.text();
  operation.start_ns = reader.get<u64>();
  operation.end_ns = reader.get<u64>();
  return operation;
}

void put(Writer& writer, const Limits& limits) {
  writer.put(limits.instructions_per_launch);
  writer.put(limits.instructions_in_all);
  writer.put(u8{limits.known_code_only});
  writer.put(u8{limits.check});
  writer.put(u8{limits.time});
  writer.put(u8{limits.no_eight_bit_math});
  writer.put(limits.timing_secret);
}

Limits get_limits(Reader& reader) {
  Limits limits;
  limits.instructions_per_launch = reader.get<u64>();
  limits.instructions_in_all = reader.get<u64>();
  limits.known_code_only = reader.get<u8>() != 0;
  limits.check = reader.get<u8>() != 0;
  limits.time = reader.get<u8>() != 0;
  limits.no_eight_bit_math = reader.get<u8>() != 0;
  limits.timing_secret = reader.get<u64>();
  return limits;
}

}  // namespace hipbench::emulator::wire
