/*
 * names.c
 *		Names as valid text; see names.h.
 */
#include "postgres.h"

#include "commands/dbcommands.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "names.h"

/* Does this character, of so many bytes, change how others look? */
static bool
is_control(int encoding, const unsigned char *c, int length)
{
	pg_wchar	code = *c;

	if (encoding == PG_UTF8)
		code = utf8_to_unicode(c);
	else if (length > 1)
		return false;
	if (code < ' ' || code == 0x7F)
		return true;
	/* ISO 8859 has these where Unicode has them */
	if (code >= 0x80 && code < 0xA0)
		return encoding == PG_UTF8 || (encoding >= PG_LATIN1 && encoding <= PG_LATIN10) ||
			(encoding >= PG_ISO_8859_5 && encoding <= PG_ISO_8859_8);
	return code == 0x61C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
		(code >= 0x2066 && code <= 0x2069);
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

		n = 1;
		if (IS_HIGHBIT_SET(*name))
			n = encoding == PG_SQL_ASCII ? -1 :
				pg_encoding_verifymbchar(encoding, name, (int) strlen(name));
		valid = n > 0 && !is_control(encoding, (const unsigned char *) name, n);
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
