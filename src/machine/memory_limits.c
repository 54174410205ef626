/*
 * memory_limits.c
 *		How much memory the machine and the control groups allow; see
 *		memory_limits.h.
 *
 *	1. /proc/self/cgroup names the process's group in each hierarchy.  Version
 *	   2 has one hierarchy, version 1 has one with the memory controller.  A
 *	   machine may have both; then one of them has none of the files.
 *	2. /proc/self/mountinfo shows where they are mounted, and which part.
 *	3. The groups from there up to the mount point have files with limits.
 */
#include "memory_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_SIZE		8192
#define NAME_SIZE		4096	/* the kernel's own bound */
#define MAX_DIGITS		19		/* so many fit into 64 bits */

/* More than any machine has; version 1 has a larger number for no limit. */
#define NO_LIMIT		(UINT64_C(1) << 60)

/*
 * A hierarchy of groups.  The path is the name of the process's group at
 * first, and its directory once mounted.  The root "/" is stored as "", so
 * that paths can be concatenated.
 */
typedef struct Hierarchy
{
	const char *files[3];		/* the files of a group that have limits, */
	const char *usage;			/* and what it uses; in its statistics, */
	const char *cached;			/* cached files and shared memory, */
	const char *shared;			/* and the latter alone */
	bool		wanted;			/* the process is in it; no mount found yet */
	bool		mounted;
	size_t		top;			/* length of the mount point in the path */
	char		path[NAME_SIZE + sizeof("/memory.limit_in_bytes")];
} Hierarchy;

/* Memory in use, in bytes. */
typedef struct MemoryUse
{
	uint64_t	free;			/* of the machine: not at all; */
	uint64_t	used;			/* of a group: at all */
	uint64_t	cached;			/* by files and shared memory */
	uint64_t	shared;
	uint32_t	seen;			/* how many of these are known */
} MemoryUse;

typedef struct Look
{
	const char *root;
	const char *name;			/* of the file that is read, for messages */
	WsMemory   *memory;
	uint64_t	least;			/* limit of a group; 0: none */
	uint64_t	here;			/* the same, of the group that is read */
	MemoryUse	use;			/* of the machine, or of that group */
	bool		no_page_cache;	/* is known */
	bool		any;			/* take a mount that the group is not in? */
	const Hierarchy *reading;	/* the hierarchy whose limits are read */
	Hierarchy	v1;
	Hierarchy	v2;
} Look;

/* Quote a string from outside: its two ends, in ASCII. */
static void
quote(char *quoted, int size, const char *from)
{
	int			length = (int) strlen(from);
	int			most = size - (int) sizeof("\"...\"");

	if (length <= most)
		snprintf(quoted, (size_t) size, "\"%s\"", from);
	else
		snprintf(quoted, (size_t) size, "\"%.*s...%s\"", most / 3, from,
				 from + length - (most - most / 3));
	for (; *quoted != '\0'; quoted++)
		if (*quoted < ' ' || *quoted > '~')
			*quoted = '?';
}

/* Report why the limit is not known.  Returns false, and so does holds(). */
static bool
refuse(Look *look, const char *how, const char *what)
{
	char		quoted[80];

	quote(quoted, sizeof(quoted), look->name);
	snprintf(look->memory->reason, sizeof(look->memory->reason), "%s %s%s", quoted, how, what);
	return false;
}

static bool
holds(Look *look, const char *from)
{
	char		quoted[80];

	quote(quoted, sizeof(quoted), from);
	return refuse(look, "holds ", quoted);
}

/* read a number, and go past it; one with too many digits is the largest */
static bool
read_number(const char **from, uint64_t *number)
{
	size_t		digits = strspn(*from, "0123456789");

	*number = digits > MAX_DIGITS ? UINT64_MAX : strtoull(*from, NULL, 10);
	*from += digits;
	return digits > 0;
}

/* Add the number of a line that begins with this name. */
static void
take_use(Look *look, const char *line, const char *name, uint64_t unit, uint64_t *sum)
{
	size_t		length = strlen(name);
	uint64_t	number;

	if (strncmp(line, name, length) != 0 || line[length] != ' ')
		return;
	line += length + strspn(line + length, " ");
	if (!read_number(&line, &number) || number >= NO_LIMIT / unit)
		return;
	*sum += number * unit;
	look->use.seen++;
}

