"""ALTER CELL and what its attributes take. Source: Oracle SAGUG, alter-cell and the pages on its attributes; ASXQI."""

from __future__ import annotations

import pytest
from cells_bench import Bench

from tests.support.every import every

ALTERED = "Cell exa1cel01 successfully altered\n"

TAKEN = [
    ("smtpToAddr='a@example.com,b@example.com', smtpFrom='John Doe', smtpPort=25, smtpUseSSL=TRUE", "19.3"),
    ("mailServer='mx.example.com'", "19.3"),
    ("smtpServer='mx.example.com', smtpFromAddr='x@example.com'", "11.2.3.2.1"),
    ("smtpServer='mx.example.com'", "24.1"),
    ("notificationPolicy='critical,warning,clear', notificationMethod='mail,snmp'", "12.1.2"),
    ("notificationPolicy=none", "19.3"),
    ("emailFormat='text'", "19.3"),
    ("snmpSubscriber=((host=host1, port=161),(host=host2))", "11.2.2.4"),
    ("snmpSubscriber=((Host='h',PORT=161,Type=asr))", "19.3"),
    ("snmpSubscriber=((host='h',port=8162,type=v3asr,snmpuser='u'))", "24.1"),
    ("snmpEngineID='Exadata'", "19.3"),
    ("emailSubscriber=((email='a@example.com',alertType='HARDWARE,SOFTWARE'))", "19.3"),
    ("syslogconf=('*.err;authpriv.none @loghost','*.emerg @loghost')", "19.3"),
    ("syslogconf=('kern,mail.=crit @@loghost')", "19.3"),
    ("syslogconf=''", "19.3"),
    ("sysloginput=('audit;aide @mgmtnode1','yum @mgmtnode2')", "24.1"),
    ("bbuLearnCycleTime='2013-01-22T02:00:00-08:00'", "12.1.2"),
    ("bbuLearnSchedule='MONTH 1 DATE 17 HOUR 2 MINUTE 0'", "12.1.2"),
    ("traceLevel='TRACE:16'", "19.3"),
    ("traceLevel=fine", "11.2.2.4"),
    ("ramCacheMode=Auto", "19.3"),
    ("storageIndexPersMode=off, columnarCachePersMode=auto", "22.1"),
    ("accessLevelPerm=remotelogindisabled", "19.3"),
    ("httpsAccess='192.168.10.0/24'", "19.3"),
    ("IOTimeoutThreshold='8s'", "19.3"),
    ("enableSmartStorage=TRUE", "19.3"),
    ("ilomSyslogClients='192.0.2.101,192.0.2.201'", "24.1"),
]


@every(TAKEN)
def test_documented_settings_are_taken(settings: str, release: str) -> None:
    """What the documentation sets is set, on the releases that have the attribute."""
    model = "x10m" if release == "24.1" else "x8m" if release == "22.1" else "x2"
    assert Bench(release=release, model=model).e(f"alter cell {settings}") == ALTERED


@every(
    [
        ("emailFormat=pdf", "Invalid value pdf for emailFormat: html or text."),
        ("notificationMethod='mail,sms'", "Invalid value sms for notificationMethod: mail, snmp or none."),
        ("notificationPolicy='critical,all'", "Invalid value all for notificationPolicy"),
        ("traceLevel=5", "Invalid value 5 for traceLevel"),
        ("accessLevelPerm=open", "remoteLoginEnabled or remoteLoginDisabled"),
        ("snmpSubscriber=((port=161))", "each subscriber has host"),
        ("snmpSubscriber=((host=a,port=x))", "Invalid value x for snmpSubscriber: port is a whole number."),
        ("snmpSubscriber=((host=a,type=v1))", "type is asr, v3 or v3asr"),
        ("emailSubscriber=((alertType=HARDWARE))", "each subscriber has email"),
        ("syslogconf=('nobody.err @loghost')", "Invalid value nobody.err for syslogConf"),
        ("syslogconf=('kern.loud @loghost')", "Invalid value kern.loud for syslogConf"),
        ("syslogconf=('kern.err')", "'facility.priority @node'"),
        ("validate syslogconf 'kern.loud'", "Invalid value kern.loud for syslogConf"),
        ("comment+=x", "Attribute comment+ is not an attribute of CELL."),
        ("flashCacheMode+=writethrough", "is not an attribute of CELL"),
        ("securityPubKey='http://x/y.crt'", "only ExaCLI sets it"),
        ("ramCacheMode=maybe", "on, off or auto"),
    ]
)
def test_other_values_are_refused(settings: str, answer: str) -> None:
    """A value that an attribute does not take is refused with the rule, and nothing is altered."""
    bench = Bench()
    before = bench.e("list cell detail")
    assert answer in bench.e(f"alter cell {settings}")
    assert bench.e("list cell detail") == before


def test_the_empty_value_resets_an_attribute(bench: Bench) -> None:
    """'' brings back the value that an attribute has of itself, and leaves the others blank."""
    bench.e("alter cell notificationMethod='mail', smtpPort=26, metricHistoryDays=9")
    assert bench.e("alter cell notificationMethod='', smtpPort='', metricHistoryDays=''") == ALTERED
    shown = bench.values("list cell attributes notificationMethod, smtpPort, metricHistoryDays")
    assert shown == [["none", "", "7"]]


def test_a_rule_of_several_facilities_is_one(bench: Bench) -> None:
    """Facilities of one selector are separated by commas, as rules are."""
    assert bench.e("alter cell syslogconf=('kern,mail.crit @loghost','*.emerg @other')") == ALTERED
    assert bench.one("list cell attributes syslogConf") == "(kern,mail.crit @loghost,*.emerg @other)"


