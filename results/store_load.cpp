// Store::list and Store::load.
#include <fmt/format.h>

#include <SQLiteCpp/VariadicBind.h>

#include <algorithm>
#include <charconv>

#include "results/comparability.hpp"
#include "results/connection.hpp"
#include "results/rows.hpp"

namespace hipbench::results {

namespace {

Result<Track> read_track(const std::string& word) {
  for (const Track track : {Track::Kernel, Track::Host}) {
    if (to_string(track) == word) return track;
  }
  return unknown_word("track", word);
}

Result<DeviceKind> read_device(const std::string& word) {
  for (const DeviceKind device : {DeviceKind::Emulated, DeviceKind::Hip}) {
    if (to_string(device) == word) return device;
  }
  return unknown_word("device", word);
}

template <typename Number>
Result<Number> read_number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return unknown_word("number", text);
  return value;
}

Result<std::vector<int32_t>> read_values(std::string_view text) {
  std::vector<int32_t> values;
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    values.push_back(TRY(read_number<int32_t>(text.substr(0, space))));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return values;
}

Result<Evaluation> read_evaluation(SQLite::Database& database, int64_t id) {
  SQLite::Statement query(
      database,
      "SELECT started_at, problem, track, device, file, source_sha256, text, seed, shape_set, "
      "sandboxed, memory_checks, verdict, "
      "reason, evidence, compile_seconds, compile_was_cached, total_seconds, toolchain, stage, attempts, "
      "peak_memory_bytes, device_description "
      "FROM evaluations JOIN sources ON sha256 = source_sha256 WHERE id = ?");
  query.bind(1, id);
  if (!query.executeStep()) return Error{fmt::format("there is no evaluation {}; `hipbench report` lists them", id)};
  Row row(query);
  Evaluation e;
  e.started_at = row.text();
  e.problem = row.text();
  e.track = TRY(read_track(row.text()));
  e.device = TRY(read_device(row.text()));
  e.file = row.text();
  e.source_sha256 = row.text();
  e.source = row.text();
  e.seed = TRY(read_number<uint64_t>(row.text()));
  e.shape_set = row.text();
  e.sandboxed = row.boolean();
  e.check = row.boolean();
  e.verdict.kind = TRY(read_verdict(row.text()));
  e.verdict.reason = row.text();
  e.verdict.evidence = row.text();
  e.compile_seconds = row.real();
  e.compile_was_cached = row.boolean();
  e.total_seconds = row.real();
  e.toolchain = row.text();
  // Older evaluations have none.
  e.stage = stage_from(row.text()).value_or(e.verdict.passed() ? Stage::Done : Stage::Plan);
  e.attempts = static_cast<int>(row.integer());
  e.peak_memory_bytes = row.unsigned_integer();
  e.device_description = row.text();
  return e;
}

Comparison read_comparison(Row& row) {
  Comparison c;
  c.passed = row.boolean();
  c.output = row.text();
  c.elements = row.integer();
  c.mismatches = row.integer();
  c.non_finite = row.integer();
  c.untouched = row.integer();
  c.worst_ratio = row.real();
  c.pattern = row.text();
  if (row.next_is_null()) {
    row.skip(6);
    return c;
  }
  WorstElement worst;
  worst.row = row.integer();
  worst.column = row.integer();
  worst.got = row.real();
  worst.expected = row.real();
  worst.error = row.real();
  worst.allowed = row.real();
  c.worst = worst;
  return c;
}

Result<std::vector<ShapeResult>> read_shapes(SQLite::Database& database, int64_t id) {
  SQLite::Statement query(
      database,
      "SELECT shape, field_values, verdict, reason, evidence, checked_rows, row_count, rounds, coalesce(time_us, 0), "
      "provenance, wave_instructions, emulation_seconds, within_tolerance, output, elements, mismatches, non_finite, "
      "untouched, "
      "worst_ratio, pattern, worst_row, worst_column, worst_got, worst_expected, worst_error, worst_allowed, "
      "timing_model, coalesce(time_error, 0), "
      "mismatch_map "
      "FROM shape_results WHERE evaluation_id = ? ORDER BY ordinal");
  query.bind(1, id);
  std::vector<ShapeResult> shapes;
  while (query.executeStep()) {
    Row row(query);
    ShapeResult s;
    s.shape.label = row.text();
    s.shape.values = TRY(read_values(row.text()));
    s.verdict.kind = TRY(read_verdict(row.text()));
    s.verdict.reason = row.text();
    s.verdict.evidence = row.text();
    s.checked_rows = row.integer();
    s.row_count = row.integer();
    s.rounds = static_cast<int>(row.integer());
    s.time_us = row.real();
    s.time_is_modelled = row.text() != "measured";
    s.wave_instructions = row.unsigned_integer();
    s.emulation_seconds = row.real();
    s.comparison = read_comparison(row);
    s.timing_model = row.text();
    s.time_error = row.real();
    s.comparison.map = row.text();
    shapes.push_back(std::move(s));
  }
  return shapes;
}

Result<void> read_launches(SQLite::Database& database, int64_t id, std::vector<ShapeResult>& shapes) {
  SQLite::Statement query(database,
                          "SELECT shape_ordinal, kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z, "
                          "dynamic_lds_bytes, host_seconds, "
                          "instructions, valu, salu, smem, vmem, lds, mfma, branch, other, mfma_flops, bytes_read, "
                          "bytes_written, barriers, "
                          "workgroups, waves FROM launches WHERE evaluation_id = ? ORDER BY shape_ordinal, ordinal");
  query.bind(1, id);
  while (query.executeStep()) {
    Row row(query);
    const uint64_t shape = row.unsigned_integer();
    if (shape >= shapes.size())
      return Error{fmt::format("a launch of evaluation {} belongs to no shape; the database is damaged", id)};
    LaunchRecord launch;
    launch.kernel = row.text();
    for (uint32_t* size : {&launch.grid.x, &launch.grid.y, &launch.grid.z, &launch.block.x, &launch.block.y,
                           &launch.block.z, &launch.dynamic_lds_bytes}) {
      *size = row.u32();
    }
    launch.host_seconds = row.real();
    emulator::Counters& c = launch.counters;
    for (uint64_t* counter : {&c.instructions, &c.valu, &c.salu, &c.smem, &c.vmem, &c.lds, &c.mfma, &c.branch, &c.other,
                              &c.mfma_flops, &c.bytes_read, &c.bytes_written, &c.barriers, &c.workgroups, &c.waves}) {
      *counter = row.unsigned_integer();
    }
    shapes[shape].launches.push_back(std::move(launch));
  }
  return {};
}

std::vector<KernelResources> read_kernels(SQLite::Database& database, int64_t id) {
  SQLite::Statement query(
      database,
      "SELECT name, vgprs, agprs, sgprs, vgpr_spills, sgpr_spills, lds_bytes, scratch_bytes FROM kernels "
      "WHERE evaluation_id = ? ORDER BY ordinal");
  query.bind(1, id);
  std::vector<KernelResources> kernels;
  while (query.executeStep()) {
    Row row(query);
    KernelResources k;
    k.name = row.text();
    for (uint32_t* number :
         {&k.vgprs, &k.agprs, &k.sgprs, &k.vgpr_spills, &k.sgpr_spills, &k.lds_bytes, &k.scratch_bytes}) {
      *number = row.u32();
    }
    kernels.push_back(std::move(k));
  }
  return kernels;
}

std::vector<std::string> read_warnings(SQLite::Database& database, int64_t id) {
  SQLite::Statement query(database, "SELECT text FROM warnings WHERE evaluation_id = ? ORDER BY ordinal");
  query.bind(1, id);
  std::vector<std::string> warnings;
  while (query.executeStep()) warnings.push_back(query.getColumn(0).getString());
  return warnings;
}

}  // namespace

