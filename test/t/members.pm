# What the extension consists of, from the catalog.
#
#   is(members($node, 'restored'), members($node, 'dumped'), 'the same');
#   members($node, 'postgres', 'BEGIN; DROP FUNCTION ...;')      after something else
#   functions($node), views($node)                what can be called, and read

package members;

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(members functions views $of_extension);

# All that makes an extension in a database: its members, and each one's definition,
# arguments, owner, privileges and comments.
my $members = q{
	WITH member AS (
		SELECT d.classid, d.objid
		  FROM pg_depend AS d JOIN pg_extension AS e ON d.refobjid = e.oid
		 WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'working_set')
	SELECT replace(line, E'\n', ' ') FROM (
		SELECT format('extension: %L %L %L %L %L', e.extversion, e.extrelocatable, e.extconfig, n.nspname,
		              obj_description(e.oid, 'pg_extension'))
		  FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace
		 WHERE e.extname = 'working_set'
		UNION ALL
		SELECT format('member: %s, comment %L, privileges at first %L', pg_describe_object(m.classid, m.objid, 0),
		              obj_description(m.objid, m.classid::regclass::name),
		              (SELECT string_agg(a::text, ' ' ORDER BY a::text COLLATE "C")
		                 FROM pg_init_privs AS i, unnest(i.initprivs) AS a
		                WHERE i.classoid = m.classid AND i.objoid = m.objid AND i.objsubid = 0))
		  FROM member AS m
		UNION ALL
		SELECT format('function: %s, symbol %L in %L, of %s, privileges %L', pg_get_functiondef(p.oid), p.prosrc,
		              p.probin, p.proowner::regrole,
		              (SELECT string_agg(a::text, ' ' ORDER BY a::text COLLATE "C") FROM unnest(p.proacl) AS a))
		  FROM member AS m JOIN pg_proc AS p ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid
		UNION ALL
		SELECT format('relation: %s, kind %L, %s, options %L, of %s, privileges %L', c.relname, c.relkind,
		              pg_get_viewdef(c.oid), c.reloptions, c.relowner::regrole,
		              (SELECT string_agg(a::text, ' ' ORDER BY a::text COLLATE "C") FROM unnest(c.relacl) AS a))
		  FROM member AS m JOIN pg_class AS c ON m.classid = 'pg_class'::regclass AND m.objid = c.oid
		UNION ALL
		SELECT format('column: %s.%s, number %s, %s, privileges %L, comment %L', c.relname, a.attname, a.attnum,
		              format_type(a.atttypid, a.atttypmod), a.attacl, col_description(c.oid, a.attnum))
		  FROM member AS m JOIN pg_class AS c ON m.classid = 'pg_class'::regclass AND m.objid = c.oid
		  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS all_of_it (line)
	 ORDER BY replace(line, E'\n', ' ') COLLATE "C"};

sub members
{
	my ($node, $database, $before) = @_;
	return $node->safe_psql($database, ($before || '') . $members);
}

# What is of the extension, in a FROM clause: rows of pg_depend d and pg_extension e.
our $of_extension = q{pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass
	AND d.refobjid = e.oid AND d.deptype = 'e' AND e.extname = 'working_set'};

# A value of each type, for functions that do nothing with NULL, or of a function's type.
my %harmless = (
	bool => 'false', int4 => '5', int8 => '5', float8 => '3', text => q{'client'}, 'working_set_queries text' => q{'role'},
	interval => q{'5 min'}, timestamptz => 'now()',
	_int4 => q{'{60,300}'}, _float8 => q{'{1,2,3,4,5,6}'});

# Its functions, where its schema is ws: name, types (as pg_catalog has them, so that no path
# matters), how many have defaults, and calls: with no argument that can be left out, with all of
# them, and with nulls.
sub functions
{
	my ($node) = @_;
	my @functions;
	for (split /\n/, $node->safe_psql('postgres', qq{
		SELECT p.oid, p.proname, p.pronargdefaults, p.proisstrict,
		       array_to_string(ARRAY(SELECT t.typname FROM unnest(p.proargtypes) WITH ORDINALITY a(type, n)
		                               JOIN pg_type t ON t.oid = a.type ORDER BY a.n), ' ')
		  FROM $of_extension JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
		 ORDER BY p.proname, p.oid}))
	{
		my ($oid, $name, $defaults, $strict, $types) = split /\|/, $_, -1;
		my @types = split / /, $types;
		my %f = (oid => $oid, name => $name, types => \@types, defaults => $defaults,
			what => "$name(" . join(', ', @types) . ')');
		my @values = map { ($harmless{"$name $_"} // $harmless{$_} // die "there is no value of type $_ in this test") . "::pg_catalog.$_" } @types;
		my @nulls = map { "NULL::pg_catalog.$_" } @types;

		my %calls = map { $_ => 1 } (
			join(', ', @values[ 0 .. $#values - $defaults ]),
			join(', ', @values), $strict eq 't' ? () : join(', ', @nulls));
		$f{calls} = [ map { "ws.$name($_)" } sort keys %calls ];
		push @functions, \%f;
	}
	return @functions;
}

sub views
{
	my ($node) = @_;
	return split /\n/, $node->safe_psql('postgres', qq{
		SELECT c.relname FROM $of_extension JOIN pg_class c ON d.classid = 'pg_class'::regclass AND d.objid = c.oid
		 WHERE c.relkind = 'v' ORDER BY 1});
}

1;
