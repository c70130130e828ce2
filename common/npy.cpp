#include "common/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>

#include "common/files.hpp"

namespace hipbench {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;             // of the data's place in the file, as NumPy writes it
constexpr size_t kLargestHeader = 64 * 1024;  // real ones are below 200 bytes

// The header is a Python dictionary literal with three known keys. Only what NumPy itself writes is understood.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  struct Header {
    std::optional<std::string> type;
    std::optional<bool> fortran_order;
    std::optional<std::vector<int64_t>> shape;
    bool is_complete() const { return type && fortran_order && shape; }
  };

  std::optional<Header> parse() {
    Header header;
    if (!take('{')) return std::nullopt;
    while (!take('}')) {
      const std::optional<std::string> key = string();
      if (!key || !take(':')) return std::nullopt;
      bool understood = false;
      if (*key == "descr") understood = (header.type = string()).has_value();
      if (*key == "fortran_order") understood = (header.fortran_order = boolean()).has_value();
      if (*key == "shape") understood = (header.shape = tuple()).has_value();
      if (!understood || (!take(',') && peek() != '}')) return std::nullopt;
    }
    return header.is_complete() ? std::optional(header) : std::nullopt;
  }

 private:
  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }
  char peek() {
    skip_space();
    return rest_.empty() ? '\0' : rest_.front();
  }
  bool take(char c) {
    if (peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<std::string> string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::optional<bool> boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return word == "True";
    }
    return std::nullopt;
  }
  std::optional<std::vector<int64_t>> tuple() {
    std::vector<int64_t> values;
    if (!take('(')) return std::nullopt;
    while (!take(')')) {
      skip_space();
      int64_t value = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
      if (error != std::errc{} || value < 0) return std::nullopt;
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      values.push_back(value);
      if (!take(',') && peek() != ')') return std::nullopt;
    }
    return values;
  }

  std::string_view rest_;
};

// Bytes of an element; none for types that are not little-endian numbers of a fixed size ("O", "<U8", ">f4", records).
std::optional<uint64_t> element_size(std::string_view type) {
  if (type.size() != 3 || std::string_view("biufc").find(type[1]) == std::string_view::npos) return std::nullopt;
  if (type[2] < '1' || type[2] > '8') return std::nullopt;
  const auto bytes = static_cast<uint64_t>(type[2] - '0');
  return type[0] == '<' || (type[0] == '|' && bytes == 1) ? std::optional(bytes) : std::nullopt;
}

// None where the product does not fit.
std::optional<uint64_t> byte_total(uint64_t element, std::span<const int64_t> shape) {
  uint64_t bytes = element;
  for (const int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes)) return std::nullopt;
  return bytes;
}

// From first index fastest to last index fastest.
std::vector<std::byte> in_c_order(const std::vector<std::byte>& data, const std::vector<int64_t>& shape,
                                  size_t element) {
  std::vector<std::byte> result(data.size());
  std::vector<size_t> strides, index(shape.size());  // in `data`, bytes
  for (size_t stride = element; const int64_t extent : shape) {
    strides.push_back(stride);
    stride *= static_cast<size_t>(extent);
  }
  size_t from = 0;
  for (size_t to = 0; to < result.size(); to += element) {
    std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(from), element,
                result.begin() + static_cast<std::ptrdiff_t>(to));
    for (size_t axis = shape.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < static_cast<size_t>(shape[axis])) break;
      from -= strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
  return result;
}

Result<std::string> read_header(std::istream& file, const std::string& name) {
  const Error not_npy{fmt::format("{} is not a .npy file; write one with numpy.save", name)};
  std::string lead(8, '\0');
  if (!file.read(lead.data(), 8) || !lead.starts_with(kMagic)) return not_npy;
  const size_t length_bytes = lead[6] == 1 ? 2 : 4;
  if (lead[6] < 1 || lead[6] > 3)
    return Error{fmt::format("{} is of .npy version {}, only 1 to 3 are known", name, int{lead[6]})};
  unsigned char length[4] = {};
  if (!file.read(reinterpret_cast<char*>(length), static_cast<std::streamsize>(length_bytes))) return not_npy;
  const size_t header_size = length[0] | size_t{length[1]} << 8 | size_t{length[2]} << 16 | size_t{length[3]} << 24;
  if (header_size > kLargestHeader) return not_npy;
  std::string header(header_size, '\0');
  if (!file.read(header.data(), static_cast<std::streamsize>(header_size))) return not_npy;
  return header;
}

}  // namespace

std::string npy_shape_text(std::span<const int64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}
std::string NpyTensor::shape_text() const { return npy_shape_text(shape); }

Result<NpyTensor> read_npy(const std::filesystem::path& path) {
  const std::string name = path.string();
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return Error{fmt::format("there is no file {}", name)};
  std::ifstream file(path, std::ios::binary);
  const uint64_t file_size =
      std::filesystem::is_regular_file(path, error) ? std::filesystem::file_size(path, error) : 0;
  if (!file || error) return Error{fmt::format("{} cannot be read", name)};
  const std::string text = TRY(read_header(file, name));
  const std::optional<HeaderParser::Header> header = HeaderParser(text).parse();
  if (!header) {
    return Error{
        fmt::format("the header of {} is not understood: it must give descr, fortran_order and shape of a plain "
                    "tensor, as numpy.save writes them",
                    name)};
  }
  const std::optional<uint64_t> element = element_size(*header->type);
  if (!element) {
    return Error{fmt::format("{} holds the type '{}'; only little-endian numbers of 1 to 8 bytes can be read", name,
                             *header->type)};
  }
  const std::optional<uint64_t> bytes = byte_total(*element, *header->shape);
  const uint64_t present = file_size - std::min(file_size, static_cast<uint64_t>(file.tellg()));
  if (!bytes || *bytes != present) {
    return Error{
        fmt::format("{} holds {} bytes of data, but its header says {} elements of {} bytes; the file is damaged", name,
                    present, npy_shape_text(*header->shape), *element)};
  }
  NpyTensor tensor{*header->type, *header->shape, std::vector<std::byte>(*bytes)};
  if (!file.read(reinterpret_cast<char*>(tensor.data.data()), static_cast<std::streamsize>(*bytes)))
    return Error{fmt::format("{} cannot be read to its end", name)};
  if (*header->fortran_order && tensor.shape.size() > 1) tensor.data = in_c_order(tensor.data, tensor.shape, *element);
  return tensor;
}

Result<void> write_npy(const std::filesystem::path& path, std::string_view type, std::span<const int64_t> shape,
                       std::span<const std::byte> data) {
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, npy_shape_text(shape));
  const size_t lead = kMagic.size() + 4, unpadded = lead + header.size() + 1;
  header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  header += '\n';
  std::string content(kMagic);
  content += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  content += header;
  content.append(reinterpret_cast<const char*>(data.data()), data.size());
  return write_file_atomically(path, content);
}

}  // namespace hipbench
