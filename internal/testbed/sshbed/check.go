package sshbed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/load"
	"linerate/internal/port"
	"linerate/internal/testbed"
)

// Step is one step in the check of a testbed.
type Step struct {
	Name   string `json:"step"`
	Proves string `json:"proves"` // what is known if it succeeds
	OK     bool   `json:"ok"`
	Found  string `json:"found"` // result
	Hint   string `json:"hint,omitempty"`
}

// Traffic provides what a check needs of the testbed's generators; cmd implements it.
type Traffic struct {
	// Ready prepares a side's machine for Shout, so that only its frames are
	// counted.
	Ready func(ctx context.Context, side port.Side) error
	// Shout sends n broadcast frames from an interface of a side's machine, and
	// returns how many it sent.
	Shout func(ctx context.Context, side port.Side, device string, n int) (uint64, error)
	// Through offers traffic from one port to another for a while; a rate of
	// 0 is as fast as the generator can.
	Through func(ctx context.Context, from, to port.Port, pps uint64, seconds float64) (load.Sent, load.Received, error)
	// Seconds is how long a step offers traffic through the DUT.
	Seconds float64
	// Headroom is the multiple of its forwarding rate that must be offered to a DUT
	// for that rate to be its own limit.
	Headroom float64
}

// checker runs the steps of a check in order.
type checker struct {
	o    Options
	t    Traffic
	tell func(Step)
	bed  *Bed
	bad  bool
}

// ErrCheck is returned if a step failed; tell has received it.
var ErrCheck = errors.New("the testbed is not ready")

// Check checks a testbed step by step and reports each step. It does not
// change the DUT. If a step on which later ones depend fails, it ends.
func Check(ctx context.Context, o Options, t Traffic, tell func(Step)) error {
	c := &checker{o: o, t: t, tell: tell}
	err := c.all(ctx)
	if c.bed != nil {
		err = errors.Join(err, c.bed.Close())
	}
	if err == nil && c.bad {
		err = ErrCheck
	}
	return err
}

