#pragma once
// The HIP declarations as AMD's headers give them, so that every struct has its layout. hip_runtime_api.h alone is
// plain C++.

#define __HIP_PLATFORM_AMD__ 1
#define __HIP_DISABLE_CPP_FUNCTIONS__ 1
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#include <hip/hip_runtime_api.h>

#include <hip/hip_deprecated.h>
#pragma clang diagnostic pop

// Ours alone, for the worker of hipbench: how many streams have work that is not known to be done and that nothing
// orders before what comes next on `stream`.
extern "C" int hipbench_unordered_streams(hipStream_t stream);
