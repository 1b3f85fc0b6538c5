package jailbed

import (
	"context"
	"errors"
	"fmt"

	"linerate/internal/fact"
	"linerate/internal/fact/freebsd"
	"linerate/internal/testbed"
)

// routers are a DUT: one jail, or several in a row.
type routers struct{ jails []*jail }

func (r *routers) first() *jail { return r.jails[0] }
func (r *routers) last() *jail  { return r.jails[len(r.jails)-1] }

// route creates a DUT between an end of the generator and one of the receiver.
// On an error it also returns what was built.
func (b *Bed) route(ctx context.Context, from, to end, p testbed.HopPath) (*routers, error) {
	b.raised++
	r := &routers{}
	for i := range p.Hops + 1 {
		j, err := b.router(fmt.Sprintf("%s.dut%d-%d", b.gen.name, b.raised, i+1))
		if j != nil {
			r.jails = append(r.jails, j)
		}
		if err != nil {
			return r, err
		}
	}
	if err := b.wire(ctx, from, nil, ingress, r.first()); err != nil {
		return r, err
	}
	for i := range p.Hops {
		if err := b.join(ctx, r.jails[i], r.jails[i+1], i, p.Over); err != nil {
			return r, err
		}
	}
	if err := b.wire(ctx, egress, r.last(), to, b.sink); err != nil {
		return r, err
	}
	if err := b.hush(ctx, from, to); err != nil {
		return r, err
	}
	if r.first() == r.last() {
		return r, r.first().all(ctx, append(introduce(ingress, genPort), introduce(egress, sinkPort)...))
	}
	return r, errors.Join(r.first().all(ctx, introduce(ingress, genPort)), r.last().all(ctx, introduce(egress, sinkPort)))
}

// router creates a jail that forwards.
func (b *Bed) router(name string) (*jail, error) {
	j, err := b.jailed(name, 0)
	if err != nil {
		return nil, err
	}
	_, err = j.run(context.Background(), sysctls(0)...)
	return j, err
}

// introduce returns the commands that give an end its addresses, its neighbour and the routes behind it.
func introduce(own, peer end) [][]string {
	return append(append(addressed(own), neighbour(peer)...), behind(peer)...)
}

// join connects a router to the next and routes the two outer networks through the wire.
func (b *Bed) join(ctx context.Context, before, next *jail, i int, over string) error {
	up, down := hopEnds(i)
	if err := b.wire(ctx, up, before, down, next); err != nil {
		return err
	}
	return errors.Join(before.all(ctx, across(up, down, sinkPort, over)), next.all(ctx, across(down, up, genPort, over)))
}

// counters returns what came in at the DUT's first jail, and what left at its last.
func (r *routers) counters() (testbed.Counters, error) {
	in, err := r.first().counts()
	out := in
	if err == nil && r.last() != r.first() {
		out, err = r.last().counts()
	}
	i, o := "nic."+ingress.Device, "nic."+egress.Device
	return testbed.Counters{Received: in[i+".input_packets"], Forwarded: out[o+".output_packets"], Dropped: in[i+".input_drops"] + out[o+".output_drops"]}, err
}

// counts returns the counters of the jail's devices, named as facts of a host.
func (j *jail) counts() (map[string]uint64, error) {
	said, err := j.run(context.Background(), "/usr/bin/netstat", "-inbd")
	var f fact.Facts
	freebsd.AddNetstatI(&f, said)
	all := map[string]uint64{}
	for _, c := range f.Counters {
		all[c.Name] = c.Value
	}
	return all, err
}

// remove removes the jails. The wires between them are removed first, like
// those to the outside: nothing may be left in a network stack when it ends.
func (b *Bed) remove(r *routers) error {
	var err error
	for i := range max(0, len(r.jails)-1) {
		up, down := hopEnds(i)
		err = errors.Join(err, r.jails[i+1].all(context.Background(), [][]string{gone("over" + down.Device)}),
			r.jails[i].all(context.Background(), [][]string{gone("over" + up.Device), gone(up.Device)}))
	}
	for _, j := range r.jails {
		err = errors.Join(err, j.remove())
	}
	return err
}
