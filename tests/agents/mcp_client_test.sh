#!/usr/bin/env bash
# mcp_client_test.sh HIPBENCH STARTER: hipbench mcp with a client that others wrote, the npm package of the protocol's makers.
# Skipped (77) where there is no node or the package cannot be fetched.
set -euo pipefail
hipbench=$1 starter=$2
package=@modelcontextprotocol/sdk@1.32.2
here=$(cd "$(dirname "$0")" && pwd)
command -v node >/dev/null && command -v npm >/dev/null || { echo 'skipped: there is no node with npm here'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '{"private": true, "type": "module"}\n' >"$work/package.json"
(cd "$work" && timeout 180 npm install --ignore-scripts --no-audit --no-fund --loglevel=error "$package") >"$work/log" 2>&1 ||
  { echo "skipped: npm cannot install $package: $(tail -n 1 "$work/log")"; exit 77; }
cp "$here/mcp_client.mjs" "$work/"
timeout 300 node "$work/mcp_client.mjs" "$hipbench" "$work/mcp.db" "$starter"
