# working_set is built the way every PostgreSQL extension is built (PGXS):
#
#     make && sudo make install && make installcheck
#
# `make demo` and `make test` need no preparation at all; `make help` lists the rest.

MODULE_big = working_set
# Each folder of src may include only what this names: CONTRIBUTING.md has the list.  Its
# files are compiled with no other include paths.  The pure ones are plain C, so that they cannot see a
# PostgreSQL header, and the unit tests can link them alone.
PURE = data model machine
data_sees = data
model_sees = model data
machine_sees = machine
server_sees = server machine model data
path_sees = path server data
worker_sees = worker server machine model data
sql_sees = sql server machine model data
FOLDERS = $(PURE) server path worker sql
paths = $(addprefix -iquote src/,$($(1)_sees))

PURE_OBJS = $(patsubst %.c,%.o,$(wildcard $(PURE:%=src/%/*.c)))
OBJS = $(patsubst %.c,%.o,$(wildcard src/*.c src/*/*.c))

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
UNIT = $(patsubst %.c,%,$(wildcard test/unit/*/*_t.c))
UNIT_OBJS = $(patsubst src/%,test/unit/%,$(PURE_OBJS))
EXTRA_CLEAN = $(UNIT) $(UNIT_OBJS) test/unit/pure.a

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)

ifneq ($(wildcard $(PGXS)),)
include $(PGXS)
$(OBJS): $(wildcard src/*/*.h)
define compiled_in
src/$(1)/%.o: override CPPFLAGS := $(if $(filter $(1),$(PURE)),$(filter-out -I%,$(CPPFLAGS)),$(CPPFLAGS)) $(call paths,$(1))
endef
$(foreach folder,$(FOLDERS),$(eval $(call compiled_in,$(folder))))
src/working_set.o: override CPPFLAGS += $(FOLDERS:%=-iquote src/%)
$(PURE_OBJS): override CFLAGS += -std=gnu99 -Wextra
# The functions on the path of every buffer hit call nothing: a frame would be waste.  So it would be
# in those of a sampled one.
# On arm64 that includes the functions which GCC calls for atomic operations.
no_calls := $(shell $(CC) -Werror -mno-outline-atomics -E -x c /dev/null >/dev/null 2>&1 && \
	echo -mno-outline-atomics)
src/path/lookup.o src/path/process_origin.o src/path/sample_events.o src/data/stream.o: override CFLAGS += -fomit-frame-pointer $(no_calls)
# Each of these begins with a line of the processor's cache, of which it then needs fewer.
src/path/lookup.o src/path/process_origin.o: override CFLAGS += -falign-functions=64
else
all install installcheck:
	@echo "Building needs pg_config and the server's headers: install postgresql-server-dev-N"
	@echo "(Debian, Ubuntu) or postgresqlN-devel (Red Hat), or say make PG_CONFIG=/path/to/pg_config."
	@exit 1
clean:
	rm -f $(OBJS) $(MODULE_big).so $(EXTRA_CLEAN)
.PHONY: all install installcheck clean
endif

.PHONY: demo test check-world monitoring-demo unit unit-programs check-headers dist help

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

sees-%: # what a folder may include, as compilers want it: the tests ask
	@echo $(call paths,$*)

check-headers: ## check what the headers include and what the library exports
	@test/sandbox test/all headers

dist: ## make the zip for PGXN, of what is committed
	git archive --format=zip --prefix=$(EXTENSION)-$(EXTVERSION)/ -o $(EXTENSION)-$(EXTVERSION).zip HEAD

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1: \2/p' $(firstword $(MAKEFILE_LIST))
	@test/world --list

UNIT_CFLAGS = -std=gnu99 -O2 -Wall -Wextra -Werror

test/unit/%.o: src/%.c $(wildcard src/*/*.h)
	@mkdir -p $(@D)
	$(CC) $(UNIT_CFLAGS) $(call paths,$(notdir $(@D))) -c -o $@ $<

test/unit/pure.a: $(UNIT_OBJS)
	@rm -f $@
	$(AR) rcs $@ $^

test/unit/%_t: test/unit/%_t.c test/unit/pure.a $(wildcard src/*/*.h test/unit/*.h)
	$(CC) $(UNIT_CFLAGS) $(PURE:%=-iquote src/%) -iquote test/unit -o $@ $< test/unit/pure.a -lm -pthread
