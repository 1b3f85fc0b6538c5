// Package responsive asks whether a DUT stays usable while it is overloaded (RFC
// 2544 §11): it sends ICMP echo requests and opens TCP connections to the DUT
// over the same wire as the load, and times what comes back. Behind the TCP
// port a program on the DUT's CPU greets every connection, so that its answer
// shows whether programs still run there.
package responsive

import "time"

const (
	// every is the time between two probes of each kind.
	every = 5 * time.Millisecond
	// greeterPort is where the greeter listens.
	greeterPort = 2222
	// most probes are kept track of; a run sends far fewer.
	most = 1 << 15
)

// greeting is what the program on the DUT says.
const greeting = "linerate\n"
