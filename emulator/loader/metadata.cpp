#include "emulator/loader/metadata.hpp"

#include <fmt/format.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/BinaryFormat/MsgPackReader.h>
#include <llvm/Support/Error.h>

#include <limits>

namespace hipbench::emulator {

namespace {

namespace msgpack = llvm::msgpack;

constexpr int kDeepest = 16;
constexpr u64 kMostValues = 4'000'000;  // about 100 bytes each while parsing; thousands of kernels fit
constexpr u64 kMostKernargBytes = 1 << 20;

// A msgpack value as a tree. (LLVM's own Document asserts on hostile keys, so only its token reader is used.)
struct Value {
  enum class Kind { Other, Number, Text, Array, Map } kind = Kind::Other;
  u64 number = 0;
  std::string_view text;
  std::vector<Value> items;            // array elements, or map values
  std::vector<std::string_view> keys;  // map keys, parallel to items; "" where a key is not text

  const Value* find(std::string_view key) const {
    for (size_t i = 0; i < keys.size(); ++i)
      if (keys[i] == key) return &items[i];
    return nullptr;
  }
};

Result<Value> read_value(msgpack::Reader& reader, u64& values_left, int depth) {
  if (values_left-- == 0) return Error{"code object metadata: too large"};
  if (depth > kDeepest) return Error{"code object metadata: nested too deeply"};
  msgpack::Object object;
  auto got = reader.read(object);
  if (!got) return Error{"code object metadata: " + llvm::toString(got.takeError())};
  if (!*got) return Error{"code object metadata: cut off"};
  Value value;
  switch (object.Kind) {
    case msgpack::Type::Int:
    case msgpack::Type::UInt:
      value.kind = Value::Kind::Number;
      value.number = object.UInt;
      break;
    case msgpack::Type::Boolean:
      value.kind = Value::Kind::Number;
      value.number = object.Bool;
      break;
    case msgpack::Type::String:
      value.kind = Value::Kind::Text;
      value.text = {object.Raw.data(), object.Raw.size()};
      break;
    case msgpack::Type::Array:
      value.kind = Value::Kind::Array;
      for (size_t i = 0; i < object.Length; ++i) value.items.push_back(TRY(read_value(reader, values_left, depth + 1)));
      break;
    case msgpack::Type::Map:
      value.kind = Value::Kind::Map;
      for (size_t i = 0; i < object.Length; ++i) {
        value.keys.push_back(TRY(read_value(reader, values_left, depth + 1)).text);
        value.items.push_back(TRY(read_value(reader, values_left, depth + 1)));
      }
      break;
    default:
      break;
  }
  return value;
}

// Reads the fields of one map and remembers the first that is malformed.
class Fields {
 public:
  Fields(const Value& map, std::string where) : map_(map), where_(std::move(where)) {}

  std::string text(std::string_view key) {
    const Value* value = map_.find(key);
    if (value == nullptr) return {};
    if (value->kind != Value::Kind::Text) fail(key, "is not a string");
    return std::string(value->text);
  }
  u32 number(std::string_view key, u32 otherwise = 0) {
    const Value* value = map_.find(key);
    if (value == nullptr) return otherwise;
    if (value->kind != Value::Kind::Number || value->number > std::numeric_limits<u32>::max()) {
      fail(key, "is not a 32-bit number");
      return otherwise;
    }
    return static_cast<u32>(value->number);
  }
  std::span<const Value> array(std::string_view key) {
    const Value* value = map_.find(key);
    if (value == nullptr) return {};
    if (value->kind != Value::Kind::Array) fail(key, "is not a list");
    return value->items;
  }
  void fail(std::string_view key, std::string_view what) {
    if (error_.empty()) error_ = fmt::format("code object metadata: {} of {} {}", key, where_, what);
  }
  Result<void> check() const {
    if (!error_.empty()) return Error{error_};
    return {};
  }

 private:
  const Value& map_;
  std::string where_, error_;
};

Result<KernelArgument> parse_argument(const Value& map, const std::string& kernel, u32 kernarg_size) {
  Fields fields(map, fmt::format("an argument of kernel {}", kernel));
  KernelArgument argument{.name = fields.text(".name"),
                          .value_kind = fields.text(".value_kind"),
                          .offset = fields.number(".offset"),
                          .size = fields.number(".size"),
                          .type_name = fields.text(".type_name")};
  if (u64{argument.offset} + argument.size > kernarg_size) fields.fail(".offset", "leaves the kernarg segment");
  TRY(fields.check());
  return argument;
}

Result<KernelMetadata> parse_kernel(const Value& map) {
  Fields fields(map, "a kernel");
  KernelMetadata result{.name = fields.text(".name"), .symbol = fields.text(".symbol"), .kernel = {}};
  Kernel& kernel = result.kernel;
  kernel.kernarg_segment_size = fields.number(".kernarg_segment_size");
  kernel.kernarg_segment_align = fields.number(".kernarg_segment_align", 8);
  kernel.max_flat_workgroup_size = fields.number(".max_flat_workgroup_size", 1024);
  kernel.vgpr_count = fields.number(".vgpr_count");
  kernel.agpr_count = fields.number(".agpr_count");
  kernel.sgpr_count = fields.number(".sgpr_count");
  kernel.vgpr_spill_count = fields.number(".vgpr_spill_count");
  kernel.sgpr_spill_count = fields.number(".sgpr_spill_count");
  kernel.uses_dynamic_stack = fields.number(".uses_dynamic_stack") != 0;
  const u32 wave_size = fields.number(".wavefront_size", kWaveSize);
  if (wave_size != kWaveSize) fields.fail(".wavefront_size", "is not 64, which gfx942 needs");
  if (kernel.kernarg_segment_size > kMostKernargBytes) fields.fail(".kernarg_segment_size", "is over 1 MiB");
  const auto required = fields.array(".reqd_workgroup_size");
  for (size_t i = 0; i < required.size() && i < 3; ++i)
    kernel.required_workgroup_size[i] = static_cast<u32>(required[i].number);
  if (result.symbol.empty()) fields.fail(".symbol", "is missing");
  TRY(fields.check());
  for (const Value& argument : fields.array(".args"))
    kernel.arguments.push_back(TRY(parse_argument(argument, result.name, kernel.kernarg_segment_size)));
  return result;
}

}  // namespace

Result<std::vector<KernelMetadata>> parse_metadata(std::span<const std::byte> bytes) {
  msgpack::Reader reader(llvm::StringRef(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  u64 values_left = kMostValues;
  const Value root = TRY(read_value(reader, values_left, 0));
  Fields fields(root, "the code object");
  std::vector<KernelMetadata> kernels;
  for (const Value& kernel : fields.array("amdhsa.kernels")) kernels.push_back(TRY(parse_kernel(kernel)));
  TRY(fields.check());
  return kernels;
}

}  // namespace hipbench::emulator