/* The page cache may have so many bytes, if not fewer. */
static void
take_page_cache(Look *look, uint64_t bytes)
{
	if (!look->memory->page_cache_known || bytes < look->memory->page_cache)
		look->memory->page_cache = bytes;
	look->memory->page_cache_known = true;
}

/* a line of /proc/meminfo */
static bool
take_total(Look *look, char *line)
{
	const char *from = line;
	uint64_t	kilobytes;

	take_use(look, line, "MemFree:", 1024, &look->use.free);
	take_use(look, line, "Buffers:", 1024, &look->use.free);
	take_use(look, line, "Cached:", 1024, &look->use.cached);
	take_use(look, line, "Shmem:", 1024, &look->use.shared);
	if (strncmp(line, "MemTotal:", strlen("MemTotal:")) != 0)
		return true;
	from += strlen("MemTotal:");
	from += strspn(from, " ");
	if (!read_number(&from, &kilobytes) || strcmp(from, " kB") != 0 ||
		kilobytes == 0 || kilobytes >= NO_LIMIT / 1024)
		return holds(look, line);
	look->memory->host = kilobytes * 1024;
	return true;
}

/* a line of what is known of this process */
static bool
take_huge(Look *look, char *line)
{
	const char *from = line + strlen("HugetlbPages:");
	uint64_t	kilobytes;

	if (strncmp(line, "HugetlbPages:", strlen("HugetlbPages:")) != 0)
		return true;
	from += strspn(from, " \t");
	look->memory->huge = read_number(&from, &kilobytes) && kilobytes > 0;
	return true;
}

/* the line of the switch of MGLRU, the last bit of a hexadecimal number */
static bool
take_generations(Look *look, char *line)
{
	look->memory->generations = (strtoul(line, NULL, 0) & 1) != 0;
	return true;
}

/* a control group's statistics are late since Linux 6.12 */
static bool
take_release(Look *look, char *line)
{
	int			major = 0;
	int			minor = 0;

	(void) sscanf(line, "%d.%d", &major, &minor);
	look->memory->late = major > 6 || (major == 6 && minor >= 12);
	return true;
}

/* is "memory" in a comma-separated list? */
static bool
has_memory(char *list)
{
	char	   *item;

	while ((item = strsep(&list, ",")) != NULL)
		if (strcmp(item, "memory") == 0)
			return true;
	return false;
}

static void
cut_slash(char *path)
{
	if (strcmp(path, "/") == 0)
		*path = '\0';
}

/* a line of /proc/self/cgroup: id:controllers:path */
static bool
take_group(Look *look, char *line)
{
	char	   *list = strchr(line, ':');
	char	   *path = list ? strchr(list + 1, ':') : NULL;
	Hierarchy  *hierarchy = strncmp(line, "0::", 3) == 0 ? &look->v2 : &look->v1;

	if (!path || path[1] != '/')
		return holds(look, line);
	*path++ = '\0';
	if (hierarchy == &look->v1 && !has_memory(list + 1))
		return true;
	if (strlen(path) >= NAME_SIZE)
		return refuse(look, "has a control group whose name is too long", "");
	strcpy(hierarchy->path, path);
	cut_slash(hierarchy->path);
	hierarchy->wanted = true;
	return true;
}

/* undo \040 and the like, in place */
static void
unescape(char *from)
{
	char	   *to = from;

	for (; *from != '\0'; from++)
	{
		*to = *from;
		if (from[0] == '\\' && from[1] <= '3' && strspn(from + 1, "01234567") >= 3)
		{
			*to = (char) ((from[1] - '0') * 64 + (from[2] - '0') * 8 + from[3] - '0');
			from += 3;
		}
		to++;
	}
	*to = '\0';
}

/* The part of a path below a root, or NULL if it is outside, as "/../.." is. */
static const char *
below(const char *path, const char *root)
{
	const char *rest;

	if (strncmp(path, root, strlen(root)) != 0)
		return NULL;
	rest = path + strlen(root);
	if (*rest != '/' && *rest != '\0')
		return NULL;
	for (const char *up = strstr(rest, "/.."); up; up = strstr(up + 1, "/.."))
		if (up[3] == '/' || up[3] == '\0')
			return NULL;
	return rest;
}

