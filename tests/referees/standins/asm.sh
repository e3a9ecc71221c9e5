# Disk groups and candidates as the grid owner sees them, from root's session on a node.
ssh root@exa1db01 <<'E2'
su - grid <<'E3'
asmcmd lsdg --suppressheader | awk '{print $NF, $1, $2}'
echo "candidates $(asmcmd lsdsk --candidate --suppressheader -p | wc -l)"
sqlplus -s / as sysasm <<'SQL'
set pagesize 0 feedback off linesize 200 trimspool on
select g.name || ' ' || count(*) || ' disks in ' || count(distinct d.failgroup) || ' failure groups'
  from v$asm_disk d join v$asm_diskgroup g on g.group_number = d.group_number group by g.name order by 1;
select count(*) || ' rebalances' from v$asm_operation;
SQL
E3
E2
