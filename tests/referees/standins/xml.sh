# Raw numbers by XML, as loaders into a database read them.
cellcli -xml -e "list metriccurrent where objectType = 'FLASHLOG' and name = 'FL_IO_W'" |
    awk -F '[<>]' '/<metricValue>/ {print "FL_IO_W", $3} /<collectionTime>/ {print "ms", length($3)}'
cellcli -xml -n -x -e "list cell detail; list flashlog detail; list griddisk detail" | grep -c '^<?xml'
