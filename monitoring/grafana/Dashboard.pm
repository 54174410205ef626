# What monitoring/grafana/render and the test of the dashboards have in common: a dashboard's
# queries with the variables put in as Grafana does, their results from Prometheus, and
# what becomes of them (names, transformations, field configuration, units).  Only as much of
# Grafana as these dashboards use; what it does not know it dies of.

package Dashboard;

use strict;
use warnings;
use HTTP::Tiny;
use JSON::PP;
use List::Util qw(first max min);
use POSIX qw(floor);

# new(file, prometheus => URL, from => epoch, to => epoch, variables => { name => value })
sub new
{
	my ($class, $file, %self) = @_;
	open my $in, '<', $file or die "$file: $!\n";
	local $/;
	$self{model} = JSON::PP->new->utf8->decode(<$in>);
	$self{variables} ||= {};
	return bless \%self, $class;
}

# ---------------------------------------------------------------- the model

sub rows
{
	my ($self) = @_;
	my @rows;
	for my $panel (@{ $self->{model}{panels} })
	{
		if ($panel->{type} eq 'row')
		{
			push @rows, { title => $panel->{title}, panels => [ @{ $panel->{panels} } ] };
		}
		else
		{
			push @{ $rows[-1]{panels} }, $panel;
		}
	}
	return @rows;
}

sub panels
{
	my ($self) = @_;
	return map { @{ $_->{panels} } } $self->rows;
}

# What is configured for the field of this name: the defaults with what is overridden.
# Custom options are in it as custom.NAME.
sub field
{
	my ($panel, $name) = @_;
	my %field = %{ $panel->{fieldConfig}{defaults} };
	my $custom = delete $field{custom} || {};
	$field{"custom.$_"} = $custom->{$_} for keys %$custom;
	for my $override (@{ $panel->{fieldConfig}{overrides} })
	{
		die "no matcher $override->{matcher}{id}\n" unless $override->{matcher}{id} eq 'byName';
		next unless $override->{matcher}{options} eq $name;
		$field{ $_->{id} } = $_->{value} for @{ $override->{properties} };
	}
	return \%field;
}

# ---------------------------------------------------------------- variables

my %second = (s => 1, m => 60, h => 3600, d => 86400);

sub seconds
{
	my ($text) = @_;
	$text =~ /^([\d.]+)([smhd])$/ or die "not an interval: $text\n";
	return $1 * $second{$2};
}

# The step of a query: a round number of seconds that makes at most so many points, and no
# less than the interval of the panel.
sub step
{
	my ($self, $panel, $points) = @_;
	my $least = seconds($panel->{interval} || '15s');
	my $wanted = ($self->{to} - $self->{from}) / ($points || 1000);
	my $step = first { $_ >= $wanted } 1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400;
	return max($least, $step || 86400);
}

# Of one that can have several values, what Grafana puts into a query is a regular expression.
sub variable
{
	my ($self, $name) = @_;
	my $model = first { $_->{name} eq $name } @{ $self->{model}{templating}{list} };
	die "no variable $name for several values\n" unless $model && $model->{multi};
	my $value = $self->{variables}{$name};
	return $value =~ s/([\\^\$.*+?()[\]{}|])/\\\\$1/gr if defined $value;
	return $model->{allValue} // die "no value for $name\n";
}

sub substituted
{
	my ($self, $text, $panel, $target) = @_;
	my $step = $self->step($panel);
	my $scrape = seconds(($target || {})->{interval} || '15s');
	my $range = $self->{to} - $self->{from};
	my %builtin = (
		__rate_interval => max($step + $scrape, 4 * $scrape) . 's',
		__range         => sprintf('%ds', $range),
	);
	# ($1 is label_replace()'s)
	$text =~ s/\$(?:\{([a-z_]\w*)\}|([a-z_]\w*))/my $name = $1 || $2; $builtin{$name} || $self->variable($name)/ge;
	return $text;
}

# ---------------------------------------------------------------- Prometheus

