# Prints facts about this host and changes nothing: a line each, kind, name, attribute and value with TABs between them.
# A line before it may say of which kinds: kinds="net irq". Other kinds are not read.
# Source: Linux, Documentation/ABI (sysfs-block, sysfs-class-net, sysfs-class-iscsi_session, sysfs-devices-numa); ethtool(8);
# dmsetup(8); proc(5), interrupts and irq.
LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL PATH

wanted() {
	case " ${kinds:-$1} " in *" $1 "*) ;; *) return 1 ;; esac
}
say() {
	if [ -n "$4" ] && wanted "$1"; then printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4"; fi
}
# kind, name, folder, files in it
files() {
	wanted "$1" || return 0
	kind=$1 name=$2 folder=$3
	shift 3
	for file; do
		if [ -r "$folder/$file" ]; then
			# No program is started for most: a host with hundreds of disks has ten thousands of such files. What reads as
			# nothing may be one that the kernel does not give byte by byte, as read takes it (a node's cpulist).
			value=
			while read -r line || [ -n "$line" ]; do value="$value $line"; done 2>/dev/null <"$folder/$file"
			say "$kind" "$name" "${file##*/}" "${value:-$(cat "$folder/$file" 2>/dev/null | tr '\n\t' '  ')}"
		fi
	done
}
# kind, name, attribute, link
link() {
	if [ -e "$4" ] && wanted "$1"; then say "$1" "$2" "$3" "$(basename "$(readlink -f "$4")")"; fi
}
# name (it may be empty), folder of a device: the interrupts of the PCI device that it is or belongs to, with their processors
interrupts() {
	wanted irq || return 0
	above=$2
	for step in 1 2 3 4; do
		[ -f "$above/irq" ] && break
		above=$above/..
	done
	for irq in $(ls "$above/msi_irqs" 2>/dev/null || cat "$above/irq" 2>/dev/null); do
		user=$(sed -n "s/^ *$irq:.* //p" /proc/interrupts)
		[ -n "$user" ] && say irq "${1:+$1 }$user" affinity "$(cat "/proc/irq/$irq/smp_affinity_list" 2>/dev/null)"
	done
}
# kind, name, then lines "key: value" on standard input
pairs() {
	while IFS=: read -r key value; do say "$1" "$2" "$key" "${value# }"; done
}

say kernel kernel release "$(uname -r)"
say kernel kernel machine "$(uname -m)"
say kernel kernel system "$(sed -n 's/^PRETTY_NAME="\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' /etc/os-release 2>/dev/null)"
say kernel kernel tuned "$(cat /etc/tuned/active_profile 2>/dev/null)"
files kernel kernel /sys/module/scsi_mod/parameters use_blk_mq
files kernel kernel /sys/module/dm_mod/parameters use_blk_mq
say kernel kernel hugepages "$(cat /proc/sys/vm/nr_hugepages 2>/dev/null)"

say cpu cpu model "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
say cpu cpu threads "$(grep -c '^processor' /proc/cpuinfo)"
files cpu cpu /sys/devices/system/cpu online isolated
files cpu cpu /sys/devices/system/cpu/cpu0/cpufreq scaling_governor scaling_driver
files cpu cpu /sys/devices/system/cpu/intel_pstate no_turbo
for node in /sys/devices/system/node/node[0-9]*; do
	if [ -d "$node" ]; then
		files numa "${node##*/}" "$node" cpulist distance
		say numa "${node##*/}" memoryKb "$(sed -n 's/.*MemTotal: *\([0-9]*\).*/\1/p' "$node/meminfo" 2>/dev/null)"
	fi
done

drivers=
for disk in /sys/block/*; do
	name=${disk##*/}
	case $name in
	loop* | ram* | zram* | sr* | fd*) continue ;;
	esac
	[ -d "$disk" ] || continue
	files block "$name" "$disk" size removable
	files block "$name" "$disk/queue" rotational scheduler nr_requests max_sectors_kb max_hw_sectors_kb max_segments \
		read_ahead_kb rq_affinity nomerges add_random io_poll wbt_lat_usec logical_block_size physical_block_size \
		minimum_io_size optimal_io_size discard_granularity write_cache
	files block "$name" "$disk/device" model vendor rev firmware_rev queue_depth queue_type timeout numa_node
	files block "$name" "$disk/device/device" numa_node
	files block "$name" "$disk" dm/name
	queues=0
	for queue in "$disk"/mq/*; do [ -d "$queue" ] && queues=$((queues + 1)); done
	[ $queues -gt 0 ] && say block "$name" hardwareQueues $queues
	link block "$name" driver "$disk/device/driver"
	link block "$name" controller "$disk/device/device/driver"
	case $(cat "$disk/dm/uuid" 2>/dev/null) in
	mpath-*)
		paths=0
		for path in "$disk"/slaves/*; do [ -e "$path" ] && paths=$((paths + 1)); done
		alias=$(cat "$disk/dm/name")
		say multipath "$alias" paths $paths
		say multipath "$alias" table "$(dmsetup table "$alias" 2>/dev/null | sed 's/ [0-9]*:[0-9]*//g')"
		;;
	esac
