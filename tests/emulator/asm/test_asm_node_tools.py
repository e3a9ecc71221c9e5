"""asmcmd for names and copies, and the programs of the installations that only tell, as published scripts call them."""

from __future__ import annotations

import pytest


def path(lab) -> str:
    """Return the complete name of an archived log."""
    file = next(file for file in lab.asm.groups["RECO"].files if file.kind == "ARCHIVELOG")
    return f"+RECO/{'/'.join(file.directories)}/{file.alias}"


def test_directories_and_aliases_of_asmcmd(lab):
    """mkdir, mkalias, ls and rm see what users made as they see the files of databases."""
    file = path(lab)
    assert lab.run("asmcmd", "mkdir", "+reco/mine", "+reco/mine/sub").status == 0
    assert lab.run("asmcmd", "ls", "+reco/mine").out == "sub/\n" and lab.run("asmcmd", "ls", "+reco/mine/sub").out == ""
    assert lab.run("asmcmd", "mkalias", file, "+reco/mine/one.arc").status == 0
    assert lab.run("asmcmd", "ls", "+reco/mine").out == "one.arc\nsub/\n"
    long = lab.run("asmcmd", "ls", "-l", "+reco/mine/one.arc").lines[-1].split()
    assert long[0] == "ARCHIVELOG" and long[-2:] == ["N", "one.arc"]
    assert "ORA-15005" in lab.run("asmcmd", "mkdir", "+reco/mine").err
    assert lab.run("asmcmd", "rmalias", "+reco/mine/one.arc").status == 0
    assert lab.run("asmcmd", "rm", "+reco/mine").status == 255
    assert lab.run("asmcmd", "rm", "-r", "+reco/mine").status == 0
    assert "mine/" not in lab.run("asmcmd", "ls", "+reco").lines


def test_copies(lab):
    """cp makes a file of the cluster with an alias, which takes space; rm of the alias gives it back."""
    free = "select free_mb from v$asm_diskgroup where name = 'DATA'"
    before = lab.rows(free)
    file = path(lab)
    ran = lab.run("asmcmd", text=f"cd +reco\ncp {file} +data/copy.arc\nls +data/copy.arc\nexit\n")
    assert f"copying {file} -> +data/copy.arc\n" in ran.out and "copy.arc\n" in ran.out
    assert lab.rows(free) != before
    assert lab.run("asmcmd", "rm", "+data/copy.arc").status == 0
    assert lab.rows(free) == before
    assert "ASMCMD-8016" in lab.run("asmcmd", "cp", file, "/tmp/x").err
    assert lab.run("asmcmd", "cp", "+reco/none", "+data/x").status == 255


ASMCMD = {
    "pwget --asm": "+DATA/orapwASM",
    "pwget --dbuniquename spot": "+DATA/SPOT/PASSWORD/pwdspot",
    "volinfo -a": "diskgroup DATA has no volumes or is not mounted",
    "showversion": "ASM version         : 19.0.0.0.0",
    "lspwusr": "Username sysdba sysoper sysasm",
    "md_backup /tmp/x -G data": "Disk group metadata to be backed up: DATA",
    "mktmpl -G data --redundancy unprotected --striping fine t1": "",
    "remap data DATA_CD_00_EXA1CEL01 5000-5999": "",
    "scrub -G data --power low": "",
    "volcreate -G data -s 10G v1": "ASMCMD-9470",
    "remap data nosuch 1-2": "ASMCMD-8014",
    "rmtmpl -G data nosuch": "ORA-15032",
    "pwget --dbuniquename nosuch": "ASMCMD-9454",
    "mkdir": "ASMCMD-8203",
    "mkdir +nosuch/x": "ASMCMD-8001",
}


@pytest.mark.parametrize("command", ASMCMD)
def test_what_asmcmd_says(lab, command):
    """Other commands of asmcmd answer, or are refused by name."""
    ran = lab.run("asmcmd", *command.split())
    wrong = ASMCMD[command].startswith(("ASMCMD-", "ORA-"))
    assert ran.status == (255 if wrong else 0)
    assert (ran.err if wrong else ran.out).startswith(ASMCMD[command])


