// Package smtpload sends messages to a mail server over SMTP (RFC 5321), in an open loop
// (messages are due by a schedule) or a closed one (each session sends the next message when the
// last was accepted). A message's latency ends with the reply that accepts it, and no message is
// cut off; what the server does with it afterwards shows in its queue.
//
// net/smtp encodes each message again, byte by byte, at the generator's cost; so this package sends
// the few commands itself, over net/textproto.
package smtpload

import (
	"net/netip"

	"linerate/internal/load/client"
)

// Spec is a load of messages.
type Spec struct {
	client.Load
	Server netip.AddrPort
	From   string // envelope sender
	// To is the envelope recipient; %d in it is replaced by a number from 1 to
	// Accounts: each once, in an order drawn from the seed, before any is repeated.
	To         string
	Accounts   int
	Sizes      []int // of messages in bytes, including the header; each is sent as often as it is listed
	Sessions   int   // concurrent; in an open loop the maximum
	PerSession int   // messages after which a session ends; 0: no limit
	Sources    []netip.Addr
	Enter      client.Enter // nil: the caller's namespace
}
