// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Sums the time that each CPU spends in interrupt handlers and in softirqs, in
 * nanoseconds. A softirq that is interrupted is not charged for the interrupt.
 *
 * Interrupt handlers and softirqs write separate fields, and neither nests on a CPU, so
 * plain additions suffice.
 */
#include "kernel.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct spent {
	__u64 hard, soft;	      /* completed */
	__u64 hard_since, soft_since; /* start of the current one; 0: none */
	__u64 hard_before;	      /* hard when the softirq began */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct spent);
} cpus SEC(".maps");

static __always_inline struct spent *here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&cpus, &zero);
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(hard_begins)
{
	struct spent *s = here();

	if (s)
		s->hard_since = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(hard_ends)
{
	struct spent *s = here();

	if (!s || !s->hard_since)
		return 0;
	s->hard += bpf_ktime_get_ns() - s->hard_since;
	s->hard_since = 0;
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(soft_begins)
{
	struct spent *s = here();

	if (!s)
		return 0;
	s->hard_before = s->hard;
	s->soft_since = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(soft_ends)
{
	struct spent *s = here();
	__u64 all, above;

	if (!s || !s->soft_since)
		return 0;
	all = bpf_ktime_get_ns() - s->soft_since;
	above = s->hard - s->hard_before;
	if (all > above)
		s->soft += all - above;
	s->soft_since = 0;
	return 0;
}
