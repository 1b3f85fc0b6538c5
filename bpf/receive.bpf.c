// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The receiver: counts each stamped frame that arrives at a device, per stream
 * and flow, and drops it; it passes all other frames. Only end-of-stream frames
 * are copied to user space.
 *
 * internal/load/account.go does the same in Go where eBPF is unavailable; a test
 * compares the two.
 */
#include "receive.h"
#include "stamp.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define PAGE_FLOWS 1024 /* flows are allocated to streams in pages */
#define PAGES (STAMP_FLOWS / PAGE_FLOWS) /* per stream: all flows */
#define WINDOW 256     /* sequence numbers remembered, to detect duplicates */
#define END_BYTES 128  /* end-of-stream frame: headers, stamp and message */
#define KEPT 32	       /* delays kept per flow, one per train */
#define GROUP 8	       /* frames with one send time that share a clock reading */

struct receive_config {
	__s32 stream; /* count only this one; -1: all */
	__u32 pages;  /* in the pool of flows */
	__u32 shared; /* two CPUs may process a flow's frames at once */
	__u32 delays; /* keep the delays of each flow's last trains */
};

const volatile struct receive_config config = { .stream = -1, .shared = 1 };

struct receive_flow {
	struct bpf_spin_lock lock;
	__u32 next; /* RFC 4737's NextExp */
	__u64 window[WINDOW / 64]; /* bit s % WINDOW: s was seen, for next - WINDOW <= s < next */
	__u64 received; /* without duplicates */
	__u32 duplicated;
	__u32 reordered;
	__u64 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PAGE_FLOWS);
	__type(key, __u32);
	__type(value, struct receive_flow);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct receive_stream);
} streams SEC(".maps");

/* Delays of a flow's last trains; a train is the frames of one batch, with the same
 * send time. Indexed like `flows`, if delays are kept. */
struct receive_delays {
	__u64 sent;	   /* send time of the last train */
	__u32 trains;
	__u32 pad;
	__u32 delay[KEPT]; /* of train i at i % KEPT, in ns */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct receive_delays);
} delays SEC(".maps");

/* The slots and pages of `flows` that streams use. An entry is a number plus
 * one; 0 is free. */
struct receive_table {
	__u64 key[SLOTS]; /* stream and run, plus one */
	__u32 used;	  /* pages allocated */
	__u32 pad;
	__u32 page[SLOTS * PAGES];
};

struct receive_table table = {};

/* Frames that belong to no stream, on one CPU. */
struct receive_other {
	__u64 foreign;
	__u64 no_slot; /* no free slot for the stream's run */
	__u64 ends_missed; /* end-of-stream frames dropped for lack of room */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct receive_other);
} other SEC(".maps");

struct receive_end {
	__u32 length;
	__u8 frame[END_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 17);
} ends SEC(".maps");

struct vlan {
	__be16 tag;
	__be16 type;
};

/* The contents of a stamp. */
struct seen {
	__u32 stream, run, kind, flow, sequence, bytes;
	__u64 time;
};

/* find locates the stamp in an IPv4 or IPv6 UDP frame, behind up to two VLAN
 * tags, and reads it. */
static __always_inline int find(void *data, void *end, struct seen *s)
{
	__be16 *type = data + 12;
	void *ip = data + 14;
	struct stamp *st;
	__u32 w, length;

	if (ip + 28 + sizeof(*st) > end)
		return -1;
	if (*type != bpf_htons(ETH_P_IP)) {
#pragma unroll
		for (int i = 0; i < 2; i++) {
			if (*type != bpf_htons(ETH_P_8021Q) && *type != bpf_htons(ETH_P_8021AD))
				break;
			type = ip + 2;
			ip += 4;
			if (ip + 28 + sizeof(*st) > end)
				return -1;
		}
	}
	if (*type == bpf_htons(ETH_P_IP)) {
		/* version 4 without options, UDP, not a fragment */
		if (*(__u8 *)ip != 0x45 || *(__u8 *)(ip + 9) != IPPROTO_UDP ||
		    (*(__be16 *)(ip + 6) & bpf_htons(0x3fff)))
			return -1;
		length = bpf_ntohs(*(__be16 *)(ip + 2));
		st = ip + 28;
	} else if (*type == bpf_htons(ETH_P_IPV6)) {
		if (ip + 48 + sizeof(*st) > end || *(__u8 *)(ip + 6) != IPPROTO_UDP)
			return -1;
		length = bpf_ntohs(*(__be16 *)(ip + 4)) + 40;
		st = ip + 48;
	} else {
		return -1;
	}
	w = bpf_ntohl(st->magic_run);
	if (w >> 12 != STAMP_MAGIC)
		return -1;
	s->run = w & 0xfff;
	s->stream = bpf_ntohs(st->stream);
	w = bpf_ntohl(st->time_kind_flow);
	s->kind = w >> STAMP_LOW_FLOW & 3;
	s->flow = flow_of_stamp(w);
	s->time = (__u64)(w >> 24) << 32 | bpf_ntohl(st->time);
	s->sequence = bpf_ntohl(st->sequence);
	s->bytes = length + 18 < 64 ? 64 : length + 18;
	return 0;
}

