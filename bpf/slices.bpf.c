// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * A generator for several lanes at once: wires that lead through a device under
 * test each, or through none. One endless BPF_PROG_TEST_RUN with live frames
 * sends to one lane after the other, a slice of a few batches each, in the order
 * that user space has written into `entries`, and notes there how long each slice
 * took for how many frames.
 *
 * The kernel hands a batch over at its end, and with all lanes on one CPU has
 * carried it through to the receiver before the next begins. So a slice begins
 * and ends between batches; a few batches of a lane go before its slice, so that
 * neither the last lane's frames nor its cache lines are in the measured time.
 *
 * A lane can have two ways, there and back: its frames then leave by one end and
 * by the other in turn, so that each batch holds as many of both, and a device
 * under test finds frames waiting at both its ports.
 */
#include "frame.h"
#include "receive.h"

#include <bpf/bpf_core_read.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* What user space sets for a run. */
struct slices_control {
	__u64 limit;	/* ns from the end of the first round, in which lanes warm up; begin no round after it */
	__u64 run;	/* magic and run, network byte order */
	__u64 slice;	/* ns to measure at least */
	__u64 batch;	/* frames that the kernel hands over at once: a power of two */
	__u32 round;	/* slices in a round */
	__u32 turn;	/* slices of a lane in a row */
	__u32 first;	/* stream of lane 0; the others follow */
	__u32 guard;	/* batches before a slice */
	__u32 warm;	/* and before the first slice of each lane */
	__u32 slices;	/* in entries */
	__u32 permit;	/* begin only slices below this one */
	__u32 least;	/* slices before which the limit ends nothing */
	__u32 ways;	/* of a lane: 2 are there and back, as streams 2n and 2n + 1 */
	__u32 pad;
};

volatile struct slices_control control = {};

/* What frames on the way back begin with, as config.head; their flows are in
 * `flows` behind the others. */
const volatile __u64 back[8] = {};

enum phase {
	IDLE = 0,
	GUARD,
	MEASURE,
};

/* What the program keeps and user space reads. */
struct slices_state {
	__u32 armed; /* the program runs */
	__u32 done;
	__u32 index; /* of the slice, in entries */
	__u32 phase;
	__u32 lane;
	__u32 last_lane;
	__u32 left;  /* batches of the guard */
	__u32 flags; /* of the slice */
	__u64 tick;
	__u64 now;
	__u64 start;
	__u64 warmed; /* when the first round was through */
	__u64 begun;	/* the slice: when, */
	__u64 sent;	/* after how many frames, */
	__u64 switches; /* how often this thread had left the CPU, */
	__u64 underway; /* and how many frames had not arrived */
	__u64 random;
};

struct slices_state state = {};

/* One way of a lane. */
struct slices_lane {
	__u64 sent;
	__u64 bytes; /* without FCS */
	struct generate_place at;
	__u64 underway; /* of the lane of this number: frames that had not arrived when it was last left */
};

struct slices_lane lanes[SLOTS] = {};

/* One slice: the lane is user space's to write, the rest the program's. */
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
	SLICE_UNDERWAY = 2, /* not all frames arrived in the slice they were sent in */
	SLICE_LEFTOVER = 4, /* frames of the lane before were still underway */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct slices_entry);
} entries SEC(".maps");

/* The receiver's counters: a stream's slot is given by its number. */
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

/* switches is how often this thread has left its CPU. */
static __always_inline __u64 switches(void)
{
	struct task_struct *t = (void *)bpf_get_current_task_btf();

	return t->nvcsw + t->nivcsw;
}

/* sent is how many frames went over a lane. */
static __always_inline __u64 sent(__u32 lane)
{
	__u32 ways = control.ways & 3, n = lane * ways;

	if (n >= SLOTS)
		return 0;
	return lanes[n].sent + (ways > 1 && n + 1 < SLOTS ? lanes[n + 1].sent : 0);
}

/* waiting is how many frames of a way have not arrived: the receiver runs on
 * this CPU, so its counter here is the whole of it. */
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

/* underway is the same of a lane. */
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

/* enter goes on to the next slice, when user space permits. */
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

/* begin begins to measure, once the guard is through. */
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

/* end ends a slice that is long enough. */
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

/* between does what there is to do between two batches. */
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
