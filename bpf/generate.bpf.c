// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * One worker of the generator. BPF_PROG_TEST_RUN with live frames runs it
 * endlessly; each run writes one frame into a recycled page and redirects it to
 * the port, or returns XDP_DROP if none is due.
 *
 * A recycled page holds the frame of its last trip (MACs swapped, TTL
 * decremented, checksum updated), so every byte of the headers and the stamp is
 * rewritten. User space has precomputed them: a frame is `head`, the flow's words
 * from `flows`, and a stamp.
 */
#include "frame.h"
#include "refused.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define FLUSH_NS 1000
#define BEHIND_NS 10000	     /* a schedule this late is behind */
#define BEHIND_FLUSH_NS 5000 /* added to flush_by while behind, for fuller batches */
#define BULK 16 /* frames that the kernel hands to a device at a time */

/* Settings of a run, written by user space. */
struct generate_control {
	__u64 start;	/* when to begin, CLOCK_MONOTONIC; 0: not yet */
	__u64 deadline; /* when to end */
	__u64 limit;	/* frames to send */
	__u64 interval; /* between frames, in ns << 16; 0: maximum rate */
	__u64 least;	/* minimum interval while catching up, in ns << 16 */
	__u64 run;	/* magic and run, network byte order */
	__u64 pause;	/* after a refusal, in ns, at maximum rate */
	__u64 batch;	/* frames that the kernel transmits at once: a power of two */
};

volatile struct generate_control control = {};

/* State of the program, read by user space. */
struct generate_state {
	__u32 armed; /* the program runs, and waits for start */
	__u32 began;
	__u32 done;
	__u32 pad;
	__u64 random;	/* state of the random generator, never 0 */
	struct generate_place at;
	__u64 tick;	/* runs of the program */
	__u64 now;
	__u64 refused;	/* as last seen */
	__u64 flush_by; /* paced: when to transmit this batch; 0: it is empty */
	__u64 due;	/* next frame, since start, in ns << 16 */
	__u64 earliest; /* earliest time of the next frame, same unit */
	__u64 sent;
	__u64 bytes; /* without FCS */
	__u64 last;  /* time of the last frame */
	__u64 ended; /* when done was set */
};

struct generate_state state = {};

/* Frames that the device has refused so far, counted by bpf/refused.bpf.c. */
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

/* begin tells user space that the program runs, and returns whether start has come. */
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

/* wait spins until t, for at most about 50 us: returning XDP_DROP instead would
 * free and allocate a page each time, and contend for the page pool with the
 * receiver, which frees the frames that arrive. It returns whether t has come. A
 * longer wait takes several runs, because the kernel checks for signals between
 * batches. */
static __always_inline int wait(__u64 t)
{
	for (int i = 0; i < 2048; i++) {
		state.now = bpf_ktime_get_ns();
		if (state.now >= t)
			return 1;
	}
	return 0;
}

/* behind returns whether the next frame is overdue by more than BEHIND_NS. */
static __always_inline int behind(void)
{
	return (state.now - control.start) << 16 > state.due + ((__u64)BEHIND_NS << 16);
}

/* due waits until the next frame is due. A late frame does not shift the
 * schedule, so that the mean rate holds; but it catches up no faster than
 * `least` allows, because a burst at full speed after every stall would measure
 * the depth of the DUT's queue.
 *
 * The kernel transmits at the end of a batch. So once a batch has a frame, only
 * frames due within about a microsecond join it, and its other runs return
 * without one. Each transmission has a fixed cost: if the schedule falls behind
 * because of it, batches wait longer for more frames. */
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

/* hold pauses after the device refused frames, at maximum rate: frames that the
 * receiver has no room for only slow it down, see wait. */
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

/* ready returns whether this run of the program sends a frame. At maximum rate it
 * reads the clock once per batch, as the kernel transmits only at a batch's
 * end. */
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

/* probe redirects a frame unchanged, to test whether the device accepts it. */
SEC("xdp")
int probe(struct xdp_md *ctx)
{
	return bpf_redirect_map(&port, 0, 0);
}
