# Settings that follow a reload, and those that wait for a restart; good values and bad ones, and
# what the log says to these.

use lib 'test/t';
use server;

# what is set is in a file of its own
my $node = new_node('main', q{
working_set.interval = '1min'
include = 'more.conf'
});
sub more_conf
{
	my ($text) = @_;
	open my $fh, '>', $node->data_dir . '/more.conf' or die $!;
	print $fh $text;
	close $fh;
	return;
}
more_conf('');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION working_set');

# a good value as it is shown, a bad one, and what the log says to it
my $range = qr/is outside the valid range for parameter/;
my %reloadable = (
	'enabled'      => [ 'off', 'off', 'perhaps', qr/parameter "working_set\.enabled" requires a Boolean value/ ],
	'interval'     => [ '2s', '2', '0', qr/0 ?s? $range "working_set\.interval" \(1 ?s? \.\. 3600 ?s?\)/ ],
	'method'       => [ 'plateau_end', 'plateau_end', 'guess',
		qr/invalid value for parameter "working_set\.method": "guess".*?Available values: live_set, plateau_end/s ],
	'break_even'   => [ '2min', '120', '29', qr/29 ?s? $range "working_set\.break_even" \(30 ?s? \.\. 86400 ?s?\)/ ],
	'history'      => [ '1d', '1440', '0', qr/0 ?(min)? $range "working_set\.history" \(1 ?(min)? \.\. 576000 ?(min)?\)/ ],
	'save'         => [ '0', '0', '-1', qr/-1 ?s? $range "working_set\.save" \(0 ?s? \.\. 86400 ?s?\)/ ],
	'min_wait'     => [ '10min', '10', '1', qr/1 ?(min)? $range "working_set\.min_wait" \(2 ?(min)? \.\. 60 ?(min)?\)/ ],
	'window_size'  => [ '7min', '7', '31', qr/31 ?(min)? $range "working_set\.window_size" \(2 ?(min)? \.\. 30 ?(min)?\)/ ],
	'max_increase' => [ '2.5', '2.5', '0.5', qr/0\.5 $range "working_set\.max_increase" \(1 \.\. 1000\)/ ],
	'worth'        => [ '0.05', '0.05', "'NaN'", qr/"?NaN"? $range "working_set\.worth"|invalid value for parameter "working_set\.worth": "NaN"/ ]);
my %fixed = (
	'registers'    => [ '16384', '4096', '5000', qr/must be a power of two from 1024 to 65536/ ],
	'sample_pages' => [ '2048', '16384', '5', qr/must be 0, or from 1024 to 32768/ ]);

is($node->safe_psql('postgres', q{
	SELECT string_agg(substr(name, 13), ' ' ORDER BY name COLLATE "C") FROM pg_settings
	 WHERE name LIKE 'working\_set.%' AND context = 'sighup'}),
	join(' ', sort keys %reloadable), 'these follow a reload');
is($node->safe_psql('postgres', q{
	SELECT string_agg(substr(name, 13), ' ' ORDER BY name COLLATE "C") FROM pg_settings
	 WHERE name LIKE 'working\_set.%' AND context <> 'sighup'}),
	join(' ', sort keys %fixed), 'these need a restart');

# A setting that nobody knows tells when the file was read.
my $marker = 0;
sub reload_with
{
	my ($text) = @_;
	$marker++;
	more_conf("$text\nws_test.marker = '$marker'\n");
	$node->reload;
	wait_for($node, "current_setting('ws_test.marker', true) = '$marker'", 'no reload');
	return;
}

sub settings
{
	my ($which) = @_;
	return $node->safe_psql('postgres', qq{
		SELECT string_agg(substr(name, 13) || '=' || setting, ' ' ORDER BY name COLLATE "C")
		  FROM pg_settings WHERE name LIKE 'working\\_set.%' AND context = '$which'});
}

sub shown
{
	my ($values, $i) = @_;
	return join ' ', map { "$_=$values->{$_}[$i]" } sort keys %$values;
}

sub lines_of
{
	my ($values, $i) = @_;
	return join '', map { "working_set.$_ = $values->{$_}[$i]\n" } sort keys %$values;
}

my $session = $node->background_psql('postgres');
$session->query_safe('SELECT 1');
my $defaults = settings('sighup');
reload_with(lines_of(\%reloadable, 0));
is(settings('sighup'), shown(\%reloadable, 1), 'all follow a reload');
wait_for($node, 'NOT tracking FROM working_set_info', 'could not turn it off');
chomp(my $seen = $session->query_safe('SHOW working_set.worth'));
is($seen, '0.05', 'also in a session that was there before');

