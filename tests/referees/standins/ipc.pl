use strict; use IPC::Open3; use Symbol 'gensym';
my $err = gensym;
my $pid = open3(my $in, my $out, $err, 'ssh', $ARGV[0], 'cellcli', '-x', '-n');
print $in "list griddisk attributes name, size where name like 'DATA.*CD_0[0-2].*'\nlist nosuch\n";
close $in;
my @l = <$out>; my @e = <$err>; waitpid $pid, 0;
print "status ", $? >> 8, " lines ", scalar(@l), " err ", scalar(@e), "\n"; print @l;
