// Package xdpload generates and counts traffic in eBPF: live frames, redirected
// to a device by BPF_PROG_TEST_RUN (Linux 5.18 or later), and a receiver that
// runs as an XDP program. Both need root, or CAP_BPF, CAP_NET_ADMIN,
// CAP_NET_RAW and CAP_PERFMON in the initial user namespace.
package xdpload
