# A monitoring check: critical alerts that nobody has examined, one verdict for all cells.
found=$(dcli -g "$1" -l cellmonitor "cellcli -e list alerthistory where examinedBy = NULL and severity = \'critical\' and endTime = NULL" | wc -l)
echo "ALERTS OK - $found critical"
