# Draws the charts of docs/results/infini.md from the tables beside it: cd docs/results/infini && gnuplot plot.gp
set datafile separator ","
set terminal svg size 1080,820 dynamic background rgb "white" font "sans-serif,12"
set grid lc rgb "#dddddd"
set logscale x
set format x "10^{%T}"
set key top left
set xlabel "keys"
color(i) = word("#d62728 #888888 #1f77b4 #2ca02c #ff7f0e #9467bd", i)

# Figures 13: one chart per slot width, four parts.
array who[3] = ["chain-geometric", "sacrifice", "infini"]
do for [slot in "16 8"] {
  set output sprintf("figure-13-%s.svg", slot)
  set multiplot layout 2,2 title sprintf("Figure 13: growing from 2^{12} slots of %s bits; points are measured, dotted lines are the models", slot)
  pick(i, c) = (strcol(1) eq slot && strcol(2) eq who[i]) ? column(c) : NaN
  set title "negative query"; set ylabel "ns"; unset logscale y; set yrange [0:*]; set format y "%g"
  plot for [i=1:3] "growth.csv" using 4:(pick(i, 11)) with linespoints pt 7 ps 0.5 lc rgb color(i) title who[i]
  set title "false positives"; set ylabel "rate"; set logscale y; set yrange [*:*]; set format y "10^{%T}"
  plot for [i=1:3] "growth.csv" using 4:(pick(i, 5)) with points pt 7 ps 0.5 lc rgb color(i) title who[i], \
       for [i=1:3] "growth.csv" using 4:(pick(i, 6)) with lines dt 3 lw 1.5 lc rgb color(i) notitle
  set title "memory"; set ylabel "bits per key"; unset logscale y; set yrange [0:*]; set format y "%g"; set key bottom left
  plot for [i=1:3] "growth.csv" using 4:(pick(i, 8)) with points pt 7 ps 0.5 lc rgb color(i) title who[i], \
       for [i=1:3] "growth.csv" using 4:(pick(i, 9)) with lines dt 3 lw 1.5 lc rgb color(i) notitle
  set title "insert, growth included"; set ylabel "ns"; set key top left
  plot for [i=1:3] "growth.csv" using 4:(pick(i, 10)) with linespoints pt 7 ps 0.5 lc rgb color(i) title who[i]
  unset multiplot
}

set output "figure-14.svg"
set multiplot layout 2,2 title "Figure 14: rejuvenation, positive queries per insert; from 2^{10} slots"
array ratio[4] = ["0", "0.2", "1", "2"]
do for [slot in "16 8"] {
  pick(i, c) = (strcol(1) eq slot && strcol(2) eq ratio[i]) ? column(c) : NaN
  set title slot." bits: false positives"; set ylabel "rate"; set logscale y; set yrange [*:*]; set format y "%.1e"
  plot for [i=1:4] "rejuvenation.csv" using 4:(pick(i, 5)) with linespoints pt 7 ps 0.5 lc rgb color(i) title ratio[i], \
       "rejuvenation.csv" using 4:(pick(1, 7)) with lines dt 3 lw 1.5 lc rgb color(1) title "equation 5"
  set title slot." bits: negative query"; set ylabel "ns"; unset logscale y; set yrange [0:*]; set format y "%g"
  plot for [i=1:4] "rejuvenation.csv" using 4:(pick(i, 8)) with linespoints pt 7 ps 0.5 lc rgb color(i) title ratio[i]
}
unset multiplot

set output "figure-15.svg"
set multiplot layout 2,2 title "Figure 15: growing fingerprints, from 2^{10} slots of 8 bits; dotted lines are the models"
array memory[3] = ["chain-geometric decreasing", "infini growing", "infini"]
pick(i, c) = strcol(1) eq memory[i] ? column(c) : NaN
set title "false positives"; set ylabel "rate"; set logscale y; set yrange [*:*]; set format y "%.1e"
plot for [i=1:3] "memory.csv" using 3:(pick(i, 4)) with points pt 7 ps 0.5 lc rgb color(i) title memory[i], \
     for [i=1:3] "memory.csv" using 3:(pick(i, 5)) with lines dt 3 lw 1.5 lc rgb color(i) notitle, \
     "memory.csv" using 3:(pick(2, 6)) with lines dt 2 lc rgb "#000000" title "equation 10 as printed"
set title "memory"; set ylabel "bits per key"; unset logscale y; set yrange [0:25]; set format y "%g"; set key bottom left
plot for [i=1:3] "memory.csv" using 3:(pick(i, 8)) with points pt 7 ps 0.5 lc rgb color(i) title memory[i], \
     for [i=1:3] "memory.csv" using 3:(pick(i, 9)) with lines dt 3 lw 1.5 lc rgb color(i) notitle
set key top left
set yrange [0:*]
set title "negative query"; set ylabel "ns"
plot for [i=1:3] "memory.csv" using 3:(pick(i, 11)) with linespoints pt 7 ps 0.5 lc rgb color(i) title memory[i]
set title "insert, growth included"; set ylabel "ns"
plot for [i=1:3] "memory.csv" using 3:(pick(i, 10)) with linespoints pt 7 ps 0.5 lc rgb color(i) title memory[i]
unset multiplot

set output "figure-16.svg"
set multiplot layout 2,2 title "Figure 16: beside filters that were allocated in advance, 16 bits per key"
array static[5] = ["bloom", "cuckoo", "infini", "quotient", "infini/slots"]
pick(i, c) = strcol(1) eq static[i] ? column(c) : NaN
set title "memory"; set ylabel "bytes"; set logscale y; set yrange [*:*]; set format y "10^{%T}"; set key bottom right
plot for [i=1:5] "static.csv" using 2:(pick(i, 6)) with lines lw 2 lc rgb color(i) title static[i]
set key outside below horizontal
set title "negative query"; set ylabel "ns"; unset logscale y; set yrange [0:*]; set format y "%g"
plot for [i=1:5] "static.csv" using 2:(pick(i, 8)) with lines lw 1.5 lc rgb color(i) title static[i]
set title "false positives (none seen of a million: not drawn)"; set ylabel "rate"; set logscale y; set yrange [1e-7:*]; set format y "10^{%T}"
plot for [i=1:5] "static.csv" using 2:(pick(i, 3) > 0 ? pick(i, 3) : NaN) with points pt 7 ps 0.4 lc rgb color(i) title static[i], \
     for [i=1:5] "static.csv" using 2:(pick(i, 4)) with lines dt 3 lw 1.5 lc rgb color(i) notitle
set title "insert, growth included (the first point of the others is the memory's first touch)"; set ylabel "ns"
unset logscale y; set yrange [0:600]; set format y "%g"
plot for [i=1:5] "static.csv" using 2:(pick(i, 7)) with lines lw 1.5 lc rgb color(i) title static[i]
unset multiplot
