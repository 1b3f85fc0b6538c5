/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * How the generators choose the next frame of a mix of flows and sizes, and write
 * it into a recycled page: `head`, precomputed by user space, the flow's words,
 * and a stamp.
 */
#ifndef LINERATE_FRAME_H
#define LINERATE_FRAME_H

#include "stamp.h"

/* Settings that are fixed for a run. */
struct generate_config {
	__u32 ipv6;
	__u32 random;	  /* random flow order, with this many frames of a flow in a row; 0: round robin */
	__u32 flows;	  /* of this program */
	__u32 first_flow; /* this program's flows are first, first + step, ... */
	__u32 flow_step;
	__u32 sizes;	  /* number of sizes; 1: every frame is as long as the template */
	__u32 length;	  /* of the template, without FCS: the longest */
	__u32 elephant;	  /* the first flow's share of the frames, in 2^-32; 0: as the others */
	__u64 head[8];	  /* headers and stamp; varying fields are zero */
};

const volatile struct generate_config config = {};

/* Words that differ between flows: for IPv4 those at 24 and 32; for IPv6 those at
 * 32 and 48, and the destination port with the sum over the constant words of the
 * UDP checksum. */
struct generate_flow {
	__u64 a;
	__u64 b;
	__u16 port;
	__u16 pad;
	__u32 sum;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct generate_flow);
} flows SEC(".maps");

/* Next sequence of each flow, only for random order. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} sequences SEC(".maps");

/* Frame lengths without FCS, in the order of the mix. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} lengths SEC(".maps");

static __always_inline __u32 next_random(__u64 *random)
{
	/* xorshift64* (Vigna 2016), the upper half */
	__u64 x = *random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*random = x;
	return (x * 0x2545F4914F6CDD1DULL) >> 32;
}

