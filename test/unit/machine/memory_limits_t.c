/*
 * memory_limits_t.c
 *		Tests of the memory limit: trees of small files that imitate machines.
 *
 * Each machine is a directory of its own with a /proc and a /sys/fs/cgroup.  A
 * table has machines as they are known to exist, and odd ones.  Where a file must be unreadable it is a
 * directory, a loop of links, or a pipe that nobody writes to, for root may read
 * any other.  A TRAP is a limit that does not bind, and would be the least if it
 * did.
 */
#define _GNU_SOURCE
#include "memory_limits.h"
#include "trees.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define HOST			(UINT64_C(8) << 30)
#define TRAP			"4096\n"
#define M512			"536870912\n"
#define G1				"1073741824\n"
#define G2				"2147483648\n"
#define G3				"3221225472\n"
#define G7				"7516192768\n"

#define CG				"/sys/fs/cgroup"
#define V2				"30 23 0:26 / " CG " rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1				"35 31 0:32 / " CG "/memory rw,nosuid shared:17 - cgroup cgroup rw,memory\n"
#define UNIFIED			"41 31 0:38 / " CG "/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw\n"
#define MOUNT(root, point) "30 23 0:26 " root " " point " rw - cgroup2 none rw\n"
#define LIMIT			"/memory.limit_in_bytes"
#define NO_LIMIT_V1		"9223372036854771712\n"
#define ID				"4c01db0b339c8f2e5e1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f6071"
#define POD				"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1b2c3d4e_5f60_7182.slice"

/* as a machine with version 1 and many controllers has them */
#define MANY_GROUPS(path) \
	"12:pids:/trap\n11:hugetlb:/trap\n10:net_cls,net_prio:/trap\n9:perf_event:/trap\n" \
	"8:memory:" path "\n7:cpu,cpuacct:/trap\n2:blkio:/trap\n1:name=systemd:/trap\n"
#define MANY_MOUNTS(root) \
	"25 30 0:23 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n" \
	"32 25 0:28 / " CG " ro,nosuid shared:9 - tmpfs tmpfs ro,mode=755\n" \
	"33 32 0:29 " root " " CG "/systemd rw shared:11 - cgroup cgroup rw,xattr,name=systemd\n" \
	"34 32 0:30 " root " " CG "/cpu,cpuacct rw shared:14 - cgroup cgroup rw,cpu,cpuacct\n" \
	"35 32 0:31 " root " " CG "/x rw shared:15 - cgroup cgroup rw,memoryx,xmemory,name=memory\n" \
	"36 32 0:32 " root " " CG "/memory rw shared:16 - cgroup cgroup rw,memory\n" \
	"37 32 0:33 " root " " CG "/pids rw shared:17 - cgroup cgroup rw,pids\n"

static char big[3 << 20];
static int	opened;				/* files, in this program's code */
static int	inherited;			/* those without O_CLOEXEC */

/* The module's open(), too: it notes the flags. */
int
open(const char *path, int flags,...)
{
	opened++;
	inherited += !(flags & O_CLOEXEC);
	return (int) syscall(SYS_openat, AT_FDCWD, path, flags, 0);
}

/* a pipe with something in it; an end to close */
static int
put_pipe(const char *name, const char *content)
{
	int			fd;

	make_dirs(name, false);
	if (mkfifo(in_tree(name), 0600) != 0 ||
		(fd = open(in_tree(name), O_RDWR | O_NONBLOCK | O_CLOEXEC)) < 0 ||
		write(fd, content, strlen(content)) != (ssize_t) strlen(content))
		die(name);
	return fd;
}

/* a machine of 8 GB, in these groups and with these mounts, if not NULL */
static void
machine(const char *groups, const char *mounts)
{
	new_tree();
	put("/proc/meminfo", "MemTotal:        8388608 kB\nMemFree:          123456 kB\n"
		"MemAvailable:    4000000 kB\nHugePages_Total:       0\n");
	if (groups)
		put("/proc/self/cgroup", groups);
	if (mounts)
		put("/proc/self/mountinfo", mounts);
}

static WsMemory memory;
static bool intact;				/* has nothing been written behind the result? */

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
	ws_memory_limits_read(root, &guarded.memory);
	memory = guarded.memory;
	intact = memchr(memory.reason, '\0', sizeof(memory.reason)) != NULL;
	for (size_t i = 0; i < sizeof(guarded.behind); i++)
		intact = intact && (guarded.before[i] & 0xFF) == 0xA5 &&
			(guarded.behind[i] & 0xFF) == 0xA5;
}

/*
 * Is this the answer on a machine with so much memory?  "" is the machine's own
 * memory, a number the limit of a group, and anything else the reason why the
 * limit is not known.
 */
static bool
seen(const char *want, uint64_t host)
{
	bool		group = *want >= '0' && *want <= '9';
	uint64_t	limit = group ? strtoull(want, NULL, 10) : *want ? 0 : host;

	look();
	return intact && memory.limit == limit && memory.host == host && memory.by_cgroup == group &&
		strcmp(memory.reason, group ? "" : want) == 0;
}

