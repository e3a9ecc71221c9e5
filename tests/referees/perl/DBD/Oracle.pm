package DBD::Oracle;

# The constants that programs import from DBD::Oracle; see DBI.pm beside it.

use strict;
use warnings;
use Exporter 'import';

use constant { ORA_SYSDBA => 2, ORA_SYSOPER => 4, ORA_SYSASM => 32768 };

our @EXPORT_OK   = qw(ORA_SYSDBA ORA_SYSOPER ORA_SYSASM);
our %EXPORT_TAGS = (ora_session_modes => \@EXPORT_OK);

1;