func (c *checker) all(ctx context.Context) error {
	for _, step := range []func(context.Context) bool{c.reach, c.management, c.links, c.take, c.wires, c.forwards, c.ceiling, c.changes} {
		if !step(ctx) {
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// say reports a step, and returns whether the check can continue.
func (c *checker) say(s Step, err error) bool {
	s.OK = err == nil
	if err != nil {
		c.bad = true
		s.Found, s.Hint = err.Error(), hint.Of(err)
	}
	c.tell(s)
	return s.OK
}

type role struct {
	name string
	conn Conn
}

func (c *checker) roles() []role {
	all := []role{{testbed.DUT, c.o.DUT}, {testbed.Generator, c.o.Generator}, {testbed.Receiver, c.o.Receiver}}
	return slices.DeleteFunc(all, func(r role) bool { return r.conn == nil })
}

func (c *checker) reach(ctx context.Context) bool {
	ok := true
	for _, r := range c.roles() {
		id, err := Identify(ctx, r.conn)
		if err == nil && id.UID != 0 {
			err = hint.With(fmt.Errorf("the login of %s is not root", r.conn.Where()), "say become: sudo or doas for it in the testbed's file")
		}
		s := Step{Name: "reach " + r.name, Proves: "SSH, key and rights are there; its clock is known"}
		s.Found = fmt.Sprintf("%s: %s %s %s, up since %s, clock %s", r.conn.Where(), id.OS, id.Release, id.Arch, id.Booted.Format("2006-01-02 15:04"), id.Clock)
		ok = c.say(s, err) && ok
	}
	return ok
}

// management compares the management interface in the file with that of the SSH connection.
func (c *checker) management(ctx context.Context) bool {
	ok := true
	for _, r := range c.roles() {
		h := c.o.File.Host(r.name)
		if h.Management == "" || h.SSH == "" || h.Namespace != "" {
			continue
		}
		is, err := ask(ctx, r.conn, nil, "way_in")
		is = strings.TrimSpace(is)
		s := Step{Name: "management " + r.name, Proves: "the interface that is never touched is the one that SSH comes by", Found: is}
		switch {
		case err != nil:
		case is == "":
			s.Found = h.Management + ", as the file says: it does not tell by which SSH comes"
		case is != h.Management:
			err = hint.With(fmt.Errorf("SSH uses interface %s, the testbed's file says %s", is, h.Management), "write management: %s for it: what SSH comes by must never be touched", is)
		}
		ok = c.say(s, err) && ok
	}
	return ok
}

func (c *checker) take(ctx context.Context) bool {
	b, err := Up(ctx, c.o)
	c.bed = b
	s := Step{Name: "take the testbed", Proves: "no other study or plan is on the DUT, and the lock works", Found: "it is free"}
	if c.o.DUT == nil {
		s = Step{Name: "find the DUT", Proves: "a neighbour that is not one of the testbed's ports takes the receiver's frames"}
		if err == nil {
			s.Found = fmt.Sprintf("frames from %s to %s go to %s", b.ways[0].Generator.Name(), b.ways[0].Receiver.IPv4.Addr(), b.ways[0].Generator.Peer)
		}
	}
	return c.say(s, err)
}

// links checks every interface of a wire.
func (c *checker) links(ctx context.Context) bool {
	ok := true
	for _, w := range c.o.File.Wires {
		for _, e := range []testbed.End{w.Start(), w.Finish()} {
			ok = c.link(ctx, e) && ok
		}
	}
	return ok
}

func (c *checker) link(ctx context.Context, e testbed.End) bool {
	conn := c.conn(e.Host)
	if conn == nil {
		return true
	}
	p, err := PortOf(ctx, conn, e.Interface)
	var said *host.ScriptError
	switch {
	case errors.As(err, &said):
		err = hint.With(err, "wires: of the testbed's file name it: %s", e)
	case err == nil && !p.Up:
		err = hint.With(fmt.Errorf("%s has no link", e), "is it up (ip link set %s up, ifconfig %s up), and is the other end too?", e.Interface, e.Interface)
	}
	return c.say(Step{Name: "link " + e.String(), Proves: "the interface exists, is up and sees a link", Found: fmt.Sprintf("%s, MTU %d%s", p.MAC, p.MTU, addresses(p))}, err)
}

func addresses(p Port) string {
	out := ""
	for _, a := range []string{p.IPv4.String(), p.IPv6.String()} {
		if !strings.HasPrefix(a, "invalid") {
			out += ", " + a
		}
	}
	return out
}

func (c *checker) conn(host string) Conn {
	switch host {
	case testbed.DUT:
		return c.o.DUT
	case testbed.Generator:
		return c.o.Generator
	}
	return c.o.Receiver
}

// forwards tries every way through the DUT, and then the ways back, which only
// studies with both directions need.
func (c *checker) forwards(ctx context.Context) bool {
	ok := true
	for _, w := range c.bed.ways {
		name := "forward"
		if len(c.bed.ways) > 1 {
			name += " " + w.in + " → " + w.out
		}
		found, err := c.forward(ctx, w, w.Generator, w.Receiver)
		ok = c.say(Step{Name: name, Proves: "the DUT forwards from the generator to the receiver, at 2 kpps", Found: found}, err) && ok
	}
	return ok && c.backwards(ctx)
}

func (c *checker) backwards(ctx context.Context) bool {
	s := Step{Name: "both directions", Proves: "whether studies may say directions: both"}
	if err := c.bed.BothWays(true); err != nil {
		s.Found = "no: " + err.Error()
		return c.say(s, nil)
	}
	for _, w := range c.bed.ways {
		found, err := c.forward(ctx, w, w.Receiver, w.Generator)
		if err != nil {
			s.Found = "no: " + err.Error()
			break
		}
		s.Found = "yes: on the way back " + found
	}
	return c.say(s, nil)
}

func (c *checker) forward(ctx context.Context, w way, from, to port.Port) (string, error) {
	sent, got, err := c.t.Through(ctx, from, to, 2000, c.t.Seconds)
	if err == nil && got.RxPackets == 0 {
		err = hint.With(fmt.Errorf("of %d frames that %s sent through the DUT, none arrived at %s", sent.TxPackets, from.Name(), to.Name()),
			"does the DUT forward (net.inet.ip.forwarding, net.ipv4.ip_forward), has it a route to %s by %s, and does the other end answer its ARP?", to.IPv4, w.towards(to))
	}
	found := fmt.Sprintf("%d of %d frames arrived", got.RxPackets, sent.TxPackets)
	if got.Latency != nil {
		return found + fmt.Sprintf(", one-way latency %d µs (median)", got.Latency.P50/1000), err
	}
	return found + "; no latency: generator and receiver are two clocks, or the tool tells none", err
}

// changes says what a study would change on the DUT.
func (c *checker) changes(context.Context) bool {
	if c.o.DUT == nil {
		return c.say(Step{Name: "changes", Proves: "what a study changes", Found: "nothing: the DUT is not reached"}, nil)
	}
	h := c.o.File.Hosts.DUT
	found := fmt.Sprintf("this check changed nothing. A study changes on %s what its variants say, in a journal under /var/lib/linerate or /var/db/linerate; it is reverted at the end, when interrupted, or %s after the host last heard from the controller. Never %s, sshd, or who may log in", c.o.DUT.Where(), c.o.Window, h.Management)
	if len(c.o.File.Power) > 0 {
		found += "; a boot that does not end is met with: " + strings.Join(c.o.File.Power, " ")
	} else {
		found += "; it has no power command, so a boot that does not end ends the study"
	}
	return c.say(Step{Name: "changes", Proves: "what a study changes, and what it never changes", Found: found}, nil)
}