static void
is_host_and(uint64_t host, const char *want, const char *name)
{
	if (!ok(seen(want, host), "%s", name))
		diag("got limit %llu, host %llu, by %s, reason %.191s",
			 (unsigned long long) memory.limit, (unsigned long long) memory.host,
			 memory.by_cgroup ? "group" : "host", memory.reason);
}

static void
is(const char *want, const char *name)
{
	is_host_and(HOST, want, name);
}

/* ---------------------------------------------------------------- known machines */

static const struct
{
	const char *name;
	const char *groups;
	const char *mounts;
	const char *files[12];		/* names and contents */
	const char *want;			/* as in seen() */
}			machines[] = {
	{"no control groups at all: the machine's memory", NULL, NULL, {0}, ""},
	{"no hierarchy of memory", "1:name=systemd:/user.slice\n", NULL, {0}, ""},
	{"names that are almost memory", "5:name=memory:/x\n4:memoryx:/x\n3:xmemory:/x\n2:cpu,mem:/x\n", V1,
		{CG "/memory/x" LIMIT, TRAP}, ""},

	/* systemd, version 2 */
	{"MemoryMax of a slice above the service", "0::/system.slice/pg.service\n", V2,
		{CG "/system.slice/pg.service/memory.max", "max\n", CG "/system.slice/memory.max", G2,
		CG "/user.slice/memory.max", TRAP, "/sys/fs/memory.max", TRAP, CG LIMIT, TRAP,
		CG "/system.slice/pg.service/sub/memory.max", TRAP}, G2},
	{"directories that are gone, and no newline", "0::/a/gone/c/d", V2, {CG "/a/memory.max", G3}, G3},

	/* version 1 */
	{"version 1: a service", MANY_GROUPS("/a/b"), MANY_MOUNTS("/"), {CG "/memory/a/b" LIMIT, G1,
		CG "/memory/a" LIMIT, NO_LIMIT_V1, CG "/memory" LIMIT, NO_LIMIT_V1}, G1},
	{"version 1: 2^60 is no limit", MANY_GROUPS("/a"), MANY_MOUNTS("/"), {CG "/memory/a" LIMIT, "1152921504606846976\n"}, ""},
	{"version 1: several controllers, and a colon in a name", "3:a,memory,b:/a:b\n",
		"35 31 0:32 / /mnt rw - cgroup cgroup rw,a,memory\n", {"/mnt/a:b" LIMIT, G1}, G1},

	/* containers */
	{"docker, version 1: the container's group is mounted", MANY_GROUPS("/docker/" ID),
		MANY_MOUNTS("/docker/" ID), {CG "/memory" LIMIT, G1}, G1},
	{"docker, version 1, namespace of groups", MANY_GROUPS("/"), MANY_MOUNTS("/"), {CG "/memory" LIMIT, G1}, G1},
	{"docker, version 2, namespace of groups", "0::/\n", V2, {CG "/memory.max", G1, CG "/memory.high", "max\n",
		CG "/init.scope/memory.max", TRAP, "/memory.max", TRAP}, G1},
	{"docker, version 2, with the host's groups", "0::/system.slice/docker-" ID ".scope\n", V2,
		{CG "/system.slice/docker-" ID ".scope/memory.max", G1}, G1},
	{"docker, version 2, the host's name but not its groups", "0::/system.slice/docker-" ID ".scope\n", V2,
		{CG "/memory.max", G1}, G1},
	{"kubernetes, version 2: the pod's limit", "0::" POD "/cri-containerd-" ID ".scope\n", V2,
		{CG POD "/cri-containerd-" ID ".scope/memory.max", "max\n", CG POD "/memory.max", G3,
		CG "/kubepods.slice/memory.max", G7}, G3},
	{"LXC: a part of the hierarchy is mounted", MANY_GROUPS("/lxc/c1/init.scope"), MANY_MOUNTS("/lxc/c1"),
		{CG "/memory/init.scope" LIMIT, G1, CG "/memory" LIMIT, G2,
		CG "/memory/lxc/c1/init.scope" LIMIT, TRAP}, G1},
	{"LXC: the beginning of a name is no root", MANY_GROUPS("/lxc/c1"),
		"35 31 0:32 /lxc/c /mnt/c rw - cgroup cgroup rw,memory\n36 31 0:32 /lxc/c1 /mnt/c1 rw - cgroup cgroup rw,memory\n",
		{"/mnt/c" LIMIT, TRAP, "/mnt/c/1" LIMIT, TRAP, "/mnt/c1" LIMIT, G1}, G1},
	{"a group beside the namespace: the mount point counts", "0::/../pg\n", V2,
		{CG "/memory.max", G1, "/sys/fs/memory.max", TRAP, "/sys/fs/pg/memory.max", TRAP}, G1},
	{"a way out behind what looks like one", "0::/..a/../../pg\n", V2, {CG "/memory.max", G1, CG "/..a", DIRECTORY,
		"/sys/fs/pg/memory.max", TRAP}, G1},

	/* both versions */
	{"hybrid: version 1 has the memory", "4:memory:/a\n0::/b\n", V1 UNIFIED,
		{CG "/memory/a" LIMIT, G1, CG "/unified/b", DIRECTORY, CG "/unified/b" LIMIT, TRAP,
		CG "/memory/b" LIMIT, TRAP, CG "/unified/a/memory.max", TRAP}, G1},
	{"hybrid: version 1 not mounted", "4:memory:/a\n0::/b\n", UNIFIED, {CG "/unified/b/memory.max", G1},
		"\"/a\" is a control group that is not mounted"},
	{"hybrid: memory in neither", "1:name=systemd:/s\n0::/b\n", MANY_MOUNTS("/") UNIFIED, {CG "/unified/b", DIRECTORY}, ""},

	{"hybrid: version 2 has less", "0::/b\n4:memory:/a\n", V1 UNIFIED,
		{CG "/memory/a" LIMIT, G2, CG "/unified/b/memory.max", G1}, G1},
	{"hybrid: version 2 not mounted", "4:memory:/a\n0::/b\n", V1, {CG "/memory/a" LIMIT, G1}, G1},
	{"hybrid: at the roots, and neither mounted", "4:memory:/\n0::/\n", "", {0}, ""},

	/* which mount counts */
	{"the first that the group is in", "0::/a/b\n", MOUNT("/b", "/m0") MOUNT("/a", "/m1") MOUNT("/", "/m2"),
		{"/m0/a/b/memory.max", TRAP, "/m0/memory.max", TRAP, "/m1/b/memory.max", G2, "/m1/memory.high", G1,
		"/m2/a/b/memory.max", TRAP}, G1},
	{"the group itself", "0::/a/b\n", MOUNT("/a/b", "/m0") MOUNT("/", "/m1"),
		{"/m0/memory.max", G3, "/m0/memory.high", G2, "/m1/memory.max", TRAP}, G2},
	{"one that is there, before one that is not", "0::/a\n", MOUNT("/", "/m0") MOUNT("/", "/m1"),
		{"/m1/a/memory.max", G3}, G3},
	{"one that the group is not in, for want of any other", "4:memory:/a\n",
		"35 31 0:32 /b /m0 rw - cgroup none rw,memory\n35 31 0:32 /other /m1 rw - cgroup none rw,memory\n",
		{"/m1" LIMIT, G3, "/m1/a" LIMIT, TRAP}, G3},
	{"a group that leads out of a mount", "0::/a/../b\n", MOUNT("/a", "/m0") MOUNT("/", "/m1"),
		{"/m0/memory.max", G3, "/b/memory.max", TRAP, "/m1/memory.max", TRAP, "/m1/b/memory.max", TRAP}, G3},
	{"and one that is named so itself", "0::/../a\n", MOUNT("/a", "/m0") MOUNT("/..", "/m1"),
		{"/m0/memory.max", TRAP, "/m1/a/memory.max", G3, "/m1/memory.max", G7}, G3},
	{"the group above the mount's root", "0::/..\n", MOUNT("/", "/m0"), {"/m0/memory.max", G3, "/memory.max", TRAP}, G3},
	{"one whose name only begins as that", "0::/..a/b\n", MOUNT("/", "/m0"),
		{"/m0/..a/b/memory.max", "max\n", "/m0/..a/memory.max", G1, "/m0/memory.max", G3}, G1},
	{"a mount that is no directory", "0::/a\n", MOUNT("/", "/file") MOUNT("/other", "/m1"),
		{"/file", "", "/m1/memory.max", TRAP}, "\"/file/a/memory.max\" cannot be read: Not a directory"},

	/* odd mounts */
	{"many optional fields", "0::/r/a\n",
		"30 23 0:26 /r /mnt rw shared:4 master:3 propagate_from:2 unbindable - cgroup2 none rw\n",
		{"/mnt/a/memory.max", G1}, G1},
	{"a root that is escaped", "0::/r s\\t/a\n", MOUNT("/r\\040s\\134t", "/mnt"), {"/mnt/a/memory.max", G1}, G1},
	{"a mount point that is escaped", "0::/a\n", MOUNT("/", "/\\040\\011\\012\\134a\\141\\060\\303\\377\303"),
		{"/ \t\n\\aa0\303\377\303/a/memory.max", G1}, G1},
	{"what is no escape", "0::/a\n", MOUNT("/", "/no\\08\\080\\008\\400\\4\\x41\\04"),
		{"/no\\08\\080\\008\\400\\4\\x41\\04/a/memory.max", G1}, G1},
	{"version 1: a source that is empty", "4:memory:/a\n", "30 23 0:26 / /mnt rw - cgroup  rw,memory\n",
		{"/mnt/a" LIMIT, G1}, G1},
	{"mounted at the root, and the name of a file", "0::/a/b\n", MOUNT("/", "/"), {"/memory.max", "x\n"},
		"\"/memory.max\" holds \"x\""},
	{"other types, and what is no mount", "0::/a\n4:memory:/a\n",
		"1 1 0:1 / /t rw - cgroup3 x rw,memory\n1 1 0:1 / /t rw - cgroup22 x rw,memory\n"
		"1 1 0:1 / /t rw - xcgroup2 x rw,memory\n1 1 0:1 / /t rw - cgroup x rw\n"
		"1 1 0:1 / /t rw - cgroup memory rw,cpu\n1 1 0:1 / /t rw,memory - cgroup x rw,cpu\n"
		"1 1 0:1 / /t rw - cgroup memory\n1 1 0:1 / /t rw - tmpfs cgroup2 rw,memory\n"
		"1 1 0:1 / /t rw - cgroup\n - cgroup2 x rw\n1 - cgroup2 x rw\n1 1 0:1 - cgroup2 x rw\n"
		"1 1 0:1 / - cgroup2 x rw\n1 1 0:1 / t rw - cgroup2 x rw\n\n\n-\n - \n"
		"35 31 0:32 / /mnt rw - cgroup x rw,memory\n1 1 0:1 / /m2 rw - cgroup2 x rw,memory\n",
		{"/t/a/memory.max", TRAP, "/t/a" LIMIT, TRAP, "/mnt/a/memory.max", TRAP, "/m2/a" LIMIT, TRAP,
		"/mnt/a" LIMIT, G1, "/m2/a/memory.max", G2}, G1},
	{"a mount that cannot be entered", "0::/a/b\n", MOUNT("/", "/loop") MOUNT("/", "/missing"), {"/loop", LOOP},
		"\"/loop/a/b/memory.max\" cannot be read: Too many levels of symbolic links"},
	{"no mountinfo", "0::/a\n", NULL, {0}, "\"/a\" is a control group that is not mounted"},
	{"mountinfo cannot be read, and need not be", "1:cpu:/\n", NULL, {"/proc/self/mountinfo", DIRECTORY}, ""},
	{"a group that is no directory", "0::/a/b\n", V2, {CG "/a", ""},
		"\"" CG "/a/b/memory.max\" cannot be read: Not a directory"},

	/* limits that are none, and names as they are shown */
	{"version 1 has no max", "4:memory:/a\n", V1, {CG "/memory/a" LIMIT, "max\n"},
		"\"" CG "/memory/a" LIMIT "\" holds \"max\""},
	{"memory.high of 0", "0::/a\n", V2, {CG "/a/memory.high", "0\n"}, "\"" CG "/a/memory.high\" holds \"0\""},
	{"a name with odd letters", "0::/\303\244\x1b[1m\n", "", {0}, "\"/???[1m\" is a control group that is not mounted"},
	{"the longest name shown", "0::/123456789/123456789/123456789/123456789/123456789/123456789/123456789/123\n", "", {0},
		"\"/123456789/123456789/123456789/123456789/123456789/123456789/123456789/123\" is a control group that is not mounted"},
	{"a longer one is cut", "0::/123456789/123456789/1234567x9/123456789/123456789/123456789/123456789/1234\n", "", {0},
		"\"/123456789/123456789/123...567x9/123456789/123456789/123456789/123456789/1234\" is a control group that is not mounted"},
};

