#include "sandbox/init/wire.hpp"

#include <cstring>

namespace hipbench::sandbox::wire {
namespace {

class Writer {
 public:
  void number(uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
  }
  void texts(const std::vector<std::string>& values) {
    number(values.size());
    for (const std::string& value : values) text(value);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  uint64_t number() {
    uint64_t value = 0;
    if (bytes_.size() < sizeof value) {
      good_ = false;
      return 0;
    }
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }
  std::string text() {
    const uint64_t size = number();
    if (size > bytes_.size()) {
      good_ = false;
      return {};
    }
    std::string value(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return value;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> values;
    for (uint64_t left = number(); left > 0 && good_; --left) values.push_back(text());
    return values;
  }
  bool finished() const { return good_ && bytes_.empty(); }
  bool good() const { return good_; }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

}  // namespace

std::string encode(const Config& config) {
  Writer writer;
  writer.texts(config.argv);
  writer.texts(config.env);
  writer.text(config.working_directory);
  writer.number(config.fds.size());
  for (int fd : config.fds) writer.number(static_cast<uint64_t>(fd));
  writer.texts(config.output_files);
  writer.text(config.filter);
  for (uint64_t value : {config.cpu_seconds, config.memory_bytes, config.file_bytes, config.processes,
                         config.open_files, uint64_t{config.limit_processes}, uint64_t{config.isolated}})
    writer.number(value);
  return writer.take();
}

std::optional<Config> decode(std::string_view bytes) {
  Reader reader(bytes);
  Config config;
  config.argv = reader.texts();
  config.env = reader.texts();
  config.working_directory = reader.text();
  for (uint64_t left = reader.number(); left > 0 && reader.good(); --left)
    config.fds.push_back(static_cast<int>(reader.number()));
  config.output_files = reader.texts();
  config.filter = reader.text();
  for (uint64_t* value :
       {&config.cpu_seconds, &config.memory_bytes, &config.file_bytes, &config.processes, &config.open_files})
    *value = reader.number();
  config.limit_processes = reader.number() != 0;
  config.isolated = reader.number() != 0;
  if (!reader.finished() || config.argv.empty()) return std::nullopt;
  return config;
}

}  // namespace hipbench::sandbox::wire
