// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Assigns each TCP connection that a cgroup accepts to an arm at random, sets the options
 * of treated connections before they send data, and reports connections at their end: all,
 * or a random sample on a busy server.
 *
 * The kernel calls it three times while a connection opens and when it is established; for
 * connections to report also at each change of state until their data is acknowledged; never
 * per packet. The random draw is a keyed hash of the addresses and ports, so that user space
 * can repeat it.
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

enum { ARM_CONTROL, ARM_AGAIN, ARM_TREATED, ARMS };
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
	__u32 keep[ARMS]; /* report a connection if its second draw is below this; 2^31 means all */
	struct option option[MAX_OPTIONS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct plan);
} plans SEC(".maps");

/* Counts of one window and arm, in slot window * ARMS + arm, modulo the slots. */
#define WINDOWS 64

struct tally {
	__u64 opened, kept, closed, refused, lost; /* kept: to be reported; closed, lost: of these */
	__s64 errno_; /* of the last refused option */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ARMS * WINDOWS);
	__type(key, __u32);
	__type(value, struct tally);
} tallies SEC(".maps");

/* An open connection to report. It is in the first free one of the PROBES slots from its
 * cookie on. Cookies are numbers in sequence, so a slot is rarely in use; one of a window
 * that is over is free. Storage in the socket costs 1.3 us more: it is allocated memory. */
struct opened {
	__u64 cookie; /* 0: free */
	__u64 at;
	__u32 window, arm;
	__u32 first_rtt_us;
};

#define SLOTS (1 << 16)
#define PROBES 4

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
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
	__uint(max_entries, 1 << 20); /* small, to stay in the cache */
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

/* Of the hash, the upper half draws the arm, bit 0 the control's half, the rest the sample. */
static __always_inline __u64 draw(struct bpf_sock_ops *ctx, const struct plan *p)
{
	__u32 remote[4], local[4];
	__u64 h;

	addresses(ctx, remote, local);
	h = mix(p->key[0], pair(remote[0], remote[1]));
	h = mix(h, pair(remote[2], remote[3]));
	h = mix(h, pair(local[0], local[1]));
	h = mix(h, pair(local[2], local[3]));
	h = mix(h, pair(bpf_ntohl(ctx->remote_port), ctx->local_port));
	return mix(h, p->key[1]);
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

/* slot returns the slot of a connection, or, for 0, one that was free before a window. */
static __always_inline struct opened *slot(__u64 cookie, __u64 holds, __u32 before)
{
	for (int i = 0; i < PROBES; i++) {
		__u32 at = (cookie + i) % SLOTS;
		struct opened *o = bpf_map_lookup_elem(&connections, &at);

		if (o && (o->cookie == holds || (!holds && (__s32)(o->window - before) < 0)))
			return o;
	}
	return 0;
}

static __always_inline void established(struct bpf_sock_ops *ctx)
{
	struct opened *o;
	struct tally *t;
	struct plan *p;
	__u32 zero = 0, arm;
	__u64 h, cookie;

	p = bpf_map_lookup_elem(&plans, &zero);
	if (!p || !ctx->is_fullsock)
		return;
	if (ctx->family != AF_INET && ctx->family != AF_INET6)
		return;
	h = draw(ctx, p);
	arm = h >> 32 < p->below ? ARM_TREATED : h & 1 ? ARM_AGAIN : ARM_CONTROL;
	t = tally_of(p->window, arm);
	if (!t)
		return;
	t->opened++;
	if (arm == ARM_TREATED)
		treat(ctx, p, t);
	if ((__u32)h >> 1 >= p->keep[arm])
		return;
	t->kept++;
	cookie = bpf_get_socket_cookie(ctx);
	o = slot(cookie, 0, p->window - 1);
	if (!o) {
		t->lost++;
		return;
	}
	o->cookie = cookie;
	o->at = bpf_ktime_get_boot_ns();
	o->window = p->window;
	o->arm = arm;
	o->first_rtt_us = ctx->srtt_us >> 3;
	bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags | STATE_CB_FLAG);
}

static __always_inline void over(struct bpf_sock_ops *ctx)
{
	__u64 cookie = bpf_get_socket_cookie(ctx);
	struct opened *o = slot(cookie, cookie, 0);
	struct closed *e;
	struct tally *t;

	bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags & ~STATE_CB_FLAG);
	if (!o)
		return;
	o->cookie = 0;
	t = tally_of(o->window, o->arm);
	if (!t)
		return;
	e = bpf_ringbuf_reserve(&ended, sizeof(*e), 0);
	if (!e) {
		t->lost++;
		return;
	}
	e->opened = o->at;
	e->closed = bpf_ktime_get_boot_ns();
	e->bytes_acked = ctx->bytes_acked;
	e->bytes_received = ctx->bytes_received;
	e->window = o->window;
	e->arm = o->arm;
	e->first_rtt_us = o->first_rtt_us;
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