for my $name (sort keys %reloadable)
{
	my (undef, undef, $bad, $message) = @{ $reloadable{$name} };
	my $offset = log_size($node);
	reload_with(lines_of({ %reloadable, $name => [$bad] }, 0));
	is(settings('sighup'), shown(\%reloadable, 1), "$name = $bad: nothing changes");
	my $log = log_from($node, $offset);
	like($log, qr/LOG:  $message/, "$name = $bad: the log says why");
	like($log, qr/contains errors; unaffected changes were applied/, "$name = $bad: and that the rest was read");
	is($node->safe_psql('postgres', q{
		SELECT string_agg(name, ' ') FROM pg_file_settings WHERE NOT applied AND error IS NOT NULL}),
		"working_set.$name", "$name = $bad: as does pg_file_settings");
}

reload_with('');
is(settings('sighup'), $defaults, 'taken out of the file, they are as before');
isnt($defaults, shown(\%reloadable, 1), 'which is different');
wait_for($node, 'tracking FROM working_set_info', 'could not turn it on');

for my $name (sort keys %reloadable, keys %fixed)
{
	like(refusal($node, 'postgres', "SET working_set.$name TO DEFAULT;"),
		qr/ERROR:  55P02: parameter "working_set\.$name" cannot be (changed now|changed without restarting the server)/,
		"$name is not for a session to set");
}

# nor, out of range, for ALTER SYSTEM; and what begins like a setting is none
for my $refused ([ 'registers = 512', qr/1024 \.\. 65536/ ], [ 'registers = 131072', qr/1024 \.\. 65536/ ],
	[ 'worth = 2', qr/0\.001 \.\. 1/ ], [ 'unheard_of = 1', qr/working_set/ ])
{
	like(refusal($node, 'postgres', "ALTER SYSTEM SET working_set.$refused->[0];"), qr/ERROR: .*$refused->[1]/, "$refused->[0] is refused");
}

# what needs a restart
my $offset = log_size($node);
reload_with(lines_of(\%fixed, 0));
is($node->safe_psql('postgres', q{
	SELECT string_agg(substr(name, 13), ' ' ORDER BY name COLLATE "C") FROM pg_settings
	 WHERE name LIKE 'working\_set.%' AND pending_restart}),
	join(' ', sort keys %fixed), 'these wait for a restart');
is(settings('postmaster'), shown(\%fixed, 1), 'and are as they were');
is(info($node, q{tracking, current_setting('working_set.registers')}), 't|4096', 'which is how it works');
my $log = log_from($node, $offset);
like($log, qr/LOG:  parameter "working_set\.$_" cannot be changed without restarting the server/,
	"$_: the log says so") for sort keys %fixed;
for my $name (sort keys %fixed)
{
	my (undef, undef, $bad, $message) = @{ $fixed{$name} };
	$offset = log_size($node);
	reload_with("working_set.$name = $bad");
	like(log_from($node, $offset),
		qr/LOG:  invalid value for parameter "working_set\.$name": $bad\n.*DETAIL:  .*$message/,
		"$name = $bad: the log says why not");
	is(settings('postmaster'), shown(\%fixed, 1), "$name = $bad: nothing changes");
}
reload_with(lines_of(\%fixed, 1));
is($node->safe_psql('postgres', q{
	SELECT count(*) FROM pg_settings WHERE name LIKE 'working\_set.%' AND pending_restart}),
	'0', 'taken back, nothing waits');
reload_with(lines_of(\%fixed, 0));
$session->quit;
$node->restart;
is(settings('postmaster'), shown(\%fixed, 0), 'after a restart they count');
is(info($node, q{tracking, current_setting('working_set.registers')}), 't|16384', 'and are worked with');

# with bad values in the file, a server starts with the defaults
$offset = log_size($node);
more_conf(lines_of(\%fixed, 2));
$node->restart;
is(settings('postmaster'), shown(\%fixed, 1), 'with bad values a server starts, with the defaults');
$log = log_from($node, $offset);
like($log, qr/WARNING:  invalid value for parameter "working_set\.$_": .*\n.*DETAIL:  .*$fixed{$_}[3]/,
	"$_: the log warns") for sort keys %fixed;
finish($node);
