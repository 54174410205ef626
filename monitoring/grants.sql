-- grants.sql - make the role that an exporter connects as.
--
--   psql -d DATABASE -f grants.sql                       role working_set_scrape
--   psql -d DATABASE -v role=NAME -v connections=50 -f grants.sql
--
-- Run it as a superuser, or as one who may create roles and grant pg_monitor, in the
-- database in which the extension was created: one is enough, since its answers are about the
-- whole server.  Run it again after ALTER EXTENSION working_set SET SCHEMA, or to change
-- the number of connections: without -v connections it is 30, or what the role has if that is more.
--
-- The role is a member of pg_monitor, which may read all that the extension has, and
-- owns and may change nothing; a role of this name that is there already and is a superuser, may create
-- roles or databases, replicate, bypass row security or use the server's files or programs is
-- refused.  It has no password: give it one with \password, or let
-- pg_hba.conf say how it is known.  A role that is there already, and has other uses, gets the limit
-- of connections, the timeouts, the read-only default and the search_path, too: take another one
-- if its other queries do not bear that.
--
-- The role's search_path is set to pg_catalog and where the extension is, so that the
-- exporters' queries need no names of schemas, and so that they call the server's functions
-- and operators.  Only superusers should be able to create objects in the extension's schema;
-- a warning says so if others can.  The read-only default and the timeouts are no fence,
-- since a session may set them as it likes: they are for accidents, and for a server that
-- does not answer.
--
-- The script itself uses no object but those of pg_catalog, whatever search_path is: each name says
-- so, and the operators are found in the search_path that comes first.

\set ON_ERROR_STOP on
\if :{?role}
\else
  \set role working_set_scrape
\endif
-- as the server cuts a name that is too long
SELECT :'role'::pg_catalog.name AS role \gset

BEGIN;
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL client_min_messages = warning;
SELECT pg_catalog.set_config('grants_sql.role', :'role', true) \g /dev/null

-- Names of databases and roles may be text of another encoding than this database's.  So they are
-- compared as names or by OIDs, do not go by way of psql, and messages have their bytes where they are
-- not ASCII.
DO $$
DECLARE
	what pg_catalog.text;
	bytes pg_catalog.bytea;
