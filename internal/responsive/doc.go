// Package responsive tests whether a DUT stays responsive while it is overloaded
// (RFC 2544 §11). It sends ICMP echo requests and opens TCP connections to the
// DUT over the links that carry the load, and times the answers. On the TCP
// port, a program on the DUT's CPU sends a greeting, which shows that programs
// still run there.
package responsive

import "time"

const (
	// every is the interval between two probes of each kind.
	every = 5 * time.Millisecond
	// greeterPort is the TCP port of the greeter.
	greeterPort = 2222
	// most is the limit on probes kept track of; a run sends far fewer.
	most = 1 << 15
)

// greeting is the text that the program on the DUT sends.
const greeting = "linerate\n"
