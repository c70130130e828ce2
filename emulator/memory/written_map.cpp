#include "emulator/memory/written_map.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace hipbench::emulator {

namespace {

// The bits of word `word` that stand for bytes of [offset, end).
u64 bits_in_word(u64 word, u64 offset, u64 end) {
  const u64 low = std::max(offset, word * 64), high = std::min(end, word * 64 + 64);
  const u64 count = high - low;
  return (count == 64 ? ~u64{0} : (u64{1} << count) - 1) << (low % 64);
}

constexpr u64 page_end(u64 end) { return (end + WrittenMap::kPage - 1) / WrittenMap::kPage; }

}  // namespace

void WrittenMap::enable(u64 size) {
  if (enabled()) return;
  bits_ = LazyArray<u64>(size / 64);
  tracked_ = LazyArray<u8>(size / kPage);
  enabled_.store(true, std::memory_order_release);
}

void WrittenMap::track(u64 offset, u64 size) {
  const u64 first = offset / kPage, end = page_end(offset + size);
  constexpr u64 kWordsPerPage = kPage / 64;
  // Big ranges give their pages of bits back instead of being filled with zeros.
  constexpr u64 kBitsPage = kPage / sizeof(u64);
  const u64 low = first * kWordsPerPage, high = end * kWordsPerPage;
  const u64 whole_low = (low + kBitsPage - 1) / kBitsPage * kBitsPage, whole_high = high / kBitsPage * kBitsPage;
  if (whole_low < whole_high) {
    std::fill(bits_.data() + low, bits_.data() + whole_low, 0);
    ::madvise(bits_.data() + whole_low, (whole_high - whole_low) * sizeof(u64), MADV_DONTNEED);
    std::fill(bits_.data() + whole_high, bits_.data() + high, 0);
  } else {
    std::fill(bits_.data() + low, bits_.data() + high, 0);
  }
  std::memset(tracked_.data() + first, 1, end - first);
  // The rest of the last page belongs to nobody: without it the page can become wholly written.
  if (const u64 rest = end * kPage - (offset + size); rest != 0) mark(offset + size, rest);
}

void WrittenMap::forget(u64 offset, u64 size) {
  std::memset(tracked_.data() + offset / kPage, 0, page_end(offset + size) - offset / kPage);
}

void WrittenMap::mark(u64 offset, u64 size) {
  const u64 end = offset + size;
  for (u64 word = offset / 64; word * 64 < end; ++word) {
    const u64 bits = bits_in_word(word, offset, end);
    std::atomic_ref<u64> cell(bits_[word]);
    if ((cell.load(std::memory_order_relaxed) & bits) != bits) cell.fetch_or(bits, std::memory_order_relaxed);
  }
}

std::optional<u64> WrittenMap::first_unwritten(u64 offset, u64 size) const {
  const u64 end = offset + size;
  for (u64 word = offset / 64; word * 64 < end; ++word) {
    const u64 missing =
        bits_in_word(word, offset, end) & ~std::atomic_ref<u64>(bits_[word]).load(std::memory_order_relaxed);
    if (missing != 0) return word * 64 + static_cast<u64>(std::countr_zero(missing));
  }
  return std::nullopt;
}

}  // namespace hipbench::emulator
