# Draws the charts of docs/results/taf.md from the tables beside it: cd docs/results/taf && gnuplot plot.gp
set datafile separator ","
set terminal svg size 1080,420 dynamic background rgb "white" font "sans-serif,12"
set grid lc rgb "#dddddd"
set logscale x 2
set logscale y
set format y "%g %%"
set key outside below horizontal
set xlabel "A/S: unique queries per stored key"
set ylabel "false positives"
color(i) = word("#1f77b4 #17becf #2ca02c #ff7f0e #888888 #d62728 #9467bd", i)
array title[7] = ["taf", "taf, quarters", "utaf", "exaf", "rsqf", "cuckoo", "vacuum"]

set output "figure-2.svg"
set multiplot layout 1,2 title "Figure 2: false-positive rate on the FireHose streams"
set title "active set, 10 M queries"
plot for [i=1:7] "active-set.csv" using 1:(100*column(3+i)) with linespoints pt 7 ps 0.5 lc rgb color(i) title title[i]
set title "power law, 50 M queries"
plot for [i=1:7] "power-law.csv" using 1:(100*column(3+i)) with linespoints pt 7 ps 0.5 lc rgb color(i) title title[i]
unset multiplot

set output "figures-3-4.svg"
set multiplot layout 1,3 title "Figures 3 and 4 left: false-positive rate on synthetic packet traces"
do for [t in "pareto-1.2 pareto-1.1 pareto-1.0"] {
  set title t
  plot for [i=1:7] "traces.csv" using 2:(strcol(1) eq t ? 100*column(3+i) : NaN) with linespoints pt 7 ps 0.5 lc rgb color(i) title title[i]
}
unset multiplot

set output "adversary.svg"
set terminal svg size 720,420 dynamic background rgb "white" font "sans-serif,12"
unset logscale y
set yrange [0:105]
set title "Figure 4 right: the adversary's last round"
set xlabel "|Q| / |S| at first"
plot for [i=1:7] "adversary.csv" using 1:(100*column(1+i)) with linespoints pt 7 ps 0.5 lc rgb color(i) title title[i]

set output "selectors.svg"
set terminal svg size 1080,420 dynamic background rgb "white" font "sans-serif,12"
set multiplot layout 1,2 title "Hash selectors after c unique queries per quotient, rate 1/256"
set logscale y
set yrange [1e-6:2]
set format y "%g"
set xlabel "c"
set ylabel "share of slots"
set title "measured (points) and Corollary 3 (lines)"
plot for [k=0:3] "selectors.csv" using 1:(column(2+k)) with points pt 7 lc rgb color(k+1) title sprintf("selector %d", k), \
     for [k=0:3] "selectors.csv" using 1:(column(6+k)) with lines lc rgb color(k+1) notitle
unset logscale y
set yrange [0:1.4]
set ylabel "bits per selector"
set title "what the codes spend"
plot "selectors.csv" using 1:10 with lines lw 2 lc rgb "#000000" title "entropy of Corollary 3", \
     "" using 1:11 with linespoints pt 7 lc rgb color(1) title "C.2, tuned", \
     "" using 1:12 with linespoints pt 7 lc rgb color(4) title "C.3, general", \
     "" using 1:(0.875) with lines lc rgb "#888888" title "56 bits for 64"
unset multiplot
