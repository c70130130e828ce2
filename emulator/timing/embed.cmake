# cmake -DINPUT=mi300x.toml -DOUTPUT=... -P embed.cmake: the constants as a C++ file, so that the device server needs no file.
file(READ "${INPUT}" text)
file(WRITE "${OUTPUT}" "// Generated from emulator/timing/mi300x.toml; do not edit.
namespace hipbench::emulator {
extern const char* const kMi300xTimingToml;
const char* const kMi300xTimingToml = R\"hbtext(${text})hbtext\";
}  // namespace hipbench::emulator
")
