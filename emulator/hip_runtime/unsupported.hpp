#pragma once
// What the exported functions do that are not implemented: they name themselves once on standard error and fail.

namespace hipbench::hip {

int unsupported(const char* name);                // hipErrorNotSupported
const char* unsupported_text(const char* name);  // for functions that return a text

}  // namespace hipbench::hip
