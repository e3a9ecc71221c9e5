# Several lists in one round trip, kept apart by marks of the script's own.
dcli -g "$1" -l root "echo DISKS; cellcli -e list celldisk attributes name,status,errorcount,disktype; echo END; imageinfo -ver" |
    awk '{sub(":", "", $1)} $2 == "DISKS" {on[$1] = 1; next} $2 == "END" {on[$1] = 0; next}
         on[$1] && $3 == "normal" {disks[$1 " " $5]++} $2 ~ /^[0-9]+\.[0-9]+\.[0-9.]+$/ {version[$1] = $2}
         END {for (d in disks) print d, disks[d]; for (c in version) print c, "runs", version[c]}' | sort
