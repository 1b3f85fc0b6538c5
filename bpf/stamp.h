/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The stamp in every frame that linerate sends: the first 18 bytes of its UDP
 * payload, all that fits into a 64-byte IPv4 frame. Network byte order.
 *
 *  offset bits
 *       0  16  stream   which stream of frames this is, --stream
 *       2  20  magic    0x11A7E
 *          12  run      which run of the generator; distinguishes a stream's
 *                       new run from late frames of the last one
 *       6   8  time     bits 32..39 of the send time
 *           2  flow     bits 20 and 21 of the flow's number
 *           2  kind     0 data, 1 end of stream
 *          20  flow     bits 0 to 19 of the flow's number, from 0
 *      10  32  sequence of this flow, from 0, modulo 2^32
 *      14  32  time     bits 0..31 of the send time
 *
 * Send time is CLOCK_MONOTONIC in ns modulo 2^40 (18.3 minutes). After 14 bytes
 * of Ethernet, 20 of IPv4 or 40 of IPv6, and 8 of UDP, all words but the first
 * are aligned to four bytes.
 *
 * A probe is a frame of EtherType 0x88B5 (IEEE 802, local experimental) with
 * the magic and 12 zero bits after it; it only tests whether a wire works.
 *
 * internal/load/stamp.go is the same in Go.
 */
#ifndef LINERATE_STAMP_H
#define LINERATE_STAMP_H

#include "kernel.h"

#define STAMP_MAGIC 0x11A7EU
#define STAMP_TIME_BITS 40
#define STAMP_TIME_MASK ((1ULL << STAMP_TIME_BITS) - 1)
#define STAMP_LOW_FLOW 20 /* bits of a flow's number below the kind */
#define STAMP_FLOWS (1U << 22)

enum stamp_kind {
	STAMP_DATA = 0,
	STAMP_END = 1,
};

/* stamp_flow splits a flow's number into its two fields of the word shared with
 * kind and time; flow_of_stamp joins them. Numbers below 2^20 and kinds keep the
 * positions that they had when flows had 20 bits. */
static __always_inline __u32 stamp_flow(__u32 flow)
{
	return (flow & ((1U << STAMP_LOW_FLOW) - 1)) | (flow >> STAMP_LOW_FLOW & 3) << 22;
}

static __always_inline __u32 flow_of_stamp(__u32 word)
{
	return (word & ((1U << STAMP_LOW_FLOW) - 1)) | (word >> 22 & 3) << STAMP_LOW_FLOW;
}

struct stamp {
	__be16 stream;
	__be32 magic_run;
	__be32 time_kind_flow;
	__be32 sequence;
	__be32 time;
} __attribute__((packed));

#endif
