# Draws the charts of docs/results/acf.md from the tables beside it: cd docs/results/acf && gnuplot plot.gp
# For pictures to look at: gnuplot -e 'kind="png"' plot.gp
if (!exists("kind")) kind = "svg"
options(height) = sprintf("size 1080,%d background rgb 'white' font 'sans-serif,12'", height)
if (kind eq "png") { open(height) = "set terminal pngcairo " . options(height) } else { open(height) = "set terminal svg dynamic " . options(height) }
set datafile separator ","
set grid lc rgb "#dddddd"
set tics nomirror
grey = "#777777"; blue = "#1f77b4"; orange = "#ff7f0e"; green = "#2ca02c"; red = "#d62728"; violet = "#9467bd"; brown = "#8c564b"

# Figures 1 to 4. One key for all charts of a picture: the first chart has room for it.
eval open(960)
set output "figures-1-4." . kind
set multiplot layout 3,3 margins 0.07,0.98,0.06,0.91 spacing 0.07,0.09 \
  title "False-positive rate against A/S on synthetic packet traces: slots of 8, 12 and 16 bits"
set xlabel "A/S" offset 0,0.5
set xrange [0:103]
set yrange [0:*]
set format y "%g %%"
do for [t in "pareto-1.2 pareto-1.1 pareto-1.0"] {
  do for [f in "8 12 16"] {
    set title sprintf("%s, %s bits", t, f) offset 0,-0.5
    if (f eq "8" && t eq "pareto-1.2") { set key top right font ",9" samplen 2; set yrange [0:6] } else { unset key; set yrange [0:*] }
    rows = sprintf("< awk -F, '$1 == \"%s\" && $2 == %s' traces.csv", t, f)
    plot rows using 3:(100*$6) with linespoints pt 6 ps 0.6 lc rgb grey title "not adapting", \
         "" using 3:(100*$11) with linespoints pt 2 ps 0.6 lc rgb brown title "cyclic, s = 3", \
         "" using 3:(100*$10) with linespoints pt 2 ps 0.6 lc rgb violet title "cyclic, s = 2", \
         "" using 3:(100*$9) with linespoints pt 5 ps 0.6 lc rgb orange title "cyclic, s = 1", \
         "" using 3:(100*$12) with linespoints pt 9 ps 0.6 lc rgb green title "swapping", \
         "" using 3:(100*$8) with linespoints pt 4 ps 0.6 dt 2 lc rgb red title "cuckooing, paper's path", \
         "" using 3:(100*$7) with linespoints pt 7 ps 0.6 lc rgb blue title "cuckooing, shortest path"
  }
}
unset multiplot

eval open(420)
set output "normalised." . kind
set multiplot layout 1,2 margins 0.07,0.98,0.15,0.84 spacing 0.07,0.1 \
  title "Rate divided by that of cuckooing (shortest path): 3 traces, 8, 12 and 16 bits"
set key top right
set yrange [0:4]
set format y "%g"
set title "cyclic, s = 1"
plot for [t in "pareto-1.2 pareto-1.1 pareto-1.0"] for [f in "8 12 16"] sprintf("< awk -F, '$1 == \"%s\" && $2 == %s' traces.csv", t, f) \
  using 3:($9/$7) with lines lw (f eq "8" ? 3 : f eq "12" ? 2 : 1) \
  lc rgb (t eq "pareto-1.2" ? blue : t eq "pareto-1.1" ? orange : green) title (f eq "8" ? t : "")
set title "swapping"
unset key
plot for [t in "pareto-1.2 pareto-1.1 pareto-1.0"] for [f in "8 12 16"] sprintf("< awk -F, '$1 == \"%s\" && $2 == %s' traces.csv", t, f) \
  using 3:($12/$7) with lines lw (f eq "8" ? 3 : f eq "12" ? 2 : 1) \
  lc rgb (t eq "pareto-1.2" ? blue : t eq "pareto-1.1" ? orange : green) title (f eq "8" ? t : "")
unset multiplot

eval open(460)
set output "support." . kind
set multiplot layout 1,2 margins 0.07,0.98,0.14,0.84 spacing 0.08,0.1 title "False positives over n questions"
set logscale xy
set format y "10^{%L}"
set format x "%g"
set xrange [*:*]
set title "n = 2^{16}, slots of 8 bits, against |Q|"
set xlabel "|Q|"
set yrange [0.1:10000]
set key bottom right font ",10"
plot "support.csv" using 2:5 with linespoints pt 6 ps 0.6 lc rgb grey title "not adapting", \
     "" using 2:10 with linespoints pt 2 ps 0.6 lc rgb brown title "cyclic, s = 3", \
     "" using 2:8 with linespoints pt 5 ps 0.6 lc rgb orange title "cyclic, s = 1", \
     "" using 2:11 with linespoints pt 9 ps 0.6 lc rgb green title "swapping", \
     "" using 2:7 with linespoints pt 4 ps 0.6 lc rgb red title "cuckooing, paper's path", \
     "" using 2:6 with linespoints pt 7 ps 0.6 lc rgb blue title "cuckooing, shortest path", \
     "" using 2:4 with lines dt 2 lc rgb "black" title "eps |Q|"
set xrange [1000:300000]
set title "|Q| = 256, fingerprints of 4 bits, against n"
set xlabel "n"
set yrange [10:1000000]
set key top left
plot "omega.csv" using 1:3 with linespoints pt 6 ps 0.6 lc rgb grey title "not adapting", \
     "" using 1:6 with linespoints pt 5 ps 0.6 lc rgb orange title "cyclic, s = 1", \
     "" using 1:7 with linespoints pt 9 ps 0.6 lc rgb green title "swapping, b = 2", \
     "" using 1:5 with linespoints pt 4 ps 0.6 lc rgb red title "cuckooing, paper's path", \
     "" using 1:4 with linespoints pt 7 ps 0.6 lc rgb blue title "cuckooing, shortest path"
unset multiplot
