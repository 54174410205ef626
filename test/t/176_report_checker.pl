# The checker of pages that the tests of monitoring/report.sql use (report_page.pm): it sees what is
# wrong with a page.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use Test::More;
use report_page;

my $good = "<!DOCTYPE html>\n<html><style></style><svg viewBox=\"0 0 9 9\" aria-labelledby=\"t\"><title id=\"t\">a &lt; &#233;</title>"
  . '<path d="M1 2h3L4 5h0"/></svg></html>';
is(verdict($good), '', 'a good page is good');
my @worse = (
	[ 'a &lt;', 'a <' ], [ 'a &lt;', 'a & b' ], [ '&#233;', "\xe9" ], [ '&#233;', '&eacute;' ], [ '&#233;', '&#1;' ],
	[ '</title>', '' ], [ '</svg></html>', '</html></svg>' ], [ '"M1', 'M1' ], [ 'M1 2', 'M1 20' ], [ 'h3', 'h30' ], [ 'M1 2', 'MNaN 2' ],
	[ 'id="t"', 'id="u"' ], [ '<path', '<script></script><path' ], [ '<path', '<path onclick="x"' ], [ '<path', '<path d="M1 1h0"' ],
	[ '<path', '<line x1="1" x2="2" y1="3" y2="-1"/><path' ], [ '<path', '<rect x="1" y="2" width="-1" height="2"/><path' ],
	[ '<path', '<text class="label a" x="1" y="1">a</text><text class="label b" x="1" y="9">b</text><path' ],
	[ '<path', '<title id="t">x</title><path' ], [ '</style>', '@import x</style>' ]);
for (@worse)
{
	my $page = $good;
	$page =~ s/\Q$_->[0]\E/$_->[1]/ or die "no $_->[0]";
	isnt(verdict($page), '', "and with $_->[1] for $_->[0] it is not");
}

done_testing();
