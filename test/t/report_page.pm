# What the tests of monitoring/report.sql share: a checker of pages, a server with hostile names, and
# how a page is made and read.

package report_page;

use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter 'import';
use File::Basename;
use IPC::Run;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(text find by_id by_class rows_of pictures verdict report_script run_report page_of says new_report_node $ws);

my $script = dirname(abs_path(__FILE__)) . '/../../monitoring/report.sql';
my $dir = PostgreSQL::Test::Utils::tempdir();
my $pages = 0;

# ---------------------------------------------------------------- a page

sub text_of_source
{
	my ($text) = @_;
	my %named = (amp => '&', lt => '<', gt => '>', quot => '"', apos => "'");
	die "a character that is not allowed\n" if $text =~ /[^\t\n\x20-\x7e]/;
	$text =~ s{&([^;&\s]*;?)}{
		my $entity = $1;
		if    ($entity =~ /^(\w+);$/ && exists $named{$1}) { $named{$1} }
		elsif ($entity =~ /^#(\d+);$/ && $1 >= 32 && $1 <= 0x10ffff
			&& !($1 >= 0xd800 && $1 <= 0xdfff) && $1 != 0xfffe && $1 != 0xffff) { chr($1) }
		else { die "bad entity &$entity\n" }
	}ge;
	return $text;
}