static __always_inline int is_probe(void *data, void *end)
{
	return data + 18 <= end && *(__be16 *)(data + 12) == bpf_htons(ETH_P_802_EX1) &&
	       *(__be32 *)(data + 14) == bpf_htonl(STAMP_MAGIC << 12);
}

/* slot_of finds or allocates the slot of a stream's run. The search starts at a
 * slot derived from the stream's number, so that no stream takes longer to find:
 * a nanosecond more would bias the comparison of arms. */
static __always_inline int slot_of(const struct seen *s)
{
	__u64 key = ((__u64)s->stream << 12 | s->run) + 1;

	for (int i = 0; i < SLOTS; i++) {
		__u32 slot = (s->stream + i) & (SLOTS - 1);
		__u64 k = table.key[slot];

		if (k == key)
			return slot;
		if (!k) {
			k = __sync_val_compare_and_swap(&table.key[slot], 0, key);
			if (!k || k == key)
				return slot;
		}
	}
	return -1;
}

/* flow_of finds a flow's account, and allocates a page to its stream if needed. */
static __always_inline struct receive_flow *flow_of(__u32 slot, __u32 flow, __u32 *place)
{
	__u32 at = slot * PAGES + flow / PAGE_FLOWS, page, index;

	if (at >= SLOTS * PAGES)
		return 0;
	page = table.page[at];
	if (!page) {
		if (table.used >= config.pages)
			return 0;
		index = __sync_fetch_and_add(&table.used, 1);
		if (index >= config.pages)
			return 0;
		/* If another CPU was faster, use its page. */
		page = __sync_val_compare_and_swap(&table.page[at], 0, index + 1);
		if (!page)
			page = index + 1;
	}
	index = (page - 1) * PAGE_FLOWS + flow % PAGE_FLOWS;
	*place = index;
	return bpf_map_lookup_elem(&flows, &index);
}

enum outcome {
	NEW = 1,
	REORDERED = 2,
	FIRST = 4,
};

/* skip marks sequences from to from+n-1 as not seen. */
static __always_inline void skip(struct receive_flow *f, __u32 from, __u32 n)
{
	if (n >= WINDOW) {
		f->window[0] = f->window[1] = f->window[2] = f->window[3] = 0;
		return;
	}
	for (__u32 i = 0; i < WINDOW; i++) {
		if (i >= n)
			break;
		f->window[(from + i) >> 6 & 3] &= ~(1ULL << ((from + i) & 63));
	}
}

/* note updates a flow's account: is this sequence new, late, or a duplicate? A
 * frame too late for the window counts as new while frames are missing. */
static __always_inline int note(struct receive_flow *f, __u32 sequence)
{
	__u64 *word = &f->window[sequence >> 6 & 3], bit = 1ULL << (sequence & 63);
	__s32 ahead = sequence - f->next;
	int outcome = 0;

	if (ahead >= 0) {
		if (ahead)
			skip(f, f->next, ahead);
		f->next = sequence + 1;
		*word |= bit;
		outcome = NEW;
	} else if (-ahead <= WINDOW ? !(*word & bit) : f->next != (__u32)f->received) {
		if (-ahead <= WINDOW)
			*word |= bit;
		f->reordered++;
		outcome = NEW | REORDERED;
	} else {
		f->duplicated++;
	}
	if (outcome & NEW && !f->received++)
		outcome |= FIRST;
	return outcome;
}

/* count calls note with exclusive access to the flow. NAPI runs a receive queue on
 * one CPU at a time, so only shared flows need the lock. */
static __always_inline int count(struct receive_flow *f, __u32 sequence)
{
	int outcome;

	if (!config.shared)
		return note(f, sequence);
	bpf_spin_lock(&f->lock);
	outcome = note(f, sequence);
	bpf_spin_unlock(&f->lock);
	return outcome;
}

static __always_inline __u32 bucket(__u64 v)
{
	__u32 top = 0;
	__u64 x = v >> SUB_BITS;

	if (!x)
		return v;
	if (v >> TOP_BITS)
		return BUCKETS - 1;
	if (x >> 16) { top += 16; x >>= 16; }
	if (x >> 8) { top += 8; x >>= 8; }
	if (x >> 4) { top += 4; x >>= 4; }
	if (x >> 2) { top += 2; x >>= 2; }
	top += x >> 1;
	return ((top + 1) << SUB_BITS) + ((v >> top) & ((1 << SUB_BITS) - 1));
}

