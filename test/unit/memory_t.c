/*
 * memory_t.c
 *		Tests of the memory limit: trees of small files that imitate machines.
 *
 * Each machine is a directory of its own with a /proc and a /sys/fs/cgroup, as
 * such machines have them.  Where a file must be unreadable it is a directory, a
 * loop of links, or a pipe that nobody writes to, for root may read any other.
 * A TRAP is a limit that does not bind, and would be the least if it did.
 */
#define _GNU_SOURCE
#include "tap.h"
#include "memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MB				(UINT64_C(1) << 20)
#define GB				(UINT64_C(1) << 30)
#define HOST			(8 * GB)
#define TRAP			"4096\n"

#define V2				"30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1				"35 31 0:32 / /sys/fs/cgroup/memory rw,nosuid shared:17 - cgroup cgroup rw,memory\n"
#define UNIFIED			"41 31 0:38 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw\n"
#define NO_LIMIT_V1		"9223372036854771712\n"
#define ID				"4c01db0b339c8f2e5e1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f6071"

static char base[1024];			/* all trees are in here */
static char root[1100];			/* the present one */
static int	trees;
static char big[3 << 20];

static WsMemory memory;
static bool intact;				/* has nothing been written behind the result? */

static void
die(const char *what)
{
	diag("%s: %s", what, strerror(errno));
	exit(1);
}

static const char *
in_tree(const char *name)
{
	static char path[8192];

	snprintf(path, sizeof(path), "%s%s", root, name);
	return path;
}

/* make a directory with all above it, or only those above it */
static void
make_dirs(const char *name, bool last)
{
	char		path[8192];

	snprintf(path, sizeof(path), "%s%s%s", root, name, last ? "/" : "");
	for (char *p = path + strlen(base) + 1; (p = strchr(p, '/')) != NULL; p++)
	{
		*p = '\0';
		if (mkdir(path, 0755) != 0 && errno != EEXIST)
			die(path);
		*p = '/';
	}
}

static void
put_bytes(const char *name, const char *content, size_t size)
{
	FILE	   *f;

	make_dirs(name, false);
	/* a new file, as some file systems write one that is cut to the disk at once */
	unlink(in_tree(name));
	f = fopen(in_tree(name), "w");
	if (!f || fwrite(content, 1, size, f) != size || fclose(f) != 0)
		die(name);
}

static void
put(const char *name, const char *content)
{
	put_bytes(name, content, strlen(content));
}

static void
put_number(const char *name, uint64_t number)
{
	char		content[32];

	snprintf(content, sizeof(content), "%llu\n", (unsigned long long) number);
	put(name, content);
}

static void
put_link(const char *name, const char *target)
{
	make_dirs(name, false);
	if (symlink(target, in_tree(name)) != 0)
		die(name);
}

/* a pipe with something in it; an end to close */
static int
put_pipe(const char *name, const char *content)
{
	int			fd;

	make_dirs(name, false);
	if (mkfifo(in_tree(name), 0600) != 0 ||
		(fd = open(in_tree(name), O_RDWR | O_NONBLOCK)) < 0 ||
		write(fd, content, strlen(content)) != (ssize_t) strlen(content))
		die(name);
	return fd;
}

/* a machine of 8 GB, in these groups and with these mounts, if not NULL */
static void
machine(const char *groups, const char *mounts)
{
	snprintf(root, sizeof(root), "%s/%d", base, trees++);
	put("/proc/meminfo", "MemTotal:        8388608 kB\nMemFree:          123456 kB\n"
		"MemAvailable:    4000000 kB\nHugePages_Total:       0\n");
	if (groups)
		put("/proc/self/cgroup", groups);
	if (mounts)
		put("/proc/self/mountinfo", mounts);
}

static void
look(void)
{
	struct
	{
		char		before[64];
		WsMemory	memory;
		char		behind[64];
	}			guarded;

	memset(&guarded, 0xA5, sizeof(guarded));
	ws_memory_read(root, &guarded.memory);
	memory = guarded.memory;
	intact = memchr(memory.reason, '\0', sizeof(memory.reason)) != NULL;
	for (size_t i = 0; i < sizeof(guarded.behind); i++)
		intact = intact && (guarded.before[i] & 0xFF) == 0xA5 &&
			(guarded.behind[i] & 0xFF) == 0xA5;
}

static bool
seen(uint64_t limit, uint64_t host, bool by_cgroup, const char *reason)
{
	look();
	return intact && memory.limit == limit && memory.host == host &&
		memory.by_cgroup == by_cgroup && strcmp(memory.reason, reason) == 0;
}

static bool
tell(bool passed)
{
	if (!passed)
		diag("got limit %llu, host %llu, by %s, reason %.191s",
			 (unsigned long long) memory.limit, (unsigned long long) memory.host,
			 memory.by_cgroup ? "group" : "host", memory.reason);
	return passed;
}

/* the limit is the host's, a group's, or not known */
#define IS_HOST(name) \
	tell(ok(seen(HOST, HOST, false, ""), "%s", (name)))
#define IS_GROUP(limit, name) \
	tell(ok(seen((limit), HOST, true, ""), "%s", (name)))
#define IS_UNKNOWN(reason, name) \
	tell(ok(seen(0, HOST, false, (reason)), "%s", (name)))

static void
test_host(void)
{
	machine(NULL, NULL);
	IS_HOST("no control groups at all: the machine's memory");
	machine("", V2);
	IS_HOST("no hierarchy");
	machine("1:name=systemd:/user.slice\n", NULL);
	IS_HOST("no hierarchy of memory");
	machine("5:name=memory:/x\n4:memoryx:/x\n3:xmemory:/x\n2:cpu,mem:/x\n", V1);
	put("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", TRAP);
	IS_HOST("names that are almost memory");

	machine(NULL, NULL);
	put("/proc/meminfo", "MemFree: 7 kB\nXMemTotal: 9 kB\nMemTotalX: 8 kB\nMemTotal: 1024 kB");
	tell(ok(seen(MB, MB, false, ""), "one space, no newline, not the first line"));
	put("/proc/meminfo", "MemTotal:1125899906842623 kB\n");
	tell(ok(seen((GB - 1 + (MB - 1) * GB) * 1024, (GB - 1 + (MB - 1) * GB) * 1024, false, ""),
			"the greatest memory"));
}