/*
 * A line of /proc/self/mountinfo: id, parent, device, root, mount point, some
 * options, a hyphen, type, source, and the hierarchy's options.  The first
 * choice is a mount that the process's group is in and that can be entered; the
 * second choice is any mount that exists.
 */
static bool
take_mount(Look *look, char *line)
{
	Hierarchy  *hierarchy;
	char		full[NAME_SIZE + 1];
	char	   *after = strstr(line, " - cgroup");
	char	   *type;
	char	   *root;
	char	   *point;
	const char *rest;

	if (!after)
		return true;
	*after = '\0';
	after += 3;
	type = strsep(&after, " ");
	strsep(&after, " ");
	hierarchy = strcmp(type, "cgroup2") == 0 ? &look->v2 : &look->v1;
	if (!hierarchy->wanted || (hierarchy == &look->v1 &&
							   (strcmp(type, "cgroup") != 0 || !has_memory(after))))
		return true;

	for (int i = 0; i < 3; i++)
		strsep(&line, " ");
	root = strsep(&line, " ");
	point = strsep(&line, " ");
	if (!point)
		return true;
	unescape(root);
	unescape(point);
	cut_slash(root);
	rest = below(hierarchy->path, root);
	snprintf(full, sizeof(full), "%s%s", look->root, point);
	if ((!rest && !look->any) ||
		(access(full, X_OK) != 0 && (!look->any || errno == ENOENT)))
		return true;
	if (!rest)
		rest = "";
	cut_slash(point);
	hierarchy->top = strlen(point);
	if (hierarchy->top + strlen(rest) >= NAME_SIZE)
		return refuse(look, "has a control group whose path is too long", "");
	memmove(hierarchy->path + hierarchy->top, rest, strlen(rest) + 1);
	memcpy(hierarchy->path, point, hierarchy->top);
	hierarchy->wanted = false;
	hierarchy->mounted = true;
	return true;
}

/* a line of a file with a limit, which has one line */
static bool
take_limit(Look *look, char *line)
{
	const char *from = line;
	uint64_t	limit;

	if (look->reading == &look->v2 && strcmp(line, "max") == 0)
		return true;
	if (!read_number(&from, &limit) || *from != '\0' || limit == 0)
		return holds(look, line);
	if (limit < NO_LIMIT && (look->least == 0 || limit < look->least))
		look->least = limit;
	if (limit < NO_LIMIT && (look->here == 0 || limit < look->here))
		look->here = limit;
	return true;
}

/* the line of a file with a group's usage */
static bool
take_usage(Look *look, char *line)
{
	const char *from = line;

	if (read_number(&from, &look->use.used) && *from == '\0')
		look->use.seen++;
	return true;
}

/* a line of a group's statistics */
static bool
take_statistic(Look *look, char *line)
{
	take_use(look, line, look->reading->cached, 1, &look->use.cached);
	take_use(look, line, look->reading->shared, 1, &look->use.shared);
	return true;
}