/* keep stores the delay of a flow's train so far; its final value is that of the
 * train's last frame with a clock reading. */
static __always_inline void keep(__u32 place, __u64 sent, __u64 latency)
{
	struct receive_delays *d = bpf_map_lookup_elem(&delays, &place);

	if (!d)
		return;
	if (!d->trains || d->sent != sent) {
		d->sent = sent;
		d->trains++;
	}
	d->delay[(d->trains - 1) & (KEPT - 1)] = latency >> 32 ? 0xffffffff : latency;
}

/* arrive records a frame's arrival time and latency. Reading the clock takes
 * longer than everything else done for a frame. Frames with the same send time
 * were sent as one batch, and up to GROUP of them in a row share a reading
 * unless the kernel's tick has advanced; paced frames have different send times,
 * so each is timed. place is the flow's index in `delays`. */
static __always_inline void arrive(struct receive_stream *st, const struct seen *s, __u32 place)
{
	__u64 now, latency, tick = bpf_jiffies64();
	__u32 b;

	if (!st->sharing || st->sent != s->time || st->tick != tick) {
		now = bpf_ktime_get_ns();
		latency = (now - s->time) & STAMP_TIME_MASK;
		/* The clocks of two machines differ, so a latency may be negative. */
		if (latency >> (STAMP_TIME_BITS - 1))
			latency = 0;
		if (config.delays)
			keep(place, s->time, latency);
		if (!st->first)
			st->first = now;
		st->last = now;
		st->sent = s->time;
		st->tick = tick;
		st->sharing = GROUP;
		st->bucket = bucket(latency);
		if (!st->least || latency + 1 < st->least)
			st->least = latency + 1;
		if (latency > st->most)
			st->most = latency;
	}
	st->sharing--;
	b = st->bucket;
	if (b < BUCKETS)
		st->latency[b]++;
}

static __always_inline void count_data(const struct seen *s, __u32 slot)
{
	struct receive_stream *st = bpf_map_lookup_elem(&streams, &slot);
	__u32 place = 0;
	struct receive_flow *f = flow_of(slot, s->flow, &place);
	int outcome;

	if (!st)
		return;
	if (!f) {
		st->untracked++;
		return;
	}
	outcome = count(f, s->sequence);
	if (!(outcome & NEW)) {
		st->duplicated++;
		return;
	}
	st->received++;
	st->bytes += s->bytes;
	if (outcome & REORDERED)
		st->reordered++;
	if (outcome & FIRST)
		st->flows++;
	arrive(st, s, place);
}

/* hand_over copies an end-of-stream frame to user space. */
static __always_inline void hand_over(struct xdp_md *ctx, struct receive_other *o)
{
	__u64 length = bpf_xdp_get_buff_len(ctx);
	struct receive_end *e = bpf_ringbuf_reserve(&ends, sizeof(*e), 0);

	if (!e) {
		o->ends_missed++;
		return;
	}
	if (length > END_BYTES)
		length = END_BYTES;
	e->length = length;
	if (length < 14 || bpf_xdp_load_bytes(ctx, 0, e->frame, length))
		bpf_ringbuf_discard(e, 0);
	else
		bpf_ringbuf_submit(e, 0);
}

/* other_frame counts a frame that is not linerate's. */
static __always_inline int other_frame(struct xdp_md *ctx, struct receive_other *o)
{
	if (is_probe((void *)(long)ctx->data, (void *)(long)ctx->data_end))
		return XDP_DROP;
	o->foreign++;
	return XDP_PASS;
}

SEC("xdp.frags")
int receive(struct xdp_md *ctx)
{
	struct receive_other *o;
	struct seen s = {};
	__u32 zero = 0;
	int slot = -1, ours;

	ours = !find((void *)(long)ctx->data, (void *)(long)ctx->data_end, &s);
	if (ours && config.stream >= 0 && s.stream != config.stream)
		return XDP_DROP;
	if (ours && s.kind == STAMP_DATA) {
		slot = slot_of(&s);
		if (slot >= 0) {
			count_data(&s, slot);
			return XDP_DROP;
		}
	}
	o = bpf_map_lookup_elem(&other, &zero);
	if (!o)
		return XDP_ABORTED;
	if (!ours)
		return other_frame(ctx, o);
	if (s.kind == STAMP_END)
		hand_over(ctx, o);
	else if (s.kind == STAMP_DATA)
		o->no_slot++;
	return XDP_DROP;
}
