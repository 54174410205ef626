/*
 * names.h
 *		Names from shared catalogs, as text that clients of UTF8 can get.
 *
 * Names of databases and roles are bytes in the encoding of the database in
 * which they were made, and nobody knows which that was.  So in another
 * database they may be no valid text, and a client whose encoding differs from
 * the database's gets an error instead of all rows.
 */
#ifndef WS_NAMES_H
#define WS_NAMES_H

/*
 * The name, in palloc'd memory, as valid text in the database's encoding; NULL
 * of NULL.  Bytes that are no text, or not in Unicode, control characters and
 * marks that change the direction of writing become "?".  Of a database without
 * an encoding only ASCII is text, since nobody can convert the rest.  A name
 * that was changed may now be equal to another: it ends with its OID in
 * brackets.
 */
extern char *ws_valid_name(const char *name, Oid oid);

/* The same of a database, of a role; NULL: none, or it was dropped. */
extern char *ws_database_name(Oid database);
extern char *ws_role_name(Oid role);

#endif							/* WS_NAMES_H */
