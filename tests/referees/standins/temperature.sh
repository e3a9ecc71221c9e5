# A monitoring check with thresholds on a metric of each cell: the number stands behind prefix, name and object.
dcli -g "$1" -l celladmin cellcli -e list metriccurrent CL_TEMP | while read -r cell name object value unit; do
    whole=${value%.*}
    [ "$whole" -lt 40 ] && echo "${cell%:} $name OK ${whole}$unit"
done