static void
test_no_host(void)
{
	static const struct
	{
		const char *content;
		const char *reason;
	}			bad[] = {
		{"", "\"/proc/meminfo\" has no MemTotal"},
		{"MemFree: 5 kB\n", "\"/proc/meminfo\" has no MemTotal"},
		{"MemTotal: 0 kB\n", "\"/proc/meminfo\" holds \"MemTotal: 0 kB\""},
		{"MemTotal: kB\n", "\"/proc/meminfo\" holds \"MemTotal: kB\""},
		{"MemTotal: 5\n", "\"/proc/meminfo\" holds \"MemTotal: 5\""},
		{"MemTotal: 5 MB\n", "\"/proc/meminfo\" holds \"MemTotal: 5 MB\""},
		{"MemTotal: 5 kBs\n", "\"/proc/meminfo\" holds \"MemTotal: 5 kBs\""},
		{"MemTotal: -5 kB\n", "\"/proc/meminfo\" holds \"MemTotal: -5 kB\""},
		{"MemTotal: 1125899906842624 kB\n",
		"\"/proc/meminfo\" holds \"MemTotal: 1125899906842624 kB\""},
		{"MemTotal: 18014398509481985 kB\n",
		"\"/proc/meminfo\" holds \"MemTotal: 18014398509481985 kB\""},
		{"MemTotal: 99999999999999999999999 kB\n",
		"\"/proc/meminfo\" holds \"MemTotal: 99999999999999999999999 kB\""},
	};
	int			fd;

	machine(NULL, NULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
	{
		put("/proc/meminfo", bad[i].content);
		tell(ok(seen(0, 0, false, bad[i].reason), "no memory: %s", bad[i].reason));
	}

	if (unlink(in_tree("/proc/meminfo")) != 0)
		die("meminfo");
	tell(ok(seen(0, 0, false, "\"/proc/meminfo\" has no MemTotal"), "no meminfo"));
	put_link("/proc/meminfo", "meminfo");
	tell(ok(seen(0, 0, false, "\"/proc/meminfo\" cannot be read: "
				 "Too many levels of symbolic links"), "meminfo cannot be opened"));
	unlink(in_tree("/proc/meminfo"));
	make_dirs("/proc/meminfo", true);
	tell(ok(seen(0, 0, false, "\"/proc/meminfo\" cannot be read: Is a directory"),
			"meminfo cannot be read"));

	/* a group's limit will do instead */
	put("/proc/self/cgroup", "0::/a\n");
	put("/proc/self/mountinfo", V2);
	put_number("/sys/fs/cgroup/a/memory.max", 64 * GB);
	tell(ok(seen(64 * GB, 0, true, ""), "then the limit is a group's"));
	put("/sys/fs/cgroup/a/memory.max", "max\n");
	tell(ok(seen(0, 0, false, "\"/proc/meminfo\" cannot be read: Is a directory"),
			"unless it has none"));
	put("/sys/fs/cgroup/a/memory.max", "foo\n");
	tell(ok(seen(0, 0, false, "\"/sys/fs/cgroup/a/memory.max\" holds \"foo\""),
			"or it is not known either"));
	put("/proc/self/cgroup", "4:memory:/a\n");
	put("/proc/self/mountinfo", V1);
	put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1152921504606846976\n");
	tell(ok(seen(0, 0, false, "\"/proc/meminfo\" cannot be read: Is a directory"),
			"version 1: no limit is no memory"));
	put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1152921504606846975\n");
	tell(ok(seen((UINT64_C(1) << 60) - 1, 0, true, ""), "version 1: the greatest limit"));

	/* what has been read before an error counts */
	machine(NULL, NULL);
	unlink(in_tree("/proc/meminfo"));
	fd = put_pipe("/proc/meminfo", "MemTotal: 8388608 kB\n");
	IS_HOST("an error after MemTotal");
	close(fd);
}

static void
test_v2(void)
{
	static const char *const level[] = {
		"", "/system.slice", "/system.slice/pg.slice",
		"/system.slice/pg.slice/postgresql@15-main.service"
	};
	static const char *const file[] = {"memory.max", "memory.high"};
	char		name[256];

	/* systemd with MemoryMax on a slice */
	machine("0::/system.slice/postgresql.service\n", V2);
	put("/sys/fs/cgroup/system.slice/postgresql.service/memory.max", "max\n");
	put("/sys/fs/cgroup/system.slice/postgresql.service/memory.high", "max\n");
	put("/sys/fs/cgroup/system.slice/memory.max", "2147483648\n");
	put("/sys/fs/cgroup/system.slice/memory.high", "max\n");
	put("/sys/fs/cgroup/user.slice/memory.max", TRAP);
	put("/sys/fs/memory.max", TRAP);
	put("/sys/fs/cgroup/memory.limit_in_bytes", TRAP);
	put("/sys/fs/cgroup/system.slice/postgresql.service/memory.low", TRAP);
	put("/sys/fs/cgroup/system.slice/postgresql.service/sub/memory.max", TRAP);
	IS_GROUP(2 * GB, "version 2: MemoryMax of a slice above the service");
	put("/sys/fs/cgroup/system.slice/memory.max", "max\n");
	IS_HOST("version 2: max everywhere");

	/* the least of all levels, wherever it is */
	for (int least = 0; least < 4; least++)
		for (int f = 0; f < 2; f++)
		{
			machine("0::/system.slice/pg.slice/postgresql@15-main.service\n", V2);
			for (int l = 0; l < 4; l++)
				for (int g = 0; g < 2; g++)
				{
					snprintf(name, sizeof(name), "/sys/fs/cgroup%s/%s", level[l], file[g]);
					put_number(name, l == least && g == f ? GB : 2 * GB + (l + g) * MB);
				}
			snprintf(name, sizeof(name), "version 2: %s in group \"%s\"", file[f], level[least]);
			IS_GROUP(GB, name);
		}

	/* missing files, and missing directories */
	machine("0::/a/b/c\n", V2);
	make_dirs("/sys/fs/cgroup", true);
	IS_HOST("version 2: without any file");
	make_dirs("/sys/fs/cgroup/a/b/c", true);
	put_number("/sys/fs/cgroup/a/memory.max", 3 * GB);
	IS_GROUP(3 * GB, "version 2: no file in the lower groups");
	put_number("/sys/fs/cgroup/a/b/c/memory.high", 2 * GB);
	IS_GROUP(2 * GB, "version 2: memory.high alone");
	put("/proc/self/cgroup", "0::/a/gone/c/d");
	IS_GROUP(3 * GB, "version 2: directories that are gone, and no newline");

	/* beside the host */
	machine("0::/a\n", V2);
	put_number("/sys/fs/cgroup/a/memory.max", HOST - 1);
	IS_GROUP(HOST - 1, "just below the host's memory");
	put_number("/sys/fs/cgroup/a/memory.max", HOST);
	IS_HOST("just the host's memory");
	put_number("/sys/fs/cgroup/a/memory.max", HOST + 1);
	IS_HOST("more than the host's memory");
	put("/sys/fs/cgroup/a/memory.max", "1");
	IS_GROUP(1, "the least limit, without a newline");
	put("/sys/fs/cgroup/a/memory.max", "18446744073709551621\n");
	IS_HOST("a number that does not fit");
	put("/sys/fs/cgroup/a/memory.max", "00000000000000000005\n");
	IS_HOST("a number of 20 digits is none");
	put("/sys/fs/cgroup/a/memory.max", "0000000000000000010\n");
	IS_GROUP(10, "a number of 19 digits is one, and decimal");
}

/* as a machine with version 1 and many controllers has them */
#define MANY_GROUPS(path) \
	"12:pids:/trap\n11:hugetlb:/trap\n10:net_cls,net_prio:/trap\n9:perf_event:/trap\n" \
	"8:memory:" path "\n7:cpu,cpuacct:/trap\n2:blkio:/trap\n1:name=systemd:/trap\n"
#define MANY_MOUNTS(root) \
	"25 30 0:23 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n" \
	"32 25 0:28 / /sys/fs/cgroup ro,nosuid shared:9 - tmpfs tmpfs ro,mode=755\n" \
	"33 32 0:29 " root " /sys/fs/cgroup/systemd rw shared:11 - cgroup cgroup rw,xattr,name=systemd\n" \
	"34 32 0:30 " root " /sys/fs/cgroup/cpu,cpuacct rw shared:14 - cgroup cgroup rw,cpu,cpuacct\n" \
	"35 32 0:31 " root " /sys/fs/cgroup/x rw shared:15 - cgroup cgroup rw,memoryx,xmemory,name=memory\n" \
	"36 32 0:32 " root " /sys/fs/cgroup/memory rw shared:16 - cgroup cgroup rw,memory\n" \
	"37 32 0:33 " root " /sys/fs/cgroup/pids rw shared:17 - cgroup cgroup rw,pids\n"

static void
put_traps(void)
{
	static const char *const where[] = {"systemd", "cpu,cpuacct", "x", "pids", "trap", "memory/trap"};
	char		name[256];

	for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++)
	{
		snprintf(name, sizeof(name), "/sys/fs/cgroup/%s/memory.limit_in_bytes", where[i]);
		put(name, TRAP);
	}
	put("/sys/fs/cgroup/memory.limit_in_bytes", TRAP);
	put("/sys/fs/cgroup/memory/memory.max", TRAP);
	put("/sys/fs/cgroup/memory/memory.high", TRAP);
	put("/sys/fs/cgroup/memory/memory.soft_limit_in_bytes", TRAP);
}

