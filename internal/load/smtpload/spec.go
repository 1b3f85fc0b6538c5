// Package smtpload sends messages to a mail server over SMTP (RFC 5321), in an
// open loop (messages are due by a schedule) or a closed one (each session
// sends again when its message has been taken). A message's latency runs to
// the reply that takes it, and none is cut off; what the server does with it then is the server's
// own affair, and to be asked of its queue.
//
// net/smtp hides how far a message came and cannot be told where to dial from,
// and is frozen; the few commands are written here.
package smtpload

import (
	"net/netip"

	"linerate/internal/load/client"
)

// Spec is a load of messages.
type Spec struct {
	client.Load
	Server netip.AddrPort
	From   string // envelope's sender
	// To is the envelope's recipient; %d in it is a number from 1 to Accounts:
	// each once, in an order that the seed draws, before any comes again.
	To         string
	Accounts   int
	Sizes      []int // of messages in bytes, header included, each as often as it is listed
	Sessions   int   // at once; in an open loop as many as are needed, up to it
	PerSession int   // messages after which a session ends; 0: no limit
	Sources    []netip.Addr
	Enter      client.Enter // where given
}
