// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Assigns each TCP connection that a cgroup accepts to an arm at random, sets the options
 * of treated connections before they send data, and reports each connection at its end.
 *
 * Runs twice per connection, when it is established and when it leaves the states that
 * carry data, and never per packet. The random draw is a keyed hash of the addresses and
 * ports, so that user space can repeat it.
 */
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* From include/uapi/linux/bpf.h; the verifier translates the offsets. */
struct bpf_sock;
struct bpf_sock_ops {
	__u32 op;
	__u32 args[4];
	__u32 family;
	__u32 remote_ip4;
	__u32 local_ip4;
	__u32 remote_ip6[4];
	__u32 local_ip6[4];
	__u32 remote_port; /* network byte order; in the upper half on little-endian machines */
	__u32 local_port;  /* in host byte order */
	__u32 is_fullsock;
	__u32 snd_cwnd;
	__u32 srtt_us; /* times eight */
	__u32 bpf_sock_ops_cb_flags;
	__u32 state;
	__u32 rtt_min;
	__u32 snd_ssthresh;
	__u32 rcv_nxt;
	__u32 snd_nxt;
	__u32 snd_una;
	__u32 mss_cache;
	__u32 ecn_flags;
	__u32 rate_delivered;
	__u32 rate_interval_us;
	__u32 packets_out;
	__u32 retrans_out;
	__u32 total_retrans;
	__u32 segs_in;
	__u32 data_segs_in;
	__u32 segs_out;
	__u32 data_segs_out;
	__u32 lost_out;
	__u32 sacked_out;
	__u32 sk_txhash;
	__u64 bytes_received;
	__u64 bytes_acked;
	struct bpf_sock *sk __attribute__((aligned(8)));
};

#define AF_INET 2
#define AF_INET6 10

enum { PASSIVE_ESTABLISHED_CB = 5, STATE_CB = 10 }; /* BPF_SOCK_OPS_ */
#define STATE_CB_FLAG (1 << 2)
enum { TCP_FIN_WAIT2 = 5, TCP_TIME_WAIT = 6, TCP_CLOSE = 7, TCP_CLOSING = 11 };

#define MAX_OPTIONS 8

struct option {
	__u32 level, name, length;
	char value[16];
};

/* User space's current settings. */
struct plan {
	__u64 key[2];
	__u64 below; /* treat if the draw is below this; 2^32 means all */
	__u32 window;
	__u32 options;
	struct option option[MAX_OPTIONS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct plan);
} plans SEC(".maps");

/* Counts of one window and arm, in slot window * ARMS + arm, modulo the slots. */
enum { ARM_CONTROL, ARM_AGAIN, ARM_TREATED, ARMS };
#define WINDOWS 64

struct tally {
	__u64 opened, closed, refused, lost;
	__s64 errno_; /* of the last refused option */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ARMS * WINDOWS);
	__type(key, __u32);
	__type(value, struct tally);
} tallies SEC(".maps");

/* An open connection. */
struct opened {
	__u64 at;
	__u32 window, arm;
	__u32 first_rtt_us;
	__u32 done;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, 1); /* BPF_F_NO_PREALLOC, required for this type */
	__type(key, int);
	__type(value, struct opened);
} connections SEC(".maps");

/* A closed connection. */
struct closed {
	__u64 opened, closed; /* ns since boot */
	__u64 bytes_acked, bytes_received;
	__u32 window, arm;
	__u32 first_rtt_us, rtt_us, min_rtt_us;
	__u32 segments, again; /* data segments sent, and retransmitted */
	__u32 delivered, interval_us, mss;
	__u32 remote[4], local[4];
	__u32 remote_port, local_port;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} ended SEC(".maps");

/* Keeps the type in the object's BTF, for user space. */
const struct closed *unused_closed __attribute__((unused));

static __always_inline __u64 mix(__u64 h, __u64 v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdULL;
	h = (h ^ (h >> 32)) * 0xc4ceb9fe1a85ec53ULL;
	return h ^ (h >> 29);
}

/* Reads a field of the context at a constant offset: clang would merge loads in similar
 * branches into one with a computed offset, which the verifier rejects. */
#define FIELD(name)                                                                    \
	({                                                                             \
		__u64 v;                                                               \
		asm volatile("%0 = *(u32 *)(%1 + %2)"                                  \
			     : "=r"(v)                                                 \
			     : "r"(ctx), "i"(__builtin_offsetof(struct bpf_sock_ops, name))); \
		(__u32)v;                                                              \
	})

/* addresses writes both addresses, IPv4 as IPv4-mapped IPv6. */
static __always_inline void addresses(struct bpf_sock_ops *ctx, __u32 remote[4], __u32 local[4])
{
	if (ctx->family == AF_INET) {
		remote[0] = remote[1] = local[0] = local[1] = 0;
		remote[2] = local[2] = bpf_htonl(0xffff);
		remote[3] = FIELD(remote_ip4);
		local[3] = FIELD(local_ip4);
		return;
	}
	remote[0] = FIELD(remote_ip6[0]);
	remote[1] = FIELD(remote_ip6[1]);
	remote[2] = FIELD(remote_ip6[2]);
	remote[3] = FIELD(remote_ip6[3]);
	local[0] = FIELD(local_ip6[0]);
	local[1] = FIELD(local_ip6[1]);
	local[2] = FIELD(local_ip6[2]);
	local[3] = FIELD(local_ip6[3]);
}

