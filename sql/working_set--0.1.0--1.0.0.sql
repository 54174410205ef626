/* working_set--0.1.0--1.0.0.sql */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION working_set UPDATE TO '1.0.0'" to load this file. \quit

-- 0.1.0 was not released.  Its objects are those of 1.0.0, and from here on the script that makes
-- them is not edited any more.