static __always_inline __u16 fold(__u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* put writes a word only if it changes: the generator's and the receiver's CPU can
 * then both keep its cache line. */
static __always_inline void put(__u64 *p, __u64 v)
{
	if (*(volatile __u64 *)p != v)
		*(volatile __u64 *)p = v;
}

/* write4 and write6 write a frame: head holds the common words; stream is added if
 * head lacks it. sized: lengths vary, so head lacks them too. */
static __always_inline void write4(__u64 *p, const volatile __u64 *head, const struct generate_flow *f, __u16 stream,
				   __u64 run, __u32 mark, __u32 sequence, __u64 now, __u16 length, int sized)
{
	__u64 c = head[2], a = f->a, b = f->b;

	if (sized) {
		/* total length at 16, header checksum at 24, UDP length at 38 */
		__u16 total = bpf_htons(length - 14);

		c |= total;
		a |= (__u16)~fold((__u64)(__u16)f->sum + total);
		b |= (__u64)bpf_htons(length - 34) << 48;
	}
	put(p, head[0]);
	put(p + 1, head[1]);
	p[2] = c;
	p[3] = a;
	p[4] = b;
	p[5] = head[5] | (__u64)bpf_htons(stream) << 16 | run << 32;
	p[6] = (__u64)mark | (__u64)bpf_htonl(sequence) << 32;
	*(__u32 *)(p + 7) = bpf_htonl((__u32)now);
}

static __always_inline void write6(__u64 *p, const volatile __u64 *head, const struct generate_flow *f, __u16 stream,
				   __u64 run, __u32 mark, __u32 sequence, __u64 now, __u16 length)
{
	__u64 q7 = f->port, q8, q9, sum = f->sum;
	__u16 payload = bpf_htons(length - 54);

	q8 = run | (__u64)mark << 32;
	q9 = (__u64)bpf_htonl(sequence) | (__u64)bpf_htonl((__u32)now) << 32;
	/* The UDP length is summed twice: in the pseudo-header and in the header. */
	sum += 2 * (__u64)payload + bpf_htons(stream);
	sum += (__u32)q8;
	sum += q8 >> 32;
	sum += (__u32)q9;
	sum += q9 >> 32;
	sum = (__u16)~fold(sum);
	if (!sum)
		sum = 0xffff;
	q7 |= (__u64)payload << 16 | sum << 32 | (head[7] & 0xffff000000000000ULL) | (__u64)bpf_htons(stream) << 48;
	put(p, head[0]);
	put(p + 1, head[1]);
	p[2] = head[2] | (__u64)payload << 16;
	p[3] = head[3];
	p[4] = f->a;
	p[5] = head[5];
	p[6] = f->b;
	p[7] = q7;
	p[8] = q8;
	p[9] = q9;
}

/* A stream's position in its mix. */
struct generate_place {
	__u64 round; /* round robin: every flow's next sequence */
	__u64 size;  /* index of the next size */
	__u32 flow;  /* index of the next flow, or in random order of the last */
	__u32 owed;  /* to the elephant, in 2^-32 of a frame */
	__u32 big;   /* the elephant's next sequence */
	__u32 left;  /* random order: frames that the last flow still sends in a row */
};

/* elephant returns whether the next frame is the elephant's. Its frames are spread
 * evenly among the others (Bresenham's algorithm), so that its share holds for any
 * number of frames. */
static __always_inline int elephant(struct generate_place *at)
{
	__u32 owed = at->owed + config.elephant;
	int due = owed < at->owed;

	at->owed = owed;
	return due;
}

/* pick chooses the next flow's index and its sequence; random order takes it from
 * `sequences`, where the stream's flows start at first. */
static __always_inline int pick(struct generate_place *at, __u64 *random, __u32 first, __u32 *index, __u32 *sequence)
{
	__u32 i, *s, least = 0;

	if (config.elephant) {
		if (elephant(at)) {
			*index = 0;
			*sequence = at->big++;
			return 0;
		}
		least = 1;
	}
	if (config.random) {
		if (!at->left) {
			at->flow = least + (((__u64)next_random(random) * (config.flows - least)) >> 32);
			at->left = config.random;
		}
		at->left--;
		i = at->flow;
		*index = i;
		i += first;
		s = bpf_map_lookup_elem(&sequences, &i);
		if (!s)
			return -1;
		*sequence = (*s)++;
		return 0;
	}
	i = at->flow + least;
	*index = i;
	*sequence = at->round;
	if (++i >= config.flows) {
		i = least;
		at->round++;
	}
	at->flow = i - least;
	return 0;
}

/* resize sets the frame to the next length of the mix. */
static __always_inline int resize(struct xdp_md *ctx, struct generate_place *at, __u32 *length)
{
	__u32 i = at->size, *l;

	if (config.sizes <= 1)
		return 0;
	l = bpf_map_lookup_elem(&lengths, &i);
	if (!l)
		return -1;
	if (++i >= config.sizes)
		i = 0;
	at->size = i;
	if (*l != *length && bpf_xdp_adjust_tail(ctx, (int)*l - (int)*length))
		return -1;
	*length = *l;
	return 0;
}

/* fill writes the frame: index is the flow's position in `flows`, number the flow's
 * number in the stamp. */
static __always_inline int fill(struct xdp_md *ctx, const volatile __u64 *head, __u32 index, __u32 number, __u16 stream, __u64 run, __u32 sequence,
				__u64 now, __u32 length)
{
	const struct generate_flow *f = bpf_map_lookup_elem(&flows, &index);
	__u64 *p = (void *)(long)ctx->data;
	__u32 mark = bpf_htonl(stamp_flow(number) | (__u32)(now >> 32) << 24);

	if (!f || (void *)p + (config.ipv6 ? 80 : 60) > (void *)(long)ctx->data_end)
		return -1;
	if (config.ipv6)
		write6(p, head, f, stream, run, mark, sequence, now, length);
	else
		write4(p, head, f, stream, run, mark, sequence, now, length, config.sizes > 1);
	return 0;
}

#endif
