package calc

import "math"

const (
	tcpMaxWin   = 65535 // TCP_MAXWIN, RFC 793's window field
	maxWinShift = 14    // TCP_MAX_WINSHIFT, RFC 7323 §2.3
	mSize       = 256   // MSIZE of amd64 and arm64
	mClBytes    = 2048  // MCLBYTES
)

// BDP is the bandwidth-delay product in bytes: what must be in flight to
// fill a link of bits/s at a round-trip time of seconds. RFC 1072 §1.
func BDP(link, rtt float64) float64 { return link * rtt / 8 }

// WindowScale is the shift that FreeBSD announces for a kern.ipc.maxsockbuf:
// the smallest that lets 65535 << shift reach it, at most 14
// (sys/netinet/tcp_syncache.c syncache_add, tcp_usrreq.c tcp_connect).
func WindowScale(maxsockbuf float64) float64 {
	scale := 0
	for scale < maxWinShift && float64(uint64(tcpMaxWin)<<scale) < maxsockbuf {
		scale++
	}
	return float64(scale)
}

// UsableSockbuf is how much of kern.ipc.maxsockbuf a socket can reserve: the
// mbufs around the data are paid from it too, so MCLBYTES of every
// MSIZE+MCLBYTES (sys/kern/uipc_sockbuf.c, sb_max_adj).
func UsableSockbuf(maxsockbuf float64) float64 {
	return math.Floor(maxsockbuf * mClBytes / (mSize + mClBytes))
}

// SockbufShare is the most that one socket's buffer may be when connections, ten at the
// least, share the half of memory that network buffers can have.
func SockbufShare(memory, connections float64) float64 { return memory / 2 / max(10, connections) }

// SockbufFor is the kern.ipc.maxsockbuf below which a window of this many
// bytes cannot be reserved; the inverse of UsableSockbuf, rounded up.
func SockbufFor(window float64) float64 { return math.Ceil(window * (mSize + mClBytes) / mClBytes) }

// InitialWindow is FreeBSD's initial congestion window in bytes for
// net.inet.tcp.initcwnd_segments and an MSS (sys/netinet/tcp_input.c
// tcp_compute_initwnd; RFC 6928 for 10 segments).
func InitialWindow(segments, mss float64) float64 {
	return min(segments*mss, max(2*mss, segments*1460))
}

// SegmentsInWindow is how many whole segments an unscaled window holds: the
// guide's rule for abc_l_var and initcwnd_segments.
func SegmentsInWindow(mss float64) float64 { return math.Floor(tcpMaxWin / mss) }

// SlowStartRounds is the number of round trips after which slow start has
// sent bytes, growing by at most limit segments per acknowledgement of two
// segments (RFC 3465 §2.2; delayed acknowledgements): the window grows by
// min(limit, 2)/2 of itself each round, so at best it doubles.
func SlowStartRounds(bytes, segments, mss, limit float64) float64 {
	window := InitialWindow(segments, mss)
	growth := 1 + min(limit, 2)/2
	rounds, sent := 0.0, 0.0
	for sent < bytes && rounds < 1000 {
		sent += window
		window *= growth
		rounds++
	}
	return rounds
}