#define MACHINES ((int) (sizeof(machines) / sizeof(machines[0])))

static void
test_machines(void)
{
	static const char *const traps[] = {
		CG "/systemd" LIMIT, CG "/cpu,cpuacct" LIMIT, CG "/x" LIMIT, CG "/pids" LIMIT, CG "/trap" LIMIT,
		CG "/memory/trap" LIMIT, CG LIMIT, CG "/memory/memory.max", CG "/memory/memory.high",
		CG "/memory/memory.soft_limit_in_bytes"
	};

	for (int i = 0; i < MACHINES; i++)
	{
		machine(machines[i].groups, machines[i].mounts);
		if (machines[i].mounts && strstr(machines[i].mounts, "cpuacct"))
			for (int t = 0; t < 10; t++)
				put(traps[t], TRAP);
		for (int f = 0; f < 12 && machines[i].files[f]; f += 2)
			put(machines[i].files[f], machines[i].files[f + 1]);
		is(machines[i].want, machines[i].name);
	}
}

/* ---------------------------------------------------------------- unusual contents */

static void
test_limits(void)
{
	static const char *const good[][2] = {
		{"8589934591\n", "8589934591"}, {"8589934592\n", ""}, {"8589934593\n", ""}, {"1", "1"}, {"max", ""},
		{"18446744073709551621\n", ""}, {"00000000000000000005\n", ""}, {"0000000000000000010\n", "10"},
	};
	static const char *const bad[][2] = {
		{"", ""}, {"\n", ""}, {"0\n", "0"}, {"000\n", "000"}, {"-1\n", "-1"}, {"+1\n", "+1"}, {" 1\n", " 1"},
		{"1 \n", "1 "}, {"12x\n", "12x"}, {"0x1000\n", "0x1000"}, {"1e9\n", "1e9"}, {"maximum\n", "maximum"},
		{"MAX\n", "MAX"}, {"ma\n", "ma"}, {"99999999999999999999999999x\n", "99999999999999999999999999x"},
		{"5000000\nfoo\n", "foo"}, {"5000000\n\n", ""}, {"max\nfoo", "foo"},
		{"\x01tab\tdel\x7f\303\251~ !\n", "?tab?del???~ !"},
	};
	static const char *const lines[] = {
		"foo", "", "4", "4:memory", "4:memory:", "4:memory:a", "0::", "0::a", ":memory/a:"
	};
	char		text[256];

	machine("0::/a\n", V2);
	for (int i = 0; i < 8; i++)
	{
		put(CG "/a/memory.max", good[i][0]);
		is(good[i][1], "a limit");
	}
	put(CG "/memory.max", G1);
	for (int i = 0; i < 19; i++)
	{
		put(CG "/a/memory.max", bad[i][0]);
		snprintf(text, sizeof(text), "\"" CG "/a/memory.max\" holds \"%s\"", bad[i][1]);
		is(text, text);
	}
	for (int i = 0; i < 9; i++)
	{
		snprintf(text, sizeof(text), "0::/a\n%s\n1:cpu:/\n", lines[i]);
		put("/proc/self/cgroup", text);
		snprintf(text, sizeof(text), "\"/proc/self/cgroup\" holds \"%s\"", lines[i]);
		is(text, text);
	}
}

