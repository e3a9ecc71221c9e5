#!/bin/sh
# Prints expected.tsv: what the files here hold, by jq and awk alone. Columns: files, series, load, figure, value.
set -eu
cd "$(dirname "$0")"
say() { printf '%s\t%s\t%s\t%s\t%s\n' "$@"; }

# fio: the last document of a run; I/Os per second added, latency by the I/Os that it is of.
last() { jq -s '.[-1]' "$1"; }
say fio-status-interval.json 'randread 8k read' 1024 iops "$(last fio-status-interval.json | jq '.jobs[0].read.iops')"
say fio-status-interval.json 'randread 8k read' 1024 latencyUs "$(last fio-status-interval.json | jq '.jobs[0].read.lat_ns.mean/1000')"
say fio-appended.json 'randread 8k read' 4 iops "$(jq -s '[.[].jobs[0].read] | (map(.total_ios)|add)*1000/(map(.runtime)|add)' fio-appended.json)"
say fio-appended.json 'randread 8k read' 4 latencyUs "$(jq -s '[.[].jobs[0].read.lat_ns] | (map(.N*.mean)|add)/(map(.N)|add)/1000' fio-appended.json)"
say fio-text-before.json 'randread 8k read' 1 iops "$(sed '/^{$/,$!d' fio-text-before.json | jq '.jobs[0].read.iops')"
say fio-two-jobs.json 'randread 8k read' 16 iops "$(jq '.jobs[0].read.iops' fio-two-jobs.json)"
say fio-two-jobs.json 'write 128k write' 4 iops "$(jq '.jobs[1].write.iops' fio-two-jobs.json)"
say fio-two-jobs.json 'write 128k write' 4 latencyUs "$(jq '.jobs[1].write.lat_ns.mean/1000' fio-two-jobs.json)"
say fio-group-of-two.json 'r and others read' unknown iops "$(jq '.jobs[0].read.iops' fio-group-of-two.json)"
say fio-group-of-four.json 'randread 8k read' 4 iops "$(jq '.jobs[0].read.iops' fio-group-of-four.json)"
say fio-rate-limited.json 'randread 8k read' 1 iops "$(jq '.jobs[0].read.iops' fio-rate-limited.json)"
say fio-gtod.json 'randread 8k read' 1 iops "$(jq '.jobs[0].read.iops' fio-gtod.json)"
say fio-gtod.json 'randread 8k read' 1 latencyUs none
clients='[.client_stats[]|select(.jobname != "All clients")|.read]'
say fio-clients.json 'randread 8k read' 64 iops "$(jq "$clients | map(.iops)|add" fio-clients.json)"
say fio-clients.json 'randread 8k read' 64 latencyUs "$(jq "$clients | (map(.lat_ns.N*.lat_ns.mean)|add)/(map(.lat_ns.N)|add)/1000" fio-clients.json)"
jobs='[.[].jobs[].read]'
mean='(map(.total_ios*.lat_ns.mean)|add)/(map(.total_ios)|add)/1000'
for set in 'fio-row@ini1.json fio-row@ini2.json' 'fio-same-time-1.json fio-same-time-2.json'; do
    say "$set" 'randread 8k read' 64 iops "$(jq -s "$jobs | map(.iops)|add" $set)"
    say "$set" 'randread 8k read' 64 latencyUs "$(jq -s "$jobs | $mean" $set)"
done
runs='fio-runs-1.json fio-runs-2.json fio-runs-3.json'
say "$runs" 'randread 8k read' 32 iops "$(jq -s "$jobs | (map(.iops)|add)/3" $runs)"
say "$runs" 'randread 8k read' 32 latencyUs "$(jq -s "$jobs | $mean" $runs)"
say fio-3.1.json 'randread 8k read' 64 latencyUs "$(jq -s "$jobs | $mean" fio-3.1.json)"
say fio-2.2.json 'random-read read' unknown latencyUs "$(jq '.jobs[0].read.lat.mean' fio-2.2.json)"
say fio-2.2.json 'random-read read' unknown p99Us "$(jq '.jobs[0].read.clat.percentile["99.000000"]' fio-2.2.json)"
say fio-2.2.json 'random-read read' unknown mibPerS "$(jq '.jobs[0].read.bw/1024' fio-2.2.json)"
say fio-units.json 'randread 8k read' 1024 iops "$(jq -s '.[0].jobs[0].read.iops' fio-units.json)"
say fio-units.json 'randread 8k read' 16 iops "$(jq -s '.[1].jobs[0].read.iops' fio-units.json)"
say fio-sync-depth.json 'randread 8k read' 1 iops "$(jq '.jobs[0].read.iops' fio-sync-depth.json)"

