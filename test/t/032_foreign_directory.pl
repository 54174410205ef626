# The extension is found where its files were mounted, and not installed, by the settings that
# CloudNativePG makes for an extension image: PostgreSQL 18 and later.

use lib 'test/t';
use server;
use File::Copy qw(copy);
use File::Path qw(make_path);
use library;

my ($version) = pg_config('version') =~ /(\d+)/;
plan skip_all => 'extension_control_path is new in PostgreSQL 18' if $version < 18;

# The layout of the image: lib and share/extension.  A note in the control file shows that
# this one is used, and not the one that is installed.
my $image = PostgreSQL::Test::Utils::tempdir() . '/extensions/working_set';
make_path("$image/lib", "$image/share/extension");
my $lib = pg_config('pkglibdir');
my $share = pg_config('sharedir');
copy("$lib/working_set.so", "$image/lib/working_set.so") or die $!;
for my $file (glob("$share/extension/working_set*"))
{
	copy($file, "$image/share/extension/") or die "$file: $!";
}
my $control = slurp_file("$image/share/extension/working_set.control") =~ s/^comment = '/$&mounted: /mr;
open my $out, '>', "$image/share/extension/working_set.control" or die $!;
print $out $control;
close $out;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
# CloudNativePG appends its directories; here the server's own come last, since they have the
# extension, too
$node->append_conf(
	'postgresql.conf', qq{
shared_preload_libraries = 'working_set'
extension_control_path = '$image/share:\$system'
dynamic_library_path = '$image/lib:\$libdir'
working_set.interval = 1
});
$node->start;

$node->safe_psql('postgres', 'CREATE EXTENSION working_set SCHEMA public');
is($node->safe_psql('postgres', "SELECT obj_description(oid, 'pg_extension') ~ '^mounted: ' FROM pg_extension WHERE extname = 'working_set'"),
	't', 'created by the script in the foreign directory');
is($node->safe_psql('postgres', 'SELECT tracking FROM working_set_info'), 't', 'it tracks');
$node->safe_psql('postgres', 'SELECT count(*) FROM pg_class');
is($node->safe_psql('postgres', "SELECT working_set_size('1 h') > 0"), 't', 'its functions find the library, and it counts');

# A process that has called a function has what the postmaster loaded, and what the function did.
is( $node->safe_psql(
		'postgres', q{
	SELECT string_agg(DISTINCT file[1], ' ')
	  FROM (SELECT working_set_size('1 h') OFFSET 0) AS called(size),
	       regexp_matches(pg_read_file('/proc/self/maps', size - size, 10000000), '(/\S*/working_set\.so)$', 'gn') AS file}),
	"$image/lib/working_set.so",
	'the only library is that in the foreign directory');

my $worker = worker_pid($node);
like(slurp_file("/proc/$worker/maps"), qr{\Q$image\E/lib/working_set\.so}, 'that of the worker, too');

finish($node);
