#pragma once
// Rows whose names are put together: the same operations on several kinds of memory.

#include <deque>
#include <string>
#include <vector>

#include "emulator/isa/lanes.hpp"
#include "emulator/isa/memory_access.hpp"

namespace hipbench::emulator {

// Rows with as many operands as the text has (custom_wide), and the storage of their names. Stays where it is: rows
// point to names.
class RowFamily {
 public:
  explicit RowFamily(InstClass cls) : cls_(cls) {}
  void add(std::string name, Execute body, Pick pick = nullptr) {
    names_.push_back(std::move(name));
    rows_.push_back(custom_wide(names_.back(), cls_, body));
    rows_.back().pick = pick;
  }
  std::span<const Op> rows() const { return rows_; }

 private:
  InstClass cls_;
  std::deque<std::string> names_;
  std::vector<Op> rows_;
};

template <typename Body, typename Data>
void add_load(RowFamily& family, std::string name) {
  Pick pick = nullptr;
  if constexpr (requires { &Body::template pick_load<Data>; }) pick = &Body::template pick_load<Data>;
  family.add(std::move(name), &Body::template load<Data>, pick);
}

// The loads and stores that GLOBAL, FLAT, SCRATCH and MUBUF have in common. Body::load<Data> and Body::store<Data>
// execute them; Body::pick_load<Data>, if there is one, is the loads' Op::pick.
template <typename Body>
void add_loads_and_stores(RowFamily& family, const std::string& prefix) {
  const auto store = [&](const char* name, Execute body) { family.add(prefix + "_store_" + name, body); };
  add_load<Body, UByte>(family, prefix + "_load_ubyte");
  add_load<Body, SByte>(family, prefix + "_load_sbyte");
  add_load<Body, UShort>(family, prefix + "_load_ushort");
  add_load<Body, SShort>(family, prefix + "_load_sshort");
  add_load<Body, DwordData<1>>(family, prefix + "_load_dword");
  add_load<Body, DwordData<2>>(family, prefix + "_load_dwordx2");
  add_load<Body, DwordData<3>>(family, prefix + "_load_dwordx3");
  add_load<Body, DwordData<4>>(family, prefix + "_load_dwordx4");
  add_load<Body, UByteLow>(family, prefix + "_load_ubyte_d16");
  add_load<Body, UByteHigh>(family, prefix + "_load_ubyte_d16_hi");
  add_load<Body, SByteLow>(family, prefix + "_load_sbyte_d16");
  add_load<Body, SByteHigh>(family, prefix + "_load_sbyte_d16_hi");
  add_load<Body, ShortLow>(family, prefix + "_load_short_d16");
  add_load<Body, ShortHigh>(family, prefix + "_load_short_d16_hi");
  store("byte", &Body::template store<UByte>);
  store("byte_d16_hi", &Body::template store<UByteHigh>);
  store("short", &Body::template store<UShort>);
  store("short_d16_hi", &Body::template store<ShortHigh>);
  store("dword", &Body::template store<DwordData<1>>);
  store("dwordx2", &Body::template store<DwordData<2>>);
  store("dwordx3", &Body::template store<DwordData<3>>);
  store("dwordx4", &Body::template store<DwordData<4>>);
}

// The integer atomics that GLOBAL, FLAT, MUBUF and scalar memory have in common. Body::apply<Operation, T> and
// Body::compare_swap<T> are the functions that execute them; U and S the unsigned and the signed type.
template <typename Body, typename U, typename S>
void add_integer_atomics(RowFamily& family, const std::string& prefix, const std::string& suffix) {
  using namespace atomic_op;
  const auto add = [&](const char* name, Execute body) { family.add(prefix + name + suffix, body); };
  add("swap", &Body::template apply<Swap<U>, U>);
  add("cmpswap", &Body::template compare_swap<U>);
  add("add", &Body::template apply<Add<U>, U>);
  add("sub", &Body::template apply<Sub<U>, U>);
  add("smin", &Body::template apply<Min<S>, S>);
  add("umin", &Body::template apply<Min<U>, U>);
  add("smax", &Body::template apply<Max<S>, S>);
  add("umax", &Body::template apply<Max<U>, U>);
  add("and", &Body::template apply<And<U>, U>);
  add("or", &Body::template apply<Or<U>, U>);
  add("xor", &Body::template apply<Xor<U>, U>);
  add("inc", &Body::template apply<Inc<U>, U>);
  add("dec", &Body::template apply<Dec<U>, U>);
}
template <typename Body>
void add_integer_atomics(RowFamily& family, const std::string& prefix) {
  add_integer_atomics<Body, u32, i32>(family, prefix, "");
  add_integer_atomics<Body, u64, i64>(family, prefix, "_x2");
}

// The float atomics of vector memory.
template <typename Body>
void add_float_atomics(RowFamily& family, const std::string& prefix) {
  using namespace atomic_op;
  family.add(prefix + "add_f32", &Body::template apply<Add<f32>, f32>);
  family.add(prefix + "add_f64", &Body::template apply<Add<f64>, f64>);
  family.add(prefix + "min_f64", &Body::template apply<FloatMin<f64>, f64>);
  family.add(prefix + "max_f64", &Body::template apply<FloatMax<f64>, f64>);
  family.add(prefix + "pk_add_f16", &Body::template apply<PackedAddF16, u32>);
}

}  // namespace hipbench::emulator