# iostat: r/s is column 2, rkB/s 3, r_await 6, rareq-sz 7. The first report of each start (NR of its device) is left out.
reads='{ n++; r += $2; w += $2*$6; k += $2*$7 }'
boot='/^Linux/ { first = 1 } /^(sda|dm-0) / { if (first) { first = 0; next }'
for file in iostat-idle.txt iostat-appended.txt; do
    say $file sda none readsPerS "$(awk "$boot $reads } END { print r/n }" $file)"
    say $file sda none readUs "$(awk "$boot $reads } END { printf \"%.6f\n\", w/r*1000 }" $file)"
    say $file sda none readKib "$(awk "$boot $reads } END { printf \"%.6f\n\", k/r }" $file)"
done
hosts='iostat-ini1.txt iostat-ini2.txt'
say "$hosts" dm-0 none readsPerS "$(awk "$boot $reads } END { print r/2 }" $hosts)"
say "$hosts" dm-0 none readUs "$(awk "$boot $reads } END { printf \"%.6f\n\", w/r*1000 }" $hosts)"
# one report of 60 s and one of 10 s
say iostat-uneven.txt sda none readsPerS "$(awk '/^sda / { v[++n] = $2 } END { printf "%.6f\n", (60*v[2] + 10*v[3])/70 }' iostat-uneven.txt)"
say iostat-uneven.txt sda none readUs "$(awk '/^sda / { v[++n] = $2; t[n] = $6 } END { print 1000*(60*v[2]*t[2] + 10*v[3]*t[3])/(60*v[2] + 10*v[3]) }' iostat-uneven.txt)"

# esxtop: commands per second is cell 3, guest latency in ms cell 4
esx='NR > 1 { gsub(/"/, ""); n++; c += $3; w += $3*$4 }'
say esxtop-idle.csv naa.6001 none iops "$(awk -F, "$esx END { printf \"%.6f\n\", c/n }" esxtop-idle.csv)"
say esxtop-idle.csv naa.6001 none latencyUs "$(awk -F, "$esx END { print w/c*1000 }" esxtop-idle.csv)"

# SLOB: ELAPSED is cell 3, EXECUTES 6, PREADS 8, DFSR_LAT 13; DPR_LAT is 0 in both reports: nobody waited
slob='NR > 1 { s += $3; e += $3*$6; p += $3*$8; w += $3*$8*$13 }'
say awr_info-repeated.txt SLOB 8 executes "$(awk -F'|' "$slob END { print e/s }" awr_info-repeated.txt)"
say awr_info-repeated.txt SLOB 8 sequentialReadUs "$(awk -F'|' "$slob END { printf \"%.6f\n\", w/p }" awr_info-repeated.txt)"
say awr_info-repeated.txt SLOB 8 directReadUs none

# ORION: two runs of 60 s at 5 outstanding, latency by the I/Os of each
orion='/^Maximum Small IOPS/ { split($3, a, "="); i = a[2]; n++; s += i } /^Small Read Latency/ { split($4, a, "="); w += i*a[2] }'
say orion_twice_summary.txt small 5 iops "$(awk "$orion END { print s/n }" orion_twice_summary.txt)"
say orion_twice_summary.txt small 5 latencyUs "$(awk "$orion END { print w/s }" orion_twice_summary.txt)"
say orion_matrices.csv small 4 iops "$(awk -F, '/IOPS/ { m = 1 } m && /^ +0,/ { print $4+0; exit }' orion_matrices.csv)"
say orion_matrices.csv small 4 latencyUs "$(awk -F, '/average latency/ { m = 1 } m && /^ +0,/ { print $4+0; exit }' orion_matrices.csv)"
say orion_matrices.csv large 2 mbPerS "$(awk -F, '/MBPS/ { m = 1 } m && /^ +2,/ { print $2+0; exit }' orion_matrices.csv)"

