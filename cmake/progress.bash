# Sourced by cmake/build and ./check: shows how far long work is. On a terminal that is one line of stderr, drawn anew every second;
# elsewhere a line now and then, so that a log shows life and little else. Work of less than a second shows nothing.

progress_pause=${TAMIS_PROGRESS_SECONDS:-30}  # between two lines where stderr is no terminal
progress_full='########################################'
progress_empty='........................................'

# progress_begin WHAT; the work itself sets progress_done and progress_total.
progress_begin() {
  progress_what=$1 progress_done=0 progress_total=0 progress_drawn='' progress_width=0
  if [ -t 2 ]; then
    progress_pause=1
    progress_width=$(stty size <&2 2>/dev/null | cut -d' ' -f2) || true
    [ "${progress_width:-0}" -gt 0 ] || progress_width=80
  fi
  progress_start=$SECONDS progress_next=$((SECONDS + progress_pause))
}

# The name of the work, a bar where there is room for it, counts and time.
progress_text() {
  local seconds=$((SECONDS - progress_start)) bar='' tail room filled
  tail="$seconds s"
  [ "$seconds" -lt 60 ] || tail="$((seconds / 60)) min $((seconds % 60)) s"
  if [ "$progress_total" -gt 0 ]; then
    tail="$progress_done of $progress_total, $tail"
    room=$((progress_width - ${#progress_what} - ${#tail} - 6))
    [ "$room" -le 40 ] || room=40
    if [ "$room" -ge 5 ]; then
      filled=$((room * progress_done / progress_total))
      bar="[${progress_full:0:filled}${progress_empty:0:room - filled}] "
    fi
  fi
  echo "$progress_what: $bar$tail"
}

# Shows how far it is, if it is time to.
progress_tick() {
  [ "$SECONDS" -ge "$progress_next" ] || return 0
  progress_next=$((SECONDS + progress_pause))
  if [ "$progress_width" -eq 0 ]; then
    progress_text >&2
  else
    progress_drawn=$(progress_text)
    printf '\r\e[K%s' "${progress_drawn:0:progress_width - 1}" >&2
  fi
}

# Takes the line away, for something else or for good.
progress_clear() {
  [ -z "$progress_drawn" ] || printf '\r\e[K' >&2
  progress_drawn=''
}

# progress_lines FUNCTION: calls it with each line of stdin, and ticks meanwhile.
progress_lines() {
  local line='' part status
  while true; do
    status=0
    IFS= read -r -t 1 part || status=$?
    line+=$part
    if [ "$status" -eq 0 ]; then
      "$1" "$line"
      line=''
    elif [ "$status" -le 128 ]; then  # the end; above 128 it is a second without a whole line
      [ -z "$line" ] || "$1" "$line"
      break
    fi
    progress_tick
  done
  progress_clear
}
