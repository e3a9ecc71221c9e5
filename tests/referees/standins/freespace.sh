# Space that is not yet carved, summed over cell disks; sizes are 0 or have a suffix.
dcli -g "$1" -l celladmin "cellcli -e list celldisk attributes name,size,freespace where disktype = harddisk" |
    sed 's/\t/ /g' | awk '{ gsub(":", "", $1); n[$1]++; sub("G", "", $4); free[$1] += $4 }
                          END { for (c in n) printf "%s %d disks %.1fG free\n", c, n[c], free[c] }' | sort
