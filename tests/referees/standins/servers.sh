# An inventory of all servers: cells by CellCLI, database servers by DBMCLI, from one node.
ssh oracle@exa1db01 'dcli -g cell_group -l celladmin cellcli -e list cell attributes name,cpuCount,fanCount,powerCount,cellsrvStatus,msStatus,rsStatus
dcli -g dbs_group -l oracle dbmcli -e list dbserver attributes name,cpuCount,fanCount,powerCount,msStatus,rsStatus'
