// Package packetload generates and counts traffic in user space. A common generator
// fills, paces and accounts for batches of frames; each engine provides Ports, its
// access to a device. AF_PACKET (Linux) needs only CAP_NET_RAW, sends frames of any
// size and works on any device, but is slower than xdpload. bpf(4) takes a system call
// per frame, but every FreeBSD has it for every interface. For netmap(4), remoteload
// runs pkt-gen, which is part of netmap and was faster than an engine here.
package packetload
