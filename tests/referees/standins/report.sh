# nightly report of a DBA on node 1
ssh grid@exa1db01 'bash -s' <<'EOF'
cat > dg.sql <<'S'
set echo off feedback off verify off termout off pages 100 lines 120 trimspool on tab off
define name=&1
column name format a6 heading 'Group'
column pct format 990.0 heading '% free'
break on report
compute sum label total of total_mb free_mb on report
spool report_&name..txt
select name, total_mb, free_mb, round(100*free_mb/total_mb,1) pct from v$asm_diskgroup_stat order by 1;
spool off
exit sql.sqlcode
S
. oraenv <<< +ASM1 >/dev/null
$ORACLE_HOME/bin/sqlplus -s "/ as sysasm" @dg.sql R > out.txt; echo "rc=$? $(wc -c < out.txt)"
cat report_R.txt; rm -f report_R.txt dg.sql
for g in $(asmcmd --nocp ls); do srvctl status diskgroup -g ${g%/} -a; done
crsctl stat res -t | awk '/\.dg/ {n=$1; getline; print n, $2}'
sqlplus -s / as sysasm <<S
whenever sqlerror exit failure
select count(*) from v\$nosuch;
S
echo rc=$?
EOF
