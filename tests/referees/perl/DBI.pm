package DBI;

# A stand-in for perl's DBI with DBD::Oracle, for public programs that ask an instance by SQL. It runs each query in an
# sqlplus of the emulated rack and knows only what such programs call: connect, prepare, execute, fetchrow_array,
# fetchall_arrayref, finish, disconnect.

use strict;
use warnings;

sub connect {
    my ($class, $source, $user, $password, $attributes) = @_;
    my $mode = $attributes && $attributes->{ora_session_mode} || 0;
    my $logon = $mode == 2 ? '/ as sysdba' : $mode ? '/ as sysasm' : "$user/$password";
    return bless { logon => $logon }, 'DBI::db';
}

sub errstr { return $DBI::db::error }

package DBI::db;

our $error;

sub prepare {
    my ($self, $query) = @_;
    return bless { logon => $self->{logon}, query => $query, rows => [] }, 'DBI::st';
}

sub disconnect { return 1 }
sub errstr     { return $error }

package DBI::st;

use IPC::Open3;

sub execute {
    my ($self) = @_;
    local %ENV = %ENV;
    delete $ENV{ORACLE_HOME};    # that of the emulated login, not the one that holds this perl
    my $pid = open3(my $in, my $out, undef, 'sqlplus', '-S', '-L', split(/ /, $self->{logon}));
    print {$in} "set heading off feedback off pagesize 0 linesize 32767 newpage none numwidth 40 define off\n",
        "set sqlblanklines on markup csv on\n$self->{query}\n;\n";
    close $in;
    my @lines = <$out>;
    waitpid $pid, 0;
    my ($fault) = grep { /^(ORA|SP2)-\d/ } @lines;
    if ($fault) {
        $DBI::db::error = $fault;
        die "$self->{query}: $fault";
    }
    $self->{rows} = [ map { [ fields($_) ] } grep { /\S/ } @lines ];
    return 1;
}

sub fields {
    my ($line) = @_;
    chomp $line;
    my @fields;
    while ($line =~ /\G(?:"((?:[^"]|"")*)"|([^,]*))(?:,|$)/g) {
        my $text = defined $1 ? $1 : $2;
        $text =~ s/""/"/g;
        push @fields, $text;
        last if pos($line) >= length $line;
    }
    return @fields;
}

sub fetchrow_array {
    my $row = shift @{ $_[0]{rows} };
    return wantarray ? () : undef unless $row;
    return wantarray ? @$row : $row->[0];
}

sub fetchrow_arrayref { return shift @{ $_[0]{rows} } }
sub fetchall_arrayref { return $_[0]{rows} }
sub finish            { return 1 }
sub rows              { return scalar @{ $_[0]{rows} } }

1;