static __always_inline __u64 pair(__u32 a, __u32 b)
{
	return (__u64)a << 32 | b;
}

static __always_inline struct tally *tally_of(__u32 window, __u32 arm)
{
	__u32 slot = (window % WINDOWS) * ARMS + arm;

	return bpf_map_lookup_elem(&tallies, &slot);
}

static __always_inline __u32 draw(struct bpf_sock_ops *ctx, const struct plan *p)
{
	__u32 remote[4], local[4];
	__u64 h;

	addresses(ctx, remote, local);
	h = mix(p->key[0], pair(remote[0], remote[1]));
	h = mix(h, pair(remote[2], remote[3]));
	h = mix(h, pair(local[0], local[1]));
	h = mix(h, pair(local[2], local[3]));
	h = mix(h, pair(bpf_ntohl(ctx->remote_port), ctx->local_port));
	h = mix(h, p->key[1]);
	if (h >> 32 < p->below)
		return ARM_TREATED;
	return h & 1 ? ARM_AGAIN : ARM_CONTROL;
}

static __always_inline void treat(struct bpf_sock_ops *ctx, struct plan *p, struct tally *t)
{
	for (int i = 0; i < MAX_OPTIONS; i++) {
		struct option *o = &p->option[i];
		long err;

		if (i >= p->options)
			return;
		if (o->length == 4)
			err = bpf_setsockopt(ctx, o->level, o->name, o->value, 4);
		else
			err = bpf_setsockopt(ctx, o->level, o->name, o->value, sizeof(o->value));
		if (err) {
			t->refused++;
			t->errno_ = err;
			return;
		}
	}
}

static __always_inline void established(struct bpf_sock_ops *ctx)
{
	struct opened fresh = {}, *c;
	struct bpf_sock *sk = ctx->sk;
	struct tally *t;
	struct plan *p;
	__u32 zero = 0;

	p = bpf_map_lookup_elem(&plans, &zero);
	if (!p || !sk || !ctx->is_fullsock)
		return;
	if (ctx->family != AF_INET && ctx->family != AF_INET6)
		return;
	fresh.at = bpf_ktime_get_boot_ns();
	fresh.window = p->window;
	fresh.arm = draw(ctx, p);
	fresh.first_rtt_us = ctx->srtt_us >> 3;
	t = tally_of(fresh.window, fresh.arm);
	if (!t)
		return;
	c = bpf_sk_storage_get(&connections, sk, &fresh, 1 /* BPF_SK_STORAGE_GET_F_CREATE */);
	if (!c) {
		t->lost++;
		return;
	}
	t->opened++;
	if (fresh.arm == ARM_TREATED)
		treat(ctx, p, t);
	bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags | STATE_CB_FLAG);
}

static __always_inline void over(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;
	struct opened *c;
	struct closed *e;
	struct tally *t;

	if (!sk)
		return;
	c = bpf_sk_storage_get(&connections, sk, 0, 0);
	if (!c || c->done)
		return;
	c->done = 1;
	t = tally_of(c->window, c->arm);
	if (!t)
		return;
	e = bpf_ringbuf_reserve(&ended, sizeof(*e), 0);
	if (!e) {
		t->lost++;
		return;
	}
	e->opened = c->at;
	e->closed = bpf_ktime_get_boot_ns();
	e->bytes_acked = ctx->bytes_acked;
	e->bytes_received = ctx->bytes_received;
	e->window = c->window;
	e->arm = c->arm;
	e->first_rtt_us = c->first_rtt_us;
	e->rtt_us = ctx->srtt_us >> 3;
	e->min_rtt_us = ctx->rtt_min;
	e->segments = ctx->data_segs_out;
	e->again = ctx->total_retrans;
	e->delivered = ctx->rate_delivered;
	e->interval_us = ctx->rate_interval_us;
	e->mss = ctx->mss_cache;
	addresses(ctx, e->remote, e->local);
	e->remote_port = bpf_ntohl(ctx->remote_port);
	e->local_port = ctx->local_port;
	bpf_ringbuf_submit(e, 1 /* BPF_RB_NO_WAKEUP */);
	t->closed++;
}

SEC("sockops")
int split(struct bpf_sock_ops *ctx)
{
	switch (ctx->op) {
	case PASSIVE_ESTABLISHED_CB:
		established(ctx);
		break;
	case STATE_CB:
		switch (ctx->args[1]) {
		case TCP_FIN_WAIT2: /* all data is acknowledged */
		case TCP_TIME_WAIT:
		case TCP_CLOSING:
		case TCP_CLOSE:
			over(ctx);
		}
		break;
	}
	return 1;
}
