// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Counts the frames that a device refused of those redirected to it: XDP drops
 * them without a word to the program that sent them.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct ns_common {
	unsigned int inum;
} __attribute__((preserve_access_index));

struct net {
	struct ns_common ns;
} __attribute__((preserve_access_index));

typedef struct {
	struct net *net;
} __attribute__((preserve_access_index)) possible_net_t;

struct net_device {
	int ifindex;
	possible_net_t nd_net;
} __attribute__((preserve_access_index));

struct refused_config {
	__u32 ifindex;
	__u32 netns; /* inode */
	__u32 map;   /* id of the map through which frames are redirected */
	__u32 pad;
};

const volatile struct refused_config config = {};

struct refused_state {
	__u64 accepted;
	__u64 refused;
	__s64 error; /* the last one, negative; 0: none */
};

struct refused_state state = {};

SEC("tp_btf/xdp_devmap_xmit")
int BPF_PROG(refused, const struct net_device *from, const struct net_device *to, int sent, int drops, int err)
{
	if (to->ifindex != config.ifindex || to->nd_net.net->ns.inum != config.netns)
		return 0;
	if (sent > 0)
		__sync_fetch_and_add(&state.accepted, sent);
	if (drops > 0)
		__sync_fetch_and_add(&state.refused, drops);
	if (err < 0)
		state.error = err;
	return 0;
}

/* Frames that were not even queued: the device is down, they are too long for
 * it, or its other end has no NAPI to take them. */
SEC("tp_btf/xdp_redirect_err")
int BPF_PROG(turned_away, const struct net_device *from, const void *program, const void *target, int err,
	     int map_type, __u32 map, __u32 index)
{
	if (map != config.map)
		return 0;
	__sync_fetch_and_add(&state.refused, 1);
	state.error = err;
	return 0;
}