static void
test_v1(void)
{
	static const char *const lists[] = {"memory", "cpu,memory", "memory,hugetlb", "a,memory,b"};
	static const char *const none[] = {
		NO_LIMIT_V1, "9223372036854775807\n", "9223372036854710272\n", "8796093018112\n"
	};
	char		line[256];

	machine(MANY_GROUPS("/system.slice/pg.service"), MANY_MOUNTS("/"));
	put_traps();
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", NO_LIMIT_V1);
	put("/sys/fs/cgroup/memory/system.slice/memory.limit_in_bytes", NO_LIMIT_V1);
	put("/sys/fs/cgroup/memory/system.slice/pg.service/memory.limit_in_bytes", "1073741824\n");
	IS_GROUP(GB, "version 1: a service");
	put_number("/sys/fs/cgroup/memory/system.slice/memory.limit_in_bytes", 512 * MB);
	IS_GROUP(512 * MB, "version 1: the slice has less");
	put_number("/sys/fs/cgroup/memory/memory.limit_in_bytes", 256 * MB);
	IS_GROUP(256 * MB, "version 1: the mount point has less");

	machine(MANY_GROUPS("/a"), MANY_MOUNTS("/"));
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
	{
		put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", none[i]);
		snprintf(line, sizeof(line), "version 1: no limit is %.19s", none[i]);
		IS_HOST(line);
	}
	put_number("/sys/fs/cgroup/memory/memory.limit_in_bytes", GB);
	IS_GROUP(GB, "version 1: no limit below a limit");

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
	{
		snprintf(line, sizeof(line), "3:%s:/a:b\n", lists[i]);
		machine(line, NULL);
		snprintf(line, sizeof(line), "35 31 0:32 / /mnt rw - cgroup cgroup rw,%s\n", lists[i]);
		put("/proc/self/mountinfo", line);
		put_number("/mnt/a:b/memory.limit_in_bytes", GB);
		snprintf(line, sizeof(line), "version 1: controllers %s; a colon in a name", lists[i]);
		IS_GROUP(GB, line);
	}
}

