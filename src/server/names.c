/*
 * names.c
 *		Names as valid text; see names.h.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "commands/dbcommands.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "names.h"

/* The character, of so many bytes, in Unicode; 0: it is not there. */
static pg_wchar
in_unicode(int encoding, const char *c, int length)
{
	unsigned char text[MAX_CONVERSION_GROWTH * MAX_MULTIBYTE_CHAR_LEN + 1];
	Oid			conversion;

	if (!IS_HIGHBIT_SET(*c))
		return (unsigned char) *c;
	if (encoding == PG_UTF8)
		return utf8_to_unicode((const unsigned char *) c);
	conversion = FindDefaultConversionProc(encoding, PG_UTF8);
	if (!OidIsValid(conversion) ||
		pg_do_encoding_conversion_buf(conversion, encoding, PG_UTF8, (unsigned char *) c, length,
									  text, sizeof(text), true) != length)
		return 0;
	return utf8_to_unicode(text);
}

/* Does it change how others look, or is it none? */
static bool
is_control(pg_wchar code)
{
	return code < ' ' || (code >= 0x7F && code < 0xA0) || code == 0x61C || code == 0x200E || code == 0x200F ||
		(code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

char *
ws_valid_name(const char *name, Oid oid)
{
	int			encoding = GetDatabaseEncoding();
	bool		changed = false;
	StringInfoData text;
	int			n;

	if (name == NULL)
		return NULL;
	initStringInfo(&text);
	for (; *name != '\0'; name += n)
	{
		bool		valid;

		n = pg_encoding_verifymbchar(encoding, name, (int) strlen(name));
		valid = n > 0 && !is_control(in_unicode(encoding, name, n));
		n = Max(n, 1);
		if (valid)
			appendBinaryStringInfo(&text, name, n);
		else
			appendStringInfoChar(&text, '?');
		changed |= !valid;
	}
	if (changed)
		appendStringInfo(&text, " (%u)", oid);
	return text.data;
}

char *
ws_database_name(Oid database)
{
	return OidIsValid(database) ? ws_valid_name(get_database_name(database), database) : NULL;
}

char *
ws_role_name(Oid role)
{
	return OidIsValid(role) ? ws_valid_name(GetUserNameFromId(role, true), role) : NULL;
}
