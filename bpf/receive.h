/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The receiver's counters, also read by other programs. */
#ifndef LINERATE_RECEIVE_H
#define LINERATE_RECEIVE_H

#include "kernel.h"

#define SLOTS 16       /* one per run of a stream */
#define SUB_BITS 6     /* latency buckets per power of two, as bits */
#define TOP_BITS 36    /* latencies from 2^36 ns (69 s) share the last bucket */
#define BUCKETS ((TOP_BITS - SUB_BITS + 1) << SUB_BITS)

/* Counters of one stream on one CPU. */
struct receive_stream {
	__u64 received;
	__u64 bytes; /* with FCS */
	__u64 duplicated;
	__u64 reordered;
	__u64 flows;
	__u64 first; /* CLOCK_MONOTONIC */
	__u64 last;
	__u64 least; /* latency + 1, 0: none */
	__u64 most;
	__u64 untracked; /* frames of flows that found no room */
	__u64 sent;	 /* send time at the last clock reading */
	__u64 tick;	 /* the kernel's tick then */
	__u32 sharing;	 /* frames that may still share that reading */
	__u32 bucket;	 /* latency bucket of that reading */
	__u64 latency[BUCKETS];
};

#endif