static void
test_containers(void)
{
	/* docker, version 1, with the host's names */
	machine(MANY_GROUPS("/docker/" ID), MANY_MOUNTS("/docker/" ID));
	put_traps();
	put_number("/sys/fs/cgroup/memory/memory.limit_in_bytes", GB);
	IS_GROUP(GB, "docker, version 1: the container's group is mounted");

	/* the same with a service that made a group in it */
	machine(MANY_GROUPS("/docker/" ID "/sub"), MANY_MOUNTS("/docker/" ID));
	put_number("/sys/fs/cgroup/memory/memory.limit_in_bytes", 2 * GB);
	put_number("/sys/fs/cgroup/memory/sub/memory.limit_in_bytes", GB);
	put("/sys/fs/cgroup/memory/docker/memory.limit_in_bytes", TRAP);
	IS_GROUP(GB, "docker, version 1: a group below it");

	machine(MANY_GROUPS("/"), MANY_MOUNTS("/"));
	put_traps();
	put_number("/sys/fs/cgroup/memory/memory.limit_in_bytes", GB);
	IS_GROUP(GB, "docker, version 1, namespace of groups");

	machine(MANY_GROUPS("/docker/" ID), MANY_MOUNTS("/docker/other"));
	put_number("/sys/fs/cgroup/memory/memory.limit_in_bytes", GB);
	put("/sys/fs/cgroup/memory/docker/" ID "/memory.limit_in_bytes", TRAP);
	IS_GROUP(GB, "version 1: another root: the mount point counts");

	machine("0::/\n", V2);
	put_number("/sys/fs/cgroup/memory.max", GB);
	put("/sys/fs/cgroup/memory.high", "max\n");
	put("/sys/fs/cgroup/init.scope/memory.max", TRAP);
	put("/memory.max", TRAP);
	IS_GROUP(GB, "docker, version 2, namespace of groups");

	machine("0::/system.slice/docker-" ID ".scope\n", V2);
	put_number("/sys/fs/cgroup/system.slice/docker-" ID ".scope/memory.max", GB);
	IS_GROUP(GB, "docker, version 2, with the host's groups");
	machine("0::/system.slice/docker-" ID ".scope\n", V2);
	put_number("/sys/fs/cgroup/memory.max", GB);
	IS_GROUP(GB, "docker, version 2, the host's name but not its groups");

	/* outside of the namespace */
	machine("0::/../..\n", V2);
	put_number("/sys/fs/cgroup/memory.max", GB);
	put("/sys/memory.max", TRAP);
	put("/sys/fs/memory.max", TRAP);
	IS_GROUP(GB, "a group above the namespace: the mount point counts");
	put("/proc/self/cgroup", "0::/..\n");
	IS_GROUP(GB, "a group just above");
	put("/proc/self/cgroup", "0::/../pg\n");
	make_dirs("/sys/fs/pg", true);
	put("/sys/fs/pg/memory.max", TRAP);
	IS_GROUP(GB, "a group beside the namespace");
	put("/proc/self/cgroup", "0::/pg/../..\n");
	make_dirs("/sys/fs/cgroup/pg", true);
	IS_GROUP(GB, "a way out in the middle");
	put("/proc/self/cgroup", "0::/..a/../../pg\n");
	make_dirs("/sys/fs/cgroup/..a", true);
	IS_GROUP(GB, "a way out behind what looks like one");
	machine("0::/..a/b../c..d/...\n", V2);
	put_number("/sys/fs/cgroup/..a/b../c..d/.../memory.max", GB);
	IS_GROUP(GB, "dots that do not lead out");
	machine("0::/../pg\n", "30 23 0:26 /.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	put_number("/sys/fs/cgroup/memory.max", 2 * GB);
	put_number("/sys/fs/cgroup/pg/memory.max", GB);
	IS_GROUP(GB, "mounted from above the namespace");
	machine("0::/..\n", "30 23 0:26 /.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	put_number("/sys/fs/cgroup/memory.max", GB);
	IS_GROUP(GB, "mounted from there, and the group is that");

	/* kubernetes */
#define POD "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1b2c3d4e_5f60_7182.slice"
	machine("0::" POD "/cri-containerd-" ID ".scope\n", V2);
	put("/sys/fs/cgroup" POD "/cri-containerd-" ID ".scope/memory.max", "max\n");
	put_number("/sys/fs/cgroup" POD "/memory.max", 3 * GB);
	put_number("/sys/fs/cgroup/kubepods.slice/memory.max", 7 * GB);
	IS_GROUP(3 * GB, "kubernetes, version 2: the pod's limit");
	machine(MANY_GROUPS("/kubepods/burstable/pod1b2c3d4e-5f60/" ID), MANY_MOUNTS("/"));
	put_traps();
	put_number("/sys/fs/cgroup/memory/kubepods/memory.limit_in_bytes", 7 * GB);
	put("/sys/fs/cgroup/memory/kubepods/burstable/memory.limit_in_bytes", NO_LIMIT_V1);
	put_number("/sys/fs/cgroup/memory/kubepods/burstable/pod1b2c3d4e-5f60/memory.limit_in_bytes", 3 * GB);
	put_number("/sys/fs/cgroup/memory/kubepods/burstable/pod1b2c3d4e-5f60/" ID
			   "/memory.limit_in_bytes", 2 * GB);
	put_number("/sys/fs/cgroup/memory/memory.limit_in_bytes", 8 * GB);
	IS_GROUP(2 * GB, "kubernetes, version 1: the container's limit");

	/* LXC */
	machine(MANY_GROUPS("/lxc/c1/init.scope"), MANY_MOUNTS("/lxc/c1"));
	put_number("/sys/fs/cgroup/memory/init.scope/memory.limit_in_bytes", GB);
	put_number("/sys/fs/cgroup/memory/memory.limit_in_bytes", 2 * GB);
	put("/sys/fs/cgroup/memory/lxc/c1/init.scope/memory.limit_in_bytes", TRAP);
	IS_GROUP(GB, "LXC: a part of the hierarchy is mounted");
	machine(MANY_GROUPS("/lxc/c1"), "35 31 0:32 /lxc/c /mnt/c rw - cgroup cgroup rw,memory\n"
			"36 31 0:32 /lxc/c1 /mnt/c1 rw - cgroup cgroup rw,memory\n");
	put("/mnt/c/memory.limit_in_bytes", TRAP);
	make_dirs("/mnt/c/1", true);
	put("/mnt/c/1/memory.limit_in_bytes", TRAP);
	put_number("/mnt/c1/memory.limit_in_bytes", GB);
	IS_GROUP(GB, "LXC: the beginning of a name is no root");
}

static void
test_hybrid(void)
{
	machine("4:memory:/a\n0::/b\n", V1 UNIFIED);
	put_number("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", GB);
	make_dirs("/sys/fs/cgroup/unified/b", true);
	put("/sys/fs/cgroup/unified/b/memory.limit_in_bytes", TRAP);
	put("/sys/fs/cgroup/memory/b/memory.limit_in_bytes", TRAP);
	put("/sys/fs/cgroup/unified/a/memory.max", TRAP);
	IS_GROUP(GB, "hybrid: version 1 has the memory");
	put_number("/sys/fs/cgroup/unified/b/memory.max", 512 * MB);
	IS_GROUP(512 * MB, "hybrid: the least of both, version 2");
	put_number("/sys/fs/cgroup/unified/b/memory.max", 2 * GB);
	IS_GROUP(GB, "hybrid: the least of both, version 1");
	put("/proc/self/cgroup", "0::/b\n4:memory:/a\n");
	put("/proc/self/mountinfo", UNIFIED V1);
	IS_GROUP(GB, "hybrid: in the other order");

	machine("4:memory:/a\n0::/b\n", V1);
	make_dirs("/sys/fs/cgroup/memory/a", true);
	IS_HOST("hybrid: version 2 not mounted, version 1 without limit");
	put_number("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", GB);
	IS_GROUP(GB, "hybrid: version 2 not mounted");

	machine("4:memory:/a\n0::/b\n", UNIFIED);
	put_number("/sys/fs/cgroup/unified/b/memory.max", GB);
	IS_UNKNOWN("\"/a\" is a control group that is not mounted", "hybrid: version 1 not mounted");
	put("/proc/self/cgroup", "4:memory:/\n0::/b\n");
	IS_GROUP(GB, "hybrid: version 1 not mounted, but the root");
	put("/proc/self/mountinfo", "");
	IS_UNKNOWN("\"/b\" is a control group that is not mounted", "hybrid: neither");
	put("/proc/self/cgroup", "4:memory:/\n0::/\n");
	IS_HOST("hybrid: neither, and both are the root");

	machine("1:name=systemd:/s\n0::/b\n", MANY_MOUNTS("/") UNIFIED);
	put_traps();
	make_dirs("/sys/fs/cgroup/unified/b", true);
	IS_HOST("hybrid: memory in neither");
}

static void
test_mounts(void)
{
	static const char *const optional[] = {
		"", " shared:4", " shared:4 master:3", " shared:4 master:3 propagate_from:2 unbindable"
	};
	static const struct
	{
		const char *escaped;
		const char *plain;
	}			escapes[] = {
		{"/sp\\040ace", "/sp ace"},
		{"/tab\\011\\012line", "/tab\t\nline"},
		{"/back\\134slash", "/back\\slash"},
		{"/back\\134040", "/back\\040"},
		{"/\\303\\251\\377", "/\303\251\377"},
		{"/no\\08\\080\\008\\400\\4\\x41", "/no\\08\\080\\008\\400\\4\\x41"},
		{"/last\\", "/last\\"},
		{"/last\\0", "/last\\0"},
		{"/last\\04", "/last\\04"},
		{"/\\057", "//"},
	};
	char		line[1024];

	for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); i++)
	{
		snprintf(line, sizeof(line), "30 23 0:26 /r /mnt rw%s - cgroup2 none rw\n", optional[i]);
		machine("0::/r/a\n", line);
		put_number("/mnt/a/memory.max", GB);
		snprintf(line, sizeof(line), "optional fields:%s", optional[i]);
		IS_GROUP(GB, line);
	}
	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++)
	{
		snprintf(line, sizeof(line), "30 23 0:26 / %s rw - cgroup2 none rw\n", escapes[i].escaped);
		machine("0::/a\n", line);
		snprintf(line, sizeof(line), "%s/a/memory.max", escapes[i].plain);
		put_number(line, GB);
		snprintf(line, sizeof(line), "mount point %s", escapes[i].escaped);
		IS_GROUP(GB, line);
	}
	machine("0::/r s\\t/a\n", "30 23 0:26 /r\\040s\\134t /mnt rw - cgroup2 none rw\n");
	put_number("/mnt/a/memory.max", GB);
	IS_GROUP(GB, "a root that is escaped");
	machine("0::/a\n", "30 23 0:26 / /mnt rw - cgroup2  rw\n");
	put_number("/mnt/a/memory.max", GB);
	IS_GROUP(GB, "version 2: a source that is empty");
	machine("4:memory:/a\n", "30 23 0:26 / /mnt rw - cgroup  rw,memory\n");
	put_number("/mnt/a/memory.limit_in_bytes", GB);
	IS_GROUP(GB, "version 1: a source that is empty");
	machine("0::/a/b\n", "30 23 0:26 / / rw - cgroup2 none rw\n");
	put_number("/a/memory.max", 2 * GB);
	put_number("/memory.max", GB);
	IS_GROUP(GB, "mounted at the root");
	put("/memory.max", "x\n");
	IS_UNKNOWN("\"/memory.max\" holds \"x\"", "mounted at the root, and the name of a file");

	/* other types, and what is no mount */
	machine("0::/a\n4:memory:/a\n", "1 1 0:1 / /t rw - cgroup3 x rw,memory\n"
			"1 1 0:1 / /t rw - cgroup22 x rw,memory\n" "1 1 0:1 / /t rw - xcgroup2 x rw,memory\n"
			"1 1 0:1 / /t rw - cgroup x rw\n" "1 1 0:1 / /t rw - cgroup memory rw,cpu\n"
			"1 1 0:1 / /t rw,memory - cgroup x rw,cpu\n" "1 1 0:1 / /t rw - cgroup memory\n"
			"1 1 0:1 / /t rw - tmpfs cgroup2 rw,memory\n" "1 1 0:1 / /t rw - cgroup\n"
			" - cgroup2 x rw\n" "1 - cgroup2 x rw\n" "1 1 0:1 - cgroup2 x rw\n"
			"1 1 0:1 / - cgroup2 x rw\n" "1 1 0:1 / t rw - cgroup2 x rw\n" "\n\n-\n - \n"
			"35 31 0:32 / /mnt rw - cgroup x rw,memory\n" "1 1 0:1 / /m2 rw - cgroup2 x rw,memory\n");
	put("/t/a/memory.max", TRAP);
	put("/t/a/memory.limit_in_bytes", TRAP);
	put("/mnt/a/memory.max", TRAP);
	put("/m2/a/memory.limit_in_bytes", TRAP);
	put_number("/mnt/a/memory.limit_in_bytes", 2 * GB);
	put_number("/m2/a/memory.max", GB);
	IS_GROUP(GB, "other mounts: version 2 is found");
	put("/m2/a/memory.max", "max");
	IS_GROUP(2 * GB, "other mounts: version 1 is found");

	/* several of the same type: the first that is of use */