static void
test_host(void)
{
	static const char *const bad[] = {
		"MemTotal: 0 kB", "MemTotal: kB", "MemTotal: 5", "MemTotal: 5 MB", "MemTotal: 5 kBs", "MemTotal: -5 kB",
		"MemTotal: 1125899906842624 kB", "MemTotal: 18014398509481985 kB", "MemTotal: 99999999999999999999999 kB"
	};
	static const char *directory = "\"/proc/meminfo\" cannot be read: Is a directory";
	char		text[256];
	int			fd;

	machine(NULL, NULL);
	put("/proc/meminfo", "MemFree: 7 kB\nXMemTotal: 9 kB\nMemTotalX: 8 kB\nMemTotal: 1024 kB");
	is_host_and(1 << 20, "", "one space, no newline, not the first line");
	put("/proc/meminfo", "MemTotal:1125899906842623 kB\n");
	is_host_and(UINT64_C(1125899906842623) * 1024, "", "the greatest memory");
	for (int i = 0; i < 9; i++)
	{
		put("/proc/meminfo", bad[i]);
		snprintf(text, sizeof(text), "\"/proc/meminfo\" holds \"%s\"", bad[i]);
		is_host_and(0, text, text);
	}
	put("/proc/meminfo", "MemFree: 5 kB\n");
	is_host_and(0, "\"/proc/meminfo\" has no MemTotal", "no MemTotal");
	unlink(in_tree("/proc/meminfo"));
	is_host_and(0, "\"/proc/meminfo\" has no MemTotal", "no meminfo");
	put("/proc/meminfo", DIRECTORY);
	is_host_and(0, directory, "meminfo cannot be read");

	/* a group's limit will do instead */
	put("/proc/self/cgroup", "0::/a\n4:memory:/a\n");
	put("/proc/self/mountinfo", V2 V1);
	put(CG "/memory/a", DIRECTORY);
	put(CG "/a/memory.max", "68719476736\n");
	is_host_and(0, "68719476736", "no meminfo: the limit is a group's");
	put(CG "/a/memory.max", "foo\n");
	is_host_and(0, "\"" CG "/a/memory.max\" holds \"foo\"", "no meminfo, and a group's limit that is not known");
	put(CG "/a/memory.max", "max\n");
	put(CG "/memory/a" LIMIT, "1152921504606846976\n");
	is_host_and(0, directory, "no meminfo, and no group's limit");
	put(CG "/memory/a" LIMIT, "1152921504606846975\n");
	is_host_and(0, "1152921504606846975", "no meminfo, and the greatest limit");

	/* what has been read before an error counts */
	machine(NULL, NULL);
	unlink(in_tree("/proc/meminfo"));
	fd = put_pipe("/proc/meminfo", "MemTotal: 8388608 kB\n");
	is("", "an error after MemTotal");
	close(fd);
}

