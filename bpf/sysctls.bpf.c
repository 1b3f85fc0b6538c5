// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Reports each write to a sysctl by a process in a cgroup: the value, and the process's
 * identity while it still exists. It never changes or refuses a write.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>

#include "netdevice.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct bpf_sysctl {
	__u32 write;
	__u32 file_pos;
};

struct nsproxy {
	struct net *net_ns;
} __attribute__((preserve_access_index));

struct kernfs_node {
	const char *name;
} __attribute__((preserve_access_index));

/* A cgroup's first member is its css, which points to its parent's. */
struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
} __attribute__((preserve_access_index));

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
} __attribute__((preserve_access_index));

struct css_set {
	struct cgroup *dfl_cgrp;
} __attribute__((preserve_access_index));

struct task_struct {
	__s32 tgid;
	char comm[16];
	struct task_struct *real_parent, *group_leader;
	struct css_set *cgroups;
	struct nsproxy *nsproxy;
} __attribute__((preserve_access_index));

#define ANCESTORS 6
#define GROUPS 4

struct process {
	__u32 pid;
	char comm[16];
};

struct write {
	__u32 netns;
	__u32 lost; /* earlier writes dropped for lack of room */
	struct process chain[ANCESTORS]; /* the writer, then its ancestors */
	char group[GROUPS][80];          /* its cgroup's name, then the enclosing ones' */
	char name[128];
	char old[256];
	char new[256];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} writes SEC(".maps");

__u32 lost = 0;

/* Keeps the type in the object's BTF, for user space. */
const struct write *unused_write __attribute__((unused));

static __always_inline void processes(struct write *w, struct task_struct *t)
{
	for (int i = 0; i < ANCESTORS; i++) {
		t = BPF_CORE_READ(t, group_leader);
		w->chain[i].pid = BPF_CORE_READ(t, tgid);
		if (!w->chain[i].pid) /* the kernel's own, from which all come */
			return;
		BPF_CORE_READ_INTO(&w->chain[i].comm, t, comm);
		t = BPF_CORE_READ(t, real_parent);
	}
}

static __always_inline void groups(struct write *w, struct task_struct *t)
{
	struct cgroup *c = BPF_CORE_READ(t, cgroups, dfl_cgrp);

	for (int i = 0; i < GROUPS; i++) {
		w->group[i][0] = 0;
		if (!c)
			continue;
		bpf_probe_read_kernel_str(w->group[i], sizeof(w->group[i]), BPF_CORE_READ(c, kn, name));
		c = (struct cgroup *)BPF_CORE_READ(c, self.parent);
	}
}

SEC("cgroup/sysctl")
int written(struct bpf_sysctl *ctx)
{
	struct task_struct *t;
	struct write *w;

	if (!ctx->write)
		return 1;
	w = bpf_ringbuf_reserve(&writes, sizeof(*w), 0);
	if (!w) {
		__sync_fetch_and_add(&lost, 1);
		return 1;
	}
	w->name[0] = w->old[0] = w->new[0] = 0;
	t = (struct task_struct *)bpf_get_current_task();
	w->netns = BPF_CORE_READ(t, nsproxy, net_ns, ns.inum);
	w->lost = lost;
	processes(w, t);
	groups(w, t);
	bpf_sysctl_get_name(ctx, w->name, sizeof(w->name), 0);
	bpf_sysctl_get_current_value(ctx, w->old, sizeof(w->old));
	bpf_sysctl_get_new_value(ctx, w->new, sizeof(w->new));
	bpf_ringbuf_submit(w, 0);
	return 1;
}
