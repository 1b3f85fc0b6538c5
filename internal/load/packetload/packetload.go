// Package packetload generates and counts traffic through AF_PACKET sockets:
// slower than xdpload, but it needs CAP_NET_RAW only, as a user namespace of
// one's own gives, sends frames of any size and works on any device.
package packetload
