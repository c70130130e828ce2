// What lies behind a time: the samples of a measured one, where a modelled one is spent.
#include "evaluator/measure.hpp"
#include "results/connection.hpp"
#include "results/rows.hpp"

namespace hipbench::results {

namespace {

using emulator::kTimeCauseNames;
using emulator::TimeBreakdown;

// A JSON string. Bytes beyond ASCII stay as they are.
std::string json_string(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      json += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      json += c;
    }
  }
  return json + '"';
}

// JSON has no words for what is not finite.
double finite(double number) { return number - number == 0 ? number : 0; }

std::string shares_json(const TimeBreakdown& breakdown) {
  std::string json;
  for (size_t cause = 0; cause < kTimeCauseNames.size(); ++cause) {
    if (breakdown.shares[cause] == 0) continue;
    json +=
        fmt::format("{}\"{}\": {}", json.empty() ? "" : ", ", kTimeCauseNames[cause], finite(breakdown.shares[cause]));
  }
  return "{" + json + "}";
}

std::string lines_json(const TimeBreakdown& breakdown) {
  std::string json;
  for (const emulator::HotLine& line : breakdown.lines) {
    json += fmt::format("{}{{\"source\": {}, \"share\": {}, \"cause\": \"{}\"}}", json.empty() ? "" : ", ",
                        json_string(line.source), finite(line.share), kTimeCauseNames[static_cast<size_t>(line.cause)]);
  }
  return "[" + json + "]";
}

emulator::TimeCause cause_from(std::string_view name) {
  for (size_t cause = 0; cause < kTimeCauseNames.size(); ++cause)
    if (kTimeCauseNames[cause] == name) return static_cast<emulator::TimeCause>(cause);
  return emulator::TimeCause::Executing;
}

// The launch that a row's first two columns name; null: there is none.
LaunchRecord* find_launch(std::vector<ShapeResult>& shapes, Row& row) {
  const uint64_t shape = row.unsigned_integer(), launch = row.unsigned_integer();
  if (shape >= shapes.size() || launch >= shapes[shape].launches.size()) return nullptr;
  return &shapes[shape].launches[launch];
}

void read_json_parts(SQLite::Database& database, int64_t evaluation, std::vector<ShapeResult>& shapes) {
  SQLite::Statement shares(database,
                           "SELECT shape_ordinal, launch_ordinal, j.key, j.value FROM launch_profiles, "
                           "json_each(shares) AS j WHERE evaluation_id = ?");
  shares.bind(1, evaluation);
  while (shares.executeStep()) {
    Row row(shares);
    LaunchRecord* launch = find_launch(shapes, row);
    if (launch == nullptr) continue;
    const auto cause = static_cast<size_t>(cause_from(row.text()));
    launch->time_breakdown.shares[cause] = row.real();
  }
  SQLite::Statement lines(database,
                          "SELECT shape_ordinal, launch_ordinal, j.value ->> 'source', j.value ->> 'cause', j.value "
                          "->> 'share' FROM launch_profiles, json_each(hot_lines) AS j WHERE evaluation_id = ? "
                          "ORDER BY shape_ordinal, launch_ordinal, j.key");
  lines.bind(1, evaluation);
  while (lines.executeStep()) {
    Row row(lines);
    LaunchRecord* launch = find_launch(shapes, row);
    if (launch == nullptr) continue;
    emulator::HotLine line;
    line.source = row.text();
    line.cause = cause_from(row.text());
    line.share = row.real();
    launch->time_breakdown.lines.push_back(std::move(line));
  }
}

}  // namespace

void insert_profiles(Inserts& inserts, const ShapePlace& place, const std::vector<LaunchRecord>& launches) {
  Insert& insert =
      inserts.into("launch_profiles",
                   "evaluation_id, shape_ordinal, launch_ordinal, modelled_us, kernel_us, launch_us, mfma_busy, "
                   "valu_busy, lds_busy, vector_memory_busy, l1_hit_rate, l2_hit_rate, beyond_l2_bytes, "
                   "l2_bytes, hbm_bytes, lds_conflicts, traced_workgroups, shares, hot_lines");
  for (size_t ordinal = 0; ordinal < launches.size(); ++ordinal) {
    const LaunchRecord& launch = launches[ordinal];
    if (!(launch.modelled_seconds > 0)) continue;
    const TimeBreakdown& b = launch.time_breakdown;
    insert << place.evaluation << place.ordinal << static_cast<int64_t>(ordinal) << launch.modelled_seconds * 1e6
           << b.kernel_seconds * 1e6 << b.launch_seconds * 1e6 << b.mfma_busy << b.valu_busy << b.lds_busy
           << b.vector_memory_busy << b.l1_hit_rate << b.l2_hit_rate << b.beyond_l2_bytes << b.l2_bytes << b.hbm_bytes
           << b.lds_conflicts << static_cast<int64_t>(b.traced_workgroups) << shares_json(b) << lines_json(b);
    insert.execute();
  }
}