#define MOUNT(root, point) "30 23 0:26 " root " " point " rw - cgroup2 none rw\n"
	machine("0::/a/b\n", MOUNT("/", "/one") MOUNT("/", "/two"));
	put_number("/one/a/b/memory.max", GB);
	put("/two/a/b/memory.max", TRAP);
	IS_GROUP(GB, "two mounts: the first");
	machine("0::/a/b\n", MOUNT("/", "/missing") MOUNT("/", "/two"));
	put_number("/two/a/b/memory.max", GB);
	IS_GROUP(GB, "two mounts: the first is not there");
	machine("0::/a/b\n", MOUNT("/", "/file") MOUNT("/", "/loop") MOUNT("/", "/three"));
	put("/file", "");
	put_link("/loop", "loop");
	put_number("/three/a/b/memory.max", GB);
	IS_GROUP(GB, "three mounts: the first two cannot be entered");
	machine("0::/a/b\n", MOUNT("/other", "/one") MOUNT("/a", "/two"));
	put("/one/memory.max", TRAP);
	put_number("/two/b/memory.max", GB);
	IS_GROUP(GB, "two mounts: the group is not in the first");
	machine("0::/a/b\n", MOUNT("/other", "/missing") MOUNT("/else", "/two") MOUNT("/nor", "/three"));
	put_number("/two/memory.max", GB);
	put("/three/memory.max", TRAP);
	IS_GROUP(GB, "three mounts: the group is in none, the first is not there");
	machine("0::/a/b\n", MOUNT("/", "/loop") MOUNT("/", "/missing"));
	put_link("/loop", "loop");
	IS_UNKNOWN("\"/loop/a/b/memory.max\" cannot be read: Too many levels of symbolic links",
			   "a mount that cannot be entered");
	machine("0::/\n", MOUNT("/", "/file"));
	put("/file", "");
	IS_UNKNOWN("\"/file/memory.max\" cannot be read: Not a directory",
			   "a mount that cannot be entered, of the root");

	/* none */
	machine("0::/a/b\n", MOUNT("/", "/missing"));
	IS_UNKNOWN("\"/a/b\" is a control group that is not mounted", "a mount that is not there");
	put("/proc/self/cgroup", "0::/\n");
	IS_HOST("a mount that is not there, of the root");
	machine("0::/a/b\n", V1);
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", TRAP);
	IS_UNKNOWN("\"/a/b\" is a control group that is not mounted", "version 2 not mounted");
	put("/proc/self/cgroup", "0::/\n");
	IS_HOST("version 2 not mounted, and the root");
	machine("4:memory:/a/b\n", V2);
	put("/sys/fs/cgroup/memory.max", TRAP);
	IS_UNKNOWN("\"/a/b\" is a control group that is not mounted", "version 1 not mounted");
	put("/proc/self/cgroup", "4:memory:/\n");
	IS_HOST("version 1 not mounted, and the root");
	machine("0::/a\n", NULL);
	IS_UNKNOWN("\"/a\" is a control group that is not mounted", "no mountinfo");
	put("/proc/self/cgroup", "0::/\n");
	IS_HOST("no mountinfo, and the root");
}

