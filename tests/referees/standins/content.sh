# What is cached for whom: bytes by database, hits and misses, from all cells.
dcli -g "$1" --serial "cellcli -e list flashcachecontent attributes dbUniqueName,objectNumber,cachedSize,hitCount,missCount where dbUniqueName like \'S.*\'" |
    awk '{bytes[$2] += $4; hits[$2] += $5; all[$2] += $5 + $6} END {for (d in bytes) printf "%s %d MB %d%%\n", d, bytes[d] / 1048576, 100 * hits[d] / all[d]}'
