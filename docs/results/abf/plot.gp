# Draws the charts of docs/results/abf.md from the tables beside it: cd docs/results/abf && gnuplot plot.gp
# For pictures to look at: gnuplot -e 'kind="png"' plot.gp
if (!exists("kind")) kind = "svg"
options(height) = sprintf("size 1080,%d background rgb 'white' font 'sans-serif,12'", height)
if (kind eq "png") { open(height) = "set terminal pngcairo " . options(height) } else { open(height) = "set terminal svg dynamic " . options(height) }
set datafile separator ","
set grid lc rgb "#dddddd"
set yrange [0:*]
set format y "%g %%"
set tics nomirror
grey = "#777777"; blue = "#1f77b4"; orange = "#ff7f0e"; green = "#2ca02c"

# One key for all charts of a picture: the first chart has room for it.
eval open(660)
set output "figures-4-5." . kind
set multiplot layout 2,3 margins 0.06,0.98,0.09,0.88 spacing 0.06,0.15 \
  title "False-positive rate against A/N: simulation (points) and model (lines)"
set xlabel "A/N" offset 0,0.5
set xrange [0.5:10.5]
do for [n in "8 12"] {
  do for [k in "3 4 5"] {
    set title sprintf("N = %s M, k = %s", n, k) offset 0,-0.5
    if (n eq "8" && k eq "3") { set key bottom right } else { unset key }
    in(a, b) = (a == n && b == k)
    plot "synthetic.csv" using 3:(in($1,$2) ? 100*$4 : NaN) with points pt 6 lc rgb grey title "bloom1", \
         "" using 3:(in($1,$2) ? 100*$5 : NaN) with points pt 7 lc rgb blue title "abf, S = 2, blind switch", \
         "" using 3:(in($1,$2) ? 100*column("model") : NaN) with lines lc rgb blue title "model", \
         "" using 3:(in($1,$2) ? 100*column("model_printed") : NaN) with lines dt 2 lc rgb blue title "equations as printed"
  }
}
unset multiplot

eval open(900)
set output "figures-7-9." . kind
set multiplot layout 3,3 margins 0.06,0.98,0.07,0.91 spacing 0.06,0.10 \
  title "False-positive rate against k on synthetic packet traces, blind switch"
set xlabel "k"
set xrange [0.8:6.2]
do for [n in "8 12 16"] {
  do for [t in "pareto-1.2 pareto-1.1 pareto-1.0"] {
    set title sprintf("%s, N = %s M", t, n)
    if (n eq "8" && t eq "pareto-1.2") { set key top right } else { unset key }
    in(a, b) = (a eq t && b == n)
    plot "traces.csv" using 3:(in(strcol(1),$2) ? 100*$4 : NaN) with linespoints pt 6 lc rgb grey title "bloom1", \
         "" using 3:(in(strcol(1),$2) ? 100*$5 : NaN) with linespoints pt 7 ps 0.8 lc rgb blue title "S = 2", \
         "" using 3:(in(strcol(1),$2) ? 100*$6 : NaN) with linespoints pt 5 ps 0.8 lc rgb orange title "S = 4", \
         "" using 3:(in(strcol(1),$2) ? 100*$7 : NaN) with linespoints pt 2 ps 0.8 lc rgb green title "S = 8"
  }
}
unset multiplot

eval open(400)
set output "figure-10." . kind
set multiplot layout 1,3 margins 0.06,0.98,0.15,0.82 spacing 0.06,0.1 \
  title "Decimation on the first trace, blind switch"
do for [n in "8 12 16"] {
  set title sprintf("N = %s M", n)
  if (n eq "8") { set key top right } else { unset key }
  plot "decimation.csv" using 2:($1 == n ? 100*$3 : NaN) with linespoints pt 6 lc rgb grey title "bloom1", \
       "" using 2:($1 == n ? 100*$4 : NaN) with linespoints pt 7 ps 0.8 lc rgb blue title "S = 2, d = 1", \
       "" using 2:($1 == n ? 100*$5 : NaN) with linespoints pt 7 ps 0.8 dt 2 lc rgb blue title "S = 2, d = 5", \
       "" using 2:($1 == n ? 100*$6 : NaN) with linespoints pt 5 ps 0.8 lc rgb orange title "S = 4, d = 1", \
       "" using 2:($1 == n ? 100*$7 : NaN) with linespoints pt 5 ps 0.8 dt 2 lc rgb orange title "S = 4, d = 5", \
       "" using 2:($1 == n ? 100*$8 : NaN) with linespoints pt 2 ps 0.8 lc rgb green title "S = 8, d = 1", \
       "" using 2:($1 == n ? 100*$9 : NaN) with linespoints pt 2 ps 0.8 dt 2 lc rgb green title "S = 8, d = 5"
}
unset multiplot
