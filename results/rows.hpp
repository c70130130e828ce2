#pragma once
// Writing and reading rows in the order of their columns.

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "common/result.hpp"
#include "evaluator/verdict.hpp"

namespace hipbench::results {

inline Error unknown_word(std::string_view what, std::string_view word) {
  return Error{
      fmt::format("the database holds the unknown {} \"{}\"; it is damaged, or was changed by hand", what, word)};
}

inline Result<VerdictKind> read_verdict(const std::string& word) {
  if (const std::optional<VerdictKind> kind = verdict_kind_from(word)) return *kind;
  return unknown_word("verdict", word);
}

// INSERT INTO table VALUES (?, ?, …) from values in the order of the columns.
class Insert {
 public:
  // `conflict`: what comes after INSERT, with a space.
  Insert(SQLite::Database& database, std::string_view table, std::string_view columns, std::string_view conflict = "")
      : statement_(database, text(table, columns, conflict)) {}

  Insert& operator<<(const std::string& value) { return statement_.bind(++at_, value), *this; }
  Insert& operator<<(std::string_view value) { return *this << std::string(value); }
  Insert& operator<<(double value) { return statement_.bind(++at_, value), *this; }  // SQLite stores NaN as NULL
  Insert& operator<<(int64_t value) { return statement_.bind(++at_, value), *this; }
  Insert& operator<<(uint64_t value) { return *this << static_cast<int64_t>(value); }
  Insert& operator<<(uint32_t value) { return *this << int64_t{value}; }
  Insert& operator<<(int value) { return *this << int64_t{value}; }
  Insert& operator<<(bool value) { return *this << int64_t{value}; }
  Insert& null() { return statement_.bind(++at_), *this; }

  void execute() {
    statement_.exec();
    begin();
  }
  // What was bound before, also by an insert that failed, is forgotten.
  void begin() {
    statement_.tryReset();  // reset() would throw what the failed insert threw already
    statement_.clearBindings();
    at_ = 0;
  }

 private:
  static std::string text(std::string_view table, std::string_view columns, std::string_view conflict) {
    std::string marks = "?";
    for (const char c : columns) marks += c == ',' ? ", ?" : "";
    return fmt::format("INSERT {}INTO {} ({}) VALUES ({})", conflict, table, columns, marks);
  }

  SQLite::Statement statement_;
  int at_ = 0;
};

// A connection's inserts, each prepared once: that is most of what storing a small evaluation costs.
class Inserts {
 public:
  explicit Inserts(SQLite::Database& database) : database_(database) {}

  // One list of columns a table.
  Insert& into(std::string_view table, std::string_view columns) { return find("", table, columns); }
  // The same for rows that may be there already; of another table than those of into().
  Insert& or_ignore(std::string_view table, std::string_view columns) { return find("OR IGNORE ", table, columns); }
  SQLite::Database& database() { return database_; }

 private:
  Insert& find(std::string_view conflict, std::string_view table, std::string_view columns) {
    auto found = inserts_.find(table);
    if (found == inserts_.end()) {
      found = inserts_.try_emplace(std::string(table), database_, table, columns, conflict).first;
    } else {
      found->second.begin();
    }
    return found->second;
  }

  SQLite::Database& database_;
  std::map<std::string, Insert, std::less<>> inserts_;
};

// A row's columns one after the other. What is in the file is not trusted: wrong types give zeros, wrong words an
// error.
class Row {
 public:
  explicit Row(SQLite::Statement& statement) : statement_(statement) {}

  std::string text() { return statement_.getColumn(at_++).getString(); }
  int64_t integer() { return statement_.getColumn(at_++).getInt64(); }
  uint64_t unsigned_integer() { return static_cast<uint64_t>(integer()); }
  uint32_t u32() { return static_cast<uint32_t>(integer()); }
  bool boolean() { return integer() != 0; }
  double real() {
    const SQLite::Column column = statement_.getColumn(at_++);
    return column.isNull() ? std::numeric_limits<double>::quiet_NaN() : column.getDouble();
  }
  void skip(int columns) { at_ += columns; }
  bool next_is_null() { return statement_.getColumn(at_).isNull(); }

 private:
  SQLite::Statement& statement_;
  int at_ = 0;
};

}  // namespace hipbench::results