static void
test_unreadable(void)
{
	static const struct
	{
		const char *groups;
		const char *mounts;
		const char *file;
	}			files[] = {
		{NULL, V2, "/proc/self/cgroup"},
		{"0::/a/b\n", NULL, "/proc/self/mountinfo"},
		{"0::/\n", NULL, "/proc/self/mountinfo"},
		{"4:memory:/\n", NULL, "/proc/self/mountinfo"},
		{"0::/a/b\n", V2, "/sys/fs/cgroup/a/b/memory.max"},
		{"0::/a/b\n", V2, "/sys/fs/cgroup/a/b/memory.high"},
		{"0::/a/b\n", V2, "/sys/fs/cgroup/a/memory.high"},
		{"0::/a/b\n", V2, "/sys/fs/cgroup/memory.max"},
		{"4:memory:/a/b\n", V1, "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes"},
		{"4:memory:/a/b\n", V1, "/sys/fs/cgroup/memory/memory.limit_in_bytes"},
	};
	char		reason[256];
	struct rlimit old;
	struct rlimit none;
	int			fd;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
	{
		const char *file = files[i].file;

		/* another limit is known, which does not help */
		machine(files[i].groups, files[i].mounts);
		if (i > 3)
			put_number(i < 8 ? "/sys/fs/cgroup/a/memory.max" :
					   "/sys/fs/cgroup/memory/a/memory.limit_in_bytes", GB);
		make_dirs(file, true);
		snprintf(reason, sizeof(reason), "\"%s\" cannot be read: Is a directory", file);
		IS_UNKNOWN(reason, reason);
		if (rmdir(in_tree(file)) != 0)
			die(file);
		put_link(file, strrchr(file, '/') + 1);
		snprintf(reason, sizeof(reason),
				 "\"%s\" cannot be read: Too many levels of symbolic links", file);
		IS_UNKNOWN(reason, reason);
		unlink(in_tree(file));

		/* an error after something good: a pipe that may be written to yet */
		fd = put_pipe(file, i == 0 ? "4:cpu:/\n" : i < 4 ? V2 V1 : "1000000\n");
		snprintf(reason, sizeof(reason),
				 "\"%s\" cannot be read: Resource temporarily unavailable", file);
		IS_UNKNOWN(reason, reason);
		close(fd);
	}

	machine("0::/a\n", V2);
	close(put_pipe("/sys/fs/cgroup/a/memory.max", ""));
	IS_UNKNOWN("\"/sys/fs/cgroup/a/memory.max\" holds \"\"", "a pipe that nobody writes to");
	machine("0::/a/b\n", V2);
	put("/sys/fs/cgroup/a", "");
	IS_UNKNOWN("\"/sys/fs/cgroup/a/b/memory.max\" cannot be read: Not a directory",
			   "a group that is no directory");
	machine("1:cpu:/\n", NULL);
	make_dirs("/proc/self/mountinfo", true);
	IS_HOST("mountinfo cannot be read, and need not be");

	/* a permission; root has it anyway */
	machine("0::/a\n", V2);
	put("/sys/fs/cgroup/a/memory.max", "1000000\n");
	if (chmod(in_tree("/sys/fs/cgroup/a/memory.max"), 0) != 0)
		die("chmod");
	if (access(in_tree("/sys/fs/cgroup/a/memory.max"), R_OK) == 0)
		IS_GROUP(1000000, "root may read anything");
	else
		IS_UNKNOWN("\"/sys/fs/cgroup/a/memory.max\" cannot be read: Permission denied",
				   "no permission");

	/* no descriptor left */
	machine("0::/a\n", V2);
	make_dirs("/sys/fs/cgroup/a", true);
	fd = dup(0);
	close(fd);
	if (fd < 0 || getrlimit(RLIMIT_NOFILE, &old) != 0)
		die("getrlimit");
	none = old;
	none.rlim_cur = (rlim_t) fd;
	if (setrlimit(RLIMIT_NOFILE, &none) != 0)
		die("setrlimit");
	tell(ok(seen(0, 0, false, "\"/proc/self/cgroup\" cannot be read: Too many open files"),
			"too many open files"));
	if (setrlimit(RLIMIT_NOFILE, &old) != 0)
		die("setrlimit");
	IS_HOST("and one more");
}

