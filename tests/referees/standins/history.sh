# The last minutes of a counter as a table, time first; the limit is computed by date(1) and quoted for two shells.
now=$(cellcli -e list metriccurrent attributes collectionTime where name = \'FL_RQ_W\' | awk '{print $1}')
since=$(date -d "$now - 5 minutes" +%Y-%m-%dT%H:%M:%S%:z)
dcli -c exa1cel01,exa1cel02 "cellcli -e \"list metrichistory where name = 'FL_RQ_W' and collectionTime > '$since' attributes collectionTime,metricValue\"" |
    awk '{gsub(",", "", $3); if ($3 ~ /^[0-9]+$/) rows++} END {print rows " rows"}'
