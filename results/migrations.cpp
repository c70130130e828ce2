#include "results/migrations.hpp"

#include <array>

namespace hipbench::results {

namespace {

constexpr std::string_view kEvaluations = R"sql(
-- A candidate's text, once, however often it is evaluated.
CREATE TABLE sources (
  sha256 TEXT PRIMARY KEY,
  text   TEXT NOT NULL            -- the bytes of the file; not always valid UTF-8
) STRICT, WITHOUT ROWID;

CREATE TABLE evaluations (
  id                 INTEGER PRIMARY KEY AUTOINCREMENT,  -- ids are never reused
  started_at         TEXT NOT NULL,                      -- UTC, ISO 8601
  problem            TEXT NOT NULL,
  track              TEXT NOT NULL CHECK (track IN ('kernel', 'host')),
  device             TEXT NOT NULL CHECK (device IN ('emulated', 'hip')),
  file               TEXT NOT NULL,                      -- as the user named it
  source_sha256      TEXT NOT NULL REFERENCES sources (sha256),
  seed               TEXT NOT NULL,                      -- decimal: it uses all 64 bits without a sign
  shape_set          TEXT NOT NULL,
  sandboxed          INTEGER NOT NULL,                   -- 0: --unsafe-no-sandbox, never ranked
  memory_checks      INTEGER NOT NULL,                   -- 1: `hipbench check`, no times
  verdict            TEXT NOT NULL,
  reason             TEXT NOT NULL,
  evidence           TEXT NOT NULL,
  compile_seconds    REAL NOT NULL,
  compile_was_cached INTEGER NOT NULL,
  total_seconds      REAL NOT NULL,
  toolchain          TEXT NOT NULL
) STRICT;

-- What an evaluation found for each shape it ran, in that order.
CREATE TABLE shape_results (
  evaluation_id     INTEGER NOT NULL REFERENCES evaluations (id),
  ordinal           INTEGER NOT NULL,
  shape             TEXT NOT NULL,     -- "m=64,n=64,k=128"
  field_values      TEXT NOT NULL,     -- the problem's integer fields, in the struct's order: "64 64 128 0"
  verdict           TEXT NOT NULL,
  reason            TEXT NOT NULL,
  evidence          TEXT NOT NULL,
  checked_rows      INTEGER NOT NULL,  -- of row_count
  row_count         INTEGER NOT NULL,
  rounds            INTEGER NOT NULL,  -- launches on fresh inputs that were checked
  time_us           REAL,              -- NULL: no time
  provenance        TEXT CHECK (provenance IN ('measured', 'modelled')),  -- of the time
  wave_instructions INTEGER NOT NULL,  -- of the timed call
  emulation_seconds REAL NOT NULL,     -- of the timed call
  -- The last comparison with the oracle; elements = 0 when it never came to one.
  within_tolerance  INTEGER NOT NULL,
  output            TEXT NOT NULL,
  elements          INTEGER NOT NULL,
  mismatches        INTEGER NOT NULL,
  non_finite        INTEGER NOT NULL,
  untouched         INTEGER NOT NULL,
  worst_ratio       REAL,              -- largest error over allowed error; NULL in REAL columns here is not-a-number
  pattern           TEXT NOT NULL,
  worst_row         INTEGER,           -- NULL: there is no worst element
  worst_column      INTEGER,
  worst_got         REAL,
  worst_expected    REAL,
  worst_error       REAL,
  worst_allowed     REAL,
  PRIMARY KEY (evaluation_id, ordinal)
) STRICT, WITHOUT ROWID;

-- The kernels launched by a shape's timed call.
CREATE TABLE launches (
  evaluation_id     INTEGER NOT NULL,
  shape_ordinal     INTEGER NOT NULL,
  ordinal           INTEGER NOT NULL,
  kernel            TEXT NOT NULL,
  grid_x INTEGER NOT NULL, grid_y INTEGER NOT NULL, grid_z INTEGER NOT NULL,     -- workgroups
  block_x INTEGER NOT NULL, block_y INTEGER NOT NULL, block_z INTEGER NOT NULL,  -- work-items
  dynamic_lds_bytes INTEGER NOT NULL,
  host_seconds      REAL NOT NULL,
  instructions INTEGER NOT NULL,  -- wave instructions; the classes after it add up to it
  valu INTEGER NOT NULL, salu INTEGER NOT NULL, smem INTEGER NOT NULL, vmem INTEGER NOT NULL, lds INTEGER NOT NULL,
  mfma INTEGER NOT NULL, branch INTEGER NOT NULL, other INTEGER NOT NULL,
  mfma_flops INTEGER NOT NULL,
  bytes_read INTEGER NOT NULL, bytes_written INTEGER NOT NULL,
  barriers INTEGER NOT NULL, workgroups INTEGER NOT NULL, waves INTEGER NOT NULL,
  PRIMARY KEY (evaluation_id, shape_ordinal, ordinal),
  FOREIGN KEY (evaluation_id, shape_ordinal) REFERENCES shape_results (evaluation_id, ordinal)
) STRICT, WITHOUT ROWID;

-- The kernels of the compiled candidate, as the compiler's metadata describes them.
CREATE TABLE kernels (
  evaluation_id INTEGER NOT NULL REFERENCES evaluations (id),
  ordinal       INTEGER NOT NULL,
  name          TEXT NOT NULL,
  vgprs INTEGER NOT NULL, agprs INTEGER NOT NULL, sgprs INTEGER NOT NULL,
  vgpr_spills INTEGER NOT NULL, sgpr_spills INTEGER NOT NULL,
  lds_bytes INTEGER NOT NULL, scratch_bytes INTEGER NOT NULL,
  PRIMARY KEY (evaluation_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE warnings (
  evaluation_id INTEGER NOT NULL REFERENCES evaluations (id),
  ordinal       INTEGER NOT NULL,
  text          TEXT NOT NULL,
  PRIMARY KEY (evaluation_id, ordinal)
) STRICT, WITHOUT ROWID;
)sql";

constexpr std::string_view kViews = R"sql(
-- The version of hipbench that made an evaluation; empty in rows from before this was recorded.
ALTER TABLE evaluations ADD COLUMN hipbench_version TEXT NOT NULL DEFAULT '';

CREATE INDEX evaluations_by_problem ON evaluations (problem, id);
CREATE INDEX evaluations_by_source ON evaluations (source_sha256);

-- For people: one line an evaluation, and one line a shape with what is needed to read it alone.
CREATE VIEW evaluation_overview AS
SELECT e.id, e.started_at, e.problem, e.track, e.device, e.verdict, e.reason,
       count(s.ordinal) AS shapes, coalesce(sum(s.verdict = 'passed'), 0) AS passed_shapes,
       e.file, e.source_sha256, e.shape_set, e.seed, e.sandboxed, e.memory_checks, e.total_seconds
FROM evaluations AS e LEFT JOIN shape_results AS s ON s.evaluation_id = e.id
GROUP BY e.id;

CREATE VIEW shape_overview AS
SELECT e.id AS evaluation_id, e.problem, e.track, e.device, e.file, e.source_sha256, s.ordinal, s.shape, s.verdict, s.reason,
       s.worst_ratio, s.checked_rows, s.row_count, s.rounds, s.time_us, s.provenance, s.wave_instructions,
       s.emulation_seconds
FROM evaluations AS e JOIN shape_results AS s ON s.evaluation_id = e.id;
)sql";

constexpr std::string_view kBatches = R"sql(
ALTER TABLE evaluations ADD COLUMN stage TEXT NOT NULL DEFAULT '';  -- that ended it: plan, compile, …, done; '': not recorded
ALTER TABLE evaluations ADD COLUMN attempts INTEGER NOT NULL DEFAULT 1;
ALTER TABLE evaluations ADD COLUMN peak_memory_bytes INTEGER NOT NULL DEFAULT 0;  -- of its largest process; 0: not recorded

-- A run of `hipbench eval --jsonl`, which may be interrupted and go on later.
CREATE TABLE batches (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL UNIQUE,
  started_at TEXT NOT NULL  -- UTC, ISO 8601
) STRICT;

-- What was answered for a candidate of a batch; what is missing here is still to be done.
CREATE TABLE batch_results (
  batch_id       INTEGER NOT NULL REFERENCES batches (id),
  candidate      TEXT NOT NULL,                      -- its id in the batch
  request_sha256 TEXT NOT NULL,                      -- of everything that was asked for
  fault          TEXT NOT NULL CHECK (fault IN ('none', 'candidate', 'infrastructure')),
  evaluation_id  INTEGER REFERENCES evaluations (id),  -- NULL: cancelled
  line           TEXT NOT NULL,                      -- the answer, JSON
  PRIMARY KEY (batch_id, candidate)
) STRICT, WITHOUT ROWID;
)sql";

constexpr std::string_view kRuns = R"sql(
-- A run of `hipbench generate`: a model, a strategy and options on problems x samples.
CREATE TABLE runs (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  name        TEXT NOT NULL UNIQUE,
  started_at  TEXT NOT NULL,  -- UTC, ISO 8601
  finished_at TEXT,           -- NULL: interrupted, or still going on
  options     TEXT NOT NULL,  -- JSON: all that going on or repeating needs; holds no key
  strategy    TEXT NOT NULL,
  model       TEXT NOT NULL
) STRICT;

-- Every text that was sent to a model, once.
CREATE TABLE messages (
  sha256 TEXT PRIMARY KEY,
  text   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What was asked in a turn, what came of it and how it did.
CREATE TABLE turns (
  run_id        INTEGER NOT NULL REFERENCES runs (id),
  problem       TEXT NOT NULL,
  sample        INTEGER NOT NULL,
  turn          INTEGER NOT NULL,
  step          TEXT NOT NULL,     -- write, repair, improve, combine
  parent        INTEGER,           -- the turn of this sample whose candidate was to be changed
  partner       INTEGER,           -- and the one it was combined with
  island        INTEGER NOT NULL,
  aided         INTEGER NOT NULL,  -- 1: the prompt had an example of the same problem
  answer        TEXT NOT NULL,     -- answer, truncated, refused, empty, malformed, too_large
  detail        TEXT NOT NULL,     -- why there is no candidate
  how           TEXT NOT NULL,     -- how the candidate was found in the answer
  source_sha256 TEXT REFERENCES sources (sha256),  -- NULL: no candidate
  similar_to    TEXT NOT NULL,     -- a shipped kernel that it nearly is
  evaluation_id INTEGER REFERENCES evaluations (id),
  verdict       TEXT NOT NULL,     -- of the evaluation; '': none
  rung          TEXT NOT NULL,     -- no_candidate, not_compiled, not_runnable, wrong, passed
  right_share   REAL NOT NULL,
  time_us       REAL NOT NULL,     -- geometric mean over the shapes; 0: no time
  wave_instructions REAL NOT NULL,
  feedback      TEXT NOT NULL,     -- JSON: [{"part", "text"}], what the model was or would have been told
  prompt_tokens INTEGER NOT NULL,
  answer_tokens INTEGER NOT NULL,
  nano_usd      INTEGER NOT NULL,
  PRIMARY KEY (run_id, problem, sample, turn)
) STRICT, WITHOUT ROWID;

CREATE TABLE turn_messages (
  run_id  INTEGER NOT NULL,
  problem TEXT NOT NULL,
  sample  INTEGER NOT NULL,
  turn    INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  role    TEXT NOT NULL CHECK (role IN ('system', 'user', 'model')),  -- the last one is the answer
  sha256  TEXT NOT NULL REFERENCES messages (sha256),
  PRIMARY KEY (run_id, problem, sample, turn, ordinal),
  FOREIGN KEY (run_id, problem, sample, turn) REFERENCES turns (run_id, problem, sample, turn)
) STRICT, WITHOUT ROWID;

-- The recording: what a provider answered, byte for byte. Stored as soon as it came, before its turn is.
CREATE TABLE exchanges (
  run_id         INTEGER NOT NULL REFERENCES runs (id),
  problem        TEXT NOT NULL,
  sample         INTEGER NOT NULL,
  turn           INTEGER NOT NULL,
  ordinal        INTEGER NOT NULL,  -- more than one: an answer that was cut off and continued
  request_sha256 TEXT NOT NULL,     -- of the request's body
  kind           TEXT NOT NULL,     -- as turns.answer
  reply          BLOB NOT NULL,
  prompt_tokens  INTEGER NOT NULL,
  answer_tokens  INTEGER NOT NULL,
  reported       INTEGER NOT NULL,  -- 0: the tokens are an estimate
  nano_usd       INTEGER NOT NULL,
  seconds        REAL NOT NULL,
  PRIMARY KEY (run_id, problem, sample, turn, ordinal)
) STRICT, WITHOUT ROWID;

-- Requests that came to nothing, and what they cost all the same.
CREATE TABLE failed_requests (
  id       INTEGER PRIMARY KEY,
  run_id   INTEGER NOT NULL REFERENCES runs (id),
  problem  TEXT NOT NULL,
  sample   INTEGER NOT NULL,
  turn     INTEGER NOT NULL,
  at       TEXT NOT NULL,
  what     TEXT NOT NULL,
  nano_usd INTEGER NOT NULL,
  tokens   INTEGER NOT NULL
) STRICT;

-- The starter of each problem on the run's shapes: what speedups are relative to.
CREATE TABLE run_baselines (
  run_id            INTEGER NOT NULL REFERENCES runs (id),
  problem           TEXT NOT NULL,
  evaluation_id     INTEGER NOT NULL REFERENCES evaluations (id),
  time_us           REAL NOT NULL,
  wave_instructions REAL NOT NULL,
  PRIMARY KEY (run_id, problem)
) STRICT, WITHOUT ROWID;

-- For people: one line a turn.
CREATE VIEW turn_overview AS
SELECT r.name AS run, r.strategy, r.model, t.problem, t.sample, t.turn, t.step, t.parent, t.answer, t.verdict, t.rung, t.time_us,
       t.wave_instructions, t.nano_usd / 1e9 AS usd, t.prompt_tokens + t.answer_tokens AS tokens, t.aided, t.similar_to,
       t.evaluation_id, t.source_sha256
FROM turns AS t JOIN runs AS r ON r.id = t.run_id;
)sql";

constexpr std::string_view kResults = R"sql(
-- What a time depends on; '' and NULL in rows from before this was recorded.
ALTER TABLE evaluations ADD COLUMN device_description TEXT NOT NULL DEFAULT '';
ALTER TABLE shape_results ADD COLUMN timing_model TEXT NOT NULL DEFAULT '';  -- version; '': not modelled
UPDATE shape_results SET timing_model = coalesce((
  SELECT substr(e.toolchain, instr(e.toolchain, '; timing model ') + 15) FROM evaluations AS e
  WHERE e.id = evaluation_id AND instr(e.toolchain, '; timing model ') > 0), '')
WHERE provenance = 'modelled';
ALTER TABLE shape_results ADD COLUMN time_error REAL;   -- of a modelled time: relative, from sampling workgroups
ALTER TABLE shape_results ADD COLUMN noise_floor REAL;  -- of a measured time: A/A, 0.02 = 2 %

-- Every call that was timed on a GPU, warm-up included, as it was read.
CREATE TABLE time_samples (
  evaluation_id    INTEGER NOT NULL,
  shape_ordinal    INTEGER NOT NULL,
  ordinal          INTEGER NOT NULL,  -- in the order they were taken
  round            INTEGER NOT NULL,
  warm_up          INTEGER NOT NULL,
  subject          TEXT NOT NULL CHECK (subject IN ('candidate', 'baseline')),
  repeat           INTEGER NOT NULL,  -- 1: the second of its subject in the round (A/A)
  events_us        REAL,              -- NULL: no result
  wall_us          REAL,
  canary_us        REAL,
  clocks_agree     INTEGER NOT NULL,
  caches_were_cold INTEGER NOT NULL,
  PRIMARY KEY (evaluation_id, shape_ordinal, ordinal),
  FOREIGN KEY (evaluation_id, shape_ordinal) REFERENCES shape_results (evaluation_id, ordinal)
) STRICT, WITHOUT ROWID;

-- The GPU before the first round and after each; NULL: the system does not say.
CREATE TABLE telemetry (
  evaluation_id   INTEGER NOT NULL,
  shape_ordinal   INTEGER NOT NULL,
  ordinal         INTEGER NOT NULL,
  core_mhz        REAL,
  memory_mhz      REAL,
  power_watts     REAL,
  hottest_celsius REAL,
  PRIMARY KEY (evaluation_id, shape_ordinal, ordinal),
  FOREIGN KEY (evaluation_id, shape_ordinal) REFERENCES shape_results (evaluation_id, ordinal)
) STRICT, WITHOUT ROWID;

-- Where a launch's modelled time goes.
CREATE TABLE launch_profiles (
  evaluation_id      INTEGER NOT NULL,
  shape_ordinal      INTEGER NOT NULL,
  launch_ordinal     INTEGER NOT NULL,
  modelled_us        REAL NOT NULL,     -- alone on an idle chip
  kernel_us          REAL NOT NULL,     -- of it
  launch_us          REAL NOT NULL,
  mfma_busy REAL, valu_busy REAL, lds_busy REAL, vector_memory_busy REAL,  -- 1 = all the time
  l1_hit_rate REAL, l2_hit_rate REAL, beyond_l2_bytes REAL,
  traced_workgroups  INTEGER NOT NULL,
  shares             TEXT NOT NULL,     -- JSON: of the waves' time by what they do or wait for, {"memory_latency": 0.5, …}
  hot_lines          TEXT NOT NULL,     -- JSON: [{"source": "gemm.hip:12", "share": 0.4, "cause": "memory_latency"}, …]
  PRIMARY KEY (evaluation_id, shape_ordinal, launch_ordinal),
  FOREIGN KEY (evaluation_id, shape_ordinal, launch_ordinal)
    REFERENCES launches (evaluation_id, shape_ordinal, ordinal)
) STRICT, WITHOUT ROWID;

-- Other databases whose rows were taken over, and which rows those are.
CREATE TABLE imports (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  file        TEXT NOT NULL,     -- as the user named it
  imported_at TEXT NOT NULL,     -- UTC, ISO 8601
  note        TEXT NOT NULL
) STRICT;
CREATE TABLE imported_evaluations (
  evaluation_id INTEGER PRIMARY KEY REFERENCES evaluations (id),
  import_id     INTEGER NOT NULL REFERENCES imports (id),
  original_id   INTEGER NOT NULL  -- there
) STRICT;
CREATE TABLE imported_runs (
  run_id        INTEGER PRIMARY KEY REFERENCES runs (id),
  import_id     INTEGER NOT NULL REFERENCES imports (id),
  original_name TEXT NOT NULL
) STRICT;

-- An evaluation made to time a stored candidate again.
CREATE TABLE reverified (
  evaluation_id INTEGER PRIMARY KEY REFERENCES evaluations (id),
  original_id   INTEGER NOT NULL REFERENCES evaluations (id),
  reason        TEXT NOT NULL    -- what asked for it: "run monday"
) STRICT;

-- Times that others published. Never ranked or divided with ours.
CREATE TABLE published_times (
  problem TEXT NOT NULL,
  shape   TEXT NOT NULL,
  what    TEXT NOT NULL,  -- whose kernel
  device  TEXT NOT NULL,
  time_us REAL NOT NULL CHECK (time_us > 0),
  source  TEXT NOT NULL,
  PRIMARY KEY (problem, shape, what, device, source)
) STRICT, WITHOUT ROWID;

CREATE INDEX turns_by_evaluation ON turns (evaluation_id);
CREATE INDEX run_baselines_by_evaluation ON run_baselines (evaluation_id);

-- What a run asked for.
CREATE VIEW run_problems AS
SELECT r.id AS run_id, r.name AS run, json_extract(p.value, '$.id') AS problem, json_extract(p.value, '$.shape_set') AS shape_set,
       json_extract(r.options, '$.track') AS track, json_extract(r.options, '$.samples') AS samples
FROM runs AS r, json_each(CASE WHEN json_valid(r.options) THEN r.options ELSE '{}' END, '$.problems') AS p;

-- One line an evaluation that may be ranked: passed, sandboxed, without memory checks, every shape timed. time_us is the
-- geometric mean over its shapes.
CREATE VIEW ranked_times AS
SELECT e.id AS evaluation_id, e.problem, e.track, e.device, min(s.provenance) AS provenance, min(s.timing_model) AS timing_model, e.toolchain,
       e.shape_set, count(*) AS shapes, exp(avg(ln(s.time_us))) AS time_us, e.file, e.source_sha256, e.started_at
FROM evaluations AS e JOIN shape_results AS s ON s.evaluation_id = e.id
WHERE e.verdict = 'passed' AND e.sandboxed AND NOT e.memory_checks
GROUP BY e.id HAVING count(s.time_us) = count(*) AND count(DISTINCT s.provenance) = 1;

-- The fastest time of each shape, and whose it is. Kinds of time, tracks and versions of the model stay apart.
CREATE VIEW best_per_shape AS
SELECT e.problem, s.shape, e.track, e.device, s.provenance, s.timing_model, e.toolchain, min(s.time_us) AS time_us, e.file, e.source_sha256,
       e.id AS evaluation_id
FROM evaluations AS e JOIN shape_results AS s ON s.evaluation_id = e.id
WHERE s.verdict = 'passed' AND s.time_us > 0 AND e.verdict = 'passed' AND e.sandboxed AND NOT e.memory_checks
GROUP BY e.problem, s.shape, e.track, e.device, s.provenance, s.timing_model, e.toolchain;

-- How many evaluations ended how.
CREATE VIEW verdict_counts AS
SELECT problem, track, device, shape_set, verdict, count(*) AS evaluations FROM evaluations
GROUP BY problem, track, device, shape_set, verdict;

-- What each run has cost, failed requests included.
CREATE VIEW run_costs AS
SELECT r.id AS run_id, r.name AS run, r.model, c.problem, sum(c.nano_usd) / 1e9 AS usd, sum(c.tokens) AS tokens
FROM runs AS r JOIN (
  SELECT run_id, problem, nano_usd, prompt_tokens + answer_tokens AS tokens FROM exchanges UNION ALL
  SELECT run_id, problem, nano_usd, tokens FROM failed_requests) AS c ON c.run_id = r.id
GROUP BY r.id, c.problem;

-- How many of a run's samples on a problem passed, of those asked for.
CREATE VIEW run_progress AS
SELECT p.run_id, p.run, p.problem, p.samples AS requested, count(DISTINCT t.sample) AS drawn,
       count(DISTINCT CASE WHEN t.rung = 'passed' THEN t.sample END) AS passed, count(t.turn) AS turns
FROM run_problems AS p LEFT JOIN turns AS t ON t.run_id = p.run_id AND t.problem = p.problem
GROUP BY p.run_id, p.problem;
)sql";

