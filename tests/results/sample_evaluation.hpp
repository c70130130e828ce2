#pragma once
// An evaluation in which every field differs from its default.

#include <cmath>
#include <limits>

#include "common/files.hpp"
#include "evaluator/evaluation.hpp"

namespace hipbench::results {

inline ShapeResult sample_passed_shape() {
  ShapeResult shape;
  shape.shape = {"m=64,n=64,k=128", {64, 64, 128, 0}};
  shape.verdict = Verdict::pass();
  shape.comparison.passed = true;
  shape.comparison.output = "c";
  shape.comparison.elements = 4096;
  shape.comparison.worst_ratio = 0.5;
  shape.comparison.worst = WorstElement{3, 4, 1.5, 1.25, 0.25, 0.5};
  shape.checked_rows = 16;
  shape.row_count = 64;
  shape.rounds = 3;
  shape.time_us = 4.25;
  shape.time_error = 0.0625;
  shape.timing_model = "mi300x-1.7012c48a";
  shape.wave_instructions = 1'234'567;
  shape.emulation_seconds = 0.75;
  LaunchRecord launch;
  launch.kernel = "gemm<64>(hb_fp8_gemm)";
  launch.grid = {2, 3, 4};
  launch.block = {64, 2, 1};
  launch.dynamic_lds_bytes = 2048;
  launch.host_seconds = 0.5;
  launch.counters = {.instructions = 100,
                     .valu = 50,
                     .salu = 20,
                     .smem = 1,
                     .vmem = 2,
                     .lds = 3,
                     .mfma = 4,
                     .branch = 5,
                     .other = 15,
                     .mfma_flops = 9,
                     .bytes_read = 10,
                     .bytes_written = 11,
                     .barriers = 12,
                     .workgroups = 24,
                     .waves = 48};
  launch.modelled_seconds = 3.5e-6;
  launch.time_breakdown.kernel_seconds = 2.5e-6;
  launch.time_breakdown.launch_seconds = 1e-6;
  launch.time_breakdown.shares = {0.25, 0.5, 0.125, 0, 0, 0.125, 0, 0, 0};
  launch.time_breakdown.mfma_busy = 0.5;
  launch.time_breakdown.valu_busy = 0.25;
  launch.time_breakdown.lds_busy = 0.125;
  launch.time_breakdown.vector_memory_busy = 0.75;
  launch.time_breakdown.l1_hit_rate = 0.875;
  launch.time_breakdown.l2_hit_rate = 0.375;
  launch.time_breakdown.l2_bytes = 8192;
  launch.time_breakdown.beyond_l2_bytes = 4096;
  launch.time_breakdown.hbm_bytes = 2048;
  launch.time_breakdown.lds_conflicts = 0.0625;
  launch.time_breakdown.traced_workgroups = 38;
  launch.time_breakdown.lines = {{"gemm \"quoted\"\\.hip:12", 0.5, emulator::TimeCause::Memory},
                                 {"gemm.hip:3\n", 0.25, emulator::TimeCause::Lds}};
  shape.launches = {launch, launch};
  shape.launches[1].kernel = "reduce";
  shape.launches[1].modelled_seconds = 0;
  shape.launches[1].time_breakdown = {};
  return shape;
}

inline ShapeResult sample_wrong_shape() {
  ShapeResult shape;
  shape.shape = {"m=96,n=576,k=512", {96, 576, 512, 0}};
  shape.verdict = {VerdictKind::WrongResult, "1024 of 55296 elements are wrong",
                   "worst at (70, 3)\nevery row >= 64 is wrong"};
  shape.comparison.output = "c";
  shape.comparison.elements = 55296;
  shape.comparison.mismatches = 1024;
  shape.comparison.non_finite = 7;
  shape.comparison.untouched = 6;
  shape.comparison.worst_ratio = std::numeric_limits<double>::infinity();
  shape.comparison.worst = WorstElement{70, 3, std::nan(""), 2, std::numeric_limits<double>::infinity(), 0.041};
  shape.comparison.pattern = "every row >= 64 is wrong";
  shape.comparison.map = "each sign is 64 rows\nrow 0   ..\nrow 64  ##\n";
  shape.checked_rows = 96;
  shape.row_count = 96;
  shape.rounds = 1;
  return shape;
}

inline Evaluation sample_evaluation(const std::string& source = "__global__ void gemm() {}\n") {
  Evaluation e;
  e.problem = "fp8_gemm";
  e.track = Track::Host;
  e.device = DeviceKind::Emulated;
  e.file = "my gemm.hip";
  e.source = source;
  e.source_sha256 = sha256_hex(source);
  e.seed = 0xfedcba9876543210;
  e.shape_set = "quick";
  e.sandboxed = false;
  e.check = true;
  e.shapes = {sample_passed_shape(), sample_wrong_shape()};
  e.verdict = e.shapes[1].verdict;
  e.kernels = {{"gemm<64>(hb_fp8_gemm)", 128, 64, 40, 2, 1, 32768, 16}, {"reduce", 8, 0, 16, 0, 0, 0, 0}};
  e.warnings = {"v_strange_b32 has no row (gemm.hip:12)"};
  e.stage = Stage::Check;
  e.attempts = 2;
  e.peak_memory_bytes = 123'456'789;
  e.compile_seconds = 1.5;
  e.compile_was_cached = true;
  e.total_seconds = 3.25;
  e.toolchain = "clang 19.1.7, HIP 6.4.43484";
  e.device_description = "emulated MI300X";
  e.started_at = "2026-11-30T09:00:00Z";
  return e;
}

}  // namespace hipbench::results
