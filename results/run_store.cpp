#include "results/run_store.hpp"

#include <SQLiteCpp/VariadicBind.h>
#include <fmt/format.h>

#include "common/files.hpp"
#include "results/connection.hpp"
#include "results/migrations.hpp"

namespace hipbench::results {

struct RunStore::Connection {
  std::filesystem::path path;
  std::unique_ptr<SQLite::Database> database;
  Inserts inserts;  // go before the database does

  Connection(std::filesystem::path file, std::unique_ptr<SQLite::Database> opened)
      : path(std::move(file)), database(std::move(opened)), inserts(*database) {}
};

namespace {

template <typename... Values>
void execute(SQLite::Database& database, const char* text, const Values&... values) {
  SQLite::Statement statement(database, text);
  SQLite::bind(statement, values...);
  statement.exec();
}

void bind_optional(SQLite::Statement& statement, int index, const std::optional<int64_t>& value) {
  if (value) statement.bind(index, *value);
}

std::optional<int64_t> optional_of(SQLite::Statement& query, int column) {
  return query.isColumnNull(column) ? std::nullopt : std::optional(query.getColumn(column).getInt64());
}

uint64_t count_of(SQLite::Statement& query, int column) {
  return static_cast<uint64_t>(query.getColumn(column).getInt64());
}

int64_t signed_of(uint64_t count) { return static_cast<int64_t>(count); }

}  // namespace

RunStore::RunStore(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
RunStore::RunStore(RunStore&&) noexcept = default;
RunStore::~RunStore() = default;

Result<RunStore> RunStore::open(const std::filesystem::path& path) {
  auto database = TRY(open_database(path, {}, migrations()));
  return RunStore(std::make_unique<Connection>(path, std::move(database)));
}

Result<std::optional<StoredRun>> RunStore::find_run(const std::string& name) const {
  return guarded(connection_->path, [&]() -> Result<std::optional<StoredRun>> {
    SQLite::Statement query(*connection_->database, "SELECT id, name, options, finished_at FROM runs WHERE name = ?");
    query.bind(1, name);
    if (!query.executeStep()) return std::optional<StoredRun>();
    return std::optional(StoredRun{query.getColumn(0).getInt64(), query.getColumn(1).getString(),
                                   query.getColumn(2).getString(), !query.isColumnNull(3)});
  });
}

Result<StoredRun> RunStore::begin_run(const std::string& name, const std::string& options, const std::string& strategy,
                                      const std::string& model) {
  const Result<void> made = guarded(connection_->path, [&]() -> Result<void> {
    execute(*connection_->database,
            "INSERT INTO runs (name, started_at, options, strategy, model) "
            "VALUES (?, strftime('%Y-%m-%dT%H:%M:%SZ'), ?, ?, ?)",
            name, options, strategy, model);
    return {};
  });
  if (!made) return made.error();
  return *TRY(find_run(name));
}

Result<void> RunStore::finish_run(int64_t run) {
  return guarded(connection_->path, [&]() -> Result<void> {
    execute(*connection_->database,
            "UPDATE runs SET finished_at = strftime('%Y-%m-%dT%H:%M:%SZ') WHERE id = ? AND finished_at IS NULL", run);
    return {};
  });
}

Result<std::vector<StoredTurn>> RunStore::turns(const SamplePlace& place) const {
  return guarded(connection_->path, [&]() -> Result<std::vector<StoredTurn>> {
    SQLite::Statement query(
        *connection_->database,
        "SELECT step, parent, partner, island, aided, answer, detail, how, coalesce(text, ''), similar_to, "
        "evaluation_id, verdict, rung, right_share, time_us, wave_instructions, feedback, prompt_tokens, "
        "answer_tokens, "
        "nano_usd FROM turns LEFT JOIN sources ON sha256 = source_sha256 WHERE run_id = ? AND problem = ? AND sample = "
        "? "
        "ORDER BY turn");
    SQLite::bind(query, place.run, place.problem, place.sample);
    std::vector<StoredTurn> turns;
    while (query.executeStep()) {
      StoredTurn t;
      t.step = query.getColumn(0).getString();
      t.parent = optional_of(query, 1);
      t.partner = optional_of(query, 2);
      t.island = query.getColumn(3).getInt64();
      t.aided = query.getColumn(4).getInt64() != 0;
      int column = 5;
      for (std::string* text : {&t.answer, &t.detail, &t.how, &t.source, &t.similar_to})
        *text = query.getColumn(column++).getString();
      t.evaluation = optional_of(query, 10);
      t.verdict = query.getColumn(11).getString();
      t.rung = query.getColumn(12).getString();
      t.right = query.getColumn(13).getDouble();
      t.time_us = query.getColumn(14).getDouble();
      t.wave_instructions = query.getColumn(15).getDouble();
      t.feedback = query.getColumn(16).getString();
      t.prompt_tokens = count_of(query, 17);
      t.answer_tokens = count_of(query, 18);
      t.nano_usd = query.getColumn(19).getInt64();
      turns.push_back(std::move(t));
    }
    return turns;
  });
}

namespace {

void insert_messages(SQLite::Database& database, const SamplePlace& place, int64_t turn, const StoredTurn& stored) {
  int64_t ordinal = 0;
  for (const auto& [role, text] : stored.messages) {
    const std::string sha256 = sha256_hex(text);
    execute(database, "INSERT OR IGNORE INTO messages (sha256, text) VALUES (?, ?)", sha256, text);
    execute(
        database,
        "INSERT INTO turn_messages (run_id, problem, sample, turn, ordinal, role, sha256) VALUES (?, ?, ?, ?, ?, ?, ?)",
        place.run, place.problem, place.sample, turn, ordinal++, role, sha256);
  }
}

}  // namespace

Result<std::optional<int64_t>> RunStore::record_turn(const SamplePlace& place, int64_t turn, const StoredTurn& stored,
                                                     const Evaluation* evaluation) {
  return guarded(connection_->path, [&]() -> Result<std::optional<int64_t>> {
    SQLite::Database& database = *connection_->database;
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    std::optional<int64_t> id;
    if (evaluation != nullptr) id = insert_evaluation_rows(connection_->inserts, *evaluation);
    const std::string source_sha256 = stored.source.empty() ? "" : sha256_hex(stored.source);
    if (!stored.source.empty()) {
      execute(database, "INSERT OR IGNORE INTO sources (sha256, text) VALUES (?, ?)", source_sha256, stored.source);
    }
    SQLite::Statement insert(
        database,
        "INSERT INTO turns (run_id, problem, sample, turn, step, parent, partner, island, aided, answer, detail, how, "
        "source_sha256, similar_to, evaluation_id, verdict, rung, right_share, time_us, wave_instructions, feedback, "
        "prompt_tokens, answer_tokens, nano_usd) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    SQLite::bind(insert, place.run, place.problem, place.sample, turn, stored.step);
    bind_optional(insert, 6, stored.parent);
    bind_optional(insert, 7, stored.partner);
    insert.bind(8, stored.island);
    insert.bind(9, stored.aided ? 1 : 0);
    int at = 10;
    for (const std::string* text : {&stored.answer, &stored.detail, &stored.how, &source_sha256, &stored.similar_to})
      insert.bind(at++, *text);
    bind_optional(insert, 15, id);
    insert.bind(16, stored.verdict);
    insert.bind(17, stored.rung);
    insert.bind(18, stored.right);
    insert.bind(19, stored.time_us);
    insert.bind(20, stored.wave_instructions);
    insert.bind(21, stored.feedback);
    insert.bind(22, signed_of(stored.prompt_tokens));
    insert.bind(23, signed_of(stored.answer_tokens));
    insert.bind(24, stored.nano_usd);
    insert.exec();
    insert_messages(database, place, turn, stored);
    transaction.commit();
    return id;
  });
}

Result<std::optional<StoredExchange>> RunStore::find_exchange(const SamplePlace& place, int64_t turn,
                                                              int64_t ordinal) const {
  return guarded(connection_->path, [&]() -> Result<std::optional<StoredExchange>> {
    SQLite::Statement query(
        *connection_->database,
        "SELECT request_sha256, kind, reply, prompt_tokens, answer_tokens, reported, nano_usd, seconds "
        "FROM exchanges WHERE run_id = ? AND problem = ? AND sample = ? AND turn = ? AND ordinal = ?");
    SQLite::bind(query, place.run, place.problem, place.sample, turn, ordinal);
    if (!query.executeStep()) return std::optional<StoredExchange>();
    StoredExchange exchange;
    exchange.request_sha256 = query.getColumn(0).getString();
    exchange.kind = query.getColumn(1).getString();
    exchange.reply = query.getColumn(2).getString();
    exchange.prompt_tokens = count_of(query, 3);
    exchange.answer_tokens = count_of(query, 4);
    exchange.reported = query.getColumn(5).getInt64() != 0;
    exchange.nano_usd = query.getColumn(6).getInt64();
    exchange.seconds = query.getColumn(7).getDouble();
    return std::optional(std::move(exchange));
  });
}

Result<void> RunStore::keep_exchange(const SamplePlace& place, int64_t turn, int64_t ordinal,
                                     const StoredExchange& exchange) {
  return guarded(connection_->path, [&]() -> Result<void> {
    SQLite::Statement insert(
        *connection_->database,
        "INSERT OR REPLACE INTO exchanges (run_id, problem, sample, turn, ordinal, request_sha256, kind, "
        "prompt_tokens, answer_tokens, reported, nano_usd, seconds, reply) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    SQLite::bind(insert, place.run, place.problem, place.sample, turn, ordinal, exchange.request_sha256, exchange.kind,
                 signed_of(exchange.prompt_tokens), signed_of(exchange.answer_tokens), exchange.reported ? 1 : 0,
                 exchange.nano_usd, exchange.seconds);
    insert.bind(13, exchange.reply.data(), static_cast<int>(exchange.reply.size()));  // a blob: any bytes
    insert.exec();
    return {};
  });
}

Result<void> RunStore::keep_failure(const SamplePlace& place, int64_t turn, const std::string& what, int64_t nano_usd,
                                    uint64_t tokens) {
  return guarded(connection_->path, [&]() -> Result<void> {
    execute(*connection_->database,
            "INSERT INTO failed_requests (run_id, problem, sample, turn, at, what, nano_usd, tokens) "
            "VALUES (?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ'), ?, ?, ?)",
            place.run, place.problem, place.sample, turn, what, nano_usd, signed_of(tokens));
    return {};
  });
}

Result<std::optional<StoredBaseline>> RunStore::find_baseline(int64_t run, const std::string& problem) const {
  return guarded(connection_->path, [&]() -> Result<std::optional<StoredBaseline>> {
    SQLite::Statement query(*connection_->database,
                            "SELECT time_us, wave_instructions FROM run_baselines WHERE run_id = ? AND problem = ?");
    SQLite::bind(query, run, problem);
    if (!query.executeStep()) return std::optional<StoredBaseline>();
    return std::optional(StoredBaseline{query.getColumn(0).getDouble(), query.getColumn(1).getDouble()});
  });
}

Result<void> RunStore::record_baseline(int64_t run, const std::string& problem, const Evaluation& evaluation,
                                       const StoredBaseline& baseline) {
  return guarded(connection_->path, [&]() -> Result<void> {
    SQLite::Transaction transaction(*connection_->database, SQLite::TransactionBehavior::IMMEDIATE);
    const int64_t id = insert_evaluation_rows(connection_->inserts, evaluation);
    execute(
        *connection_->database,
        "INSERT INTO run_baselines (run_id, problem, evaluation_id, time_us, wave_instructions) VALUES (?, ?, ?, ?, ?)",
        run, problem, id, baseline.time_us, baseline.wave_instructions);
    transaction.commit();
    return {};
  });
}

Result<RunStore::Spent> RunStore::spent(int64_t run) const {
  return guarded(connection_->path, [&]() -> Result<Spent> {
    SQLite::Statement query(
        *connection_->database,
        "SELECT coalesce(sum(nano_usd), 0), coalesce(sum(tokens), 0) FROM ("
        "SELECT nano_usd, prompt_tokens + answer_tokens AS tokens FROM exchanges WHERE run_id = ?1 UNION ALL "
        "SELECT nano_usd, tokens FROM failed_requests WHERE run_id = ?1)");
    query.bind(1, run);
    query.executeStep();
    return Spent{query.getColumn(0).getInt64(), count_of(query, 1)};
  });
}

}  // namespace hipbench::results