void read_profiles(SQLite::Database& database, int64_t evaluation, std::vector<ShapeResult>& shapes) {
  SQLite::Statement query(database,
                          "SELECT shape_ordinal, launch_ordinal, modelled_us, kernel_us, launch_us, mfma_busy, "
                          "valu_busy, lds_busy, vector_memory_busy, l1_hit_rate, l2_hit_rate, beyond_l2_bytes, "
                          "l2_bytes, hbm_bytes, lds_conflicts, traced_workgroups FROM launch_profiles WHERE "
                          "evaluation_id = ?");
  query.bind(1, evaluation);
  while (query.executeStep()) {
    Row row(query);
    LaunchRecord* launch = find_launch(shapes, row);
    if (launch == nullptr) continue;
    launch->modelled_seconds = row.real() * 1e-6;
    TimeBreakdown& b = launch->time_breakdown;
    b.kernel_seconds = row.real() * 1e-6;
    b.launch_seconds = row.real() * 1e-6;
    for (double* number : {&b.mfma_busy, &b.valu_busy, &b.lds_busy, &b.vector_memory_busy, &b.l1_hit_rate,
                           &b.l2_hit_rate, &b.beyond_l2_bytes, &b.l2_bytes, &b.hbm_bytes, &b.lds_conflicts}) {
      *number = row.real();
    }
    b.traced_workgroups = row.unsigned_integer();
  }
  read_json_parts(database, evaluation, shapes);
}

void insert_measurement(Inserts& inserts, const ShapePlace& place, const Measurement& measurement) {
  Insert& samples =
      inserts.into("time_samples",
                   "evaluation_id, shape_ordinal, ordinal, round, warm_up, subject, repeat, events_us, wall_us, "
                   "canary_us, clocks_agree, caches_were_cold");
  int64_t ordinal = 0;
  for (const TimedSample& sample : measurement.samples) {
    samples << place.evaluation << place.ordinal << ordinal++ << sample.round << sample.warm_up
            << std::string_view(sample.subject == Subject::Candidate ? "candidate" : "baseline") << sample.repeat
            << sample.clocks.events_us << sample.clocks.wall_us << sample.canary_us << sample.clocks_agree
            << sample.caches_were_cold;
    samples.execute();
  }
  Insert& telemetry = inserts.into(
      "telemetry", "evaluation_id, shape_ordinal, ordinal, core_mhz, memory_mhz, power_watts, hottest_celsius");
  ordinal = 0;
  for (const Telemetry& t : measurement.telemetry) {
    telemetry << place.evaluation << place.ordinal << ordinal++;
    for (const std::optional<double>& number : {t.core_mhz, t.memory_mhz, t.power_watts, t.hottest_celsius}) {
      if (number) {
        telemetry << *number;
      } else {
        telemetry.null();
      }
    }
    telemetry.execute();
  }
}

namespace {

// The measurement of the shape that a row's first column names; null: there is no such shape.
Measurement* find_measurement(std::vector<std::shared_ptr<Measurement>>& measurements, Row& row) {
  const uint64_t shape = row.unsigned_integer();
  if (shape >= measurements.size()) return nullptr;
  if (measurements[shape] == nullptr) measurements[shape] = std::make_shared<Measurement>();
  return measurements[shape].get();
}

void read_samples(SQLite::Database& database, int64_t evaluation,
                  std::vector<std::shared_ptr<Measurement>>& measurements) {
  SQLite::Statement query(database,
                          "SELECT shape_ordinal, round, warm_up, subject, repeat, events_us, wall_us, canary_us, "
                          "clocks_agree, caches_were_cold FROM time_samples WHERE evaluation_id = ? "
                          "ORDER BY shape_ordinal, ordinal");
  query.bind(1, evaluation);
  while (query.executeStep()) {
    Row row(query);
    Measurement* measurement = find_measurement(measurements, row);
    if (measurement == nullptr) continue;
    TimedSample sample;
    sample.round = static_cast<int>(row.integer());
    sample.warm_up = row.boolean();
    sample.subject = row.text() == "baseline" ? Subject::Baseline : Subject::Candidate;
    sample.repeat = row.boolean();
    sample.clocks.events_us = row.real();
    sample.clocks.wall_us = row.real();
    sample.canary_us = row.real();
    sample.clocks_agree = row.boolean();
    sample.caches_were_cold = row.boolean();
    measurement->samples.push_back(sample);
  }
}

void read_telemetry_rows(SQLite::Database& database, int64_t evaluation,
                         std::vector<std::shared_ptr<Measurement>>& measurements) {
  SQLite::Statement query(database,
                          "SELECT shape_ordinal, core_mhz, memory_mhz, power_watts, hottest_celsius FROM telemetry "
                          "WHERE evaluation_id = ? ORDER BY shape_ordinal, ordinal");
  query.bind(1, evaluation);
  while (query.executeStep()) {
    Row row(query);
    Measurement* measurement = find_measurement(measurements, row);
    if (measurement == nullptr) continue;
    Telemetry t;
    for (std::optional<double>* number : {&t.core_mhz, &t.memory_mhz, &t.power_watts, &t.hottest_celsius}) {
      const bool is_null = row.next_is_null();
      const double value = row.real();
      if (!is_null) *number = value;
    }
    measurement->telemetry.push_back(t);
  }
}

}  // namespace

void read_measurements(SQLite::Database& database, int64_t evaluation, std::vector<ShapeResult>& shapes) {
  std::vector<std::shared_ptr<Measurement>> measurements(shapes.size());
  read_samples(database, evaluation, measurements);
  read_telemetry_rows(database, evaluation, measurements);
  SQLite::Statement floors(database,
                           "SELECT ordinal, noise_floor FROM shape_results WHERE evaluation_id = ? AND noise_floor "
                           "IS NOT NULL");
  floors.bind(1, evaluation);
  while (floors.executeStep()) {
    Row row(floors);
    Measurement* measurement = find_measurement(measurements, row);
    if (measurement != nullptr) measurement->noise_floor = row.real();
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (measurements[i] == nullptr) continue;
    shapes[i].measurement = std::move(measurements[i]);
  }
}

}  // namespace hipbench::results
