package accesslog

import (
	"bytes"
	"net/netip"
	"strconv"
	"strings"
)

// PeerFormat is the NGINX log format from which Peer can find the client.
const PeerFormat = "$remote_addr:$remote_port"

// Peer returns the client's address and port: the first word of a line that has
// the form of PeerFormat.
func Peer(line []byte) (netip.AddrPort, bool) {
	for _, word := range bytes.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\",;=()", r) }) {
		i := bytes.LastIndexByte(word, ':')
		if i < 2 {
			continue
		}
		port, err := strconv.ParseUint(string(word[i+1:]), 10, 16)
		if err != nil || port == 0 {
			continue
		}
		if addr, err := netip.ParseAddr(strings.Trim(string(word[:i]), "[]")); err == nil {
			return netip.AddrPortFrom(addr.Unmap(), uint16(port)), true
		}
	}
	return netip.AddrPort{}, false
}
