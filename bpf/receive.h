/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What the receiver counts, and who else may look at it. */
#ifndef LINERATE_RECEIVE_H
#define LINERATE_RECEIVE_H

#include "kernel.h"

#define SLOTS 16       /* streams, counting a new run of one as another */
#define SUB_BITS 6     /* latency buckets per power of two, as bits */
#define TOP_BITS 36    /* latencies from 2^36 ns (69 s) share the last bucket */
#define BUCKETS ((TOP_BITS - SUB_BITS + 1) << SUB_BITS)

/* What is counted of one stream on one CPU. */
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
	__u64 untracked; /* of flows that found no room */
	__u64 sent;	 /* send time of the last reading of the clock */
	__u64 tick;	 /* and the kernel's */
	__u32 sharing;	 /* frames that may still share it */
	__u32 bucket;	 /* of their latency */
	__u64 latency[BUCKETS];
};

#endif