/* Have a function take each line until it refuses.  A missing file has none. */
static bool
read_file(Look *look, const char *name, bool (*take) (Look *, char *))
{
	char		path[LINE_SIZE];
	char	   *line = NULL;
	size_t		size = 0;
	ssize_t		length;
	bool		empty = true;
	bool		fine = true;
	int			fd;
	FILE	   *file;

	/* a path that is cut is too long for the kernel; do not wait for a pipe */
	look->name = name;
	snprintf(path, sizeof(path), "%s%s", look->root, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno == ENOENT || refuse(look, "cannot be read: ", strerror(errno));
	file = fdopen(fd, "r");
	while (fine && file && (length = getline(&line, &size, file)) > 0)
	{
		empty = false;
		if (line[length - 1] == '\n')
			line[--length] = '\0';
		/* the mount wanted may be on another line */
		if (length < LINE_SIZE)
			fine = take(look, line);
		else if (take != take_mount)
			fine = refuse(look, "has a line that is too long", "");
	}
	if (fine && !(file && feof(file)))
		fine = refuse(look, "cannot be read: ", strerror(errno));
	free(line);
	if (file)
		fclose(file);
	else
		close(fd);
	return fine && (!empty || take != take_limit || holds(look, ""));
}

/*
 * Find out what page cache a group with a limit may have.  The figures are not
 * of one moment, so shared memory may be more than what includes it.
 */
static void
read_use(Look *look, Hierarchy *hierarchy, size_t length)
{
	MemoryUse  *use = &look->use;
	uint64_t	kept;			/* by others than the page cache */

	memset(use, 0, sizeof(*use));
	strcpy(hierarchy->path + length, hierarchy->usage);
	(void) read_file(look, hierarchy->path, take_usage);
	strcpy(hierarchy->path + length, "/memory.stat");
	(void) read_file(look, hierarchy->path, take_statistic);
	kept = use->used + use->shared > use->cached ? use->used + use->shared - use->cached : 0;
	if (use->seen == 3)
		take_page_cache(look, look->here > kept ? look->here - kept : 0);
	else
		look->no_page_cache = true;
}

/* Read the limits from the process's group up to the mount point. */
static bool
read_limits(Look *look, Hierarchy *hierarchy)
{
	size_t		length = strlen(hierarchy->path);

	look->name = hierarchy->path;
	if (!hierarchy->mounted)
		return !hierarchy->wanted || length == 0 || refuse(look, "is a control group that is not mounted", "");
	look->reading = hierarchy;
	for (;;)
	{
		look->here = 0;
		for (const char **file = hierarchy->files; *file; file++)
		{
			strcpy(hierarchy->path + length, *file);
			if (!read_file(look, hierarchy->path, take_limit))
				return false;
		}
		if (look->here != 0)
			read_use(look, hierarchy, length);
		if (length == hierarchy->top)
			return true;
		while (hierarchy->path[--length] != '/')
			;
	}
}

static bool
read_groups(Look *look)
{
	if (!read_file(look, "/proc/self/cgroup", take_group))
		return false;
	for (int pass = 0; pass < 2 && (look->v1.wanted || look->v2.wanted); pass++)
	{
		look->any = pass > 0;
		if (!read_file(look, "/proc/self/mountinfo", take_mount))
			return false;
	}
	/* the controller is in version 1: the other need not be mounted */
	if (look->v1.mounted)
		look->v2.wanted = false;
	return read_limits(look, &look->v1) && read_limits(look, &look->v2);
}

void
ws_memory_limits_read(const char *root, WsMemory *memory)
{
	Look		look = {
		.root = root,
		.memory = memory,
		.v1.files = {"/memory.limit_in_bytes"},
		.v1.usage = "/memory.usage_in_bytes",
		.v1.cached = "total_cache",
		.v1.shared = "total_shmem",
		.v2.files = {"/memory.max", "/memory.high"},
		.v2.usage = "/memory.current",
		.v2.cached = "file",
		.v2.shared = "shmem"
	};
	bool		groups;

	memset(memory, 0, sizeof(*memory));
	if (read_file(&look, "/proc/meminfo", take_total) && memory->host == 0)
		refuse(&look, "has no MemTotal", "");
	if (look.use.seen == 4 && look.use.cached >= look.use.shared)
		take_page_cache(&look, look.use.free + look.use.cached - look.use.shared);
	else
		look.no_page_cache = true;
	(void) read_file(&look, "/proc/self/status", take_huge);
	(void) read_file(&look, "/sys/kernel/mm/lru_gen/enabled", take_generations);
	(void) read_file(&look, "/proc/sys/kernel/osrelease", take_release);
	groups = read_groups(&look);
	if (look.no_page_cache || !groups)
	{
		memory->page_cache_known = false;
		memory->page_cache = 0;
	}
	if (!groups)
	{
		memory->late = false;
		return;
	}
	memory->by_cgroup = look.least != 0 && (memory->host == 0 || look.least < memory->host);
	memory->late = memory->late && memory->by_cgroup;
	memory->limit = memory->by_cgroup ? look.least : memory->host;
	if (memory->limit != 0)
		memory->reason[0] = '\0';
	if (memory->huge && memory->by_cgroup)
	{
		look.name = "/proc/self/status";
		(void) refuse(&look, "has huge pages, which the control group's limit does not include", "");
		memory->by_cgroup = false;
		memory->limit = 0;
	}
}