sub ask
{
	my ($self, $path, %form) = @_;
	my $answer = HTTP::Tiny->new(timeout => 60)->post_form("$self->{prometheus}/api/v1/$path", \%form);
	my $told = eval { decode_json($answer->{content}) } || {};
	die "$form{query}: " . ($told->{error} || "$answer->{status} $answer->{content}") . "\n"
	  unless ($told->{status} || '') eq 'success';
	return $told->{data};
}

# [{ labels => {}, points => [[time, value], ...] }, ...]
sub series
{
	my ($self, $panel, $target, $points) = @_;
	my $query = $self->substituted($target->{expr}, $panel, $target);
	my $data;
	if ($target->{instant})
	{
		$data = $self->ask('query', query => $query, time => $self->{to});
	}
	else
	{
		my $step = $self->step($panel, $points);
		# times that are multiples of the step, so that a refresh asks for the same ones
		my $from = $step * floor($self->{from} / $step);
		$data = $self->ask('query_range', query => $query, start => $from, end => $self->{to}, step => $step);
	}
	return [ map { {
		labels => $_->{metric},
		points => [ grep { $_->[1] ne 'NaN' } $_->{values} ? @{ $_->{values} } : $_->{value} ],
	} } @{ $data->{result} } ];
}

sub legend
{
	my ($target, $labels) = @_;
	my $format = $target->{legendFormat};
	if (!defined $format || $format eq '' || $format eq '__auto')
	{
		return join ', ', map { "$_=\"$labels->{$_}\"" } sort keys %$labels;
	}
	$format =~ s/\{\{\s*(\w+)\s*\}\}/$labels->{$1} \/\/ ''/ge;
	$format =~ s/^\s+|\s+$//g;
	return $format;
}

# ---------------------------------------------------------------- tables

# The table that the queries of a panel make: { columns => [name, ...], rows => [{ name => value }] }
sub table
{
	my ($self, $panel) = @_;
	my @frames;
	my $many = @{ $panel->{targets} } > 1;
	for my $target (@{ $panel->{targets} })
	{
		my $value = $many ? "Value #$target->{refId}" : 'Value';
		my (%labels, @rows);
		for my $series (@{ $self->series($panel, $target) })
		{
			my $labels = $series->{labels};
			$labels{$_} = 1 for keys %$labels;
			push @rows, { Time => $self->{to}, %$labels, $value => $_->[1] } for @{ $series->{points} };
		}
		push @frames, { columns => [ 'Time', sort(keys %labels), $value ], rows => \@rows };
	}
	for my $transformation (@{ $panel->{transformations} || [] })
	{
		my $do = __PACKAGE__->can("transform_$transformation->{id}") or die "no transformation $transformation->{id}\n";
		@frames = $do->($transformation->{options}, @frames);
	}
	die "$panel->{title}: several tables\n" if @frames != 1;
	return $frames[0];
}

