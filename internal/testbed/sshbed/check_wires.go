package sshbed

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/load"
	"linerate/internal/port"
	"linerate/internal/show"
	"linerate/internal/testbed"
	"linerate/internal/wait"
)

// shouts is the number of frames for testing a wire.
const shouts = 400

// wires sends broadcast frames on each wire and checks where they arrive.
func (c *checker) wires(ctx context.Context) bool {
	if c.o.DUT == nil {
		return c.apart(ctx)
	}
	ok := true
	for _, w := range c.o.File.Wires {
		from, to := w.Start(), w.Finish()
		if from.Host == testbed.DUT {
			from, to = to, from // wires work in both directions, and the DUT sends nothing
		}
		s := Step{Name: "wire " + w.From + " → " + w.To, Proves: "frames sent at one end arrive at the other"}
		ok = c.shouted(ctx, s, from, func(sent uint64, got map[string]uint64) (string, error) { return wired(from, to, sent, got) }) && ok
	}
	return ok
}

// apart sends broadcast frames from each of the generator's ends to an inaccessible
// DUT. A router drops them; a switch with both wires does not.
func (c *checker) apart(ctx context.Context) bool {
	ok := true
	for _, p := range c.o.File.Paths() {
		from := p.In.Start()
		s := Step{Name: "apart " + from.String(), Proves: "what arrives came through the DUT: frames to everybody, which a router keeps, arrive nowhere"}
		ok = c.shouted(ctx, s, from, func(sent uint64, got map[string]uint64) (string, error) {
			return kept(from, c.o.File.Paths(), sent, got)
		}) && ok
	}
	return ok
}

// kept checks that broadcast frames, which a router drops, did not pass around the DUT.
// A few may be unsolicited; a switch with storm control lets a part through.
func kept(from testbed.End, paths []testbed.Path, sent uint64, got map[string]uint64) (string, error) {
	for _, p := range paths {
		if to := p.Out.Finish().String(); got[to] >= sent/10 {
			return "", hint.With(fmt.Errorf("%d of %d frames to everybody sent at %s arrived at %s: a router keeps these, so there is a way around the DUT", min(got[to], sent), sent, from, to),
				"are both wires on one switch? Give each its own VLAN. A DUT that bridges is not measured here: nothing proves that it is in the way")
		}
	}
	return fmt.Sprintf("none of %d frames got past the DUT", sent), nil
}

// shouted reports a step: judge interprets where broadcast frames arrived.
func (c *checker) shouted(ctx context.Context, s Step, from testbed.End, judge func(sent uint64, got map[string]uint64) (string, error)) bool {
	sent, got, err := c.shout(ctx, from)
	if err == nil {
		s.Found, err = judge(sent, got)
	}
	return c.say(s, err)
}

// shout sends broadcast frames from an end, and returns how many were sent and
// how many each interface received meanwhile.
func (c *checker) shout(ctx context.Context, from testbed.End) (sent uint64, got map[string]uint64, err error) {
	if err := c.t.Ready(ctx, port.Side(from.Host)); err != nil {
		return 0, nil, err
	}
	before, err := c.arrivals(ctx)
	if err != nil {
		return 0, nil, err
	}
	if sent, err = c.t.Shout(ctx, port.Side(from.Host), from.Interface, shouts); err != nil {
		return 0, nil, err
	}
	if sent < shouts/2 {
		return sent, nil, fmt.Errorf("of %d frames the generator at %s could send %d", shouts, from, sent)
	}
	if err := wait.For(ctx, min(2*time.Second, 2*c.o.poll+500*time.Millisecond)); err != nil {
		return sent, nil, err
	}
	got, err = c.arrivals(ctx)
	for e := range got {
		got[e] -= min(before[e], got[e]) // an interface may be recreated
	}
	return sent, got, err
}

