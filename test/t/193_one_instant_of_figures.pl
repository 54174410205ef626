# What a rule, an alert or a dashboard subtracts or divides comes from one statement, for each exporter:
# two would be answered at different instants, and there could be less than no reads, or more than all hits.

use strict;
use warnings;
use FindBin;
use JSON::PP;
use lib $FindBin::Bin;
use patience;
use sql_exporter_stand_in qw(list);
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;
use exporter_files;

# ---------------------------------------------------------------- where each metric is from

my %from;    # exporter => metric => statement
for my $collector (values %{ collectors_of_sql_exporter() })
{
	$from{sql_exporter}{ $_->{metric_name} } = $_->{query_ref} // $_->{metric_name} for @{ $collector->{metrics} };
}
for my $exporter (qw(prometheus-sql-exporter postgres_exporter opentelemetry))
{
	for my $statement (statements_of($exporter))
	{
		$from{$exporter}{$_} = $statement->{sql} for metrics_in($statement->{sql});
	}
}

# ---------------------------------------------------------------- expressions

my %recorded;    # name => expression
my @expressions; # [where, expression]
for my $file (glob monitoring('prometheus/working_set*.yml'))
{
	# (CPAN::Meta::YAML does not know texts of several lines without quotes)
	my $text = slurp_file($file) =~ s/^ *#.*\n//mgr;
	while ($text =~ /^ +- (record|alert): (\S+)\n( +)expr:(.*?)(?=^\3?\w|^ +- (?:record|alert):|\z)/msg)
	{
		$recorded{$2} = $4 if $1 eq 'record';
		push @expressions, [ $2, $4 ];
	}
}
sub targets
{
	my ($part, $title) = @_;
	if (ref $part eq 'HASH')
	{
		$title = $part->{title} // $title;
		push @expressions, [ $title, $part->{expr} ] if defined $part->{expr};
		targets($_, $title) for values %$part;
	}
	elsif (ref $part eq 'ARRAY')
	{
		targets($_, $title) for @$part;
	}
	return;
}
targets(decode_json(slurp_file($_)), $_) for glob monitoring('grafana/*.json');
cmp_ok(scalar @expressions, '>', 100, 'expressions');

# ---------------------------------------------------------------- what of them is subtracted and divided

# The tokens: strings, braces and ranges are of no interest, nor are lists of labels.
sub tokens
{
	my ($text) = @_;
	$text =~ s/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`/0/g;
	$text =~ s/\{[^}]*\}|\[[^\]]*\]|@ *end *\(\)|\boffset +\w+//g;
	$text =~ s{ / 2\^20}{}g;    # another unit
	$text =~ s/\b(?:by|without|on|ignoring|group_left|group_right) *\([^()]*\)//g;
	$text =~ s/\b(?:group_left|group_right|bool)\b//g;
	return $text =~ /\G\s*([a-zA-Z_:][\w:]*|[\d.]+\w*|[=!<>]=|[-+*\/%^<>(),])/g;
}

my $no_figure = qr/^instance:working_set_(?:failure|incomplete|exporter_up|scraped):max$/;
my @found;    # [metrics] that are subtracted or divided, of the expression at hand

# Each level: the operators, and whether the right side has values, too.
my @levels = ([ qr/^or$/, 1 ], [ qr/^(?:and|unless)$/, 0 ], [ qr/^(?:[=!<>]=|<|>)$/, 0 ], [ qr/^[-+]$/, 1 ], [ qr/^[*\/%]$/, 1 ], [ qr/^\^$/, 1 ]);

# {metric => 1} of what the value is made of
sub values_of
{
	my ($tokens, $level) = @_;
	return operand($tokens) if $level == @levels;
	my ($operator, $both) = @{ $levels[$level] };
	my %metrics = %{ values_of($tokens, $level + 1) };
	my $apart = 0;
	while (@$tokens && $tokens->[0] =~ $operator)
	{
		$apart = 1 if shift(@$tokens) =~ /^[-\/]$/;
		my $right = values_of($tokens, $level + 1);
		%metrics = (%metrics, %$right) if $both;
	}
	push @found, [ sort keys %metrics ] if $apart;
	return \%metrics;
}

sub operand
{
	my ($tokens) = @_;
	my $token = shift @$tokens // die 'nothing left';
	return operand($tokens) if $token =~ /^[-+]$/;
	return {} if $token =~ /^[\d.]/;
	my $inside = $token eq '(' ? 1 : @$tokens && $tokens->[0] eq '(' ? shift @$tokens : '';
	if ($inside)
	{
		my %metrics;
		until ($tokens->[0] eq ')')
		{
			%metrics = (%metrics, %{ values_of($tokens, 0) });
			shift @$tokens if $tokens->[0] eq ',';
		}
		shift @$tokens;
		return \%metrics;
	}
	# whether there are figures is none itself; what was recorded is made of others
	return {} if $token =~ $no_figure;
	return $recorded{$token} ? of_expression($recorded{$token}) : { $token => 1 };
}

sub of_expression
{
	my ($text) = @_;
	my @tokens = tokens($text);
	my $metrics = values_of(\@tokens, 0);
	die "not understood: @tokens of $text" if @tokens;
	return $metrics;
}

# the names of metrics that are subtracted or divided in an expression
sub apart
{
	@found = ();
	of_expression($_[0]);
	return join '; ', map { "@$_" } @found;
}
is(apart('a - max by (x) (b{c="d - e"}) / (f > 0) or g and h'), 'b f; a b f', 'an expression is understood');
is(apart('clamp_min((rate(a[5m]) unless on (x) b == 1) - time(), 0) * c'), 'a', 'another one');
is(apart('max(a and on (s) count_values("s", 0.5 * max(b))) - max(a)'), 'a', 'and one in which sizes choose');
is(apart('1 - instance:working_set_reads:rate5m / (instance:working_set_lookups:rate5m > 0)'),
	join('; ', ('working_set_hits_total working_set_lookups_total') x 3), 'what was recorded is looked up');

# ---------------------------------------------------------------- all of them

my %checked;
for my $expression (@expressions)
{
	my ($where, $text) = @$expression;
	next if $where =~ $no_figure;
	@found = ();
	of_expression($text);
	for my $metrics (@found)
	{
		for my $exporter (sort keys %from)
		{
			my %statements = map { $from{$exporter}{$_} ? ($from{$exporter}{$_} => 1) : () } @$metrics;
			next if $checked{"$exporter @$metrics"}++ && keys %statements <= 1;
			cmp_ok(scalar keys %statements, '<=', 1, "$where: $exporter: @$metrics") or diag(join ' ', sort keys %statements);
		}
	}
}
ok($checked{"$_ working_set_hits_total working_set_lookups_total"}, "$_: hits and lookups are among them") for sort keys %from;

# Neon's dashboards divide these.
is($from{'prometheus-sql-exporter'}{lfc_hits}, $from{'prometheus-sql-exporter'}{lfc_misses}, 'the same for the names of Neon');

done_testing();
