"""The texts of the emulated database nodes: ORA- and SP2- codes, in one table.

The codes and what they mean are Oracle's (source: reference asm.md, section 8, and the SQL*Plus rules of its section
1). The sentences are our own short versions: programs must read the codes and not depend on the words. The functions that raise
them decide which codes come together, and in which order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

ORA_TEXTS: Mapping[int, str] = MappingProxyType(
    {
        # SQL in general
        1: "unique constraint ({}) violated",
        439: "feature is not enabled: {}",
        900: "invalid SQL statement",
        901: "invalid CREATE command",
        902: "invalid datatype",
        903: "invalid table name",
        904: "{}: invalid identifier",
        905: "missing keyword",
        906: "missing left parenthesis",
        907: "missing right parenthesis",
        909: "invalid number of arguments",
        911: "invalid character",
        913: "too many values",
        918: "{}column ambiguously defined",
        920: "invalid relational operator",
        922: "missing or invalid option",
        927: "missing equal sign",
        925: "missing INTO keyword",
        926: "missing VALUES keyword",
        971: "missing SET keyword",
        30: "User session ID does not exist.",
        13852: "Tracing for service(module/action) {} is not enabled",
        13853: "Tracing for service (module/action) {} is already enabled",
        12899: "value too large for column {} (actual: {}, maximum: {})",
        923: "FROM keyword not found where expected",
        933: "SQL command not properly ended",
        936: "missing expression",
        937: "not a single-group group function",
        934: "group function is not allowed here",
        938: "not enough arguments for function",
        939: "too many arguments for function",
        940: "invalid ALTER command",
        947: "not enough values",
        942: "table or view does not exist",
        950: "invalid DROP option",
        959: "tablespace '{}' does not exist",
        955: "name is already used by an existing object",
        969: "missing ON keyword",
        972: "identifier is too long",
        979: "not a GROUP BY expression",
        1017: "invalid username/password; logon denied",
        1031: "insufficient privileges",
        1034: "ORACLE not available",
        1119: "error in creating database file '{}'",
        1543: "tablespace '{}' already exists",
        1549: "tablespace not empty, use INCLUDING CONTENTS option",
        1550: "cannot drop system tablespace",
        1652: "unable to extend temp segment by {} in tablespace {}",
        2180: "invalid option for CREATE TABLESPACE",
        2199: "missing DATAFILE/TEMPFILE clause",
        12906: "cannot drop default temporary tablespace",
        12919: "Can not drop the default permanent tablespace",
        13501: "Cannot drop SYSAUX tablespace",
        14086: "a partitioned index may not be rebuilt as a whole",
        14511: "cannot perform operation on a partitioned object",
        30013: "undo tablespace '{}' is currently in use",
        1081: "cannot start already-running ORACLE - shut it down first",
        1109: "database not open",
        1184: "logfile group {} already exists",
        1378: "The logical block size ({}) of file {} is not compatible with the disk sector size (media sector size is {} and"
        " host sector size is {})",
        1400: "cannot insert NULL into ({})",
        1403: "no data found",
        1418: "specified index does not exist",
        1422: "exact fetch returns more than requested number of rows",
        1426: "numeric overflow",
        1427: "single-row subquery returns more than one row",
        1436: "CONNECT BY loop in user data",
        1788: "CONNECT BY clause required in this query block",
        30009: "Not enough memory for CONNECT BY operation",
        1476: "divisor is equal to zero",
        1481: "invalid number format model",
        1489: "result of string concatenation is too long",
        1507: "database not mounted",
        1567: "dropping redo log {} would leave fewer than two groups for instance {} (thread {})",
        1590: "group {} is not a redo log group",
        1623: "redo log {} is the current one of instance {} (thread {}): it cannot be dropped",
        1624: "redo log {} is needed for crash recovery of instance {} (thread {})",
        1722: "invalid number",
        1740: "missing double quote in identifier",
        1741: "illegal zero-length identifier",
        1756: "quoted string not properly terminated",
        1785: "ORDER BY item must be the number of a SELECT-list expression",
        1789: "query block has incorrect number of result columns",
        1821: "date format not recognized",
        1428: "argument '{}' is out of range",
        1760: "illegal argument for function",
        1830: "date format picture ends before converting entire input string",
        1846: "not a valid day of the week",
        1847: "day of month must be between 1 and last day of month",
        1850: "hour must be between 0 and 23",
        1867: "the interval is invalid",
        1873: "the days of the interval have too many digits",
        1898: "too many precision specifiers",
        32044: "cycle detected while executing recursive WITH query",
        30006: "resource busy; acquire with WAIT timeout expired",
        30089: "missing or invalid <datetime field>",
        13516: "AWR Operation failed: the instance has no workload repository",
        30076: "invalid extract field for extract source",
        1841: "the year must be between -4713 and +9999 and not 0",
        1843: "not a valid month",
        1858: "a non-numeric character was found where a digit was expected",
        2065: "illegal option for ALTER SYSTEM",
        2143: "invalid STORAGE option",
        2149: "Specified partition does not exist",
        2095: "specified initialization parameter cannot be modified",
        2097: "parameter cannot be modified because specified value is invalid",
        2248: "invalid option for ALTER SESSION",
        20000: "{}",
        21000: "error number argument to raise_application_error of {} is out of range",
        12725: "unmatched parentheses or another fault in the regular expression",
        3001: "unimplemented feature",
        4043: "object {} does not exist",
        6564: "object {} does not exist",
        12162: "TNS: the net service name is not given correctly",
        12154: "TNS: the connect identifier could not be resolved",
        17502: "file {} could not be created in the disk group",
        19102: "XQuery string literal expected",
        22905: "cannot access rows from a non-nested table item",
        19025: "EXTRACTVALUE returns value of only one node",
        19026: "EXTRACTVALUE can only retrieve value of leaf node",
        31011: "XML parsing failed",
        31013: "Invalid XPATH expression",
        27101: "shared memory realm does not exist",
        # ASM, source: reference asm.md section 8
        6501: "PL/SQL: program error",
        6502: "PL/SQL: numeric or value error: {}",
        6503: "PL/SQL: Function returned without value",
        6504: "PL/SQL: Return types of Result Set variables or query do not match",
        6510: "PL/SQL: unhandled user-defined exception",
        6511: "PL/SQL: cursor already open",
        6512: "at line {}",
        6531: "Reference to uninitialized collection",
        6533: "Subscript beyond count",
        6550: "line {}, column {}:\n{}",
        6553: "wrong number or types of arguments in call to '{}'",
        6592: "CASE not found while executing CASE statement",
        36: "maximum number of recursive SQL levels ({}) exceeded",
        40: "active time limit exceeded - call aborted",
        1001: "invalid cursor",
        1008: "not all variables bound",
        15000: "command disallowed by current instance type",
        14006: "invalid partition name",
        15001: 'diskgroup "{}" does not exist or is not mounted',
        15005: 'name "{}" is already used by an existing alias',
        15010: "name is already used by an existing ASM disk",
        15012: "ASM file '{}' does not exist",
        15013: 'diskgroup "{}" is already mounted',
        15014: "path '{}' is not in the discovery set",
        15017: 'diskgroup "{}" cannot be mounted',
        15018: "diskgroup cannot be created",
        15019: "duplicate path '{}' for disk '{}'",
        15020: 'discovered duplicate ASM disk "{}"',
        15027: 'active use of diskgroup "{}" precludes its dismount',
        15029: "disk '{}' is already mounted by this instance",
        15030: 'diskgroup name "{}" is in use by another diskgroup',
        15031: "disk specification '{}' matches no disks",
        15028: "ASM file '{}' not dropped; currently being accessed",
        15032: "not all alterations performed",
        15033: "disk '{}' belongs to diskgroup \"{}\"",
        15034: "disk '{}' does not require the FORCE option",
        15036: "disk '{}' is truncated: it has {} MB, {} MB are asked for",
        15037: "disk '{}' of {} MB is below the minimum of {} MB",
        15039: "diskgroup not dropped",
        15040: "diskgroup is incomplete",
        32009: "cannot reset the memory value for instance {} from instance {}",
        32010: "cannot find entry to delete in SPFILE",
        15041: 'diskgroup "{}" space exhausted',
        15042: 'ASM disk "{}" is missing from group number "{}"',
        15046: "ASM file name '{}' is not in single-file creation form",
        15053: 'diskgroup "{}" contains existing files',
        15054: 'disk "{}" does not exist in diskgroup "{}"',
        15063: 'ASM discovered an insufficient number of disks for diskgroup "{}"',
        15066: 'offlining disk "{}" in group "{}" may result in a data loss',
        15067: "command or option incompatible with diskgroup redundancy",
        15068: 'maximum number of diskgroups is reached at "{}"',
        15072: "command requires at least {} regular failure groups, discovered only {}",
        15073: 'diskgroup "{}" is mounted by another ASM instance',
        15084: 'ASM disk "{}" is offline and cannot be dropped',
        15097: "cannot SHUTDOWN ASM instance with connected client",
        15110: "no diskgroups mounted",
        15144: 'template "{}" does not exist',
        15145: 'disk "{}" is online and cannot be replaced',
        15173: "entry '{}' does not exist in directory '{}'",
        15177: "cannot operate on system aliases",
        15178: "directory '{}' is not empty; cannot drop this directory",
        15221: "ASM operation requires compatible.asm of {} or higher",
        15230: 'diskgroup "{}" does not require the FORCE option',
        15238: "{} is not a valid value for attribute {}",
        15240: "attribute name {} is invalid",
        15241: "attribute {} is read only",
        15242: "could not set attribute {}",
        15243: "{} is not a valid version number",
        15244: "new compatibility setting {} is lower than the current one, {}",
        15250: "insufficient diskgroup space for rebalance completion",
        15251: "the operation needs a diskgroup that is mounted RESTRICTED",
        15260: "permission denied on ASM disk group",
        15283: "ASM operation requires compatible.rdbms of {} or higher",
        15347: "block size {} is too small for a diskgroup with sectors of {} bytes",
        15407: "disk specification '{}' matches several disks",
        15409: "disks are not all of the same type, which appliance.mode requires",
        15414: "failure groups or disks do not have the counts that appliance.mode requires",
    }
)

SP2_TEXTS: Mapping[int, str] = MappingProxyType(
    {
        3: "Ill-formed ACCEPT command starting as {}",
        172: "No HELP matching this topic was found.",
        382: "The SHOW PDBS command is not available",
        425: '"{}" is not a valid NUMBER',
        685: 'The date "{}" is invalid or format mismatched "{}"',
        718: "Illegal ARCHIVE LOG option",
        26: "No lines to list.",
        46: "COLUMN '{}' not defined",
        42: 'unknown command "{}" - rest of line ignored.',
        103: "Nothing in SQL buffer to run.",
        135: 'symbol "{}" is UNDEFINED',
        137: "DEFINE requires a value following equal sign",
        157: "unable to CONNECT to ORACLE after 3 attempts, exiting SQL*Plus",
        158: 'unknown {} option "{}"',
        246: 'Illegal FORMAT string "{}"',
        265: "{} must be set ON or OFF",
        267: "{} option {} out of range ({} through {})",
        268: "{} option not a valid number",
        281: "{} missing set option",
        309: "SQL*Plus command procedures may only be nested to a depth of {}.",
        310: 'unable to open file "{}"',
        552: 'Bind variable "{}" not declared.',
        568: "No bind variables declared.",
        606: 'Cannot create SPOOL file "{}"',
        640: "Not connected",
        667: "Message file sp1us.msb not found",
        734: 'unknown command beginning "{}" - rest of line ignored.',
        735: 'unknown {} option beginning "{}"',
        750: "You may need to set ORACLE_HOME to your Oracle software directory",
        751: "Unable to connect to Oracle.  Exiting SQL*Plus",
        768: "Illegal SPOOL command",
        771: 'File "{}" already exists. Use another name or "SPOOL filename[.ext] REPLACE"',
    }
)


@dataclass(frozen=True)
class OraLine:
    """One line of an error stack."""

    code: int
    text: str

    def __str__(self) -> str:
        return f"ORA-{self.code:05d}: {self.text}"


def ora(code: int, *values: object) -> OraLine:
    """Return the line for ``code`` with its placeholders filled in order.

    Raises:
        KeyError: the code is not in the table.
    """
    return OraLine(code, ORA_TEXTS[code].format(*values))


def sp2(code: int, *values: object) -> str:
    """Return a message of SQL*Plus itself, ``SP2-0158: …``; it sets no exit status and does not trigger WHENEVER."""
    return f"SP2-{code:04d}: {SP2_TEXTS[code].format(*values)}"


class OraError(Exception):
    """Oracle refuses a statement: the error stack, outermost line first.

    Attributes:
        stack: at least one line.
        at: offset in the statement at which SQL*Plus prints its ``*``.
    """

    def __init__(self, *stack: OraLine, at: int = 0) -> None:
        if not stack:
            raise ValueError("an error stack has at least one line")
        super().__init__("; ".join(str(line) for line in stack))
        self.stack = stack
        self.at = at

    @property
    def code(self) -> int:
        """Return the outermost code: the value of SQL.SQLCODE; EXIT SQL.SQLCODE returns it modulo 256."""
        return self.stack[0].code
