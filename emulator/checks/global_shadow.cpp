#include "emulator/checks/global_shadow.hpp"

#include <algorithm>
#include <bit>

namespace hipbench::emulator {

GlobalShadow::GlobalShadow(AddressSpace& memory, u64 workgroups)
    : written_(memory.written()),
      window_(memory.device_window()),
      pages_(window_.size() / kPage),
      writers_(window_.size() / 4),
      releases_(workgroups),
      acquired_(workgroups) {}

bool GlobalShadow::becomes_clean(u64 page) {
  std::atomic_ref<u8> state(pages_[page]);
  u8 seen = state.load(std::memory_order_relaxed);
  if (seen == kClean) return true;
  if (seen != kUnknown) return false;
  if (written_.enabled() && written_.tracks_page(page) && written_.first_unwritten(page * kPage, kPage)) return false;
  return state.compare_exchange_strong(seen, kClean) || seen == kClean;
}

void GlobalShadow::begin_store(u64 offset, u64 size) {
  for (u64 page = offset / kPage; page <= (offset + size - 1) / kPage; ++page) {
    std::atomic_ref<u8> state(pages_[page]);
    if (state.load(std::memory_order_relaxed) != kWritten) state.store(kWritten, std::memory_order_relaxed);
    if (written_.enabled() && written_.tracks_page(page)) {
      const u64 low = std::max(offset, page * kPage), high = std::min(offset + size, (page + 1) * kPage);
      written_.mark(low, high - low);
    }
  }
}

u64 GlobalShadow::releases_of(u64 group) const {
  return std::min<u64>(std::atomic_ref<u32>(releases_[group]).load(std::memory_order_relaxed), kManyReleases);
}

std::optional<GlobalShadow::Finding> GlobalShadow::race_with_writer(u64 dword, u32 mask, u64 group) const {
  const u64 entry = std::atomic_ref<u64>(writers_[dword]).load(std::memory_order_relaxed);
  const u64 writer = entry >> (64 - kGroupBits);
  if (writer == 0 || writer == group + 1 || (entry & mask) == 0) return std::nullopt;
  const u64 then = entry >> (4 + kSiteCodeBits) & kManyReleases;
  const bool released = then == kManyReleases || releases_of(writer - 1) != then;
  if (released && std::atomic_ref<u8>(acquired_[group]).load(std::memory_order_relaxed) != 0) return std::nullopt;
  Finding finding;
  finding.offset = dword * 4 + static_cast<u64>(std::countr_zero(static_cast<u32>(entry & mask)));
  finding.other_group = writer - 1;
  finding.earlier = (entry >> 4 & ((u64{1} << kSiteCodeBits) - 1)) * 4;
  return finding;
}

std::optional<GlobalShadow::Finding> GlobalShadow::note_write(u64 dword, u32 mask, u64 group, u64 code_offset) {
  if (group + 1 >= u64{1} << kGroupBits) return std::nullopt;  // more groups than an entry can name
  std::optional<Finding> race = race_with_writer(dword, mask, group);
  std::atomic_ref<u64> cell(writers_[dword]);
  const u64 mine = (group + 1) << (64 - kGroupBits) | releases_of(group) << (4 + kSiteCodeBits);
  constexpr u64 kWho = ~((u64{1} << (4 + kSiteCodeBits)) - 1);
  const u64 before = cell.load(std::memory_order_relaxed);
  const u64 bytes = (before & kWho) == mine ? (before & 15) | mask : mask;
  cell.store(mine | site_code(code_offset) << 4 | bytes, std::memory_order_relaxed);
  return race;
}

std::optional<GlobalShadow::Finding> GlobalShadow::load(u64 offset, u32 size, u64 group) {
  if (written_.enabled() && written_.tracks_page(offset / kPage)) {
    if (const std::optional<u64> unwritten = written_.first_unwritten(offset, size)) {
      Finding finding;
      finding.uninitialised = true;
      finding.offset = *unwritten;
      return finding;
    }
  }
  for (u64 dword = offset / 4; dword * 4 < offset + size; ++dword)
    if (auto race = race_with_writer(dword, byte_mask(dword, offset, size), group)) return race;
  return std::nullopt;
}

std::optional<GlobalShadow::Finding> GlobalShadow::atomic(u64 offset, u32 size, bool needs_value) {
  if (!written_.enabled() || !written_.tracks_page(offset / kPage)) return std::nullopt;
  std::optional<Finding> finding;
  if (const std::optional<u64> unwritten = written_.first_unwritten(offset, size)) {
    if (needs_value) {
      finding.emplace();
      finding->uninitialised = true;
      finding->offset = *unwritten;
    }
    written_.mark(offset, size);
  }
  return finding;
}

}  // namespace hipbench::emulator
