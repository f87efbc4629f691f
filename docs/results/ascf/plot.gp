# Draws the charts of docs/results/ascf.md from the tables beside it: cd docs/results/ascf && gnuplot plot.gp
set datafile separator ","
set grid lc rgb "#dddddd"

# ── figure 1: bits per key between powers of two ──
set terminal svg size 1000,480 dynamic background rgb "white" font "sans-serif,12"
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

filters = "bloom counting-bloom dleft rank-indexed cqf vacuum cuckoo ascf"
colours = "#7f7f7f #bcbd22 #ff7f0e #9467bd #8c564b #2ca02c #d62728 #1f77b4"
sizes = "20"
rates = "0.01 0.0001 1e-06"
unset logscale
unset format
# The lookup columns of one filter and rate as rows: share of positives, throughput.
lookups(size, filter, rate) = sprintf("< awk -F, '$1==\"%s\" && $2==\"%s\" {for (i=6;i<=16;++i) print (i-6)*10 \",\" $i}' speed-%s.csv", filter, rate, size)
rows(file, filter) = sprintf("< awk -F, '$1==\"%s\"' %s.csv", filter, file)

# ── figure 6: lookups (figures 7 and 8: the same for 22 and 24) ──
set terminal svg size 1200,480 dynamic background rgb "white" font "sans-serif,12"
set output "figure-6.svg"
set multiplot layout 1,3 title "Lookups, million per second, by share of positive ones" margins 0.05,0.85,0.14,0.86 spacing 0.05,0.1
set xrange [0:100]
set yrange [0:*]
unset ylabel
unset key
do for [r=1:words(rates)] {
  do for [s=1:words(sizes)] {
    set title sprintf("2^{%s} keys, rate %s", word(sizes, s), word(rates, r))
    set xlabel "% positive"
    if (r == 3) { set key at screen 0.99,0.8 right vertical } else { unset key }
    plot for [i=1:words(filters)] lookups(word(sizes, s), word(filters, i), word(rates, r)) using 1:2 with lines lw 2 \
         lc rgb word(colours, i) title word(filters, i)
  }
}
unset multiplot

# ── figure 9: rates ──
set terminal svg size 900,480 dynamic background rgb "white" font "sans-serif,12"
set output "figure-9.svg"
set title "False-positive rate reached, 2^{20} keys, 2^{20} queries"
set logscale xy
set format xy "10^{%L}"
set xrange [0.02:5e-7]
set yrange [3e-7:0.05]
set xlabel "rate asked for"
set ylabel "rate measured"
set key default
set key top right
plot for [i=1:words(filters)] rows("speed-20", word(filters, i)) using 2:($3 > 0 ? $3 : NaN) with linespoints lw 2 pt 7 ps 0.5 \
     lc rgb word(colours, i) title word(filters, i), x with lines dt 2 lc rgb "#555555" title "asked for"

# ── figures 10 and 11: inserts and deletes ──
set terminal svg size 1000,480 dynamic background rgb "white" font "sans-serif,12"
set output "figures-10-11.svg"
set multiplot layout 1,2 title "Inserts and deletes, million per second, by rate" margins 0.05,0.84,0.14,0.86 spacing 0.08,0.1
unset logscale y
set format y "%g"
set yrange [0:*]
unset ylabel
do for [what=4:5] {
  do for [s=1:words(sizes)] {
    set title sprintf("%s, 2^{%s} keys", what == 4 ? "insert" : "delete", word(sizes, s))
    set xlabel "rate"
    if (what == 5) { set key at screen 0.99,0.8 right vertical } else { unset key }
    plot for [i=1:words(filters)] rows("speed-" . word(sizes, s), word(filters, i)) using 2:(column(what) > 0 ? column(what) : NaN) \
         with linespoints lw 2 pt 7 ps 0.5 lc rgb word(colours, i) title word(filters, i)
  }
}
unset multiplot
