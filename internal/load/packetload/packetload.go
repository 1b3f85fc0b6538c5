// Package packetload generates and counts traffic in user space. One generator
// fills batches of frames, paces them and keeps their account; each engine gives
// it Ports, its way into a device. AF_PACKET (Linux) needs CAP_NET_RAW only, sends
// frames of any size and works on any device, but slower than xdpload. bpf(4)
// takes a system call a frame, but every FreeBSD has it and every interface
// serves it. For what netmap(4) can send remoteload runs pkt-gen: that is netmap's, and
// was faster than an engine here.
package packetload
