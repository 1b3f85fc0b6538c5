// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * A generator for several lanes: wires that each lead through a device under
 * test, or through none. One endless BPF_PROG_TEST_RUN with live frames sends to
 * one lane after another, a slice of a few batches each, in the order that user
 * space writes into `entries`, and records there each slice's duration and number
 * of frames.
 *
 * The kernel transmits a batch at its end and, with all lanes on one CPU,
 * delivers it to the receiver before the next begins. So slices start and end
 * between batches. A few unmeasured batches of the lane precede each slice, so
 * that the previous lane's frames and cache lines do not affect the measured time.
 *
 * A lane may have two ways, there and back: frames then leave alternately from
 * both ends, so that each batch has equally many of both, and a device under test
 * has frames waiting at both ports.
 */
#include "frame.h"
#include "receive.h"

#include <bpf/bpf_core_read.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Settings of a run, written by user space. */
struct slices_control {
	__u64 limit;	/* ns after the first round (the warm-up); no round begins later */
	__u64 run;	/* magic and run, network byte order */
	__u64 slice;	/* minimum duration in ns */
	__u64 batch;	/* frames that the kernel transmits at once: a power of two */
	__u32 round;	/* slices in a round */
	__u32 turn;	/* consecutive slices of a lane */
	__u32 first;	/* stream of lane 0; the others follow */
	__u32 guard;	/* unmeasured batches before a slice */
	__u32 warm;	/* the same before each lane's first slice */
	__u32 slices;	/* in entries */
	__u32 permit;	/* only slices with a lower index may begin */
	__u32 least;	/* the limit does not apply before this many slices */
	__u32 ways;	/* per lane; 2: there and back, as streams 2n and 2n + 1 */
	__u32 pad;
};

volatile struct slices_control control = {};

/* Like config.head, for frames on the way back; their flows follow the others in
 * `flows`. */
const volatile __u64 back[8] = {};

enum phase {
	IDLE = 0,
	GUARD,
	MEASURE,
};

/* State of the program, read by user space. */
struct slices_state {
	__u32 armed; /* the program runs */
	__u32 done;
	__u32 index; /* of the slice, in entries */
	__u32 phase;
	__u32 lane;
	__u32 last_lane;
	__u32 left;  /* unmeasured batches still to send */
	__u32 flags; /* of the slice */
	__u64 tick;
	__u64 now;
	__u64 start;
	__u64 warmed; /* end of the first round */
	__u64 begun;	/* at the start of the slice: time, */
	__u64 sent;	/* frames sent, */
	__u64 switches; /* this thread's context switches, */
	__u64 underway; /* and frames that had not arrived */
	__u64 random;
};

struct slices_state state = {};

/* One way of a lane. */
struct slices_lane {
	__u64 sent;
	__u64 bytes; /* without FCS */
	struct generate_place at;
	__u64 underway; /* for the lane of this index: frames not yet arrived when it was last left */
};

struct slices_lane lanes[SLOTS] = {};

/* One slice: user space writes the lane, the program everything else. */
struct slices_entry {
	__u32 lane;
	__u32 flags;
	__u32 frames;
	__u32 ns;
	__u32 at; /* us since the start */
	__u32 pad;
};

enum slices_flag {
	SLICE_SWITCHED = 1, /* the CPU ran something else */
	SLICE_UNDERWAY = 2, /* frames arrived after the slice in which they were sent */
	SLICE_LEFTOVER = 4, /* frames of the previous lane were still in flight */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct slices_entry);
} entries SEC(".maps");

/* The receiver's counters: the stream's number determines its slot. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct receive_stream);
} streams SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, __u32);
} ports SEC(".maps");

struct task_struct {
	unsigned long nvcsw;
	unsigned long nivcsw;
} __attribute__((preserve_access_index));

/* switches returns this thread's number of context switches. */
static __always_inline __u64 switches(void)
{
	struct task_struct *t = (void *)bpf_get_current_task_btf();

	return t->nvcsw + t->nivcsw;
}

/* sent returns the number of frames sent over a lane. */
static __always_inline __u64 sent(__u32 lane)
{
	__u32 ways = control.ways & 3, n = lane * ways;

	if (n >= SLOTS)
		return 0;
	return lanes[n].sent + (ways > 1 && n + 1 < SLOTS ? lanes[n + 1].sent : 0);
}

