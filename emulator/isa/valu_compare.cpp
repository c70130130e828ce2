// Vector compares: every v_cmp and v_cmpx. A result is a lane mask, 0 for inactive lanes; v_cmpx also puts it into
// EXEC.

#include <array>

#include "emulator/isa/lanes.hpp"
#include "emulator/isa/valu_math.hpp"

namespace hipbench::emulator {

namespace {

template <typename T>
auto comparable(T value) {
  if constexpr (std::is_same_v<T, f16>) return widen(value);
  else return value;
}

// The sixteen relations by their number in the encoding: bit 0 less, bit 1 equal, bit 2 greater; for floats, bit 3 is
// "or unordered" with the lower bits inverted by name (nge = lt or unordered).
template <u32 Relation, typename T>
bool holds(T left, T right) {
  const auto a = comparable(left), b = comparable(right);
  constexpr u32 kOrdered = Relation & 7;
  bool result = false;
  if constexpr (kOrdered == 1) result = a < b;
  if constexpr (kOrdered == 2) result = a == b;
  if constexpr (kOrdered == 3) result = a <= b;
  if constexpr (kOrdered == 4) result = a > b;
  if constexpr (kOrdered == 5) result = (a < b) | (a > b);
  if constexpr (kOrdered == 6) result = a >= b;
  if constexpr (kOrdered == 7) result = (a == a) & (b == b);
  return Relation < 8 ? result : !result;
}
// Integers: relation 5 is "not equal", 7 is "true".
template <u32 Relation, typename T>
bool compare(T a, T b) {
  if constexpr (Slot<T>::is_float) return holds<Relation>(a, b);
  else if constexpr (Relation == 5) return a != b;
  else if constexpr (Relation == 7) return true;
  else return holds<Relation>(a, b);
}

// Bits of the class mask: signalling NaN, quiet NaN, -inf, -normal, -denormal, -0, +0, +denormal, +normal, +inf.
template <typename T>
bool in_class(T value, u32 mask) {
  const bool negative = is_negative(value);
  u32 place = negative ? 3 : 8;
  if (is_denormal(value)) place = negative ? 4 : 7;
  if (is_zero(value)) place = negative ? 5 : 6;
  if (is_infinite(value)) place = negative ? 2 : 9;
  if (magnitude(value) > kExponentMask<T>) place = (bits(value) & kQuietBit<T>) != 0 ? 1 : 0;
  return (mask >> place & 1) != 0;
}

// A class test sees denormals and signalling NaNs whatever MODE says: its source is moved, not computed with.
struct raw16 {
  u16 value;
};
struct raw64 {
  u64 value;
};

}  // namespace

template <>
struct Slot<raw16> : SlotOf<OperandType::F16, 1, false, true> {};
template <>
struct Slot<raw64> : SlotOf<OperandType::F64, 2, false, true> {};

namespace {

constexpr std::array<std::string_view, 8> kIntegerNames = {"f", "lt", "eq", "le", "gt", "ne", "ge", "t"};
constexpr std::array<std::string_view, 16> kFloatNames = {"f", "lt",  "eq",  "le",  "gt",  "lg",  "ge",  "o",
                                                          "u", "nge", "nlg", "ngt", "nle", "neq", "nlt", "tru"};

// Relations 8–15 are named by what does not hold: u = not o, nge = not ge, …
constexpr u32 relation_of(u32 name) {
  constexpr u32 kNegated[8] = {7, 6, 5, 4, 3, 2, 1, 0};
  return name < 8 ? name : 8 + kNegated[name - 8];
}

// Names are built once and live as long as the program.
template <size_t Length>
struct Name {
  char text[Length] = {};
};
constexpr size_t kNameLength = 24;

constexpr Name<kNameLength> compose(std::string_view prefix, std::string_view relation, std::string_view type) {
  Name<kNameLength> name;
  size_t n = 0;
  for (std::string_view part : {prefix, relation, type})
    for (char c : part) name.text[n++] = c;
  return name;
}

constexpr u32 kTypes = 9;
constexpr std::array<std::string_view, kTypes> kTypeNames = {"_f16", "_f32", "_f64", "_i16", "_u16",
                                                             "_i32", "_u32", "_i64", "_u64"};

struct NameTable {
  Name<kNameLength> compare[2][kTypes][16];
  constexpr NameTable() : compare{} {
    for (u32 x = 0; x < 2; ++x)
      for (u32 type = 0; type < kTypes; ++type)
        for (u32 r = 0; r < (type < 3 ? 16u : 8u); ++r)
          compare[x][type][r] =
              compose(x == 0 ? "v_cmp_" : "v_cmpx_", type < 3 ? kFloatNames[r] : kIntegerNames[r], kTypeNames[type]);
  }
};
constexpr NameTable kNames;

// v_cmpx is v_cmp whose lane mask also goes to EXEC.
template <Execute Compare>
void compare_and_set_exec(Wave& wave, const Inst& inst) {
  [[clang::noinline]] Compare(wave, inst);
  wave.set_exec(read_scalar(wave, inst.operands[0], 2));
}
template <auto F>
constexpr void add_pair(Op* rows, size_t& n, std::string_view compare, std::string_view compare_x) {
  using Row = LaneRowOf<F>;
  rows[n] = rows[n + 1] = Row::op(compare);
  rows[n + 1].name = compare_x;
  rows[n + 1].plain = &compare_and_set_exec<&Row::plain>;
  rows[n + 1].general = &compare_and_set_exec<&Row::general>;
  n += 2;
}
template <typename T, size_t... Name>
constexpr void add_type(Op* rows, size_t& n, u32 type, std::index_sequence<Name...>) {
  (add_pair<[](T a, T b) { return compare<relation_of(Name)>(a, b); }>(rows, n, kNames.compare[0][type][Name].text,
                                                                       kNames.compare[1][type][Name].text),
   ...);
}

constexpr size_t kClassRows = 6;
constexpr size_t kRowCount = 2 * (3 * 16 + 6 * 8) + kClassRows;

constexpr std::array<Op, kRowCount> make_rows() {
  std::array<Op, kRowCount> rows{};
  size_t n = 0;
  using Floats = std::make_index_sequence<16>;
  using Integers = std::make_index_sequence<8>;
  add_type<f16>(rows.data(), n, 0, Floats{});
  add_type<f32>(rows.data(), n, 1, Floats{});
  add_type<f64>(rows.data(), n, 2, Floats{});
  add_type<i16>(rows.data(), n, 3, Integers{});
  add_type<u16>(rows.data(), n, 4, Integers{});
  add_type<i32>(rows.data(), n, 5, Integers{});
  add_type<u32>(rows.data(), n, 6, Integers{});
  add_type<i64>(rows.data(), n, 7, Integers{});
  add_type<u64>(rows.data(), n, 8, Integers{});
  Op* const all = rows.data();
  add_pair<[](raw16 a, u32 mask) { return in_class(f16{a.value}, mask); }>(all, n, "v_cmp_class_f16",
                                                                           "v_cmpx_class_f16");
  add_pair<[](any32 a, u32 mask) { return in_class(std::bit_cast<f32>(a.bits), mask); }>(all, n, "v_cmp_class_f32",
                                                                                         "v_cmpx_class_f32");
  add_pair<[](raw64 a, u32 mask) { return in_class(std::bit_cast<f64>(a.value), mask); }>(all, n, "v_cmp_class_f64",
                                                                                         "v_cmpx_class_f64");
  return rows;
}

constexpr std::array<Op, kRowCount> kRows = make_rows();

}  // namespace

std::span<const Op> valu_compare_ops() { return kRows; }

}  // namespace hipbench::emulator