static void
test_unreadable(void)
{
	static const char *const files[][3] = {
		{NULL, V2, "/proc/self/cgroup"},
		{"0::/a/b\n", NULL, "/proc/self/mountinfo"},
		{"4:memory:/\n", NULL, "/proc/self/mountinfo"},
		{"0::/a/b\n", V2, CG "/a/b/memory.max"},
		{"0::/a/b\n", V2, CG "/a/memory.high"},
		{"0::/a/b\n", V2, CG "/memory.max"},
		{"4:memory:/a/b\n", V1, CG "/memory/a/b" LIMIT},
		{"4:memory:/a/b\n", V1, CG "/memory" LIMIT},
	};
	char		reason[256];
	struct rlimit old;
	struct rlimit none;
	int			fd;

	for (int i = 0; i < 8; i++)
	{
		const char *file = files[i][2];

		/* another limit is known, which does not help */
		machine(files[i][0], files[i][1]);
		if (i > 2)
			put(i < 6 ? CG "/a/memory.max" : CG "/memory/a" LIMIT, G1);
		put(file, DIRECTORY);
		snprintf(reason, sizeof(reason), "\"%s\" cannot be read: Is a directory", file);
		is(reason, reason);
		if (rmdir(in_tree(file)) != 0)
			die(file);
		put(file, LOOP);
		snprintf(reason, sizeof(reason), "\"%s\" cannot be read: Too many levels of symbolic links", file);
		is(reason, reason);
		unlink(in_tree(file));

		/* an error after something good: a pipe that may be written to yet */
		fd = put_pipe(file, i == 0 ? "4:cpu:/\n" : i < 3 ? V2 V1 : "1000000\n");
		snprintf(reason, sizeof(reason), "\"%s\" cannot be read: Resource temporarily unavailable", file);
		is(reason, reason);
		close(fd);
	}
	machine("0::/a\n", V2);
	close(put_pipe(CG "/a/memory.max", ""));
	is("\"" CG "/a/memory.max\" holds \"\"", "a pipe that nobody writes to");

	/* a permission; root has it anyway */
	machine("0::/a\n", V2);
	put(CG "/a/memory.max", "1000000\n");
	if (chmod(in_tree(CG "/a/memory.max"), 0) != 0)
		die("chmod");
	is(access(in_tree(CG "/a/memory.max"), R_OK) == 0 ? "1000000" :
	   "\"" CG "/a/memory.max\" cannot be read: Permission denied", "no permission, but for root");

	/* no descriptor left */
	machine("0::/a\n", V2);
	put(CG "/a", DIRECTORY);
	fd = dup(0);
	close(fd);
	if (fd < 0 || getrlimit(RLIMIT_NOFILE, &old) != 0)
		die("getrlimit");
	none = old;
	none.rlim_cur = (rlim_t) fd;
	if (setrlimit(RLIMIT_NOFILE, &none) != 0)
		die("setrlimit");
	is_host_and(0, "\"/proc/self/cgroup\" cannot be read: Too many open files", "too many open files");
	if (setrlimit(RLIMIT_NOFILE, &old) != 0)
		die("setrlimit");
	is("", "one more descriptor is enough");
}