# Rows that agree in all columns that both have are one.
sub transform_merge
{
	my ($options, @frames) = @_;
	my (@columns, %seen, @rows, %row);
	my %values = map { $_->{columns}[-1] => 1 } @frames;
	for my $frame (@frames)
	{
		push @columns, grep { !$seen{$_}++ } @{ $frame->{columns} };
		for my $row (@{ $frame->{rows} })
		{
			my $key = join "\0", map { "$_\0$row->{$_}" } grep { !$values{$_} && length($row->{$_} // '') } sort keys %$row;
			push @rows, $row{$key} = {} unless $row{$key};
			%{ $row{$key} } = (%{ $row{$key} }, %$row);
		}
	}
	return { columns => \@columns, rows => \@rows };
}

sub transform_convertFieldType
{
	my ($options, @frames) = @_;
	for my $conversion (@{ $options->{conversions} })
	{
		die "no conversion to $conversion->{destinationType}\n" unless $conversion->{destinationType} eq 'number';
		for my $row (map { @{ $_->{rows} } } @frames)
		{
			$row->{ $conversion->{targetField} } += 0 if exists $row->{ $conversion->{targetField} };
		}
	}
	return @frames;
}

# Always a label divided by a number, here
sub transform_calculateField
{
	my ($options, @frames) = @_;
	my ($name, $binary) = @$options{qw(alias binary)};
	die "no operator $binary->{operator}\n" unless $binary->{operator} eq '/';
	for my $frame (@frames)
	{
		push @{ $frame->{columns} }, $name;
		$_->{$name} = $_->{ $binary->{left} } / $binary->{right} for @{ $frame->{rows} };
	}
	return @frames;
}

sub transform_sortBy
{
	my ($options, @frames) = @_;
	my $by = $options->{sort}[0]{field};
	@{ $_->{rows} } = sort { ($a->{$by} || 0) <=> ($b->{$by} || 0) } @{ $_->{rows} } for @frames;
	return @frames;
}

sub transform_organize
{
	my ($options, @frames) = @_;
	for my $frame (@frames)
	{
		my %index = %{ $options->{indexByName} };
		my @columns = sort { ($index{$a} // 1000) <=> ($index{$b} // 1000) }
		  grep { !$options->{excludeByName}{$_} } @{ $frame->{columns} };
		my %renamed = map { $_ => $options->{renameByName}{$_} // $_ } @columns;
		for my $row (@{ $frame->{rows} })
		{
			%$row = map { $renamed{$_} => $row->{$_} } grep { exists $row->{$_} } @columns;
		}
		$frame->{columns} = [ map { $renamed{$_} } @columns ];
	}
	return @frames;
}

# ---------------------------------------------------------------- values

# A number in a unit, as Grafana writes it.
sub formatted
{
	my ($value, $unit, $decimals) = @_;
	return '' unless defined $value && length $value;
	return number($value, $decimals) . ' MB' if $unit eq 'suffix:MB';
	return number($value, $decimals) if $unit eq 'none';
	return number(100 * $value, $decimals) . '%' if $unit eq 'percentunit';
	my $after = { ops => ' ops/s', rps => ' rd/s' }->{$unit} // die "no unit $unit\n";
	my @prefixes = ('', 'K', 'M', 'G');
	while (abs($value) >= 1000 && @prefixes > 1)
	{
		$value /= 1000;
		shift @prefixes;
	}
	return number($value, $decimals) . $prefixes[0] . $after;
}

# Without a number of decimals: three figures, and no zeros at the end.
sub number
{
	my ($value, $decimals) = @_;
	return sprintf '%.*f', $decimals, $value if defined $decimals;
	my $size = abs $value;
	my $text = sprintf '%.*f', ($size >= 100 || $size == 0 ? 0 : $size >= 10 ? 1 : $size >= 1 ? 2 : $size >= 0.1 ? 3 : 4), $value;
	$text =~ s/\.?0+$// if $text =~ /\./;
	return $text;
}

# Text of a document
sub escaped
{
	my ($text) = @_;
	$text =~ s/&/&amp;/g;
	$text =~ s/</&lt;/g;
	$text =~ s/>/&gt;/g;
	$text =~ s/"/&quot;/g;
	return $text;
}

# What a value is shown as: (text, color), by its mapping and thresholds.
sub shown
{
	my ($value, $field) = @_;
	return ($field->{noValue} // '-', undef) unless defined $value && length $value;
	for my $mapping (@{ $field->{mappings} || [] })
	{
		die "no mapping $mapping->{type}\n" unless $mapping->{type} eq 'value';
		my $result = $mapping->{options}{$value} or next;
		return ($result->{text}, $result->{color});
	}
	my $color;
	if ($value =~ /^[-+.\deE]+$/)
	{
		if (($field->{color}{mode} || '') eq 'fixed')
		{
			$color = $field->{color}{fixedColor};
		}
		else
		{
			for my $step (@{ $field->{thresholds}{steps} || [] })
			{
				$color = $step->{color} if !defined $step->{value} || $value >= $step->{value};
			}
		}
		return (formatted($value, $field->{unit}, $field->{decimals}), $color) if defined $field->{unit};
	}
	return ($value, $color);
}

1;