Result<Evaluation> Store::load(int64_t id) const {
  return guarded(connection_->path, [&]() -> Result<Evaluation> {
    SQLite::Database& database = *connection_->database;
    // One transaction, so that all parts are of one state of the file.
    SQLite::Transaction transaction(database);
    Evaluation evaluation = TRY(read_evaluation(database, id));
    evaluation.shapes = TRY(read_shapes(database, id));
    TRY(read_launches(database, id, evaluation.shapes));
    read_profiles(database, id, evaluation.shapes);
    read_measurements(database, id, evaluation.shapes);
    evaluation.kernels = read_kernels(database, id);
    evaluation.warnings = read_warnings(database, id);
    return evaluation;
  });
}

Result<SourceTimes> Store::times_of(const std::string& source_sha256, const Evaluation& like) const {
  const auto timed =
      std::find_if(like.shapes.begin(), like.shapes.end(), [](const ShapeResult& s) { return s.time_us > 0; });
  if (timed == like.shapes.end()) return SourceTimes();
  return guarded(connection_->path, [&]() -> Result<SourceTimes> {
    SQLite::Statement query(
        *connection_->database,
        "SELECT e.id, e.toolchain, s.shape, s.time_us FROM evaluations AS e "
        "JOIN shape_results AS s ON s.evaluation_id = e.id LEFT JOIN imported_evaluations AS x "
        "ON x.evaluation_id = e.id WHERE e.source_sha256 = ? "
        "AND e.problem = ? AND e.device = ? AND (e.device = 'emulated' OR e.device_description = ?) "
        "AND s.provenance = ? AND s.timing_model = ? AND e.verdict = 'passed' AND e.sandboxed "
        "AND NOT e.memory_checks AND s.time_us > 0 ORDER BY x.evaluation_id IS NULL, e.id");
    SQLite::bind(query, source_sha256, like.problem, std::string(to_string(like.device)), like.device_description,
                 timed->time_is_modelled ? "modelled" : "measured", timed->time_is_modelled ? timed->timing_model : "");
    SourceTimes times;
    while (query.executeStep()) {
      Row row(query);
      const int64_t id = row.integer();
      if (compiler_of(row.text()) != compiler_of(like.toolchain)) continue;
      const std::string shape = row.text();
      times.us[shape] = row.real();
      if (times.evaluations.empty() || times.evaluations.back() != id) times.evaluations.push_back(id);
    }
    return times;
  });
}