static void
test_garbage(void)
{
	static const struct
	{
		const char *content;
		const char *shown;
	}			bad[] = {
		{"", ""},
		{"\n", ""},
		{"0\n", "0"},
		{"000\n", "000"},
		{"-1\n", "-1"},
		{"+1\n", "+1"},
		{" 1\n", " 1"},
		{"1 \n", "1 "},
		{"12x\n", "12x"},
		{"0x1000\n", "0x1000"},
		{"1e9\n", "1e9"},
		{"1.5\n", "1.5"},
		{"maximum\n", "maximum"},
		{"MAX\n", "MAX"},
		{"ma\n", "ma"},
		{"99999999999999999999999999x\n", "99999999999999999999999999x"},
		{"5000000\nfoo\n", "foo"},
		{"5000000\n\n", ""},
		{"max\nfoo", "foo"},
		{"\x01tab\tdel\x7f\303\251~ !\n", "?tab?del???~ !"},
	};
	static const char *const lines[] = {
		"foo", "", "4", "4:memory", "4:memory:", "4:memory:a", "0::", "0::a", ":memory/a:"
	};
	char		reason[256];
	char		content[512];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
	{
		machine("0::/a\n", V2);
		put("/sys/fs/cgroup/a/memory.max", bad[i].content);
		put_number("/sys/fs/cgroup/memory.max", GB);
		snprintf(reason, sizeof(reason), "\"/sys/fs/cgroup/a/memory.max\" holds \"%s\"", bad[i].shown);
		IS_UNKNOWN(reason, reason);
	}
	machine("4:memory:/a\n", V1);
	put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "max\n");
	IS_UNKNOWN("\"/sys/fs/cgroup/memory/a/memory.limit_in_bytes\" holds \"max\"",
			   "version 1 has no max");
	machine("0::/a\n", V2);
	put("/sys/fs/cgroup/a/memory.high", "0\n");
	IS_UNKNOWN("\"/sys/fs/cgroup/a/memory.high\" holds \"0\"", "memory.high of 0");

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
	{
		snprintf(content, sizeof(content), "0::/a\n%s\n1:cpu:/\n", lines[i]);
		machine(content, V2);
		put_number("/sys/fs/cgroup/a/memory.max", GB);
		snprintf(reason, sizeof(reason), "\"/proc/self/cgroup\" holds \"%s\"", lines[i]);
		IS_UNKNOWN(reason, reason);
	}

	/* a name is shown without what it may not have in a message, and cut */
	machine("0::/\303\244\x1b[1m\n", "");
	IS_UNKNOWN("\"/???[1m\" is a control group that is not mounted", "a name with odd letters");
	machine("0::/123456789/123456789/123456789/123456789/123456789/123456789/123456789/123\n", "");
	IS_UNKNOWN("\"/123456789/123456789/123456789/123456789/123456789/123456789/123456789/123\" "
			   "is a control group that is not mounted", "the longest name shown");
	put("/proc/self/cgroup", "0::/123456789/123456789/1234567x9/123456789/123456789/123456789/"
		"123456789/1234\n");
	IS_UNKNOWN("\"/123456789/123456789/123...567x9/123456789/123456789/123456789/123456789/1234\" "
			   "is a control group that is not mounted", "a longer one is cut");
	machine("0::" POD "/" ID "\n", V2);
	memset(content, 'y', 100);
	strcpy(content + 100, "z\n");
	put("/sys/fs/cgroup" POD "/" ID "/memory.max", content);
	IS_UNKNOWN("\"/sys/fs/cgroup/kubepods....e5f60718293a4b5c6d7e8f90a1b2c3d4e5f6071/memory.max\" "
			   "holds \"yyyyyyyyyyyyyyyyyyyyyyyy...yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyz\"",
			   "both cut");
}

static void
test_long(void)
{
	const char *mount = "99 23 0:26 / /mnt rw - cgroup2 none rw\n";
	size_t		length = strlen(mount);
	size_t		used;
	int			wrong = 0;
	char	   *p;

	/* many lines, and the mount is the last of them, or of many more */
	for (int last = 0; last < 2; last++)
	{
		p = big;
		for (int i = 0; i < 20000; i++)
			p += sprintf(p, "%d 23 0:%d / /var/lib/containers/overlay/%064d/merged rw "
						 "shared:%d - overlay overlay rw\n%s", i, i, i, i,
						 i == 10000 && !last ? mount : "");
		if (last)
			p = stpcpy(p, mount);
		machine("0::/a\n", NULL);
		put_bytes("/proc/self/mountinfo", big, (size_t) (p - big));
		put_number("/mnt/a/memory.max", GB);
		IS_GROUP(GB, last ? "20000 mounts, ours is the last" : "20000 mounts, ours is amidst them");
	}

	/* lines of all lengths about the size of a buffer, before the mount */
	machine("0::/a\n", NULL);
	put_number("/mnt/a/memory.max", GB);
	for (int buffers = 1; buffers <= 2; buffers++)
		for (size_t size = (size_t) buffers * 8192 - 60; size < (size_t) buffers * 8192 + 20; size++)
		{
			memset(big, 'x', size);
			big[size] = '\n';
			memcpy(big + size + 1, mount, length);
			put_bytes("/proc/self/mountinfo", big, size + 1 + length);
			wrong += !seen(GB, HOST, true, "");
			/* no newline at the end */
			put_bytes("/proc/self/mountinfo", big, size + length);
			wrong += !seen(GB, HOST, true, "");
		}
	is_int(wrong, 0, "long lines before the mount, with and without a newline at the end");

	/* what is behind a long line's first part is no line */
	wrong = 0;
	for (size_t size = 8192 - 60; size < 8192 + 20; size++)
	{
		p = big + sprintf(big, "9 2 0:2 / /x rw %0*d - tmpfs x ", (int) size, 0);
		p += sprintf(p, "\\");
		memcpy(p, "1 1 0:1 / /trap rw - cgroup2 none rw\n", 37);
		memcpy(p + 37, mount, length);
		used = (size_t) (p - big) + 37 + length;
		put_bytes("/proc/self/mountinfo", big, used);
		put("/trap/a/memory.max", TRAP);
		wrong += !seen(GB, HOST, true, "");
	}
	is_int(wrong, 0, "the rest of a long line is no line");
	memset(big, 'x', 50000);
	memcpy(big, mount, length);
	put_bytes("/proc/self/mountinfo", big, 50000);
	IS_GROUP(GB, "a long line after the mount, without a newline");
	memset(big + 8192, 'x', 8192);
	put_bytes("/proc/self/mountinfo", big, 8192);
	IS_GROUP(GB, "a buffer full of that");

	/* elsewhere a long line is too much */
	machine("0::/a\n", V2);
	put_number("/sys/fs/cgroup/a/memory.max", GB);
	memset(big, '9', 10000);
	memcpy(big, "1:cpu:/", 7);
	memcpy(big + 9999, "\n0::/a\n", 7);
	put_bytes("/proc/self/cgroup", big, 10006);
	IS_UNKNOWN("\"/proc/self/cgroup\" has a line that is too long", "a long line of groups");
	memcpy(big, "foo\n", 4);
	put_bytes("/proc/self/cgroup", big, 10006);
	IS_UNKNOWN("\"/proc/self/cgroup\" holds \"foo\"", "the first thing wrong is told");
	put("/proc/self/cgroup", "0::/a\n");
	memset(big, '9', 10000);
	put_bytes("/sys/fs/cgroup/a/memory.max", big, 10000);
	IS_UNKNOWN("\"/sys/fs/cgroup/a/memory.max\" has a line that is too long", "a long limit");
	put_bytes("/sys/fs/cgroup/a/memory.max", big, 8191);
	IS_HOST("the longest limit");
	put_bytes("/proc/meminfo", big, 9000);
	tell(ok(seen(0, 0, false, "\"/proc/meminfo\" has a line that is too long"), "a long meminfo"));

	/* paths that become too long: with the root, the mount point, or alone */
	machine(NULL, "30 23 0:26 / /mnt rw - cgroup2 none rw\n");
	put_number("/mnt/memory.max", GB);
	wrong = 0;
	for (size_t size = 3900; size < 4200; size++)
	{
		const char *reason =
			size >= 4096 ? "\"/proc/self/cgroup\" has a control group whose name is too long" :
			size + 4 >= 4096 ? "\"/proc/self/mountinfo\" has a control group whose path is too long" :
			"\" cannot be read: File name too long";
		const char *end;

		p = stpcpy(big, "0::");
		for (size_t i = 0; i < size; i++)
			*p++ = "/1234567"[i % 8];
		*p = '\0';
		put("/proc/self/cgroup", big);
		if (strlen(in_tree("/mnt/memory.high")) + size < 4096)
		{
			/* all these groups are gone */
			wrong += !seen(GB, HOST, true, "");
			continue;
		}
		if (strlen(in_tree("/mnt/memory.max")) + size < 4096)
			reason = "memory.high\" cannot be read: File name too long";
		look();
		end = strlen(memory.reason) < strlen(reason) ? "" :
			memory.reason + strlen(memory.reason) - strlen(reason);
		wrong += !intact || memory.limit != 0 || memory.host != HOST || memory.by_cgroup ||
			strcmp(end, reason) != 0;
	}
	is_int(wrong, 0, "paths that are too long");

	/* a mount point beyond what a path may be, with the root and without */
	memset(big, 'm', 5000);
	memcpy(big, "30 23 0:26 / /", 14);
	strcpy(big + 4000, " rw - cgroup2 none rw\n");
	machine("0::/a\n", big);
	IS_UNKNOWN("\"/mmmmmmmmmmmmmmmmmmmmmmm...mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm/a/memory.max\" "
			   "cannot be read: File name too long", "a long mount point");
	memset(big + 4000, 'm', 3000);
	strcpy(big + 7000, " rw - cgroup2 none rw\n");
	put("/proc/self/mountinfo", big);
	IS_UNKNOWN("\"/proc/self/mountinfo\" has a control group whose path is too long",
			   "a longer one");

	/* so long a path can be, if the tree is not deep: each level is read */
	machine(NULL, V2);
	p = big + sprintf(big, "0::");
	for (int i = 0; i < 1000; i++)
		p += sprintf(p, "/a");
	put("/proc/self/cgroup", big);
	put_number("/sys/fs/cgroup/a/a/memory.max", GB);
	IS_GROUP(GB, "1000 groups, most of them gone");
}

