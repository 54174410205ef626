# Settings that are out of range are refused, and the reason is given.

use lib 'test/t';
use server;

my $node = new_server('main');

for my $bad (
	[ 'working_set.registers', 512, qr/1024 \.\. 65536/ ],
	[ 'working_set.registers', 131072, qr/1024 \.\. 65536/ ],
	[ 'working_set.registers', 5000, qr/power of two from 1024 to 65536/ ],
	[ 'working_set.interval', 0, qr/1 s? ?\.\. 3600 ?s?/ ],
	[ 'working_set.min_wait', 1, qr/2 (min )?\.\. 60/ ],
	[ 'working_set.window_size', 1, qr/2 (min )?\.\. 30/ ],
	[ 'working_set.max_increase', 0.5, qr/1 \.\. 1000/ ],
	[ 'working_set.worth', 2, qr/0\.001 \.\. 1/ ],
	[ 'working_set.worth', "'NaN'", qr/worth/ ],
	[ 'working_set.method', 'guess', qr/Available values: live_set, plateau_end/ ],
	[ 'working_set.break_even', 29, qr/30 s? ?\.\. 86400 ?s?/ ],
	[ 'working_set.break_even', "'25 h'", qr/30 s? ?\.\. 86400 ?s?/ ],
	[ 'working_set.history', 0, qr/1 (min )?\.\. 576000/ ],
	[ 'working_set.save', -1, qr/0 s? ?\.\. 86400 ?s?/ ],
	[ 'working_set.enabled', 'perhaps', qr/requires a Boolean/ ],
	[ 'working_set.unheard_of', 1, qr/working_set/ ])
{
	my ($name, $value, $message) = @$bad;
	my ($status, $out, $err) = $node->psql('postgres', "ALTER SYSTEM SET $name = $value");
	isnt($status, 0, "$name = $value is refused");
	like($err, $message, 'and the reason given');
}

finish($node);
