# Draws the charts of docs/results/abf.md from the tables beside it: cd docs/results/abf && gnuplot plot.gp
set datafile separator ","
set terminal svg size 1080,640 dynamic background rgb "white" font "sans-serif,12"
set grid lc rgb "#dddddd"
set key top left
set yrange [0:*]
set format y "%g %%"

set output "figures-4-5.svg"
set multiplot layout 2,3 title "False-positive rate against A/N: simulation (points) and model (lines); top N = 8M, bottom N = 12M"
set xlabel "A/N"
do for [n in "8 12"] {
  do for [k in "3 4 5"] {
    set title sprintf("k = %s", k)
    in(a, b) = (a == n && b == k)
    plot "synthetic.csv" using 3:(in($1,$2) ? 100*$4 : NaN) with points pt 6 lc rgb "#888888" title "bloom1", \
         "" using 3:(in($1,$2) ? 100*$5 : NaN) with points pt 7 lc rgb "#1f77b4" title "abf, S = 2, blind", \
         "" using 3:(in($1,$2) ? 100*$9 : NaN) with lines lc rgb "#1f77b4" title "model", \
         "" using 3:(in($1,$2) ? 100*$8 : NaN) with lines dt 2 lc rgb "#1f77b4" title "as printed"
  }
}
unset multiplot

set output "figures-7-9.svg"
set key top right
set xlabel "k"
set multiplot layout 3,3 title "False-positive rate on synthetic packet traces, blind switch; from the top N = 8M, 12M, 16M"
do for [n in "8 12 16"] {
  do for [t in "pareto-1.2 pareto-1.1 pareto-1.0"] {
    set title t
    in(a, b) = (a eq t && b == n)
    plot "traces.csv" using 3:(in(strcol(1),$2) ? 100*$4 : NaN) with linespoints lc rgb "#888888" title "bloom1", \
         "" using 3:(in(strcol(1),$2) ? 100*$5 : NaN) with linespoints lc rgb "#1f77b4" title "S = 2", \
         "" using 3:(in(strcol(1),$2) ? 100*$6 : NaN) with linespoints lc rgb "#ff7f0e" title "S = 4", \
         "" using 3:(in(strcol(1),$2) ? 100*$7 : NaN) with linespoints lc rgb "#2ca02c" title "S = 8"
  }
}
unset multiplot

set output "figure-10.svg"
set terminal svg size 1080,360 dynamic background rgb "white" font "sans-serif,12"
set multiplot layout 1,3 title "Decimation on the first trace: d = 1 (solid) and d = 5 (dashed)"
do for [n in "8 12 16"] {
  set title sprintf("N = %s M", n)
  plot "decimation.csv" using 2:($1 == n ? 100*$3 : NaN) with linespoints lc rgb "#888888" title "bloom1", \
       "" using 2:($1 == n ? 100*$4 : NaN) with linespoints lc rgb "#1f77b4" title "S = 2", \
       "" using 2:($1 == n ? 100*$5 : NaN) with linespoints dt 2 lc rgb "#1f77b4" notitle, \
       "" using 2:($1 == n ? 100*$6 : NaN) with linespoints lc rgb "#ff7f0e" title "S = 4", \
       "" using 2:($1 == n ? 100*$7 : NaN) with linespoints dt 2 lc rgb "#ff7f0e" notitle
}
unset multiplot
