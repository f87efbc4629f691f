# Draws the chart of docs/results/ascf.md from the table beside it: cd docs/results/ascf && gnuplot plot.gp
set datafile separator ","
set terminal svg size 1000,480 dynamic background rgb "white" font "sans-serif,12"
set grid lc rgb "#dddddd"
set key top left
set output "sizes.svg"
set title "Bits per key at a false-positive rate of 8/2^{12} (12-bit fingerprints)"
set logscale x
set format x "10^{%L}"
set xlabel "keys"
set ylabel "bits per key"
set yrange [0:30]
plot "sizes.csv" using 1:2 with lines lw 2 lc rgb "#d62728" title "cuckoo (a power of two)", \
     "" using 1:3 with lines lw 2 lc rgb "#2ca02c" title "vacuum (whole chunks)", \
     "" using 1:4 with lines lw 2 lc rgb "#1f77b4" title "ascf (any size)", \
     "" using 1:5 with lines dt 2 lc rgb "#555555" title "log_2(8/{/Symbol e})/0.95"