/* waiting returns how many frames of a way have not arrived. The receiver runs on
 * this CPU, so this CPU's counter is complete. */
static __always_inline __u64 waiting(__u32 n)
{
	struct receive_stream *st;
	struct slices_lane *l;
	__u32 slot;

	if (n >= SLOTS)
		return 0;
	l = &lanes[n];
	slot = (control.first + n) & (SLOTS - 1);
	st = bpf_map_lookup_elem(&streams, &slot);
	return st ? l->sent - st->received : 0;
}

/* underway returns the same for a lane. */
static __always_inline __u64 underway(__u32 lane)
{
	__u32 ways = control.ways & 3;

	return waiting(lane * ways) + (ways > 1 ? waiting(lane * ways + 1) : 0);
}

static __always_inline void finish(void)
{
	state.phase = IDLE;
	*(volatile __u32 *)&state.done = 1;
}

/* enter moves on to the next slice if user space permits. */
static __always_inline void enter(void)
{
	__u32 index = state.index, lane;
	struct slices_entry *e;

	if (index == control.round)
		state.warmed = state.now;
	if (index >= control.slices || (state.warmed && index >= control.least && state.now - state.warmed >= control.limit && index % control.round == 0)) {
		finish();
		return;
	}
	if (index >= control.permit)
		return;
	e = bpf_map_lookup_elem(&entries, &index);
	if (!e) {
		finish();
		return;
	}
	lane = e->lane;
	state.last_lane = state.lane;
	state.lane = lane;
	state.left = index < control.round && index % control.turn == 0 ? control.warm : control.guard;
	state.phase = GUARD;
}

/* begin starts the measurement after the unmeasured batches. */
static __always_inline void begin(void)
{
	__u32 lane = state.lane, last = state.last_lane;
	__u64 left;

	if (lane >= SLOTS || last >= SLOTS)
		return;
	state.flags = 0;
	left = underway(last);
	if (last != lane && left != lanes[last].underway) {
		state.flags |= SLICE_LEFTOVER;
		lanes[last].underway = left;
	}
	state.underway = underway(lane);
	state.sent = sent(lane);
	state.switches = switches();
	state.phase = MEASURE;
	state.begun = bpf_ktime_get_ns();
}

/* end ends a slice that has lasted long enough. */
static __always_inline void end(void)
{
	__u32 index = state.index, lane = state.lane;
	struct slices_entry *e;
	__u64 left;

	if (state.now - state.begun < control.slice || lane >= SLOTS)
		return;
	e = bpf_map_lookup_elem(&entries, &index);
	if (!e)
		return;
	left = underway(lane);
	if (switches() != state.switches)
		state.flags |= SLICE_SWITCHED;
	if (left != state.underway)
		state.flags |= SLICE_UNDERWAY;
	lanes[lane].underway = left;
	e->flags = state.flags;
	e->frames = sent(lane) - state.sent;
	e->ns = state.now - state.begun;
	e->at = (state.begun - state.start) / 1000;
	state.index++;
	state.phase = IDLE;
}

/* between runs between two batches. */
static __always_inline void between(void)
{
	state.now = bpf_ktime_get_ns();
	if (!state.armed) {
		state.armed = 1;
		state.start = state.now;
	}
	if (state.phase == MEASURE)
		end();
	if (state.phase == GUARD && --state.left == 0)
		begin();
	if (state.phase == IDLE && !state.done)
		enter();
}

SEC("xdp")
int slices(struct xdp_md *ctx)
{
	__u32 length = config.length, index, sequence, number, backward = 0;
	const volatile __u64 *head = config.head;
	struct slices_lane *way;

	if (!(state.tick++ & (control.batch - 1)))
		between();
	number = state.lane;
	if (control.ways > 1) {
		backward = state.tick & 1;
		number = 2 * number + backward;
	}
	if (state.phase == IDLE || number >= SLOTS)
		return XDP_DROP;
	if (backward)
		head = back;
	way = &lanes[number];
	if (resize(ctx, &way->at, &length) ||
	    pick(&way->at, &state.random, number * config.flows, &index, &sequence) ||
	    fill(ctx, head, index + backward * config.flows, index, control.first + number, control.run, sequence, state.now, length))
		return XDP_ABORTED;
	way->sent++;
	way->bytes += length;
	return bpf_redirect_map(&ports, number, 0);
}