// wired interprets where broadcast frames arrived: the wire must deliver them to
// its other end only, without loss.
func wired(from, to testbed.End, sent uint64, got map[string]uint64) (string, error) {
	seen := list.Filter(slices.Sorted(maps.Keys(got)), func(e string) bool { return e != from.String() && got[e] >= sent/2 })
	arrived := min(got[to.String()], sent) // some may be unsolicited
	switch {
	case len(seen) == 0 && arrived < sent/10:
		return "", hint.With(fmt.Errorf("frames sent at %s arrived nowhere (%s got %d of %d)", from, to, arrived, sent), "is a wire plugged in there, and does a switch between keep its ports apart?")
	case len(seen) > 0 && !slices.Contains(seen, to.String()):
		return "", hint.With(fmt.Errorf("wrong cabling: frames sent at %s arrived at %s, not at %s", from, strings.Join(seen, ", "), to), "move the wire, or write %s into the testbed's file", seen[0])
	case len(seen) > 1:
		return "", hint.With(fmt.Errorf("frames sent at %s arrived at %s: they must not leave the wire", from, strings.Join(seen, " and ")), "separate the wires: one VLAN each on the switch")
	case arrived < sent*99/100:
		return "", hint.With(fmt.Errorf("the wire loses frames: of %d sent at %s, at 2 kpps, %d arrived at %s", sent, from, arrived, to),
			"try another cable or transceiver, and the same speed and duplex at both ends; the errors that an interface counts tell which (ethtool -S, netstat -I)")
	}
	return fmt.Sprintf("%d of %d frames", arrived, sent), nil
}

// arrivals returns how many frames each interface of each host has received.
func (c *checker) arrivals(ctx context.Context) (map[string]uint64, error) {
	all := map[string]uint64{}
	for _, r := range c.roles() {
		out, err := ask(ctx, r.conn, nil, "arrivals")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(out) {
			f := strings.Fields(line)
			if len(f) == 2 && c.named(r.name, f[0]) {
				n, err := strconv.ParseUint(f[1], 10, 64)
				if err != nil {
					return nil, fmt.Errorf("%s: interface %s counts %q", r.conn.Where(), f[0], f[1])
				}
				all[r.name+"/"+f[0]] = n
			}
		}
	}
	return all, nil
}

// named assigns each interface of a machine with both roles to one of them.
func (c *checker) named(name, device string) bool {
	if c.o.File.Host(name).Management == device {
		return false // the check's own connection uses it
	}
	if name == testbed.DUT || !c.o.File.OneOuter() {
		return true
	}
	wired := false
	for _, w := range c.o.File.Wires {
		wired = wired || w.From == testbed.Generator+"/"+device
	}
	return wired == (name == testbed.Generator)
}

// ceiling measures what the generator can send: without the DUT, if a wire bypasses
// it, and through it, where it should exceed what the DUT forwards.
func (c *checker) ceiling(ctx context.Context) bool {
	s := Step{Name: "ceiling", Proves: "what the generator can send: a rate near it is the generator's, not the DUT's"}
	sent, got, err := c.t.Through(ctx, c.bed.ways[0].Generator, c.bed.ways[0].Receiver, 0, c.t.Seconds)
	s.Found = fmt.Sprintf("%.3g Mpps of 64-byte frames sent; no wire leads past the DUT, so the receiver's is not known", sent.TxPPS/1e6)
	if from, to, none := c.bed.Bypass(); none == nil && err == nil {
		var past load.Sent
		var all load.Received
		past, all, err = c.t.Through(ctx, from, to, 0, c.t.Seconds)
		s.Proves = "what generator and receiver can do without a DUT: a rate near it is theirs"
		s.Found = fmt.Sprintf("%.3g Mpps of 64-byte frames sent, %.3g Mpps received", past.TxPPS/1e6, all.RxPPS/1e6)
	}
	return c.say(s, err) && c.overload(sent, got)
}

// overload says whether that suffices to measure the DUT's maximum.
func (c *checker) overload(sent load.Sent, got load.Received) bool {
	s := Step{Name: "overload", Proves: "whether a study's part without a rate is valid here: it needs more than the DUT can forward"}
	if sent.TxPackets == 0 {
		return c.say(s, hint.With(fmt.Errorf("the generator sent nothing in %g s", c.t.Seconds), "the machine was busy: give the check more time (--time)"))
	}
	share := float64(got.RxPackets) / float64(sent.TxPackets)
	s.Found = fmt.Sprintf("of %s offered %s came through the DUT", show.Rate(sent.TxPPS), show.WholePercent(100*share))
	if share*c.t.Headroom > 1 {
		s.Found += fmt.Sprintf(": the generator cannot offer %g times what the DUT forwards. Give the parts of studies a rate that both manage, and ask for loss_ratio", c.t.Headroom)
	}
	return c.say(s, nil)
}
