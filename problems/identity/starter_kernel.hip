// A starting point for identity, kernel track: correct, simple and slow. Try it:
//   hipbench eval THIS_FILE --problem identity
//
// y[i] = x[i] for every i below rows * columns.

/* hipbench-plan 1
problem = "identity"
options = ["-O3"]
[[step]]
kernel = "copy"
grid = ["ceil_div(rows * columns, 256)"]  # one thread an element
block = [256]
args = ["@args"]
*/

#include <hip/hip_runtime.h>

#include "hipbench/identity.h"

extern "C" __global__ void copy(hb_identity args) {
  const int64_t count = int64_t(args.rows) * args.columns;
  const int64_t i = int64_t(blockIdx.x) * 256 + threadIdx.x;
  if (i < count) args.y[i] = args.x[i];
}