# A strict parser of the XML that a page may be: a tree of { name, at, kids }, where a kid is a node or
# text; dies if it is anything else.
sub parse
{
	my ($page) = @_;
	my $top = { name => '', at => {}, kids => [] };
	my @open = ($top);

	$page =~ s/^<!DOCTYPE html>\n// or die "no doctype\n";
	while ($page ne '')
	{
		if ($page =~ s/^([^<]+)//)
		{
			push @{ $open[-1]{kids} }, text_of_source($1);
		}
		elsif ($page =~ s{^</([a-zA-Z][\w]*)>}{})
		{
			die "</$1> ends <$open[-1]{name}>\n" if $1 ne $open[-1]{name};
			pop @open;
		}
		elsif ($page =~ s{^<([a-zA-Z][\w]*)((?:\s+[a-zA-Z][\w:-]*="[^"<]*")*)\s*(/?)>}{})
		{
			my ($name, $attributes, $empty) = ($1, $2, $3);
			my %at;
			while ($attributes =~ /([a-zA-Z][\w:-]*)="([^"]*)"/g)
			{
				die "$1 twice in <$name>\n" if exists $at{$1};
				$at{$1} = text_of_source($2);
			}
			my $node = { name => $name, at => \%at, kids => [] };
			push @{ $open[-1]{kids} }, $node;
			push @open, $node if !$empty;
		}
		else
		{
			die 'no markup: ' . substr($page, 0, 60) . "\n";
		}
	}
	die "<$open[-1]{name}> does not end\n" if @open > 1;
	my @elements = grep { ref } @{ $top->{kids} };
	die "not one element\n" if @elements != 1;
	return $elements[0];
}

sub text
{
	my ($node) = @_;
	return ref $node ? join('', map { text($_) } @{ $node->{kids} }) : $node;
}

# all elements below for which a test is true
sub find
{
	my ($node, $test) = @_;
	return () if !ref $node;
	return (($test->($node) ? $node : ()), map { find($_, $test) } @{ $node->{kids} });
}

sub by_id
{
	my ($tree, $id) = @_;
	return (find($tree, sub { ($_[0]{at}{id} // '') eq $id }))[0];
}

sub by_class
{
	my ($tree, $name, $class) = @_;
	return find($tree, sub { $_[0]{name} eq $name && ($_[0]{at}{class} // '') eq $class });
}

# what is wrong with a page, besides not being XML
sub faults
{
	my ($tree) = @_;
	my (%id, @faults);
	my %element = map { $_ => 1 } qw(html head meta title style body main header h1 h2 p section ul li pre dl div dt dd data wbr
		svg desc text rect line path circle i details summary table thead tbody tr th td footer);

	push @faults, "the page is <$tree->{name}>" if $tree->{name} ne 'html';
	for my $node (find($tree, sub { 1 }))
	{
		push @faults, "<$node->{name}>" if !$element{ $node->{name} };
		for (sort keys %{ $node->{at} })
		{
			push @faults, "$_ in <$node->{name}>" if /^(on|src|href|xlink|style$|action|srcdoc)/i;
			push @faults, "$_=$node->{at}{$_}"
			  if $node->{at}{$_} =~ m{://}
			  && !($_ eq 'xmlns' && $node->{at}{$_} =~ m{^http://www\.w3\.org/(1999/xhtml|2000/svg)$});
		}
		push @faults, "id $node->{at}{id} twice" if defined $node->{at}{id} && $id{ $node->{at}{id} }++;
	}
	push @faults, 'style loads something' if text((find($tree, sub { $_[0]{name} eq 'style' }))[0]) =~ /url\(|\@import|expression/;

	for my $svg (find($tree, sub { $_[0]{name} eq 'svg' }))
	{
		my ($x0, $y0, $width, $height) = ($svg->{at}{viewBox} // '') =~ /^(\d+) (\d+) (\d+) (\d+)$/
		  or push @faults, 'no viewBox';
		for (split / /, $svg->{at}{'aria-labelledby'} // 'none')
		{
			push @faults, "no $_ in the picture" if !by_id($svg, $_) || text(by_id($svg, $_)) eq '';
		}
		my @labels = sort { $a <=> $b } map { $_->{at}{y} } find($svg, sub { ($_[0]{at}{class} // '') =~ /^label / });
		push @faults, "labels at $labels[$_ - 1] and $labels[$_]" for grep { $labels[$_] - $labels[ $_ - 1 ] < 20 } 1 .. $#labels;
		my $check = sub {
			my ($what, $x, $y) = @_;
			push @faults, "$what at " . ($x // 'no x') . ', ' . ($y // 'no y')
			  if grep { !defined || !/^-?\d+(\.\d+)?$/ } $x, $y
			  or $x < $x0 || $x > $x0 + $width || $y < $y0 || $y > $y0 + $height;
		};
		for my $node (find($svg, sub { 1 }))
		{
			my ($name, $at) = ($node->{name}, $node->{at});
			if ($name eq 'text') { $check->('text', $at->{x}, $at->{y}); }
			elsif ($name eq 'circle') { $check->('circle', $at->{cx}, $at->{cy}); }
			elsif ($name eq 'line')
			{
				$check->('line', $at->{x1}, $at->{y1});
				$check->('line', $at->{x2}, $at->{y2});
			}
			elsif ($name eq 'rect')
			{
				$check->('rect', $at->{x}, $at->{y});
				push @faults, 'rect of no size' if grep { ($_ // '') !~ /^\d+(\.\d+)?$/ } $at->{width}, $at->{height};
				$check->('rect', $at->{x} + $at->{width}, $at->{y} + $at->{height});
			}
			elsif ($name eq 'path')
			{
				push @faults, "path $at->{d}"
				  if $at->{d} !~ /^M[\d.]+ [\d.]+(h[\d.]+)?(L[\d.]+ [\d.]+(h[\d.]+)?)*(h0|Z)$/;
				while ($at->{d} =~ /[ML]([^ ]*) ([\d.]*)(?:h([\d.]+))?/g)
				{
					$check->('path', $1, $2);
					$check->('path', $1 + ($3 // 0), $2);
				}
			}
		}
	}
	return @faults;
}

# what is wrong with a text as a page
sub verdict
{
	my ($page) = @_;
	my $tree = eval { parse($page) };
	return $@ if !$tree;
	return join('; ', faults($tree));
}

# the texts of the cells of a section's table
sub rows_of
{
	my ($tree, $id) = @_;
	return map { [ map { text($_) } grep { ref } @{ $_->{kids} } ] }
	  find((find(by_id($tree, $id), sub { $_[0]{name} eq 'tbody' }))[0], sub { $_[0]{name} eq 'tr' });
}

# ---------------------------------------------------------------- a server

# the schema of the extension in new_report_node()
our $ws = q{"w's ""<&>"};

# A server with the extension in a schema with an odd name, a role that may read it, and one that may
# not; by whose clocks time stands still if $start lends it some.
sub new_report_node
{
	my ($settings, $start) = @_;
	my $node = PostgreSQL::Test::Cluster->new('main');
	$node->init(allows_streaming => 1, extra => [ '--encoding=UTF8', '--locale=C' ]);
	$node->append_conf(
		'postgresql.conf', qq{
shared_preload_libraries = 'working_set'
compute_query_id = on
working_set.interval = 1
shared_buffers = '64MB'
autovacuum = off
timezone = 'UTC'
} . ($settings // ''));
	$start ? $start->(sub { $node->start }) : $node->start;
	$node->safe_psql('postgres', qq{
		CREATE SCHEMA $ws;
		GRANT USAGE ON SCHEMA $ws TO public;
		CREATE EXTENSION working_set SCHEMA $ws;
		CREATE ROLE ws_monitor LOGIN;
		GRANT pg_monitor TO ws_monitor;
	});
	return $node;
}

# ---------------------------------------------------------------- making one

sub report_script { return $script; }

# Runs psql on the script; returns its exit status, what it printed, and the page, if any.
sub run_report
{
	my ($node, %how) = @_;
	my $file = $how{file} // "$dir/page" . ++$pages . '.html';
	my ($out, $err) = ('', '');
	my @command = ('psql', '-X', '-A', '-t', '-q', '-d', $node->connstr($how{database} // 'postgres'), '-v', 'ON_ERROR_STOP=1', '-v', "file=$file");
	push @command, '-U', $how{role} if $how{role};
	push @command, @{ $how{options} // [] };
	unlink $file;
	IPC::Run::run([ @command, '-f', '-' ], '<', \(($how{before} // '') . "\n\\i $script\n" . ($how{after} // '')), '>', \$out, '2>', \$err);
	return ($? >> 8, $out, $err, -e $file ? slurp_file($file) : undef);
}

# The tree of the page that there has to be.
sub page_of
{
	my ($name, $node, %how) = @_;
	my ($status, $out, $err, $page) = run_report($node, %how);
	is("$status $err", '0 ', "$name: no error");
	is(verdict($page // ''), '', "$name: a page, and nothing is wrong with it");
	return eval { parse($page // '') } // { name => 'none', at => {}, kids => [] };
}

# the text of a section, or of the whole page
sub says
{
	my ($tree, $pattern, $name, $id) = @_;
	my $text = text($id ? by_id($tree, $id) // '' : (find($tree, sub { $_[0]{name} eq 'main' }))[0] // '');
	like($text, $pattern, $name);
	return;
}

sub pictures
{
	my ($tree) = @_;
	return join(' ', map { $_->{at}{id} } find($tree, sub {
		$_[0]{name} eq 'section' && $_[0]{at}{id} && find($_[0], sub { $_[0]{name} eq 'svg' }) }));
}

1;
