-- grants.sql - make the role that an exporter connects as.
--
--   psql -d DATABASE -f grants.sql                       role working_set_scrape
--   psql -d DATABASE -v role=NAME -v connections=20 -f grants.sql
--
-- Run it as a superuser, or as one who may create roles and grant pg_monitor, in the
-- database in which the extension was created: one is enough, what it tells is about the
-- whole server.  Run it again after ALTER EXTENSION working_set SET SCHEMA, or to change
-- the number of connections.
--
-- The role is a member of pg_monitor, which may read all that the extension has, and
-- owns and may change nothing.  It has no password: give it one with \password, or let
-- pg_hba.conf say how it is known.
--
-- search_path is set to where the extension is, so that the exporters' queries need not
-- know.  The read-only default and the timeouts are no fence, since a session may set
-- them as it likes: they are for accidents, and for a server that does not answer.

\set ON_ERROR_STOP on
\if :{?role}
\else
  \set role working_set_scrape
\endif
\if :{?connections}
\else
  \set connections 10
\endif

BEGIN;
SET LOCAL client_min_messages = warning;
SELECT set_config('grants_sql.role', :'role', true) \g /dev/null

DO $$
DECLARE
	what text;
BEGIN
	IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'working_set') THEN
		RAISE EXCEPTION 'the extension working_set is not in database "%"', current_database()
			USING HINT = 'Connect to the database in which it was created.';
	END IF;
	-- a role that is there already must not be one that can do more
	SELECT CASE
			WHEN rolsuper THEN 'is a superuser'
			WHEN rolcreaterole THEN 'may create roles'
			WHEN rolcreatedb THEN 'may create databases'
			WHEN rolreplication THEN 'may replicate'
			WHEN rolbypassrls THEN 'bypasses row security'
		END
	INTO what FROM pg_roles WHERE rolname = current_setting('grants_sql.role');
	IF what IS NOT NULL THEN
		RAISE EXCEPTION 'role "%" exists and %', current_setting('grants_sql.role'), what
			USING HINT = 'Choose another name: -v role=NAME.';
	END IF;
END
$$;

SELECT format('CREATE ROLE %I', :'role')
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'role') \gexec

ALTER ROLE :"role" LOGIN CONNECTION LIMIT :connections;
GRANT pg_monitor TO :"role";

ALTER ROLE :"role" SET default_transaction_read_only = on;
ALTER ROLE :"role" SET statement_timeout = '5s';
ALTER ROLE :"role" SET lock_timeout = '1s';
ALTER ROLE :"role" SET idle_in_transaction_session_timeout = '1min';

SELECT format('ALTER ROLE %I IN DATABASE %I SET search_path = pg_catalog, %I, pg_temp',
			  :'role', current_database(), nspname)
  FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
 WHERE extname = 'working_set' \gexec

-- where PUBLIC may not do this
SELECT format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), :'role')
 WHERE NOT has_database_privilege(:'role', current_database(), 'CONNECT') \gexec
SELECT format('GRANT USAGE ON SCHEMA %I TO %I', nspname, :'role')
  FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
 WHERE extname = 'working_set' AND NOT has_schema_privilege(:'role', n.oid, 'USAGE') \gexec

COMMIT;