done

for host in /sys/class/scsi_host/host*; do
	if [ -d "$host" ]; then
		files scsi "${host##*/}" "$host" proc_name model model_name modelname fw_version version_fw fwrev optrom_fw_version \
			driver_version cmd_per_lun can_queue sg_tablesize nr_hw_queues eh_deadline
		drivers="$drivers $(cat "$host/proc_name" 2>/dev/null)"
		link scsi "${host##*/}" driver "$host/device/../driver"
		files scsi "${host##*/}" "$host/device/.." numa_node
		interrupts "${host##*/}" "$host/device/.."
	fi
done

ways=
for session in /sys/class/iscsi_session/session*; do
	if [ -d "$session" ]; then
		# Numbers of sessions count up with each login: sessions are known by their target and its portal.
		name=$(cat "$session/targetname")
		for connection in "$session"/device/connection*/iscsi_connection/connection*; do
			if address=$(cat "$connection/persistent_address" 2>/dev/null); then
				case $address in *:*) address="[$address]" ;; esac
				name="$name@$address:$(cat "$connection/persistent_port")"
				break
			fi
		done
		files iscsi "$name" "$session" state ifacename initiatorname initial_r2t immediate_data first_burst_len max_burst_len \
			recovery_tmo abort_tmo lu_reset_tmo
		for connection in "$session"/device/connection*/iscsi_connection/connection*; do
			[ -d "$connection" ] && files iscsi "$name" "$connection" header_digest data_digest max_recv_dlength max_xmit_dlength
		done
		luns=0
		for lun in "$session"/device/target*/*:*; do [ -d "$lun" ] && luns=$((luns + 1)); done
		say iscsi "$name" luns $luns
		ways="$ways$name
"
	fi
done
printf %s "$ways" | sort | uniq -c | while read -r sessions name; do say iscsi "$name" sessions "$sessions"; done
files iscsi initiator /etc/iscsi initiatorname.iscsi

for nic in /sys/class/net/*; do
	name=${nic##*/}
	[ -e "$nic/device" ] || continue
	files net "$name" "$nic" operstate speed mtu tx_queue_len
	files net "$name" "$nic/device" numa_node
	link net "$name" driver "$nic/device/driver"
	drivers="$drivers $(basename "$(readlink -f "$nic/device/driver")" 2>/dev/null)"
	rx=0 tx=0
	for queue in "$nic"/queues/rx-*; do [ -d "$queue" ] && rx=$((rx + 1)); done
	for queue in "$nic"/queues/tx-*; do [ -d "$queue" ] && tx=$((tx + 1)); done
	say net "$name" rxQueues $rx
	say net "$name" txQueues $tx
	if wanted net && command -v ethtool >/dev/null 2>&1; then
		ethtool -i "$name" 2>/dev/null | sed -n 's/^version: /driverVersion: /p; s/^firmware-version: /firmware: /p' | pairs net "$name"
		ethtool -g "$name" 2>/dev/null | sed -n '/^Current/,$ s/^\(RX\|TX\):[[:space:]]*\([0-9]*\)$/ring\1:\2/p' | pairs net "$name"
		ethtool -l "$name" 2>/dev/null | sed -n '/^Current/,$ s/^\([A-Z][a-z]*\|RX\|TX\):[[:space:]]*\([0-9]*\)$/channels\1:\2/p' |
			pairs net "$name"
		ethtool -c "$name" 2>/dev/null | sed -n 's/^\(rx-usecs\|tx-usecs\|rx-frames\):[[:space:]]*\([0-9]*\)$/\1:\2/p' | pairs net "$name"
	fi
	interrupts "$name" "$nic/device"
done
for disk in /sys/block/nvme* /sys/block/vd*; do
	[ -e "$disk" ] && interrupts "" "$disk/device"
done

for driver in $(printf '%s\n' $drivers dm_multipath dm_round_robin dm_queue_length dm_service_time iscsi_tcp nvme | sort -u); do
	module=/sys/module/$(printf %s "$driver" | tr - _)
	if [ -d "$module" ] && wanted module; then
		files module "$driver" "$module" version
		for parameter in "$module"/parameters/*; do
			[ -r "$parameter" ] && files module "$driver" "$module/parameters" "${parameter##*/}"
		done
	fi
done
printf 'end\n'