TELLS = {
    "crsctl get cluster name": "CRS-6724: Current cluster name is 't1-cluster'\n",
    "crsctl get cluster mode status": 'Cluster is running in "flex" mode\n',
    "crsctl get css misscount": "CRS-4678: Successful get misscount 60 for Cluster Synchronization Services.\n",
    "crsctl get hostname": "exa1db01\n",
    "crsctl config crs": "CRS-4622: Oracle High Availability Services autostart is enabled.\n",
    "crsctl query crs softwareversion -all": (
        "Oracle Clusterware version on node [exa1db01] is [19.0.0.0.0]\n"
        "Oracle Clusterware version on node [exa1db02] is [19.0.0.0.0]\n"
    ),
    "srvctl status listener": (
        "Listener LISTENER is enabled\nListener LISTENER is running on node(s): exa1db01,exa1db02\n"
    ),
    "srvctl status scan_listener": (
        "SCAN Listener LISTENER_SCAN1 is enabled\nSCAN listener LISTENER_SCAN1 is running on node exa1db01\n"
    ),
    "srvctl status vip -n exa1db02": "VIP exa1db02-vip is enabled\nVIP exa1db02-vip is running on node: exa1db02\n",
    "srvctl status service -d SPOT": "",
    "srvctl config scan": (
        "SCAN name: t1-cluster-scan, Network: 1\nSCAN 1 IPv4 VIP: t1-cluster-scan\nSCAN VIP is enabled.\n"
    ),
    "oifcfg getif": "bondeth0  10.1.0.0  global  public\nib0  192.168.10.0  global  cluster_interconnect,asm\n",
    "oerr ora 15032": '15032, 00000, "not all alterations performed"\n',
    "ocrcheck -config": "Oracle Cluster Registry configuration is :\n\t Device/File Name         :   +DATA\n",
}


@pytest.mark.parametrize("line", TELLS)
def test_what_programs_tell(lab, line):
    """Programs of the clusterware answer what scripts ask them, in words that were published."""
    name, *argv = line.split()
    ran = lab.run(name, *argv)
    assert (ran.out, ran.status) == (TELLS[line], 0)


HOLDS = {
    "ocrcheck": "Cluster registry integrity check succeeded",
    "ocrconfig -showbackup": "OCRBACKUP/backup00.ocr",
    "lsnrctl status": 'Service "SPOT" has 1 instance(s).\n  Instance "SPOT1", status READY',
    "lsnrctl services LISTENER": "The command completed successfully",
    "lsnrctl version": "TNSLSNR for Linux: Version 19.0.0.0.0",
    "tnsping spot 3": "OK (0 msec)\nOK (0 msec)\nOK (0 msec)\n",
    "opatch lspatches": "OPatch succeeded.",
    "opatch lsinventory -oh /u01/x": "Oracle Home       : /u01/x",
    "crsctl get cluster configuration": "The cluster is not extended.",
    "srvctl config nodeapps": "VIP Name: exa1db02-vip",
    "lsnrctl status nosuch": "TNS-12541",
    "lsnrctl dance": "NL-00853",
    "tnsping nosuch": "TNS-03505",
    "opatch dance": "error code 73",
    "oifcfg": "PRIF-9",
    "crsctl get moon": "Usage: crsctl",
}


@pytest.mark.parametrize("line", HOLDS)
def test_what_is_in_what_they_tell(lab, line):
    """Longer answers hold what scripts look for; a wrong command line is refused."""
    name, *argv = line.split()
    ran = lab.run(name, *argv)
    wrong = any(word in line.split() for word in ("nosuch", "dance", "moon")) or line == "oifcfg"
    assert HOLDS[line] in ran.out and bool(ran.status) is wrong