constexpr std::string_view kImportedBatches = R"sql(
CREATE TABLE imported_batches (
  batch_id      INTEGER PRIMARY KEY REFERENCES batches (id),
  import_id     INTEGER NOT NULL REFERENCES imports (id),
  original_name TEXT NOT NULL
) STRICT;
)sql";

// Schema 7: what a launch moves, and conflicts of LDS banks. NULL: from before.
constexpr std::string_view kTraffic = R"sql(
ALTER TABLE launch_profiles ADD COLUMN l2_bytes REAL;       -- between the CUs and the L2
ALTER TABLE launch_profiles ADD COLUMN hbm_bytes REAL;      -- of beyond_l2_bytes
ALTER TABLE launch_profiles ADD COLUMN lds_conflicts REAL;  -- of the time that LDS banks were busy
)sql";

// Schema 8.
constexpr std::string_view kMismatchMaps = R"sql(
ALTER TABLE shape_results ADD COLUMN mismatch_map TEXT NOT NULL DEFAULT '';  -- for people, lines; '': passed, or not recorded
)sql";

constexpr std::array kMigrations = {kEvaluations, kViews,           kBatches, kRuns,
                                    kResults,     kImportedBatches, kTraffic, kMismatchMaps};

}  // namespace

std::span<const std::string_view> migrations() { return kMigrations; }

}  // namespace hipbench::results
