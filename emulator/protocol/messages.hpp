#pragma once
// The structured parts of messages, written and read in one place so that both directions stay side by side.

#include "emulator/protocol/client.hpp"
#include "emulator/protocol/wire.hpp"

namespace hipbench::emulator::wire {

// Bytes of a 2-D transfer: `rows` runs of `width` bytes, `pitch` bytes apart. One row is the plain case.
struct Rows {
  u64 address = 0, pitch = 0, width = 0, rows = 1;
  u64 bytes() const { return width * rows; }
};

struct FillRequest {
  Rows to;  // width in bytes
  u32 value = 0, value_size = 1;
};

struct CopyRequest {
  Rows to;
  u64 from = 0, from_pitch = 0;
};

void put(Writer& writer, const Rows& rows);
Rows get_rows(Reader& reader);
void put(Writer& writer, const FillRequest& fill);
FillRequest get_fill(Reader& reader);
void put(Writer& writer, const CopyRequest& copy);
CopyRequest get_copy(Reader& reader);
void put(Writer& writer, const LaunchRequest& launch);
LaunchRequest get_launch(Reader& reader);
void put(Writer& writer, const ModuleInfo& module);
ModuleInfo get_module(Reader& reader);
void put(Writer& writer, const OperationFailure& failure);
OperationFailure get_failure(Reader& reader);
void put(Writer& writer, const Operation& operation);
Operation get_operation(Reader& reader);
void put(Writer& writer, const Limits& limits);
Limits get_limits(Reader& reader);

}  // namespace hipbench::emulator::wire
