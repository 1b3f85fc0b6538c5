// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * A router in the driver: looks up the route in the kernel's table (of the
 * receiving device's namespace), writes the next hop's addresses and transmits
 * the frame before the kernel allocates a socket buffer. Frames that it cannot
 * forward, or that are not to be forwarded, pass to the kernel.
 */
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define AF_INET 2
#define AF_INET6 10

/* struct bpf_fib_lookup of the kernel's uapi/linux/bpf.h. */
struct bpf_fib_lookup {
	__u8 family;
	__u8 l4_protocol;
	__be16 sport;
	__be16 dport;
	__u16 tot_len;
	__u32 ifindex;
	__u32 tos_or_flowinfo;
	__be32 src[4];
	__be32 dst[4];
	__u16 vlan_proto;
	__u16 vlan_tci;
	__u8 smac[6];
	__u8 dmac[6];
};

struct ethernet {
	__u8 to[6];
	__u8 from[6];
	__be16 type;
} __attribute__((packed));

struct ipv4 {
	__u8 version_length;
	__u8 tos;
	__be16 length;
	__be16 id;
	__be16 fragment;
	__u8 ttl;
	__u8 protocol;
	__u16 checksum;
	__be32 from;
	__be32 to;
} __attribute__((packed));

struct ipv6 {
	__be32 class_flow;
	__be16 length;
	__u8 next;
	__u8 hops;
	__be32 from[4];
	__be32 to[4];
} __attribute__((packed));

/* Decrements the TTL and updates the checksum (RFC 1141). */
static __always_inline void age(struct ipv4 *ip)
{
	__u32 sum = ip->checksum;

	sum += bpf_htons(0x0100);
	ip->checksum = sum + (sum >= 0xffff);
	ip->ttl--;
}

SEC("xdp")
int forward(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethernet *eth = data;
	struct bpf_fib_lookup q = {};
	struct ipv4 *four = 0;
	struct ipv6 *six = 0;

	if ((void *)(eth + 1) > end)
		return XDP_PASS;
	if (eth->type == bpf_htons(ETH_P_IP)) {
		four = (void *)(eth + 1);
		if ((void *)(four + 1) > end || four->version_length != 0x45 || four->ttl <= 1)
			return XDP_PASS;
		q.family = AF_INET;
		q.tos_or_flowinfo = four->tos;
		q.l4_protocol = four->protocol;
		q.tot_len = bpf_ntohs(four->length);
		q.src[0] = four->from;
		q.dst[0] = four->to;
	} else if (eth->type == bpf_htons(ETH_P_IPV6)) {
		six = (void *)(eth + 1);
		if ((void *)(six + 1) > end || six->hops <= 1)
			return XDP_PASS;
		q.family = AF_INET6;
		q.tos_or_flowinfo = six->class_flow & bpf_htonl(0x0fffffff);
		q.l4_protocol = six->next;
		q.tot_len = bpf_ntohs(six->length) + sizeof(*six);
		__builtin_memcpy(q.src, six->from, sizeof(q.src));
		__builtin_memcpy(q.dst, six->to, sizeof(q.dst));
	} else {
		return XDP_PASS;
	}
	q.ifindex = ctx->ingress_ifindex;
	/* 0 is BPF_FIB_LKUP_RET_SUCCESS: forward, and the neighbour is known. */
	if (bpf_fib_lookup(ctx, &q, sizeof(q), 0) != 0)
		return XDP_PASS;
	if (four)
		age(four);
	else if (six)
		six->hops--;
	__builtin_memcpy(eth->to, q.dmac, sizeof(eth->to));
	__builtin_memcpy(eth->from, q.smac, sizeof(eth->from));
	return bpf_redirect(q.ifindex, 0);
}
