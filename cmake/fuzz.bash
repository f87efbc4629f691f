# Runs the fuzzers of build/fuzz in turn, TIME seconds each, and keeps a running total of executions and findings per target in one file, so
# that a stopped run goes on where it was. Targets that use filters have a part of their time at every CPU level of this machine. New inputs
# that reach new code are kept beside the total, findings too.
#
#   fuzz_all ROOT SECONDS [TARGET…]     SECONDS for each target; all of them unless some are named

fuzz_total() { awk -v t="$2" '$1 == t { print $2 }' "$1" 2>/dev/null; }

fuzz_levels() {  # TARGET
  case $1 in guard | keys) echo best && return ;; esac
  echo portable
  if grep -qw bmi2 /proc/cpuinfo && grep -qw avx2 /proc/cpuinfo; then echo avx2; fi
  if grep -qw avx512vbmi /proc/cpuinfo && grep -qw avx512_bitalg /proc/cpuinfo; then echo avx512; fi
}

fuzz_one() {  # FOLDER TARGET LEVEL SECONDS
  local folder=$1 target=$2 level=$3 seconds=$4 log executions found
  mkdir -p "$folder/corpus/$target" "$folder/findings"
  log=$folder/$target.$level.log
  local seeds=("$root/tests/fuzz/corpus/$target")
  if [ "$target" = load ]; then seeds+=("$root/tests/golden/v2" "$root/tests/golden/mistakes" "$root/tests/golden/refused"); fi
  local dictionary=() environment=()
  if [ -f "$root/tests/fuzz/$target.dict" ]; then dictionary=(-dict="$root/tests/fuzz/$target.dict"); fi
  if [ "$level" != best ]; then environment=("TAMIS_CPU=$level"); fi
  # A fork that fails leaves its input behind and the run goes on: one finding does not hide the next.
  env "${environment[@]}" "$root/build/fuzz/tests/fuzz/fuzz_$target" -fork="${FUZZ_JOBS:-$(nproc)}" -ignore_crashes=1 -ignore_timeouts=0 -ignore_ooms=0 \
    -timeout=20 -rss_limit_mb=2048 -max_len=4096 -max_total_time="$seconds" -artifact_prefix="$folder/findings/$target-" "${dictionary[@]}" \
    "$folder/corpus/$target" "${seeds[@]}" >"$log" 2>&1 || true
  executions=$(sed -nE 's/^#([0-9]+): cov.*/\1/p' "$log" | tail -1)
  found=$(find "$folder/findings" -name "$target-*" | wc -l)
  executions=$((${executions:-0} + $(fuzz_total "$folder/totals" "$target") + 0))
  { grep -v "^$target " "$folder/totals" 2>/dev/null || true; echo "$target $executions $found"; } >"$folder/totals.new"
  mv "$folder/totals.new" "$folder/totals"
}

fuzz_all() {
  local root=$1 seconds=$2 folder=$1/build/fuzz/fuzzing target level levels
  shift 2
  if [ $# -eq 0 ]; then set -- difference guard keys load mapped operations redis; fi
  mkdir -p "$folder"
  for target in "$@"; do
    mapfile -t levels < <(fuzz_levels "$target")
    printf 'fuzzing %s for %s s (CPU levels: %s)\n' "$target" "$seconds" "${levels[*]}" >&2
    for level in "${levels[@]}"; do fuzz_one "$folder" "$target" "$level" $(((seconds + ${#levels[@]} - 1) / ${#levels[@]})); done
  done
  printf '%-12s %15s %9s\n' target executions findings
  sort "$folder/totals" | awk '{ printf "%-12s %15d %9d\n", $1, $2, $3; n += $2; f += $3 } END { printf "%-12s %15d %9d\n", "all", n, f; exit f > 0 }' || {
    echo "findings: $folder/findings; build/fuzz/tests/fuzz/fuzz_TARGET FILE runs one" >&2
    return 1
  }
}
