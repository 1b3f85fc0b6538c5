// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * One worker of the generator. BPF_PROG_TEST_RUN with live frames runs it for
 * ever; each run makes one frame out of a recycled page and redirects it into
 * the port, or returns XDP_DROP because none is due.
 *
 * A recycled page holds what the last trip left of it (MACs swapped, TTL
 * counted down, checksums patched), so every byte of the headers and the stamp
 * is written anew. User space has precomputed them: a frame is `head`, with the
 * flow's own words from `flows` in it, and a stamp.
 */
#include "frame.h"
#include "refused.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define FLUSH_NS 1000
#define BEHIND_NS 10000	     /* from when on a schedule is behind */
#define BEHIND_FLUSH_NS 5000 /* and its batches are fuller */
#define BULK 16 /* frames that the kernel hands to a device at a time */

/* What user space sets for a run. */
struct generate_control {
	__u64 start;	/* when to begin, CLOCK_MONOTONIC; 0: not yet */
	__u64 deadline; /* when to end */
	__u64 limit;	/* frames to send */
	__u64 interval; /* between frames, in ns << 16; 0: as fast as possible */
	__u64 least;	/* interval that catching up keeps, in ns << 16 */
	__u64 run;	/* magic and run, network byte order */
	__u64 pause;	/* after a refusal, in ns, at maximum rate */
	__u64 batch;	/* frames that the kernel hands over at once: a power of two */
};

volatile struct generate_control control = {};

/* What the program keeps and user space reads. */
struct generate_state {
	__u32 armed; /* the program runs, and waits for start */
	__u32 began;
	__u32 done;
	__u32 pad;
	__u64 random;	/* state of the random order, not 0 */
	struct generate_place at;
	__u64 tick;	/* runs of the program */
	__u64 now;
	__u64 refused;	/* as last seen */
	__u64 flush_by; /* paced: when this batch should be handed over, 0: nothing in it yet */
	__u64 due;	/* next frame, since start, in ns << 16 */
	__u64 earliest; /* and not before, as due */
	__u64 sent;
	__u64 bytes; /* without FCS */
	__u64 last;  /* time of the last frame */
	__u64 ended; /* when done was set */
};

struct generate_state state = {};

/* How many frames the device refused so far; bpf/refused.bpf.c counts. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct refusals);
} refusals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} port SEC(".maps");

/* begin tells user space that the program runs, and whether the time has come. */
static __always_inline int begin(void)
{
	__u64 start = control.start;

	state.armed = 1;
	if (!start || state.now < start)
		return 0;
	state.began = 1;
	return 1;
}

static __always_inline int finish(void)
{
	if (!state.done) {
		state.ended = bpf_ktime_get_ns();
		*(volatile __u32 *)&state.done = 1;
	}
	return 0;
}

/* wait passes the time until t, or for about 50 us, in the program: to return
 * XDP_DROP meanwhile would free and allocate a page each time, and contend for
 * the page pool with the far end, which frees what has arrived. It says whether
 * t has come; the kernel looks for signals between batches, so that a longer
 * wait takes several runs. */
static __always_inline int wait(__u64 t)
{
	for (int i = 0; i < 2048; i++) {
		state.now = bpf_ktime_get_ns();
		if (state.now >= t)
			return 1;
	}
	return 0;
}

/* behind says whether the next frame was due a while ago. */
static __always_inline int behind(void)
{
	return (state.now - control.start) << 16 > state.due + ((__u64)BEHIND_NS << 16);
}

/* due waits until a frame is to be sent. A frame that is late does not move
 * the schedule, so that the mean rate holds; but what is behind catches up no
 * faster than `least` allows, because a burst at full speed after every stall
 * would measure the depth of the DUT's queue.
 *
 * The kernel hands over what it has at the end of a batch. So once a frame has
 * been sent, the rest of its batch is used for frames due within a microsecond
 * or so, and else given up. Handing over has its own price: where the schedule
 * falls behind for it, a batch takes what comes within some more. */
static __always_inline int due(void)
{
	__u64 at = state.due > state.earliest ? state.due : state.earliest;
	__u64 t = control.start + ((at + 0xffff) >> 16);

	if (state.flush_by && t > state.flush_by)
		return 0;
	if (!wait(t < control.deadline ? t : control.deadline)) {
		state.flush_by = 1;
		return 0;
	}
	if (state.now >= control.deadline)
		return finish();
	if (!state.flush_by)
		state.flush_by = state.now + (behind() ? BEHIND_FLUSH_NS : FLUSH_NS);
	state.due += control.interval;
	state.earliest = ((state.now - control.start) << 16) + control.least;
	return 1;
}

/* hold waits a little after the device refused frames, at maximum rate: what
 * the far end has no room for only takes time from it, see wait. */
static __always_inline void hold(void)
{
	struct refusals *r;
	__u32 zero = 0;

	if (state.sent & (BULK - 1))
		return;
	r = bpf_map_lookup_elem(&refusals, &zero);
	if (!r || r->refused == state.refused)
		return;
	state.refused = r->refused;
	wait(bpf_ktime_get_ns() + control.pause);
}

/* ready settles whether this run of the program sends a frame. As fast as
 * possible, the clock is read once per batch: the kernel hands a batch over at
 * its end anyway. */
static __always_inline int ready(void)
{
	if (!(state.tick++ & (control.batch - 1))) {
		state.flush_by = 0;
		state.now = bpf_ktime_get_ns();
		if (!state.began && !begin())
			return 0;
		if (state.now >= control.deadline)
			return finish();
	}
	if (!state.began || state.done)
		return 0;
	if (state.sent >= control.limit)
		return finish();
	if (control.interval)
		return due();
	hold();
	return 1;
}

SEC("xdp")
int generate(struct xdp_md *ctx)
{
	__u32 length = config.length, index, sequence;

	if (!ready())
		return XDP_DROP;
	if (resize(ctx, &state.at, &length) || pick(&state.at, &state.random, 0, &index, &sequence) ||
	    fill(ctx, config.head, index, config.first_flow + index * config.flow_step, 0, control.run, sequence, state.now, length))
		return XDP_ABORTED;
	state.sent++;
	state.bytes += length;
	state.last = state.now;
	return bpf_redirect_map(&port, 0, 0);
}

/* probe redirects a frame as it is: to see whether the device takes it. */
SEC("xdp")
int probe(struct xdp_md *ctx)
{
	return bpf_redirect_map(&port, 0, 0);
}
