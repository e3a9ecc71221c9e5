# The services of each cell by the operating system's service script, and the image that runs.
dcli -g "$1" -l root "/sbin/service celld status; /usr/local/bin/imageinfo -status; imagehistory | grep -i status"