/* how many files are open */
static int
count_open(void)
{
	DIR		   *dir = opendir("/proc/self/fd");
	int			n = 0;

	if (!dir)
		die("/proc/self/fd");
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/*
 * A child looks at the descriptor while the long file is read: does it have
 * O_CLOEXEC?  The result is how often it had not, or -1 if it was never seen.
 */
static int
watch_descriptor(void)
{
	char		name[64];
	int			next = dup(0);
	int			status;
	pid_t		parent = getpid();
	pid_t		child;

	close(next);
	snprintf(name, sizeof(name), "/proc/%d/fdinfo/%d", (int) parent, next);
	fflush(stdout);
	child = fork();
	if (child < 0)
		die("fork");
	if (child == 0)
	{
		time_t		end = time(NULL) + 600;
		int			times = 0;
		int			without = 0;

		while (times < 20 && time(NULL) < end)
		{
			FILE	   *f = fopen(name, "r");
			char		line[128];
			unsigned	flags;

			if (!f)
				continue;
			while (fgets(line, sizeof(line), f))
				if (sscanf(line, "flags: %o", &flags) == 1)
				{
					times++;
					without += !(flags & O_CLOEXEC);
				}
			fclose(f);
		}
		_exit(times < 20 ? 99 : without);
	}
	while (waitpid(child, &status, WNOHANG) == 0)
		look();
	return WIFEXITED(status) && WEXITSTATUS(status) != 99 ? WEXITSTATUS(status) : -1;
}

static void
test_descriptors(void)
{
	char	   *p = big;

	for (int i = 0; i < 20000; i++)
		p += sprintf(p, "%d 23 0:%d / /%064d rw - overlay overlay rw\n", i, i, i);
	machine("0::/a\n", NULL);
	put_bytes("/proc/self/mountinfo", big, (size_t) (p - big));
	is_int(watch_descriptor(), 0, "files are not handed on to other programs");
}

/* can this process see a mount of control groups?  In a chroot it may not */
static bool
sees_groups(void)
{
	FILE	   *f = fopen("/proc/self/mountinfo", "r");
	bool		found = false;

	while (f && !found && fgets(big, sizeof(big), f))
		found = strstr(big, " - cgroup") != NULL;
	if (f)
		fclose(f);
	return found;
}

static void
test_real(void)
{
	root[0] = '\0';
	look();
	diag("limit %llu of %llu, %s", (unsigned long long) memory.limit,
		 (unsigned long long) memory.host, memory.reason);
	tell(ok(intact && memory.host > MB, "this machine has memory"));
	if (memory.limit == 0 && !sees_groups())
		tell(ok(!memory.by_cgroup && strstr(memory.reason, "not mounted"),
				"and how much may be used is not known, for a reason that is said"));
	else
		tell(ok(memory.limit > 0 && memory.limit <= memory.host &&
				memory.by_cgroup == (memory.limit < memory.host) && memory.reason[0] == '\0',
				"and some of it may be used"));
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void) st;
	(void) type;
	(void) ftw;
	return remove(path);
}

int
main(void)
{
	const char *directory = getenv("TMPDIR");
	int			before;

	plan(216);
	alarm(120);					/* should something block */
	snprintf(base, sizeof(base), "%s/memory_t.XXXXXX",
			 directory && *directory ? directory : "/tmp");
	if (!mkdtemp(base))
		die(base);
	before = count_open();
	test_host();
	test_no_host();
	test_v2();
	test_v1();
	test_containers();
	test_hybrid();
	test_mounts();
	test_unreadable();
	test_garbage();
	test_long();
	test_descriptors();
	test_real();
	is_int(count_open(), before, "no file is left open");
	ok(nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0 && access(base, F_OK) != 0,
	   "the trees are removed");
	return done();
}
