# Nagios: flash cache and flash log of one cell, one status line with performance data
H=$1
out=$(ssh -o BatchMode=yes -o ConnectTimeout=10 celladmin@$H "cellcli -e list flashcache attributes name,status,effectiveCacheSize | awk '{print \$2, \$3}'") || { echo "UNKNOWN"; exit 3; }
st=${out% *}; size=${out#* }
dirty=$(ssh $H "cellcli -e \"list metriccurrent where name = 'FC_BY_DIRTY'\"" | awk '{gsub(",","",$3); print $3}')
[ "$st" = normal ] && { echo "OK - $H flashcache $st $size|dirty=${dirty}MB"; exit 0; }
echo "CRITICAL - $H $st"; exit 2
