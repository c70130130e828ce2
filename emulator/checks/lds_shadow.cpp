#include "emulator/checks/lds_shadow.hpp"

#include <algorithm>
#include <bit>

namespace hipbench::emulator {

void LdsShadow::clear() {
  for (std::vector<Entry>* entries : {&writer_, &reader_, &second_reader_})
    std::fill(entries->begin(), entries->end(), Entry{});
  epoch_ = 0;
}

void LdsShadow::begin(u32 lds_bytes) {
  const size_t dwords = (lds_bytes + 3) / 4;
  for (std::vector<Entry>* entries : {&writer_, &reader_, &second_reader_})
    if (entries->size() < dwords) entries->resize(dwords);
  if (epoch_ > kLastEpoch / 2) clear();
  first_epoch_ = ++epoch_;
}

void LdsShadow::barrier() {
  if (epoch_ < kLastEpoch) {
    ++epoch_;
    return;
  }
  // A workgroup with millions of barriers: only what was written at all is kept.
  const u32 first = first_epoch_;
  for (Entry& entry : writer_) {
    Entry kept;
    kept.epoch = 1;
    kept.written = entry.epoch >= first ? entry.written : 0u;
    entry = kept;
  }
  std::fill(reader_.begin(), reader_.end(), Entry{});
  std::fill(second_reader_.begin(), second_reader_.end(), Entry{});
  first_epoch_ = 1;
  epoch_ = 2;
}

LdsShadow::Entry LdsShadow::entry_of(const Access& access, u32 mask) const {
  Entry entry;
  entry.epoch = epoch_ & kLastEpoch;
  entry.code = site_code(access.code_offset) & ((u64{1} << kSiteCodeBits) - 1);
  entry.wave = access.wave & 15;
  entry.mask = mask & 15;
  entry.atomic = access.kind == AccessKind::Atomic;
  entry.releases = std::min(access.sync[access.wave].releases, kManyReleases) & 127;
  return entry;
}

bool LdsShadow::conflicts(const Entry& earlier, const Access& access, u32 mask) const {
  if (earlier.epoch != epoch_ || earlier.wave == access.wave || (earlier.mask & mask) == 0) return false;
  if (earlier.atomic != 0 && access.kind == AccessKind::Atomic) return false;
  const bool released = earlier.releases == kManyReleases || access.sync[earlier.wave].releases != earlier.releases;
  return !(released && access.sync[access.wave].acquired);
}

LdsShadow::Finding LdsShadow::race(const Entry& earlier, u32 dword, u32 mask, bool wrote) const {
  Finding finding;
  finding.offset = dword * 4 + static_cast<u32>(std::countr_zero(static_cast<u32>(earlier.mask) & mask));
  finding.other_wave = static_cast<u32>(earlier.wave);
  finding.other_wrote = wrote;
  finding.other_atomic = earlier.atomic != 0;
  finding.earlier = u64{earlier.code} * 4;
  return finding;
}

void LdsShadow::note_read(const Access& access, u32 dword, u32 mask) {
  for (std::vector<Entry>* entries : {&reader_, &second_reader_}) {
    Entry& entry = (*entries)[dword];
    if (entry.epoch != epoch_) {
      entry = entry_of(access, mask);
      return;
    }
    if (entry.wave == access.wave) {
      // The latest access counts: a release in between does not cover it.
      const u32 bytes = static_cast<u32>(entry.mask) | mask;
      if (bytes != entry.mask || entry.releases != access.sync[access.wave].releases) entry = entry_of(access, bytes);
      return;
    }
  }
}

std::optional<LdsShadow::Finding> LdsShadow::read(const Access& access, u32 dword, u32 mask) {
  const Entry& writer = writer_[dword];
  const u32 written = writer.epoch >= first_epoch_ ? static_cast<u32>(writer.written) : 0u;
  if ((written & mask) != mask) {
    Finding finding;
    finding.uninitialised = true;
    finding.offset = dword * 4 + static_cast<u32>(std::countr_zero(mask & ~written));
    note_read(access, dword, mask);
    return finding;
  }
  std::optional<Finding> finding;
  if (conflicts(writer, access, mask)) {
    finding = race(writer, dword, mask, true);
    finding->this_plain_read = writer.atomic != 0;
  }
  note_read(access, dword, mask);
  return finding;
}

std::optional<LdsShadow::Finding> LdsShadow::write(const Access& access, u32 dword, u32 mask) {
  Entry& writer = writer_[dword];
  const u32 written = writer.epoch >= first_epoch_ ? static_cast<u32>(writer.written) : 0u;
  std::optional<Finding> finding;
  if (access.kind == AccessKind::Atomic && (written & mask) != mask) {
    finding.emplace();
    finding->uninitialised = true;
    finding->offset = dword * 4 + static_cast<u32>(std::countr_zero(mask & ~written));
  } else if (conflicts(writer, access, mask)) {
    finding = race(writer, dword, mask, true);
  } else if (conflicts(reader_[dword], access, mask)) {
    finding = race(reader_[dword], dword, mask, false);
  } else if (conflicts(second_reader_[dword], access, mask)) {
    finding = race(second_reader_[dword], dword, mask, false);
  }
  if (finding && !finding->uninitialised && !finding->other_wrote) finding->first_write = (mask & ~written) != 0;
  if (access.kind == AccessKind::Atomic) {
    if (finding && !finding->uninitialised && !finding->other_wrote) finding->other_plain_read = true;
    // A wave that changes atomically what it looked at before: the look was but a guess for compare-and-swap.
    for (std::vector<Entry>* entries : {&reader_, &second_reader_})
      if (Entry& reader = (*entries)[dword]; reader.epoch == epoch_ && reader.wave == access.wave) reader.atomic = 1;
  }
  const bool same = writer.epoch == epoch_ && writer.wave == access.wave &&
                    (writer.atomic != 0) == (access.kind == AccessKind::Atomic);
  Entry entry = entry_of(access, same ? static_cast<u32>(writer.mask) | mask : mask);
  entry.written = (written | mask) & 15;
  writer = entry;
  return finding;
}

}  // namespace hipbench::emulator
