# working_set is built the way every PostgreSQL extension is built (PGXS):
#
#     make && sudo make install && make installcheck
#
# `make demo` and `make test` need no preparation at all; `make help` lists the rest.

MODULE_big = working_set
OBJS = \
	src/guc.o \
	src/setup.o \
	src/shared.o \
	src/counters.o \
	src/published.o \
	src/probe.o \
	src/lookup.o \
	src/buftable.o \
	src/sample_events.o \
	src/process_origin.o \
	src/waiting.o \
	src/worker.o \
	src/cache_advice.o \
	src/memory_advice.o \
	src/sample_life.o \
	src/sample_origins.o \
	src/sample_pages.o \
	src/sample_without.o \
	src/persist.o \
	src/relsize.o \
	src/seed.o \
	src/estimate.o \
	src/names.o \
	src/sqlfuncs.o \
	src/sqlviews.o \
	src/sqlmemory.o \
	src/sqlrelations.o \
	src/sqlqueries.o \
	$(PURE)

# Plain C: these see no PostgreSQL header, so that the unit tests can link them alone.
PURE_MODULES = sketch curve life heuristic history trend memory diskreads filecache costs stream \
	sampler origins attribution scans sweep without pagecache readahead twotier survey division advice verdict forecast statefile \
	summary
PURE_HEADERS = pagehash segments
PURE = $(PURE_MODULES:%=src/%.o)

EXTENSION = working_set
EXTVERSION = $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" working_set.control)
DATA = $(wildcard sql/working_set--*.sql)
# in this order: the first makes the extension, the last drops it
REGRESS = size curve plateau_end views advice relations queries chart privileges schema

# Export only what is marked PGDLLEXPORT, a mark that is empty before PostgreSQL 16.
PG_CFLAGS = -fvisibility=hidden
PG_CPPFLAGS = -DPGDLLEXPORT='__attribute__((visibility("default")))' \
	-DWS_VERSION='"$(EXTVERSION)"'

# No bitcode is wanted: nothing here is worth inlining into a query, and so building
# does not need the clang that the server was built with.
override with_llvm = no

# The unit tests have objects of their own, made without PostgreSQL's flags.
UNIT = $(patsubst %.c,%,$(wildcard test/unit/*_t.c))
UNIT_OBJS = $(patsubst src/%,test/unit/%,$(PURE))
EXTRA_CLEAN = $(UNIT) $(UNIT_OBJS)

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)

ifneq ($(wildcard $(PGXS)),)
include $(PGXS)
$(OBJS): $(wildcard src/*.h)
$(PURE): override CPPFLAGS := $(filter-out -I%,$(CPPFLAGS))
$(PURE): override CFLAGS += -std=gnu99 -Wextra
# The functions on the path of every buffer hit call nothing: a frame would be waste.  So it would be
# in those of a sampled one.
# On arm64 that includes the functions which GCC calls for atomic operations.
no_calls := $(shell $(CC) -Werror -mno-outline-atomics -E -x c /dev/null >/dev/null 2>&1 && \
	echo -mno-outline-atomics)
src/lookup.o src/process_origin.o src/sample_events.o src/stream.o: override CFLAGS += -fomit-frame-pointer $(no_calls)
else
all install installcheck:
	@echo "Building needs pg_config and the server's headers: install postgresql-server-dev-N"
	@echo "(Debian, Ubuntu) or postgresqlN-devel (Red Hat), or say make PG_CONFIG=/path/to/pg_config."
	@exit 1
clean:
	rm -f $(OBJS) $(MODULE_big).so $(EXTRA_CLEAN)
.PHONY: all install installcheck clean
endif

.PHONY: demo test check-world monitoring-demo unit unit-programs pure check-headers dist help

demo: ## see it work: installs what is missing, runs a private server, cleans up
	@test/sandbox --demo bench/demo

test: ## run the short tests in a private server, installing what is missing: five minutes
	@test/sandbox --exporter test/all short

check-world: ## run all the rest, in parts (hours), and write check-world.txt
	@test/world

check-%:
	@test/world $*

monitoring-demo: ## the same, as Prometheus sees it: real exporter, rules, alerts
	@test/sandbox --demo --monitoring monitoring/demo

unit: $(UNIT) ## run the C unit tests, which need no PostgreSQL
	@prove --exec '' $(UNIT)

unit-programs: $(UNIT)

pure: # the modules that are plain C: test/all and test/mutants ask
	@echo $(PURE_MODULES) $(PURE_HEADERS)

check-headers: ## check what the headers include and what the library exports
	@test/sandbox test/all headers

dist: ## make the zip for PGXN, of what is committed
	git archive --format=zip --prefix=$(EXTENSION)-$(EXTVERSION)/ -o $(EXTENSION)-$(EXTVERSION).zip HEAD

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1: \2/p' $(firstword $(MAKEFILE_LIST))
	@test/world --list

UNIT_CFLAGS = -std=gnu99 -O2 -Wall -Wextra -Werror -Isrc -Itest/unit

test/unit/%.o: src/%.c $(wildcard src/*.h)
	$(CC) $(UNIT_CFLAGS) -c -o $@ $<

test/unit/%_t: test/unit/%_t.c $(UNIT_OBJS) $(wildcard src/*.h test/unit/*.h)
	$(CC) $(UNIT_CFLAGS) -o $@ $< $(UNIT_OBJS) -lm -pthread
