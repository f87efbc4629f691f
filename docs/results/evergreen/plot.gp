# Draws the charts of docs/results/evergreen.md from the tables beside it: cd docs/results/evergreen && gnuplot plot.gp
set datafile separator ","
set grid lc rgb "#dddddd"
set key outside below horizontal
green = "#2ca02c"

# A filter's colour and name, everywhere the same.
names = "evergreen evergreen_prepared evergreen_store evergreen_untold evergreen_growing evergreen_fixed evergreen_flat infini_growing infini_chained taf exaf abf acf_cuckooing acf_cyclic acf_swapping rsqf"
colors = "#2ca02c #006d2c #2ca02c #98df8a #98df8a #bcbd22 #006d2c #d62728 #ff9896 #1f77b4 #17becf #8c564b #9467bd #c5b0d5 #e377c2 #888888"
array text[16] = ["evergreen", "evergreen with a store, prepared memory", "evergreen with a store", "evergreen, not told of mistakes", "evergreen, no store, growing F", "evergreen, no store, fixed F", "evergreen with a store, flat growth", "infini, growing", "infini, chained", "taf", "exaf", "abf", "acf-cuckooing", "acf-cyclic", "acf-swapping", "rsqf"]
rank(n) = int(sum [i=1:words(names)] (word(names, i) eq n ? i : 0))
color(n) = word(colors, rank(n))
title(n) = text[rank(n)]
wide(n) = n eq "evergreen" || n eq "evergreen_store" ? 3 : 1.5
# The rows of a table with these values in two of its columns.
rows(file, a, x, b, y) = sprintf("< awk -F, '$%d == \"%s\" && $%d == \"%s\"' %s", a, x, b, y, file)
in(file) = system("cut -d, -f".word(file, 2)." ".word(file, 1)." | tail -n +2 | awk '!seen[$0]++' | tr '\\n' ' '")

set terminal svg size 1200,460 dynamic background rgb "white" font "sans-serif,12"

set output "static.svg"
set multiplot layout 1,3 title "False positives on skewed queries, nothing grows, 13.5 bits per key (evergreen 13.2 to 19.4 at first)"
set logscale x
set logscale y
set format y "%g %%"
set xlabel "unique queries per stored key"
set ylabel "false positives"
do for [s in in("static.csv 1")] {
  set title s
  plot for [n in in("static.csv 4")] rows("static.csv", 1, s, 4, n) using 2:(100*$7) with linespoints pt 7 ps 0.5 lw wide(n) lc rgb color(n) title title(n)
}
unset multiplot

set output "growth.svg"
set multiplot layout 1,2 title "Growing from 2^{10} keys, F = 8"
set logscale x 2
set format x "2^{%L}"
unset logscale y
set xlabel "keys"
set logscale y
set title "false positives"
plot for [n in in("growth.csv 1")] rows("growth.csv", 1, n, 1, n) using 2:(100*$3) with lines lw wide(n) lc rgb color(n) title title(n)
unset logscale y
set format y "%g"
set yrange [0:45]  # flat growth begins with 96 segments, and 360 bits per key
set ylabel "bits per key"
set title "space"
plot for [n in in("growth.csv 1")] rows("growth.csv", 1, n, 1, n) using 2:5 with lines lw wide(n) lc rgb color(n) title title(n)
unset multiplot

set output "both.svg"
set multiplot layout 1,3 title "Growth and queries at once: four questions for every key that comes in"
set logscale y
set format y "%g %%"
set yrange [*:*]
set ylabel "false positives since the last point"
set title "skewed questions (Zipf, s = 1)"
plot for [n in in("both.csv 2")] rows("both.csv", 1, "skewed", 2, n) using 3:(100*$4) with lines lw wide(n) lc rgb color(n) title title(n)
set title "an adversary that asks its finds again"
plot for [n in in("both.csv 2")] rows("both.csv", 1, "hostile", 2, n) using 3:(100*$4) with lines lw wide(n) lc rgb color(n) title title(n)
set format y "%g"
set ylabel "bits per key"
set title "space"
plot for [n in in("both.csv 2")] rows("both.csv", 1, "skewed", 2, n) using 3:5 with lines lw wide(n) lc rgb color(n) title title(n)
unset multiplot
set format y "%g %%"
set ylabel "false positives"

set output "churn.svg"
set multiplot layout 1,2 title "200,000 keys, each replaced ten times, under skewed queries"
unset logscale x
set format x "%g"
set xlabel "turnovers"
set title "false positives"
plot for [n in in("churn.csv 1")] rows("churn.csv", 1, n, 1, n) using 2:(100*$3) with lines lw wide(n) lc rgb color(n) title title(n)
unset logscale y
set format y "%g"
set yrange [0:*]
set ylabel "bits per key"
set title "space"
plot for [n in in("churn.csv 1")] rows("churn.csv", 1, n, 1, n) using 2:4 with lines lw wide(n) lc rgb color(n) title title(n)
unset multiplot

set terminal svg size 760,460 dynamic background rgb "white" font "sans-serif,12"
set output "pauses.svg"
set logscale x
set logscale y
set format x "10^{%L}"
set format y "%g"
set yrange [0.5:*]
set xlabel "one insert in so many takes longer than"
set ylabel "µs"
set title "CPU time of single inserts while growing from 2^{10} to 2^{22} keys, least of three runs"
plot for [n in in("pauses.csv 1")] rows("pauses.csv", 1, n, 1, n) using ($3 < 1 ? 1/(1-$3) : $2):($6/1000) with linespoints pt 7 ps 0.5 lw wide(n) lc rgb color(n) title title(n), \
     1000 with lines dt 2 lc rgb "#000000" title "1 ms"

set output "replay.svg"
unset logscale x
set format x "%g"
set format y "%g %%"
set yrange [5e-5:*]
set xlabel "replays"
set ylabel "wrong among the last 50,000"
set title "Every false positive ever seen, asked again, while keys come in (0.0001 %: none)"
plot for [n in in("replay.csv 1")] rows("replay.csv", 1, n, 1, n) using 2:($5 > 0 ? 100*$5 : 1e-4) with linespoints pt 7 ps 0.5 lw wide(n) lc rgb color(n) title title(n)