# AWR: text by the words of a line, text made of HTML by its bars, HTML by its cells
line() { awk -v event="$2" -v word="$3" 'index($0, event) == 1 { gsub(",", ""); print $(NF - word); exit }' "$1"; }
say awr-10g-histogram.txt 'log file sync' none waits 400000
say awr-10g-histogram.txt 'log file sync' none averageUs "$(awk '/^log file sync/ { gsub(",", ""); print $5*1e6/$4 }' awr-10g-histogram.txt)"
say awr-10g-histogram.txt 'redo size' none perSecond "$(awk '/Redo size:/ { gsub(",", ""); print $3 }' awr-10g-histogram.txt)"
say awr-10g-histogram.txt 'logical read' none perTransaction "$(awk '/Logical reads:/ { gsub(",", ""); print $4 }' awr-10g-histogram.txt)"
say awr-10g-histogram.txt 'logical read' none perSecond none
cut='/^cell single block physical / { gsub(",", ""); w += $5; s += $6 }'
say awr-19c-cut-names.txt 'cell single block physical…' none waits "$(awk "$cut END { printf \"%.0f\n\", w }" awr-19c-cut-names.txt)"
say awr-19c-cut-names.txt 'cell single block physical…' none averageUs "$(awk "$cut END { printf \"%.6f\n\", s/w*1e6 }" awr-19c-cut-names.txt)"
say awr-19c-cut-names.txt 'cell multiblock physical read' none averageUs "$(awk '/^cell multiblock/ { gsub(",", ""); print $6/$5*1e6 }' awr-19c-cut-names.txt)"
say awr-19c-cut-names.txt 'log file sync' none averageUs "$(line awr-19c-cut-names.txt 'log file sync' 2 | awk '{ print $1*1000 }')"
say awr-19c-cut-names.txt 'control file sequential read' none averageUs "$(line awr-19c-cut-names.txt 'control file sequential' 2 | awk '{ print $1+0 }')"
say awr-19c-cut-names.txt 'control file sequential read (background)' none waits "$(awk '/^control file/ { v = $5 } END { print v }' awr-19c-cut-names.txt)"
say awr-19c-cut-names.txt 'log file parallel write' none averageUs "$(line awr-19c-cut-names.txt 'log file parallel' 2 | awk '{ print $1+0 }')"
bars='{ gsub(/[ ,]/, "", $2); gsub(/[ ,]/, "", $3); gsub(/ /, "", $4) }'
say awr-made-of-html.txt 'redo size' none perTransaction "$(awk -F'|' "/^Redo size/ $bars /^Redo size/ { print \$3 }" awr-made-of-html.txt)"
say awr-made-of-html.txt 'log file sync' none averageUs "$(awk -F'|' "/^log file sync/ $bars /^log file sync/ { printf \"%.6f\n\", \$3/\$2*1e6 }" awr-made-of-html.txt)"
say awr-made-of-html.txt 'cell single block physical read: RDMA' none averageUs "$(awk -F'|' "/RDMA/ $bars /RDMA/ { print \$3/\$2*1e6 }" awr-made-of-html.txt)"
cells() { grep -F "<td>$2</td>" awr-exadata.html | tr -d , | awk -F'</?td[^>]*>' -v cell="$1" '{ print $(2 * cell); exit }'; }
say awr-exadata.html 'cell single block physical read: RDMA' none waits "$(cells 2 'cell single block physical read: RDMA')"
say awr-exadata.html 'cell single block physical read: flash cache' none totalS "$(cells 4 'cell single block physical read: flash cache')"
say awr-exadata.html 'cell single block physical read' none averageUs "$(cells 4 'cell single block physical read' | awk '{ print $1/50000*1e6 }')"
say awr-exadata.html 'db file scattered read' none waits "$(cells 2 'db file scattered read')"
say awr-exadata.html 'direct path write temp' none totalS "$(cells 4 'direct path write temp')"
say awr-exadata.html 'physical read' none perSecond none
say awr-exadata.html 'physical read' none perTransaction 1.5
say awr-exadata.html 'Flash Log Statistics: exa1cel01' none 'Outliers Prevented' "$(cells 4 exa1cel01)"
say awr-exadata.html 'Flash Cache User Reads Per Second: exa1cel01' none 'OLTP %Hit' 98.4
say awr-exadata.html 'Exadata OS Statistics Outlier Cells: F/800G exa1cel02' none IOPs 12500

