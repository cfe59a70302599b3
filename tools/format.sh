#!/bin/bash
# tools/format.sh: formats every C++ file in place. With --check: changes nothing, fails on a file that needs it.
set -euo pipefail
cd "$(dirname "$0")/.."

folders=()
for folder in src tests fuzz examples experiments bench python; do
  [[ -d $folder ]] && folders+=("$folder")
done
mode=(-i)
if [[ ${1:-} == --check ]]; then
  mode=(--dry-run --Werror)
fi
find "${folders[@]}" \( -name '*.cc' -o -name '*.h' \) -print0 | xargs -0 clang-format "${mode[@]}"
