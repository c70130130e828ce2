// Four elements a load and a store, and workgroups that stay for all of the matrix.

/* hipbench-plan 1
problem = "identity"
options = ["-O3"]
[[step]]
kernel = "copy"
grid = ["max(1, min(1216, ceil_div(rows * columns, 1024)))"]  # at most four workgroups a CU
block = [256]
args = ["@args"]
*/

#include <hip/hip_runtime.h>

#include "hipbench/identity.h"

extern "C" __global__ void copy(hb_identity args) {
  const int64_t count = int64_t(args.rows) * args.columns, step = int64_t(gridDim.x) * 256;
  const int64_t first = int64_t(blockIdx.x) * 256 + threadIdx.x;
  const float4 *x = reinterpret_cast<const float4 *>(args.x);
  float4 *y = reinterpret_cast<float4 *>(args.y);
  for (int64_t i = first; i < count / 4; i += step) y[i] = x[i];
  const int64_t rest = count / 4 * 4 + first;  // what does not fill a vector
  if (rest < count) args.y[rest] = args.x[rest];
}