BEGIN
	IF NOT EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'working_set') THEN
		bytes := pg_catalog.replace(pg_catalog.current_database(), pg_catalog.chr(92), pg_catalog.repeat(pg_catalog.chr(92), 2));
		RAISE EXCEPTION 'the extension working_set is not in database "%"',
				pg_catalog.regexp_replace(pg_catalog.encode(bytes, 'escape'), '[^ -~]', '?', 'g')
			USING HINT = 'Connect to the database in which it was created.';
	END IF;
	-- a role that is there already must not be one that can do more, by itself or as a member
	SELECT pg_catalog.concat(CASE WHEN r.oid <> me.oid THEN pg_catalog.format('is a member of %I, which ', r.rolname) END, CASE
			WHEN r.rolsuper THEN 'is a superuser'
			WHEN r.rolcreaterole THEN 'may create roles'
			WHEN r.rolcreatedb THEN 'may create databases'
			WHEN r.rolreplication THEN 'may replicate'
			WHEN r.rolbypassrls THEN 'bypasses row security'
			ELSE 'may use files or programs of the server'
		END)
	INTO what
	FROM pg_catalog.pg_roles me JOIN pg_catalog.pg_roles r ON pg_catalog.pg_has_role(me.oid, r.oid, 'MEMBER')
	WHERE me.rolname = pg_catalog.current_setting('grants_sql.role')
		AND (r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls
			OR r.rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program'))
	ORDER BY r.oid <> me.oid LIMIT 1;
	IF what IS NOT NULL THEN
		bytes := pg_catalog.replace(what, pg_catalog.chr(92), pg_catalog.repeat(pg_catalog.chr(92), 2));
		RAISE EXCEPTION 'role "%" exists and %', pg_catalog.current_setting('grants_sql.role'),
				pg_catalog.regexp_replace(pg_catalog.encode(bytes, 'escape'), '[^ -~]', '?', 'g')
			USING HINT = 'Choose another name: -v role=NAME.';
	END IF;
	SELECT r.rolname INTO what
	  FROM pg_catalog.pg_roles me JOIN pg_catalog.pg_auth_members m ON m.roleid = me.oid JOIN pg_catalog.pg_roles r ON r.oid = m.member
	 WHERE me.rolname = pg_catalog.current_setting('grants_sql.role') AND NOT r.rolsuper AND r.rolname <> current_user
	 ORDER BY r.oid LIMIT 1;
	IF what IS NOT NULL THEN
		bytes := pg_catalog.replace(what, pg_catalog.chr(92), pg_catalog.repeat(pg_catalog.chr(92), 2));
		RAISE WARNING 'role "%" is a member of "%", and can read all that it can',
			pg_catalog.regexp_replace(pg_catalog.encode(bytes, 'escape'), '[^ -~]', '?', 'g'), pg_catalog.current_setting('grants_sql.role');
	END IF;
	-- what others create beside the extension can be taken for it
	SELECT pg_catalog.concat('role "', r.rolname, '" may create objects in the schema of the extension, "', nspname, '"') INTO what
	  FROM pg_catalog.pg_extension JOIN pg_catalog.pg_namespace n ON n.oid = extnamespace, pg_catalog.pg_roles r
	 WHERE extname = 'working_set' AND r.oid >= 16384
	   AND pg_catalog.has_schema_privilege(r.oid, n.oid, 'CREATE')
	   AND NOT EXISTS (SELECT FROM pg_catalog.pg_roles s WHERE s.rolsuper AND pg_catalog.pg_has_role(r.oid, s.oid, 'MEMBER'))
	 ORDER BY r.oid LIMIT 1;
	IF what IS NOT NULL THEN
		bytes := pg_catalog.replace(what, pg_catalog.chr(92), pg_catalog.repeat(pg_catalog.chr(92), 2));
		RAISE WARNING '%', pg_catalog.regexp_replace(pg_catalog.encode(bytes, 'escape'), '[^ -~]', '?', 'g')
			USING HINT = 'Let only superusers own the schema or have CREATE on it, or use ALTER EXTENSION working_set SET SCHEMA.';
	END IF;
END
$$;

-- Two of Debian's exporters with all their jobs have 14 connections, and twice as many while they
-- connect again.  A role that may have more keeps that.
\if :{?connections}
  SELECT :'connections'::pg_catalog.int4 AS connections \gset
\else
  SELECT coalesce((SELECT rolconnlimit FROM pg_catalog.pg_roles
                    WHERE rolname = :'role' AND NOT rolconnlimit BETWEEN 0 AND 30), 30) AS connections \gset
\endif

SELECT pg_catalog.format('CREATE ROLE %I', :'role')
 WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = :'role') \gexec

ALTER ROLE :"role" LOGIN CONNECTION LIMIT :connections;
GRANT pg_monitor TO :"role";

ALTER ROLE :"role" SET default_transaction_read_only = on;
ALTER ROLE :"role" SET statement_timeout = '5s';
ALTER ROLE :"role" SET lock_timeout = '1s';
ALTER ROLE :"role" SET idle_in_transaction_session_timeout = '1min';

DO $$
DECLARE
	role pg_catalog.text := pg_catalog.current_setting('grants_sql.role');
	schema pg_catalog.name := (SELECT nspname FROM pg_catalog.pg_extension JOIN pg_catalog.pg_namespace n ON n.oid = extnamespace
	                            WHERE extname = 'working_set');
BEGIN
	EXECUTE pg_catalog.format('ALTER ROLE %I IN DATABASE %I SET search_path = pg_catalog, %I, pg_temp',
			role, pg_catalog.current_database(), schema);
	-- where PUBLIC may not do this
	IF NOT pg_catalog.has_database_privilege(role, pg_catalog.current_database(), 'CONNECT') THEN
		EXECUTE pg_catalog.format('GRANT CONNECT ON DATABASE %I TO %I', pg_catalog.current_database(), role);
	END IF;
	IF NOT pg_catalog.has_schema_privilege(role, schema, 'USAGE') THEN
		EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I', schema, role);
	END IF;
END
$$;

COMMIT;