# sar: an interface's packets are column 3, its kB 5; a disk's tps 3, rkB 4, await 9; sadf -j by jq
say sar-dev.txt lo none rxPacketsPerS "$(awk '/^[0-9]/ && $2 == "lo" { n++; v += $3 } END { printf "%.6f\n", v/n }' sar-dev.txt)"
say sar-dev.txt lo none rxMibPerS "$(awk '/^[0-9]/ && $2 == "lo" { n++; v += $5 } END { printf "%.9f\n", v/n/1024 }' sar-dev.txt)"
disk='/DEV/ { d = 1 } !NF { d = 0 } d && /^[0-9]/ && $2 == "vda"'
say sar-all.txt vda none iops "$(awk "$disk { n++; v += \$3 } END { print v/n }" sar-all.txt)"
say sar-all.txt vda none writeMibPerS "$(awk "$disk { n++; v += \$5 } END { printf \"%.9f\n\", v/n/1024 }" sar-all.txt)"
say sar-all.txt vda none latencyUs "$(awk "$disk { i += \$3; v += \$3*\$9 } END { printf \"%.6f\n\", v/i*1000 }" sar-all.txt)"
say sar-all.txt 'CPU all' none idlePercent "$(awk '/CPU/ { c = 1 } !NF { c = 0 } c && /^[0-9]/ && $2 == "all" { n++; v += $8 } END { print v/n }' sar-all.txt)"
lo='[.sysstat.hosts[0].statistics[].network["net-dev"][] | select(.iface == "lo")]'
say sadf-dev.json lo none rxPacketsPerS "$(jq "$lo | (map(.rxpck)|add)/length" sadf-dev.json)"
say sadf-dev.json lo none txMibPerS "$(jq "$lo | (map(.txkB)|add)/length/1024" sadf-dev.json)"

# sar's own averages of a night, of -d the lengths of its reports: 600, 600 and 1500 s; two days are two runs
say sar-midnight.txt 'CPU all' none userPercent "$(awk '/^[0-9].*all/ { s = ++n < 5 ? 600 : 300; t += s; v += s*$4 } END { printf "%.9f\n", v/t }' sar-midnight.txt)"
say sar-midnight.txt 'CPU all' none idlePercent "$(awk '/^[0-9].*all/ { s = ++n < 5 ? 600 : 300; t += s; v += s*$9 } END { printf "%.9f\n", v/t }' sar-midnight.txt)"
long='{ s = ++n < 3 ? 600 : 1500; t += s; i += s*$4; w += s*$4*$9; u += s*$11 }'
say sar-midnight.txt sda none iops "$(awk "/sda/ $long END { printf \"%.9f\n\", i/t }" sar-midnight.txt)"
say sar-midnight.txt sda none latencyUs "$(awk "/sda/ $long END { printf \"%.9f\n\", w/i*1000 }" sar-midnight.txt)"
say sar-midnight.txt sda none utilPercent "$(awk "/sda/ $long END { printf \"%.9f\n\", u/t }" sar-midnight.txt)"
say sar-midnight.txt sdb none latencyUs 7000
say sar-two-days.txt ib0 none rxPacketsPerS "$(awk '/^Average/ && /ib0/ { v += $3 } END { print v/2 }' sar-two-days.txt)"
say sar-two-days.txt ib0 none rxMibPerS "$(awk '/^Average/ && /ib0/ { v += $5 } END { print v/2/1024 }' sar-two-days.txt)"

# vscsiStats: two machines have a scsi0:0 each; of two outputs the last counts, since they count on
say vscsi-machines.txt 'VM 2101555 scsi0:0 latency of IOs in Microseconds (us)' none count "$(awk '/\((<=|>)/ { v += $1 } /^}/ { exit } END { print v }' vscsi-machines.txt)"
say vscsi-machines.txt 'VM 2101777 scsi0:0 latency of IOs in Microseconds (us)' none mean "$(awk '/^mean/ { v = $3 } END { print v }' vscsi-machines.txt)"
say vscsi-machines.txt 'VM 2101777 scsi0:0 latency of IOs in Microseconds (us)' none mostFrequent 100000
say vscsi-twice.csv 'scsi0:1 latency of IOs in Microseconds (us)' none count "$(awk -F, '/Bucket/ { v = 0 } /^[0-9]/ { v += $1 } END { print v }' vscsi-twice.csv)"
say vscsi-twice.csv 'scsi0:1 latency of IOs in Microseconds (us)' none mean "$(awk -F, '/^mean/ { v = $2 } END { print v }' vscsi-twice.csv)"

