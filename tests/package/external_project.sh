#!/bin/bash
# external_project.sh BUILD_DIR EXAMPLE_DIR COMPILER LINK_FLAGS: installs BUILD_DIR into a fresh prefix, builds a copy of
# the example against it, and checks what it prints.
set -euo pipefail
build=$1 example=$2 compiler=$3 link_flags=$4

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/prefix" > "$scratch/install.log"
cp -r "$example" "$scratch/project"
cmake -S "$scratch/project" -B "$scratch/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_PREFIX_PATH="$scratch/prefix" -DCMAKE_EXE_LINKER_FLAGS="$link_flags"
cmake --build "$scratch/build"

output=$("$scratch/build/tune_in_process")
echo "$output"
grep -q '^[0-9]* trials, 500 of 500 epochs$' <<< "$output"
grep -q '^best: trial [0-9]*, loss 0\.0[0-9]*, lr ' <<< "$output"

cat > "$scratch/shell.yaml" << 'YAML'
command: [sh, -c, 'for e in $(seq 1 $BAPI_MAX_EPOCH); do echo "bapi: {\"epoch\": $e, \"value\": $e}"; done']
metric: {name: value, goal: maximize}
budget: 20 epochs
epochs: 3
checkpoint: none
policy: random
parameters: {x: {min: 0.0, max: 1.0}}
YAML
run_study_file() { (cd "$scratch" && build/run_study_file shell.yaml); }
output=$(run_study_file)
echo "$output"
grep -q ': 20 of 20 epochs$' <<< "$output"
grep -q '^best: trial 0, value 3$' <<< "$output"

# An edited file behaves as with `bapi run`: limits are taken over and told to the programs, what is trained is not.
sed -i 's/20 epochs/26 epochs/; $a workers: 2\ndeadline: 10m' "$scratch/shell.yaml"
sed -i 's/goal: maximize/goal: minimize/' "$scratch/shell.yaml"
if output=$(run_study_file 2>&1); then exit 1; fi
echo "$output"
grep -q 'was created with different settings' <<< "$output"
grep -q 'metric.goal: here minimize; in the study maximize' <<< "$output"
sed -i 's/goal: minimize/goal: maximize/' "$scratch/shell.yaml"
output=$(run_study_file)
echo "$output"
grep -q '^changed workers: 2, was 1$' <<< "$output"
grep -q '^changed deadline: 600 s, was none$' <<< "$output"
grep -q ': 26 of 26 epochs$' <<< "$output"

# The deadline reaches the programs.
sed -i 's/-c, .for/-c, '"'"'echo "deadline $BAPI_DEADLINE"; for/; $a name: told' "$scratch/shell.yaml"
run_study_file
grep -q '^deadline [0-9]' "$scratch/told.bapi/trials/0000/log"

[[ -f $scratch/prefix/share/doc/bapi/LICENSE ]]
if [[ -x $build/bapi ]]; then
  "$scratch/prefix/bin/bapi" --version
  share=$scratch/prefix/share
  grep -q '^\.TH ' "$share/man/man1/bapi.1"
  bash -n "$share/bash-completion/completions/bapi"
  grep -q '^complete -c bapi ' "$share/fish/vendor_completions.d/bapi.fish"
fi