/* ---------------------------------------------------------------- long contents */

/* Lines before and after the one with the mount, of all lengths about a buffer's. */
static void
test_long_mounts(void)
{
	const char *mount = MOUNT("/", "/mnt");
	size_t		length = strlen(mount);
	int			wrong = 0;
	char	   *p = big;

	for (int i = 0; i < 20000; i++)
		p += sprintf(p, "%d 23 0:%d / /var/lib/containers/overlay/%064d/merged rw shared:%d - overlay overlay rw\n%s",
					 i, i, i, i, i == 19000 ? mount : "");
	machine("0::/a\n", NULL);
	put_bytes("/proc/self/mountinfo", big, (size_t) (p - big));
	put("/mnt/a/memory.max", G1);
	put("/trap/a/memory.max", TRAP);
	is(G1, "20000 mounts, ours is among them");

	for (size_t size = 8192 - 60; size < 8192 + 20; size++)
	{
		memset(big, 'x', size);
		big[size] = '\n';
		memcpy(big + size + 1, mount, length);
		put_bytes("/proc/self/mountinfo", big, size + 1 + length);
		wrong += !seen(G1, HOST);
		/* no newline at the end */
		put_bytes("/proc/self/mountinfo", big, size + length);
		wrong += !seen(G1, HOST);
		/* what is behind a long line's first part is no line */
		p = big + sprintf(big, "9 2 0:2 / /x rw %0*d - tmpfs x \\1 1 0:1 / /trap rw - cgroup2 none rw\n%s",
						  (int) size, 0, mount);
		put_bytes("/proc/self/mountinfo", big, (size_t) (p - big));
		wrong += !seen(G1, HOST);
	}
	is_int(wrong, 0, "long lines before the mount");
	memset(big, 'x', 50000);
	memcpy(big, mount, length);
	put_bytes("/proc/self/mountinfo", big, 50000);
	is(G1, "a long line after the mount, without a newline");
}

static void
test_long_lines(void)
{
	machine("0::/a\n", V2);
	memset(big, '9', 10000);
	put_bytes(CG "/a/memory.max", big, 8191);
	is("", "the longest limit");
	put_bytes(CG "/a/memory.max", big, 10000);
	is("\"" CG "/a/memory.max\" has a line that is too long", "a long limit");
	put_bytes("/proc/meminfo", big, 8192);
	is_host_and(0, "\"" CG "/a/memory.max\" has a line that is too long", "a long limit, and a long meminfo");
	put(CG "/a/memory.max", "max\n");
	is_host_and(0, "\"/proc/meminfo\" has a line that is too long", "a long meminfo, and no other error");
	machine("0::/a\n", V2);
	memcpy(big, "foo\n", 4);
	put_bytes("/proc/self/cgroup", big, 10000);
	is("\"/proc/self/cgroup\" holds \"foo\"", "the first error is reported");
	memcpy(big, "1:c:/pu", 7);
	memcpy(big + 9993, "\n0::/a\n", 7);
	put_bytes("/proc/self/cgroup", big, 10000);
	is("\"/proc/self/cgroup\" has a line that is too long", "a long line of groups");

	/* a message has two names, both cut */
	machine("0::" POD "/" ID "\n", V2);
	memset(big, 'y', 100);
	strcpy(big + 100, "z\n");
	put(CG POD "/" ID "/memory.max", big);
	is("\"/sys/fs/cgroup/kubepods....e5f60718293a4b5c6d7e8f90a1b2c3d4e5f6071/memory.max\" "
	   "holds \"yyyyyyyyyyyyyyyyyyyyyyyy...yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyz\"", "both cut");
}