def test_what_is_done_at_once_needs_cellsrv_and_is_not_kept(bench: Bench) -> None:
    """An immediate event is carried out by CELLSRV; others are kept as they are."""
    bench.e("alter cell events='trace[x]'")
    assert bench.e("alter cell events='immediate x'").startswith("Dump sequence #1 has been written to /opt/oracle/")
    assert bench.one("list cell attributes events") == "trace[x]"
    bench.e("alter cell shutdown services cellsrv ignore redundancy")
    assert "CELL-02559" in bench.e("alter cell events='immediate x'")


def test_passwords_are_asked_for_twice(bench: Bench) -> None:
    """password=* and authPassword=* are asked for on a terminal; two different answers, or none, change nothing."""
    typed = ["create user ann password=*", "Secret123", "Secret124", "list user", "exit"]
    shown = bench.run("-x", tty=True, stdin=typed)
    assert "password: Secret123\nConfirm password: Secret124\nCELL-02917" in shown
    assert bench.e("list user") == ""
    assert "nobody answered" in bench.e("create user ann password=*")
    typed = ["alter cell snmpUser.bob=(authProtocol=SHA,authPassword=*,privPassword=*)", *["Abcdef12"] * 4, "exit"]
    shown = bench.run("-x", tty=True, stdin=typed)
    assert "\nConfirm snmpUser bob privPassword: Abcdef12\n" in shown
    assert bench.one("list cell attributes snmpUser") == "((name=bob,authProtocol=SHA))"


def test_old_names_are_described_on_old_releases_alone() -> None:
    """smtpServer is mailServer's name of old: still set everywhere, and described up to 12.1."""
    assert "smtpServer" in Bench(release="12.1.2").e("describe cell")
    assert "smtpServer" not in Bench(release="19.3").e("describe cell")
    assert "bbuLearnCycleTime" not in Bench(release="12.1.2").e("describe cell")


def test_alerts_by_age() -> None:
    """ageInMinutes selects alerts that are younger, and is neither described nor listed."""
    bench = Bench()
    bench.e("create threshold CL_FANS comparison='<', critical=13")
    bench.pass_time(600)
    assert bench.values("list alerthistory where ageInMinutes < 15 attributes name") == [["1_1"]]
    assert bench.e("list alerthistory where ageInMinutes < 2 attributes name") == ""
    assert "ageInMinutes" not in bench.e("describe alerthistory") + bench.e("list alerthistory detail")


@pytest.mark.parametrize(("release", "states"), [("12.1.2", ["0", "1"]), ("19.3", ["non-deliverable", "sent"])])
def test_whether_somebody_was_notified(release: str, states: list[str]) -> None:
    """notificationState is a number on old releases and a word on newer ones; nobody hears of alerts without a method."""
    for method, state in zip(("none", "mail"), states, strict=True):
        bench = Bench(release=release)
        bench.e(f"alter cell notificationMethod={method}; create threshold CL_FANS comparison='<', critical=13")
        bench.pass_time(60)
        assert bench.one("list alerthistory attributes notificationState") == state


def test_keys_of_clusters_and_of_this_cell(bench: Bench) -> None:
    """An alias of an ASM cluster has at most 14 letters, digits and hyphens, and this cell has one key."""
    key = "b67d5587fe728118af47c57ab8da650a"
    assert "CELL-02919" in bench.e(f"assign key for asmcluster 'averyverylongname'='{key}'")
    assert "CELL-02919" in bench.e(f"assign key for asmcluster 'a_b'='{key}'")
    assert "CELL-02917" in bench.e(f"assign key for local cell 'x'='{key}','y'='{key}'")
    assert bench.e("list key") == ""


def test_cell_disks_can_be_smaller_than_their_lun() -> None:
    """CREATE CELLDISK takes size, with ALL too; old releases take interleaving as well."""
    bench = Bench(release="11.2.2.4")
    bench.e("drop celldisk CD_10_exa1cel01 force; drop celldisk CD_11_exa1cel01 force")
    bench.e("create celldisk all harddisk interleaving='normal_redundancy', comment='hi there', size=100G")
    wanted = "name, size, interleaving, comment, freeSpaceMap"
    assert bench.values(f"list celldisk where size=100G attributes {wanted}") == [
        [f"CD_{number}_exa1cel01", "100G", "normal_redundancy", '"hi there"', "offset=32M,size=99.953125G"]
        for number in (10, 11)
    ]
    bench.e("drop celldisk CD_11_exa1cel01")
    assert "CELL-02909" in bench.e("create celldisk X lun=0_11, size=600G")
    assert "CELL-02910" in bench.e("create celldisk X lun=0_11, size=1M")
    assert "CELL-02917" in bench.e("create celldisk X lun=0_11, interleaving=much")
    assert "CELL-02907" in Bench().e("create celldisk all interleaving=none")


def test_the_check_of_the_configuration_names_what_is_wrong(bench: Bench) -> None:
    """VALIDATE CONFIGURATION alters the cell when all is well, and else lists what it found."""
    assert bench.e("alter cell validate configuration") == ALTERED
    bench.cell.physical_disks["FLASH_2_1"].status = "failed"
    assert bench.e("alter cell validate configuration") == (
        "CELL-02827: Cell configuration check for hardware and firmware encountered the following issues:\n\n"
        "FlashDisk check has detected the following issue(s):\n"
        "    Slot Number    : PCI Slot: 2; FDOM: 1\n    Attribute Name : FlashDiskStatus\n"
        "    Required       : normal\n    Found          : failed\n"
    )