Result<std::vector<EvaluationSummary>> Store::list(const ListFilter& filter) const {
  return guarded(connection_->path, [&]() -> Result<std::vector<EvaluationSummary>> {
    SQLite::Statement query(*connection_->database,
                            "SELECT id, started_at, problem, shape_set, file, reason, track, device, verdict, shapes, "
                            "passed_shapes, sandboxed, "
                            "memory_checks, total_seconds FROM evaluation_overview WHERE ?1 = '' OR problem = ?1 ORDER "
                            "BY id DESC LIMIT ?2");
    query.bind(1, filter.problem);
    query.bind(2, filter.limit);
    std::vector<EvaluationSummary> list;
    while (query.executeStep()) {
      Row row(query);
      EvaluationSummary summary;
      summary.id = row.integer();
      for (std::string* text :
           {&summary.started_at, &summary.problem, &summary.shape_set, &summary.file, &summary.reason}) {
        *text = row.text();
      }
      summary.track = TRY(read_track(row.text()));
      summary.device = TRY(read_device(row.text()));
      summary.verdict = TRY(read_verdict(row.text()));
      summary.shapes = row.integer();
      summary.passed_shapes = row.integer();
      summary.sandboxed = row.boolean();
      summary.check = row.boolean();
      summary.total_seconds = row.real();
      list.push_back(std::move(summary));
    }
    return list;
  });
}

}  // namespace hipbench::results