# AWR: a total that was too wide is waits times the average, and none of the other columns; HTML cells over several columns and rows
wide() { awk -v event="$1" 'index($0, event) == 1 { print substr($0, 28, 12), substr($0, 47, 10), substr($0, 58, 7); exit }' awr-11-too-wide.txt | tr -d ,; }
say awr-11-too-wide.txt 'cell smart table scan' none totalS "$(wide 'cell smart table scan' | awk '{ printf "%.6f\n", $1*$3/1000 }')"
say awr-11-too-wide.txt 'cell smart table scan' none averageUs "$(wide 'cell smart table scan' | awk '{ print $3*1000 }')"
say awr-11-too-wide.txt 'log file sync' none averageUs "$(wide 'log file sync' | awk '{ print $2/$1*1e6 }')"
say awr-11-too-wide.txt 'redo size' none perSecond none
say awr-11-too-wide.txt 'redo size' none perTransaction "$(awk '/Redo size/ { gsub(",", ""); print $4 }' awr-11-too-wide.txt)"
span() { grep -F "<td>$1</td>" awr-spans.html | tr -d , | awk -F'</?td[^>]*>' -v cell="$2" '{ print $(2 * cell); exit }'; }
say awr-spans.html 'Exadata Flash Log Statistics: exa1cel01' none 'Outliers Prevented' "$(span exa1cel01 5)"
say awr-spans.html 'Exadata Flash Log Statistics: exa1cel01' none 'Writes per Second' "$(span exa1cel01 3)"
say awr-spans.html 'Exadata Flash Log Statistics: exa1cel02' none 'Outliers Actual' none
say awr-spans.html 'Exadata Flash Log Statistics: exa1cel02' none 'Outliers Prevented' "$(span exa1cel02 5)"
say awr-spans.html 'Exadata OS Statistics - Outlier Cells: H/7.2T exa1cel02' none IOPs 140
say awr-spans.html 'Exadata OS Statistics - Outlier Cells: F/2.9T exa1cel03' none Avg "$(span exa1cel03 4)"

# ORION's latency of writes is weighted by the I/Os as that of reads is
say orion_writes_summary.txt small 20 writeUs "$(awk '/^Maximum Small IOPS/ { split($3, a, "="); i = a[2]; n += i } /^Small Write Latency/ { split($4, a, "="); w += i*a[2] } END { printf "%.9f\n", w/n }' orion_writes_summary.txt)"
say orion_writes_summary.txt large 2 mbPerS 1418.07

# AWR: instances over the same time are parts, their waits added; two reports in one file are runs of an hour each
sync='/^log file sync/ { gsub(",", ""); n++; w += $4; s += $6 } /Logical reads/ { gsub(",", ""); r += $3 }'
say 'awr-instance-1.txt awr-instance-2.txt' 'log file sync' none waits "$(awk "$sync END { print w }" awr-instance-1.txt awr-instance-2.txt)"
say 'awr-instance-1.txt awr-instance-2.txt' 'log file sync' none averageUs "$(awk "$sync END { print s/w*1e6 }" awr-instance-1.txt awr-instance-2.txt)"
say 'awr-instance-1.txt awr-instance-2.txt' 'logical read' none perSecond "$(awk "$sync END { print r }" awr-instance-1.txt awr-instance-2.txt)"
redo='/Redo size/ { gsub(",", ""); s += $3; t += $3/$4 }'
say 'awr-instance-1.txt awr-instance-2.txt' 'redo size' none perTransaction "$(awk "$redo END { printf \"%.9f\n\", s/t }" awr-instance-1.txt awr-instance-2.txt)"
say awr-twice.txt 'log file sync' none waits "$(awk "$sync END { print w/n }" awr-twice.txt)"
say awr-twice.txt 'log file sync' none averageUs "$(awk "$sync END { printf \"%.6f\n\", s/w*1e6 }" awr-twice.txt)"
say awr-twice.txt 'logical read' none perSecond "$(awk "$sync END { print r/n }" awr-twice.txt)"
