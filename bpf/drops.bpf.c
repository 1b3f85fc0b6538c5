// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Counts the packets that the kernel drops in one network namespace, by the
 * reason it gives for each (enum skb_drop_reason), or by where it did.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "netdevice.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct sk_buff {
	struct net_device *dev;
} __attribute__((preserve_access_index));

struct drops_config {
	__u32 netns; /* inode */
};

const volatile struct drops_config config = {};

/* Most reasons are enough by themselves; one is that nobody said why. */
#define NOT_SPECIFIED 2

struct drops_key {
	__u64 location; /* in the kernel's code; 0 unless the reason says nothing */
	__u32 reason;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct drops_key);
	__type(value, __u64);
} reasons SEC(".maps");

SEC("tp_btf/kfree_skb")
int BPF_PROG(dropped, struct sk_buff *skb, void *location, __u32 reason)
{
	struct net_device *dev = skb->dev;
	struct drops_key key = {.reason = reason};
	__u64 one = 1, *n;

	if (!dev || dev->nd_net.net->ns.inum != config.netns)
		return 0;
	if (reason <= NOT_SPECIFIED)
		key.location = (__u64)location;
	n = bpf_map_lookup_elem(&reasons, &key);
	if (n)
		++*n;
	else
		bpf_map_update_elem(&reasons, &key, &one, 0);
	return 0;
}
