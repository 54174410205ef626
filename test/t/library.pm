# A library of a test's own, built for the server under test.
#
#   build_library("$dir/rival.so", 'test/t/rival.c');
#   pg_config('pkglibdir')                          where others are

package library;

use strict;
use warnings;
use patience;
use Exporter 'import';
use PostgreSQL::Test::Utils;

our @EXPORT = qw(build_library pg_config);

# what the server's pg_config says
sub pg_config
{
	my ($what) = @_;
	my $program = $ENV{PG_CONFIG} || 'pg_config';
	chomp(my $answer = `$program --$what`);
	return $answer;
}

# Build a file from sources and other arguments of the compiler.
sub build_library
{
	my ($file, @arguments) = @_;
	my $include = pg_config('includedir-server');
	system_or_bail($ENV{CC} || 'cc', '-O2', '-fPIC', '-shared', '-fvisibility=hidden', '-D_GNU_SOURCE', '-DWS_VERSION="test"',
		'-DPGDLLEXPORT=__attribute__((visibility("default")))', (map { ('-iquote', $_) } glob 'src/*/'), "-I$include", @arguments, '-o', $file);
	return;
}

1;
