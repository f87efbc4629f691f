# Runs the fuzzers of build/fuzz in turn, TIME seconds each at a time, and keeps a running total of executions and findings per target in one
# file, so that a stopped run goes on where it was. New inputs that reach new code are kept beside it, findings too.
#
#   fuzz_all ROOT SECONDS     SECONDS for each target

fuzz_total() { awk -v t="$2" '$1 == t { print $2, $3 }' "$1" 2>/dev/null; }

fuzz_one() {  # FOLDER TARGET SECONDS
  local folder=$1 target=$2 seconds=$3 log found executions findings old_executions=0 old_findings=0
  mkdir -p "$folder/corpus/$target" "$folder/findings"
  log=$folder/$target.log
  local seeds=("$root/tests/fuzz/corpus/$target")
  if [ "$target" = load ]; then seeds+=("$root/tests/golden/v2" "$root/tests/golden/mistakes"); fi
  local dictionary=()
  if [ -f "$root/tests/fuzz/$target.dict" ]; then dictionary=(-dict="$root/tests/fuzz/$target.dict"); fi
  # A fork that fails leaves its input behind and the run goes on: one finding does not hide the next.
  "$root/build/fuzz/tests/fuzz/fuzz_$target" -fork="$(nproc)" -ignore_crashes=1 -ignore_timeouts=0 -ignore_ooms=0 -timeout=20 -rss_limit_mb=2048 \
    -max_len=4096 -max_total_time="$seconds" -artifact_prefix="$folder/findings/$target-" "${dictionary[@]}" "$folder/corpus/$target" "${seeds[@]}" >"$log" 2>&1 || true
  executions=$(sed -nE 's/^#([0-9]+): cov.*/\1/p' "$log" | tail -1)
  found=$(find "$folder/findings" -name "$target-*" | wc -l)
  read -r old_executions old_findings < <(fuzz_total "$folder/totals" "$target") || true
  executions=$((${executions:-0} + ${old_executions:-0}))
  findings=$found
  { grep -v "^$target " "$folder/totals" 2>/dev/null || true; echo "$target $executions $findings"; } >"$folder/totals.new"
  mv "$folder/totals.new" "$folder/totals"
}

fuzz_all() {
  local root=$1 seconds=$2 folder=$1/build/fuzz/fuzzing target
  mkdir -p "$folder"
  for target in difference guard keys load mapped operations redis; do
    printf 'fuzzing %s for %s s\n' "$target" "$seconds" >&2
    fuzz_one "$folder" "$target" "$seconds"
  done
  printf '%-12s %15s %9s\n' target executions findings
  sort "$folder/totals" | awk '{ printf "%-12s %15d %9d\n", $1, $2, $3; n += $2; f += $3 } END { printf "%-12s %15d %9d\n", "all", n, f; exit f > 0 }' || {
    echo "findings: $folder/findings; build/fuzz/tests/fuzz/fuzz_TARGET FILE runs one" >&2
    return 1
  }
}
