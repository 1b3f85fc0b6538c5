/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The stamp that every frame of linerate carries: the first 18 bytes of its
 * UDP payload, all that a 64-byte IPv4 frame has room for. Network byte order.
 *
 *  offset bits
 *       0  16  stream   which stream of frames this is, --stream
 *       2  20  magic    0x11A7E
 *          12  run      which run of the generator; tells a new run of a
 *                       stream from late frames of the last one
 *       6   8  time     bits 32..39 of the send time
 *           4  kind     0 data, 1 end of stream
 *          20  flow     number of the flow, from 0
 *      10  32  sequence of this flow, from 0, modulo 2^32
 *      14  32  time     bits 0..31 of the send time
 *
 * Send time is CLOCK_MONOTONIC in ns modulo 2^40 (18.3 minutes). Behind 14
 * bytes of Ethernet, 20 of IPv4 or 40 of IPv6, and 8 of UDP, all words but the
 * first lie on multiples of four.
 *
 * A probe is a frame of EtherType 0x88B5 (IEEE 802, local experimental) with
 * the magic and 12 zero bits behind it: it only shows that a wire carries it.
 *
 * internal/load/stamp.go is the same in Go.
 */
#ifndef LINERATE_STAMP_H
#define LINERATE_STAMP_H

#include "kernel.h"

#define STAMP_MAGIC 0x11A7EU
#define STAMP_TIME_BITS 40
#define STAMP_TIME_MASK ((1ULL << STAMP_TIME_BITS) - 1)
#define STAMP_FLOW_MASK 0xFFFFFU

enum stamp_kind {
	STAMP_DATA = 0,
	STAMP_END = 1,
};

struct stamp {
	__be16 stream;
	__be32 magic_run;
	__be32 time_kind_flow;
	__be32 sequence;
	__be32 time;
} __attribute__((packed));

#endif
