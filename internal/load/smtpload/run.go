// Package smtpload sends messages to a mail server over SMTP (RFC 5321), in an open loop
// (messages are due by a schedule) or a closed one (each session sends the next message when the
// last was accepted). A message's latency ends with the reply that accepts it, and no message is
// cut off; what the server does with it afterwards shows in its queue.
//
// net/smtp encodes each message again, byte by byte, at the generator's cost; so this package sends
// the few commands itself, over net/textproto.
package smtpload

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"

	"linerate/internal/load/client"
	"linerate/internal/load/request"
)

// source creates the sessions of one run.
type source struct {
	*Spec
	d       *client.Dialer
	bodies  [][]byte // by size
	leaving sync.WaitGroup
	drawn   atomic.Uint64
	first   uint64
	step    uint64
}

// recipients starts a pass through all accounts, in an order drawn from the
// seed. Every account gets a message before any gets a second: two concurrent
// messages to one mailbox wait for its lock, in Postfix for a second, which
// would differ by chance between the compared servers.
func (r *source) recipients() {
	n := uint64(r.Accounts)
	rng := rand.New(rand.NewPCG(r.Seed, 0x5317))
	r.first, r.step = rng.Uint64N(n), 1+rng.Uint64N(n)
	for gcd(r.step, n) != 1 {
		r.step = r.step%n + 1
	}
}

// gcd returns the greatest common divisor.
func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// account returns the number of the next message's account, from 1.
func (r *source) account() int {
	n := uint64(r.Accounts)
	k := (r.drawn.Add(1) - 1) % n
	return 1 + int((r.first+k*r.step)%n) // n is at most 10⁷, so no product overflows
}

// Account runs the load until its end or until ctx is done. The account is nil if the load could
// not begin; if ctx ended the run, Account returns the account and ctx's error.
func Account(ctx context.Context, s Spec) (*request.Account, request.Meter, error) {
	l := client.Spec{Load: s.Load, Lanes: s.Sessions, Targets: len(s.Sizes), Finish: true}
	return client.Run(ctx, l, func(ctx context.Context) (client.Source, error) {
		r := &source{Spec: &s, d: client.NewDialer(ctx, s.Server, s.Sources, s.Enter)}
		r.recipients()
		for _, n := range s.Sizes {
			r.bodies = append(r.bodies, body(n))
		}
		return r, nil
	})
}

// Lane creates the i-th session.
func (r *source) Lane(i int, tell client.Events) client.Lane {
	return &session{r: r, i: i, tell: tell}
}

// Used returns what the run has used so far.
func (r *source) Used() client.Used {
	user, system := client.CPU()
	return client.Used{CPU: user + system}
}

// Close waits until the last sessions have sent QUIT.
func (r *source) Close() { r.leaving.Wait() }

// lineLength is the length of a body's lines, without CRLF (RFC 5322 §2.1.1 recommends at most 78).
const lineLength = 76

// body returns text of a size, in lines that do not begin with a dot.
func body(n int) []byte {
	b := make([]byte, 0, n+2)
	x := uint32(n)
	for len(b) < n {
		for range min(lineLength, max(n-len(b)-2, 0)) {
			x = x*1664525 + 1013904223 // generator from Numerical Recipes
			b = append(b, 'a'+byte(x>>28))
		}
		b = append(b, '\r', '\n')
	}
	return b
}

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
