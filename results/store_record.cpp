// Store::record: one transaction an evaluation.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/files.hpp"
#include "evaluator/measure.hpp"
#include "results/connection.hpp"
#include "results/rows.hpp"

#ifndef HIPBENCH_VERSION
#error "the build defines HIPBENCH_VERSION"
#endif

namespace hipbench::results {

namespace {

void insert_source(Inserts& inserts, const std::string& sha256, const std::string& text) {
  Insert& insert = inserts.or_ignore("sources", "sha256, text");
  insert << sha256 << text;
  insert.execute();
}

int64_t insert_evaluation(Inserts& inserts, const Evaluation& e, const std::string& sha256) {
  Insert& insert = inserts.into("evaluations",
      "started_at, problem, track, device, file, source_sha256, seed, shape_set, sandboxed, memory_checks, verdict, "
      "reason, evidence, compile_seconds, compile_was_cached, total_seconds, toolchain, "
      "hipbench_version, stage, attempts, peak_memory_bytes, device_description");
  insert << e.started_at << e.problem << to_string(e.track) << to_string(e.device) << e.file << sha256
         << std::to_string(e.seed) << e.shape_set << e.sandboxed << e.check << to_string(e.verdict.kind)
         << e.verdict.reason << e.verdict.evidence << e.compile_seconds << e.compile_was_cached << e.total_seconds
         << e.toolchain << std::string_view(HIPBENCH_VERSION) << to_string(e.stage) << e.attempts << e.peak_memory_bytes
         << e.device_description;
  insert.execute();
  return inserts.database().getLastInsertRowid();
}

void insert_launches(Inserts& inserts, int64_t id, int64_t shape, const std::vector<LaunchRecord>& launches) {
  Insert& insert = inserts.into("launches",
      "evaluation_id, shape_ordinal, ordinal, kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z, "
      "dynamic_lds_bytes, host_seconds, instructions, valu, salu, smem, vmem, lds, mfma, branch, other, mfma_flops, "
      "bytes_read, bytes_written, barriers, workgroups, waves");
  int64_t ordinal = 0;
  for (const LaunchRecord& launch : launches) {
    const emulator::Counters& c = launch.counters;
    insert << id << shape << ordinal++ << launch.kernel << launch.grid.x << launch.grid.y << launch.grid.z
           << launch.block.x << launch.block.y << launch.block.z << launch.dynamic_lds_bytes << launch.host_seconds
           << c.instructions << c.valu << c.salu << c.smem << c.vmem << c.lds << c.mfma << c.branch << c.other
           << c.mfma_flops << c.bytes_read << c.bytes_written << c.barriers << c.workgroups << c.waves;
    insert.execute();
  }
}

// What the time depends on and how far it can be trusted.
void insert_timing(Insert& insert, const ShapeResult& s) {
  const bool is_modelled = s.time_us > 0 && s.time_is_modelled;
  insert << (is_modelled ? s.timing_model : std::string());
  if (is_modelled) {
    insert << s.time_error;
  } else {
    insert.null();
  }
  if (s.measurement != nullptr) {
    insert << s.measurement->noise_floor;
  } else {
    insert.null();
  }
}

void insert_shapes(Inserts& inserts, int64_t id, const std::vector<ShapeResult>& shapes) {
  Insert& insert = inserts.into("shape_results",
      "evaluation_id, ordinal, shape, field_values, verdict, reason, evidence, checked_rows, row_count, rounds, "
      "time_us, provenance, wave_instructions, emulation_seconds, within_tolerance, output, elements, mismatches, "
      "non_finite, untouched, worst_ratio, pattern, worst_row, worst_column, worst_got, worst_expected, worst_error, "
      "worst_allowed, timing_model, time_error, noise_floor, mismatch_map");
  int64_t ordinal = 0;
  for (const ShapeResult& s : shapes) {
    insert << id << ordinal << s.shape.label << fmt::format("{}", fmt::join(s.shape.values, " "))
           << to_string(s.verdict.kind) << s.verdict.reason << s.verdict.evidence << s.checked_rows << s.row_count
           << s.rounds;
    if (s.time_us > 0) {
      insert << s.time_us << std::string_view(s.time_is_modelled ? "modelled" : "measured");
    } else {
      insert.null().null();
    }
    const Comparison& c = s.comparison;
    insert << s.wave_instructions << s.emulation_seconds << c.passed << c.output << c.elements << c.mismatches
           << c.non_finite << c.untouched << c.worst_ratio << c.pattern;
    if (c.worst) {
      insert << c.worst->row << c.worst->column << c.worst->got << c.worst->expected << c.worst->error
             << c.worst->allowed;
    } else {
      insert.null().null().null().null().null().null();
    }
    insert_timing(insert, s);
    insert << c.map;
    insert.execute();
    insert_launches(inserts, id, ordinal, s.launches);
    insert_profiles(inserts, {id, ordinal}, s.launches);
    if (s.measurement != nullptr) insert_measurement(inserts, {id, ordinal}, *s.measurement);
    ++ordinal;
  }
}

void insert_kernels(Inserts& inserts, int64_t id, const std::vector<KernelResources>& kernels) {
  Insert& insert = inserts.into("kernels",
      "evaluation_id, ordinal, name, vgprs, agprs, sgprs, vgpr_spills, sgpr_spills, lds_bytes, scratch_bytes");
  int64_t ordinal = 0;
  for (const KernelResources& k : kernels) {
    insert << id << ordinal++ << k.name << k.vgprs << k.agprs << k.sgprs << k.vgpr_spills << k.sgpr_spills
           << k.lds_bytes << k.scratch_bytes;
    insert.execute();
  }
}

void insert_warnings(Inserts& inserts, int64_t id, const std::vector<std::string>& warnings) {
  Insert& insert = inserts.into("warnings", "evaluation_id, ordinal, text");
  int64_t ordinal = 0;
  for (const std::string& warning : warnings) {
    insert << id << ordinal++ << warning;
    insert.execute();
  }
}

// Inside a transaction of the caller's.
int64_t insert_all(Inserts& inserts, const Evaluation& evaluation) {
  // From the text itself: were a caller's hash wrong, it would tie the evaluation to another candidate's source.
  const std::string sha256 = sha256_hex(evaluation.source);
  insert_source(inserts, sha256, evaluation.source);
  const int64_t id = insert_evaluation(inserts, evaluation, sha256);
  insert_shapes(inserts, id, evaluation.shapes);
  insert_kernels(inserts, id, evaluation.kernels);
  insert_warnings(inserts, id, evaluation.warnings);
  return id;
}

}  // namespace

int64_t insert_evaluation_rows(Inserts& inserts, const Evaluation& evaluation) {
  return insert_all(inserts, evaluation);
}

Result<int64_t> Store::record(const Evaluation& evaluation) {
  return guarded(connection_->path, [&]() -> Result<int64_t> {
    SQLite::Transaction transaction(*connection_->database, SQLite::TransactionBehavior::IMMEDIATE);
    const int64_t id = insert_all(connection_->inserts, evaluation);
    transaction.commit();
    return id;
  });
}

Result<int64_t> Store::record_reverified(const Evaluation& evaluation, int64_t original, const std::string& reason) {
  return guarded(connection_->path, [&]() -> Result<int64_t> {
    SQLite::Transaction transaction(*connection_->database, SQLite::TransactionBehavior::IMMEDIATE);
    const int64_t id = insert_all(connection_->inserts, evaluation);
    Insert& insert = connection_->inserts.into("reverified", "evaluation_id, original_id, reason");
    insert << id << original << reason;
    insert.execute();
    transaction.commit();
    return id;
  });
}

Result<int64_t> Store::open_batch(const std::string& name) {
  return guarded(connection_->path, [&]() -> Result<int64_t> {
    SQLite::Database& database = *connection_->database;
    SQLite::Statement insert(
        database, "INSERT OR IGNORE INTO batches (name, started_at) VALUES (?, strftime('%Y-%m-%dT%H:%M:%SZ'))");
    insert.bind(1, name);
    insert.exec();
    SQLite::Statement query(database, "SELECT id FROM batches WHERE name = ?");
    query.bind(1, name);
    if (!query.executeStep()) return Error{"the batch could not be stored"};
    return query.getColumn(0).getInt64();
  });
}

Result<std::optional<BatchAnswer>> Store::find_answer(int64_t batch, const std::string& candidate) const {
  return guarded(connection_->path, [&]() -> Result<std::optional<BatchAnswer>> {
    SQLite::Statement query(
        *connection_->database,
        "SELECT request_sha256, fault, line FROM batch_results WHERE batch_id = ? AND candidate = ?");
    query.bind(1, batch);
    query.bind(2, candidate);
    if (!query.executeStep()) return std::optional<BatchAnswer>();
    BatchAnswer answer{query.getColumn(0).getString(), Fault::None, query.getColumn(2).getString()};
    const std::string fault = query.getColumn(1).getString();
    for (const Fault known : {Fault::None, Fault::Candidate, Fault::Infrastructure})
      if (to_string(known) == fault) answer.fault = known;
    return std::optional(std::move(answer));
  });
}

Result<std::string> Store::record_answer(const Evaluation& evaluation, const BatchPlace& place,
                                         const std::function<std::string(std::optional<int64_t> id)>& make_line) {
  return guarded(connection_->path, [&]() -> Result<std::string> {
    SQLite::Database& database = *connection_->database;
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    const std::optional<int64_t> id =
        evaluation.cancelled ? std::nullopt : std::optional(insert_all(connection_->inserts, evaluation));
    std::string line = make_line(id);
    const Fault fault = evaluation.cancelled ? Fault::None : evaluation.verdict.fault();
    SQLite::Statement insert(
        database,
        "INSERT INTO batch_results (batch_id, candidate, request_sha256, fault, evaluation_id, line) "
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET request_sha256 = excluded.request_sha256, "
        "fault = excluded.fault, evaluation_id = excluded.evaluation_id, line = excluded.line "
        "WHERE fault = 'infrastructure'");
    insert.bind(1, place.batch);
    insert.bind(2, place.candidate);
    insert.bind(3, place.request_sha256);
    insert.bind(4, std::string(to_string(fault)));
    if (id) insert.bind(5, *id);
    insert.bind(6, line);
    if (insert.exec() == 0)
      return Error{
          fmt::format("candidate \"{}\" of this batch was evaluated by another program meanwhile", place.candidate)};
    transaction.commit();
    return line;
  });
}

}  // namespace hipbench::results
