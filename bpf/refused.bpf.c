// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Counts the redirected frames that a device refused: XDP drops them without
 * telling the program that sent them.
 */
#include "refused.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "netdevice.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct refused_config {
	__u32 ifindex;
	__u32 netns; /* inode */
	__u32 map;   /* ID of the map that redirects the frames */
	__u32 pad;
};

const volatile struct refused_config config = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct refusals);
} refusals SEC(".maps");

static __always_inline int count(__u64 n, __s64 error)
{
	__u32 zero = 0;
	struct refusals *r = bpf_map_lookup_elem(&refusals, &zero);

	if (!r)
		return 0;
	__sync_fetch_and_add(&r->refused, n);
	if (error < 0)
		r->error = error;
	return 0;
}

SEC("tp_btf/xdp_devmap_xmit")
int BPF_PROG(refused, const struct net_device *from, const struct net_device *to, int sent, int drops, int err)
{
	if (to->ifindex != config.ifindex || to->nd_net.net->ns.inum != config.netns)
		return 0;
	return drops > 0 ? count(drops, err) : 0;
}

/* Frames that were not even queued: the device is down, the frame exceeds its
 * MTU, or its peer has no NAPI to receive it. */
SEC("tp_btf/xdp_redirect_err")
int BPF_PROG(turned_away, const struct net_device *from, const void *program, const void *target, int err,
	     int map_type, __u32 map, __u32 index)
{
	if (map != config.map)
		return 0;
	return count(1, err);
}
