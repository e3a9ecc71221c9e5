%% asm.md 1: delimited columns for releases without CSV
select name||'|'||state||'|'||total_mb from v$asm_diskgroup;
%% asm.md 2: which grid disks a prefix finds
select path, header_status, os_mb from v$asm_disk where path like 'o/%/SSDAB%';
%% asm.md 6: is a rebalance going on
select count(*) from gv$asm_operation where state<>'DONE';
%% asm.md 13: where am I
select instance_name,version from v$instance;
%% asm.md 13: disks of each failure group
select failgroup,count(*),min(total_mb),max(total_mb) from v$asm_disk where group_number=1 group by failgroup;
%% asm.md 13: is the name free
select inst_id, name, state from gv$asm_diskgroup where name = 'FLASH_AB';
%% asm.md 3: attributes of a disk group
select g.name, a.name attribute, a.value from v$asm_attribute a, v$asm_diskgroup g
 where a.group_number = g.group_number and a.name like 'compatible%' order by 1, 2;
%% asm.md 6: who still uses a group
select group_number, instance_name, db_name, status from v$asm_client;
%% asm.md 10: online logs
select l.group#, l.thread#, l.sequence#, l.bytes / 1048576 mb, l.blocksize, l.status, f.member
from v$log l join v$logfile f on f.group# = l.group#
order by l.thread#, l.group#;
%% asm.md 11: what the flash cache has given
select name, value from v$sysstat where name in ('cell flash cache read hits', 'physical read total IO requests') order by name;
%% asm.md 11: of one session
select n.name, s.value from v$mystat s join v$statname n on n.statistic# = s.statistic# where n.name like 'cell%' and s.value > 0;
%% asm.md 11: what the segments say
select owner, segment_name, segment_type, cell_flash_cache, round(bytes / 1024 / 1024 / 1024, 1) gb from dba_segments
 where cell_flash_cache = 'KEEP' and owner not in ('SYS', 'SYSTEM') order by bytes desc;
%% asm.md 11: what cells say of themselves
select cell_name, statistics_type, statistics_value from v$cell_state where statistics_type = 'FLASHLOG';
%% asm.md 12: snapshots
select dbid from v$database;
%% asm.md 12: snapshots of the last day
select snap_id, to_char(begin_interval_time, 'YYYY-MM-DD HH24:MI') began from dba_hist_snapshot
 where end_interval_time > sysdate - 1 order by snap_id;
%% procedures.md: whether ASM still knows a grid disk that is dropped next
select d.name, d.path, d.mount_status, d.header_status, d.mode_status from v$asm_disk d where d.name = 'DATA_CD_00_EXA1CEL01';
%% a pasted session with its settings
set lines 200 pages 100 trimspool on
set feedback off;
column name format a30
col total_gb for 999,999.9 heading "Total GB"
SELECT name, type, total_mb/1024 total_gb, free_mb/1024 "Free GB",
       ROUND(100 * (1 - free_mb / NULLIF(total_mb, 0)), 1) AS "% used"
  FROM v$asm_diskgroup
 ORDER BY name
;
exit
%% wait events of cells
select event, total_waits, round(time_waited_micro / total_waits) avg_us, wait_class from v$system_event
 where event like 'cell%' and total_waits > 0 order by time_waited_micro desc;
%% wait events of all instances
select inst_id, event, sum(total_waits) from gv$system_event where wait_class in ('User I/O', 'System I/O') group by inst_id, event having sum(total_waits) > 10;
%% latency histogram
select wait_time_milli, wait_count, ratio_to_report(wait_count) over () * 100 pct from v$event_histogram where event = 'cell single block physical read';
%% who is busy
select s.inst_id, s.sid, s.serial#, s.username, s.event, s.state, q.sql_text from gv$session s left outer join gv$sql q
 on q.sql_id = s.sql_id and q.inst_id = s.inst_id where s.status = 'ACTIVE' and s.type <> 'BACKGROUND' and s.username is not null;
%% offload efficiency
with s as (select sql_id, io_cell_offload_eligible_bytes eligible, io_interconnect_bytes moved from v$sql where io_cell_offload_eligible_bytes > 0)
select sql_id, round(eligible / 1048576) mb, round(100 * (1 - moved / eligible), 1) saved from s order by eligible desc fetch first 10 rows only;
%% log switches by hour
select trunc(first_time, 'HH24') hour, count(*) switches from v$log_history where first_time > sysdate - interval '7' day group by trunc(first_time, 'HH24') order by 1;
%% AWR: cell events between snapshots
select snap_id, event_name, time_waited_micro - lag(time_waited_micro) over (partition by event_name order by snap_id) us
  from dba_hist_system_event where event_name like 'cell%' order by event_name, snap_id;
%% archived logs a day
select to_char(completion_time, 'YYYY-MM-DD') day, round(sum(blocks * block_size) / power(1024, 3)) gb from v$archived_log group by to_char(completion_time, 'YYYY-MM-DD');
%% space of tablespaces
select t.tablespace_name, t.mb, f.mb free from (select tablespace_name, sum(bytes)/1048576 mb from dba_data_files group by tablespace_name) t,
 (select tablespace_name, sum(bytes)/1048576 mb from dba_free_space group by tablespace_name) f where t.tablespace_name = f.tablespace_name (+);
%% hidden parameters
select p.ksppinm name, v.ksppstvl value from x$ksppi p, x$ksppcv v where p.indx = v.indx and substr(p.ksppinm, 1, 5) = '_kcfi';
%% the whole names of ASM files
select concat('+' || gname, sys_connect_by_path(aname, '/')) full_path from
 (select g.name gname, a.parent_index pindex, a.name aname, a.reference_index rindex from v$asm_alias a, v$asm_diskgroup g
   where a.group_number = g.group_number)
 start with mod(pindex, power(2, 24)) = 0 connect by prior rindex = pindex;
%% a subquery that looks outside
select g.name from v$asm_diskgroup g where exists (select 1 from v$asm_disk d where d.group_number = g.group_number and mode_status <> 'ONLINE');
%% set operations and their order
select name from v$datafile union all select member from v$logfile union select name from v$controlfile order by name;
%% CASE, dates, casts
select case when log_mode = 'ARCHIVELOG' then 'yes' else 'no' end archiving, extract(year from created), cast(dbid as varchar2(20)), date '2024-01-01' - 1 from v$database;
%% SYS's own names
select sid from sys.v_$session where rownum < 3 union select user_id from sys.dba_users;
%% nothing but a word
select * from v$version;
%% everything of one of two
select d.*, g.name from v$asm_disk d cross join v$asm_diskgroup g where g.group_number = d.group_number;
%% the newest of each
select max(value) keep (dense_rank last order by snap_id) newest, stat_name from dba_hist_sysstat group by rollup(stat_name);
%% names in one line
select listagg(name, ', ') within group (order by name) names from v$asm_diskgroup;
%% the clock
select to_char(sysdate, 'HH24:MI:SS') now, sys_context('USERENV', 'INSTANCE_NAME') here, user from dual;