/* Paths that become too long: with the root, the mount point, or alone. */
static void
test_long_paths(void)
{
	int			wrong = 0;
	char	   *p;

	machine(NULL, MOUNT("/", "/mnt"));
	put("/mnt/memory.max", G1);
	for (size_t size = 3900; size < 4200; size++)
	{
		const char *reason =
			size >= 4096 ? "\"/proc/self/cgroup\" has a control group whose name is too long" :
			size + 4 >= 4096 ? "\"/proc/self/mountinfo\" has a control group whose path is too long" :
			"\" cannot be read: File name too long";
		const char *end;

		p = stpcpy(big, "0::");
		for (size_t i = 0; i < size; i++)
			*p++ = i % 64 == 0 ? '/' : 'g';
		*p = '\0';
		put("/proc/self/cgroup", big);
		if (strlen(in_tree("/mnt/memory.high")) + size < 4096)
		{
			/* all these groups are gone */
			wrong += !seen(G1, HOST);
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

	/* a mount point beyond what a path may be */
	memset(big, 'm', 7000);
	memcpy(big, "30 23 0:26 / /", 14);
	strcpy(big + 4000, " rw - cgroup2 none rw\n");
	machine("0::/a\n", big);
	is("\"/mmmmmmmmmmmmmmmmmmmmmmm...mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm/a/memory.max\" "
	   "cannot be read: File name too long", "a long mount point");
	memset(big + 4000, 'm', 3000);
	strcpy(big + 7000, " rw - cgroup2 none rw\n");
	put("/proc/self/mountinfo", big);
	is("\"/proc/self/mountinfo\" has a control group whose path is too long", "a longer one");

	/* so long a path can be, if the tree is not deep: each level is read */
	machine(NULL, V2);
	p = stpcpy(big, "0::");
	for (int i = 0; i < 1000; i++)
		p = stpcpy(p, "/a");
	put("/proc/self/cgroup", big);
	put(CG "/a/a/memory.max", G1);
	is(G1, "1000 groups, most of them gone");
}

/* ---------------------------------------------------------------- this machine */

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
	bool		known;

	root[0] = '\0';
	look();
	diag("limit %llu of %llu, %s", (unsigned long long) memory.limit,
		 (unsigned long long) memory.host, memory.reason);
	ok(intact && memory.host > 1 << 20, "this machine has memory");
	ok(memory.page_cache <= memory.limit && (memory.page_cache_known || memory.page_cache == 0),
	   "and some page cache in it, if that is known (%.0f MB)", memory.page_cache / 1048576.0);
	known = memory.limit > 0 || sees_groups();
	ok(known ? memory.limit > 0 && memory.limit <= memory.host &&
	   memory.by_cgroup == (memory.limit < memory.host) && memory.reason[0] == '\0' :
	   !memory.by_cgroup && strstr(memory.reason, "not mounted") != NULL,
	   "some of it may be used, or the reason why that is not known is there");
}

/* May the page cache have so much?  -1: it is not known */
static void
page_cache(int64_t kilobytes, const char *name)
{
	look();
	ok(intact && memory.limit > 0 && memory.page_cache_known == (kilobytes >= 0) &&
	   memory.page_cache == (kilobytes >= 0 ? (uint64_t) kilobytes * 1024 : 0),
	   "%s (%llu kB)", name, (unsigned long long) memory.page_cache / 1024);
}

#define USED	"MemTotal: 8388608 kB\nMemFree: 1000000 kB\nMemAvailable: 7 kB\nBuffers: 200000 kB\n" \
	"Cached: 3000000 kB\nSwapCached: 5 kB\nShmem: 600000 kB\nShmemHugePages: 0 kB\n"

static void
test_page_cache(void)
{
	machine(NULL, NULL);
	page_cache(-1, "page cache: not known by some of the figures");
	put("/proc/meminfo", USED);
	page_cache(3600000, "page cache: what is free, and what has files");
	put("/proc/meminfo", USED "SwapTotal: 16777216 kB\nSwapFree: 16000000 kB\n");
	page_cache(3600000, "page cache: swap is none");
	ok(memory.limit == UINT64_C(8388608) * 1024, "nor is it memory");
	put("/proc/meminfo", "MemTotal: 8388608 kB\nMemFree: 1 kB\nBuffers: 2 kB\nCached: 3 kB\nShmem: 4 kB\n");
	page_cache(-1, "page cache: not known by figures that cannot be");

	machine("0::/a/b\n4:memory:/a\n", V2 V1);
	put("/proc/meminfo", USED);
	put(CG "/memory/a", DIRECTORY);
	put(CG "/a/b/memory.max", "max\n");
	page_cache(3600000, "page cache: a group without a limit does not count");
	put(CG "/a/memory.max", "4096000000\n");
	put(CG "/a/memory.high", "2048000000\n");
	put(CG "/a/memory.swap.max", "max\n");
	put(CG "/a/memory.swap.current", "512000000\n");
	page_cache(-1, "page cache: not known in a group that does not tell");
	put(CG "/a/memory.current", "1536000000\n");
	page_cache(-1, "page cache: nor in one that tells half");
	put(CG "/a/memory.stat", "anon 512000000\nfile 1024000000\nfile_mapped 9\nshmem 102400000\nshmem_thp 7\n");
	page_cache(1400000, "page cache: the lower limit, less all but files");
	put(CG "/a/memory.high", "8192000000\n");
	page_cache(3400000, "page cache: whichever that is");
	put(CG "/a/memory.high", "2048000000\n");
	put(CG "/a/memory.current", "1536000000 x\n");
	page_cache(-1, "page cache: not known by what is more than a number");
	put(CG "/a/memory.current", "1536000000\n");
	put(CG "/a/memory.stat", "file 1024000000\nshmem x\n");
	page_cache(-1, "page cache: not known by what is no number");
	put(CG "/a/memory.stat", "file 10240000000\nshmem 0\n");
	page_cache(2000000, "page cache: never more than the limit");
	put(CG "/a/memory.stat", "file 0\nshmem 102400000000\n");
	page_cache(0, "page cache: nor less than none");

	/* the least of all */
	put(CG "/a/memory.stat", "file 1024000000\nshmem 102400000\n");
	put(CG "/a/b/memory.max", "1024000000\n");
	put(CG "/a/b/memory.current", "512000000\n");
	put(CG "/a/b/memory.stat", "file 256000000\nshmem 0\n");
	page_cache(750000, "page cache: that of the group below");
	put("/proc/meminfo", "MemTotal: 8388608 kB\nMemFree: 1 kB\nBuffers: 2 kB\nCached: 300 kB\nShmem: 4 kB\n");
	page_cache(299, "page cache: that of the machine");

	machine("0::/a\n4:memory:/a\n", V1);
	put("/proc/meminfo", USED);
	put(CG "/memory/a" LIMIT, "2048000000\n");
	put(CG "/memory/a/memory.usage_in_bytes", "1536000000\n");
	put(CG "/memory/a/memory.stat", "cache 1\nshmem 2\ntotal_cache 1024000000\ntotal_shmem 102400000\n");
	page_cache(1400000, "page cache: version 1");
	unlink(in_tree(CG "/memory/a/memory.stat"));
	put(CG "/memory/a/memory.stat", DIRECTORY);
	page_cache(-1, "page cache: not known by what cannot be read");
}

static void
test_huge(void)
{
	static const struct
	{
		const char *status;
		const char *limit;		/* of a group */
		bool		huge;
		const char *reason;
		const char *name;
	}			steps[] = {
		{"Name: postgres\nHugetlbPages:\t       0 kB\nCpus_allowed: 3\n", "max\n", false, "", "not in use"},
		{"Name: postgres\nHugetlbPages:\t   4096 kB\nCpus_allowed: 3\n", "max\n", true, "", "in use"},
		{"HugetlbPages:\t   4096 kB\n", "1048576\n", true, "huge pages", "the limit of a group does not include them"},
		{"HugetlbPages: many kB\n", "max\n", false, "", "what is no number says nothing"},
	};

	machine(NULL, NULL);
	look();
	ok(!memory.huge, "huge pages: not where nothing tells");
	machine("0::/a\n", V2);
	for (int i = 0; i < 4; i++)
	{
		put("/proc/self/status", steps[i].status);
		put(CG "/a/memory.max", steps[i].limit);
		look();
		ok(memory.huge == steps[i].huge && memory.limit == (steps[i].reason[0] ? 0 : memory.host) && !memory.by_cgroup &&
		   (steps[i].reason[0] ? strstr(memory.reason, steps[i].reason) != NULL : memory.reason[0] == '\0'),
		   "huge pages: %s", steps[i].name);
	}
}

static void
test_generations(void)
{
	/* off, whatever their options are */
	static const char *const enabled[] = {NULL, "0x0000\n", "0x0006\n", "0x0007\n"};

	machine(NULL, NULL);
	for (int i = 0; i < 4; i++)
	{
		if (enabled[i])
			put("/sys/kernel/mm/lru_gen/enabled", enabled[i]);
		look();
		ok(memory.generations == (i == 3) && memory.limit == memory.host && memory.reason[0] == '\0',
		   "generations: %s", enabled[i] ? enabled[i] : "not with a kernel that has none");
	}
}

/* a server in a group that has a limit, or in none, on a kernel of this release */
static bool
is_late(bool group, const char *release)
{
	machine("0::/a\n", V2);
	if (group)
		put("/sys/fs/cgroup/a/memory.max", "1073741824\n");
	if (release)
		put("/proc/sys/kernel/osrelease", release);
	look();
	return intact && memory.late && memory.by_cgroup == group;
}

static void
test_late(void)
{
	ok(is_late(true, "6.12.0-rc1\n") && is_late(true, "6.18.44-amd64\n") && is_late(true, "7.0.1\n"),
	   "reclaim: late in a group since Linux 6.12");
	ok(!is_late(true, "6.11.11\n") && !is_late(true, "5.15.0-91-generic\n") && !is_late(true, "nonsense\n") &&
	   !is_late(true, NULL), "not with an older kernel, or one that is not known");
	ok(!is_late(false, "6.18.44\n"), "nor of the whole machine");
}

int
main(void)
{
	int			before;

	plan(MACHINES + 133);
	alarm(120);					/* should something block */
	begin_trees("memory_limits_t");
	before = count_open();
	test_machines();
	test_limits();
	test_host();
	test_unreadable();
	test_page_cache();
	test_huge();
	test_generations();
	test_late();
	test_long_mounts();
	test_long_lines();
	test_long_paths();
	test_real();
	ok(opened > 1000 && inherited == 0, "files are not handed on to other programs");
	is_int(count_open(), before, "no file is left open");
	ok(end_trees(), "the trees are removed");
	return done();
}
