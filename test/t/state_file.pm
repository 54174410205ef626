# The file that survives a restart, taken apart and put together again with a checksum that is
# right: so that a file is wrong in one number only.

package state_file;

use strict;
use warnings;
use patience;
use Exporter 'import';
use PostgreSQL::Test::Utils qw(slurp_file);

our @EXPORT = qw(checked read_state state_of write_raw minute_row quarter_row day_row set_u32 page_at);

# with the checksum added, for a length that is a multiple of eight
sub checked
{
	my ($bytes) = @_;
	use integer;
	my $sum = length $bytes;
	for my $word (unpack 'q*', $bytes)
	{
		$sum = ($sum ^ $word) * -0x61C8864680B583EB;
		$sum ^= ($sum >> 32) & 0xFFFFFFFF;
	}
	return $bytes . pack('q', $sum);
}

# magic, format, block size, system identifier, place, saved at, length, length of a tick,
# registers, age of the data in ticks, pages of the sample; the rest of the header is the sample's
my $head = 'Q L L Q Q q Q L L L L a272';
my @names = qw(magic format block system place at length tick_ms registers floor pages sample);

# places in the body, which is all but header and checksum
my $row_size = 40;
my $quarters = 1440 * $row_size;
my $days = $quarters + 3360 * $row_size;
my $forecasts = $days + 400 * $row_size;
my $costs = $forecasts + 7 * (8 + 20 * 12) + 144 * 8;
my $cells = $costs + 16 + 3360 * 96;

# what is in a file: the numbers of its header by name, and its body
sub read_state
{
	my ($path) = @_;
	my $bytes = slurp_file($path);
	my %state;
	@state{@names} = unpack $head, $bytes;
	$state{body} = substr $bytes, 336, -8;
	return \%state;
}

# the bytes of a file, with some of it changed
sub state_of
{
	my ($state, %changes) = @_;
	my %with = (%$state, %changes);
	return checked(pack($head, @with{@names}) . $with{body});
}

sub write_raw
{
	my ($path, $content) = @_;
	open my $fh, '>:raw', $path or die "$path: $!";
	print $fh $content;
	close $fh or die "$path: $!";
	return;
}

# A row of the history: time in seconds since 1970, the working set and what was needed in pages, lookups,
# hits.
sub put_row
{
	my ($state, $begin, $places, $number, @values) = @_;
	substr($state->{body}, $begin + $number % $places * $row_size, $row_size) = pack 'q d2 Q2', $number, @values;
	return;
}

sub minute_row
{
	my ($state, $time, @values) = @_;
	put_row($state, 0, 1440, int($time / 60), @values);
	return;
}

sub quarter_row
{
	my ($state, $time, @values) = @_;
	put_row($state, $quarters, 3360, int($time / 900), @values);
	return;
}

sub day_row
{
	my ($state, $time, @values) = @_;
	put_row($state, $days, 400, int($time / 86400), @values);
	return;
}

sub set_u32
{
	my ($state, $at, $value) = @_;
	substr($state->{body}, $at, 4) = pack 'L', $value;
	return;
}

# where in the body a page of the sample is: tablespace, database, relation, fork, block
sub page_at
{
	my ($state, $i) = @_;
	my $registers = $state->{registers};
	my $levels = 33 - log($registers) / log(2);
	return $cells + 2 * int($levels + 0.5) * $registers * 4 + $i * 48;
}

1;
