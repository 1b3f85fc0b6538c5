package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/testbed"
	"linerate/internal/testbed/netnsbed"
)

const benchLinkLong = `Measures the links that studies of servers put between clients and server, in
namespaces of this command's own: by how much round trips of a packet are longer
than twice the delay asked for (what of it is the link's, and what is whoever
asks and answers waiting for a CPU), and how fast one TCP connection can be
through it. The first row is a bare veth pair.`

// linkRow is one link.
type linkRow struct {
	Link testbed.Link      `json:"link"`
	How  string            `json:"how"`
	Over []float64         `json:"over_seconds"` // of each round trip, beyond twice the delay
	Bits float64           `json:"tcp_bits_per_second"`
	Pace float64           `json:"tcp_packets_per_second"` // both ways
	Trip testbed.LinkStats `json:"round_trips"`            // the link's own account of these
	Sum  testbed.LinkStats `json:"both"`                   // and with the TCP connection
}

func newLinkCmd() *cobra.Command {
	var seconds float64
	var trips int
	var asJSON bool
	cmd := &cobra.Command{
		Use: "link", Short: "measure accuracy and speed of emulated links", Long: benchLinkLong, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !(seconds > 0 && seconds <= 60) || trips < 1 || trips > 100_000 {
				return hint.Usagef("--seconds is above 0 and up to 60, --trips from 1 to 100000")
			}
			return assemble.Inside(cmd.Context(), func() error {
				rows, err := benchLinks(cmd.Context(), trips, time.Duration(seconds*1e9))
				if err != nil {
					return err
				}
				return cli.Answer(cmd, asJSON, map[string]any{"version": 1, "rows": rows}, func(p *show.Page) { linksPage(p, rows) })
			})
		},
	}
	cmd.Flags().Float64Var(&seconds, "seconds", 2, "of the TCP connection over each link")
	cmd.Flags().IntVar(&trips, "trips", 200, "round trips over each link")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the rows as JSON")
	return cmd
}

func benchLinks(ctx context.Context, trips int, d time.Duration) ([]linkRow, error) {
	bed, err := netnsbed.UpSites(ctx, false)
	if err != nil {
		return nil, err
	}
	defer bed.Close()
	var rows []linkRow
	for _, l := range []testbed.Link{{}, {Delay: 100 * time.Microsecond}, {Delay: time.Millisecond}, {Delay: 10 * time.Millisecond}, {Delay: 40 * time.Millisecond},
		{Delay: 10 * time.Millisecond, Rate: 100e6}} {
		sites, err := bed.Raise(ctx, testbed.Layout{Clients: 1, Link: l, Seed: 1}, []testbed.Settings{{Name: "bench"}})
		if err != nil {
			return nil, err
		}
		row := linkRow{Link: l}
		if err := row.roundTrips(ctx, sites[0], trips); err != nil {
			return nil, fmt.Errorf("round trips over %v: %w", l, err)
		}
		row.Trip = sites[0].Link()
		if err := row.stream(ctx, sites[0], d); err != nil {
			return nil, fmt.Errorf("a stream over %v: %w", l, err)
		}
		row.Sum = sites[0].Link()
		row.How = row.Sum.How
		rows = append(rows, row)
	}
	return rows, nil
}

// roundTrips sends a packet and waits for its echo, again and again.
func (r *linkRow) roundTrips(ctx context.Context, s testbed.Site, n int) error {
	var near, far *net.UDPConn
	at := net.UDPAddrFromAddrPort(netip.AddrPortFrom(s.Address, 7))
	if err := s.Server(func() (err error) { far, err = net.ListenUDP("udp4", at); return err }); err != nil {
		return err
	}
	defer far.Close()
	if err := s.Clients(func() (err error) { near, err = net.DialUDP("udp4", nil, at); return err }); err != nil {
		return err
	}
	defer near.Close()
	go echo(far)
	buf := make([]byte, 64)
	for range n {
		start := time.Now()
		_ = near.SetReadDeadline(start.Add(5 * time.Second)) // a closed socket says so at the next step
		if _, err := near.Write(buf[:16]); err != nil {
			return err
		}
		if _, err := near.Read(buf); err != nil {
			return err
		}
		r.Over = append(r.Over, (time.Since(start) - r.Link.RoundTrip()).Seconds())
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func echo(c *net.UDPConn) {
	buf := make([]byte, 64)
	for {
		n, from, err := c.ReadFromUDPAddrPort(buf)
		if err != nil {
			return // closed
		}
		if _, err := c.WriteToUDPAddrPort(buf[:n], from); err != nil {
			return
		}
	}
}

// stream has the server send as fast as one connection can; what comes in the
// first half, while it gets going, does not count.
func (r *linkRow) stream(ctx context.Context, s testbed.Site, d time.Duration) error {
	var l net.Listener
	var c net.Conn
	at := netip.AddrPortFrom(s.Address, 19).String()
	if err := s.Server(func() (err error) { l, err = net.Listen("tcp4", at); return err }); err != nil {
		return err
	}
	defer l.Close()
	go pour(l)
	if err := s.Clients(func() (err error) { c, err = net.Dial("tcp4", at); return err }); err != nil {
		return err
	}
	defer c.Close()
	if _, err := drain(ctx, c, d/2); err != nil {
		return err
	}
	before, start := s.Link(), time.Now()
	n, err := drain(ctx, c, d/2)
	if err != nil {
		return err
	}
	took := time.Since(start).Seconds()
	r.Bits, r.Pace = 8*float64(n)/took, float64(s.Link().Packets-before.Packets)/took
	return nil
}

func pour(l net.Listener) {
	c, err := l.Accept()
	if err != nil {
		return // closed
	}
	defer c.Close()
	for buf := make([]byte, 1<<18); err == nil; {
		_, err = c.Write(buf)
	}
}

func drain(ctx context.Context, c net.Conn, d time.Duration) (sum int, err error) {
	_ = c.SetReadDeadline(time.Now().Add(d)) // a closed socket says so at the next step
	var late net.Error
	for buf := make([]byte, 1<<18); ctx.Err() == nil; {
		n, err := c.Read(buf)
		sum += n
		switch {
		case errors.As(err, &late) && late.Timeout():
			return sum, nil
		case err != nil:
			return sum, err
		}
	}
	return sum, ctx.Err()
}

// late is how much later than due the link sent a packet on its way and its
// echo back.
func late(r linkRow, each int64) string {
	if r.Link.IsWire() {
		return "–"
	}
	return show.Nanos(2 * float64(each))
}

func linksPage(p *show.Page, rows []linkRow) {
	t := show.Table{Right: show.NumbersAfter(2), Header: []string{"link", "by", "round trips longer by: p50", "p99", "max", "of it the link, p50", "p99", "one TCP", "packets/s", "missed"}}
	for _, r := range rows {
		slices.Sort(r.Over)
		ns := func(q float64) string { return show.Nanos(1e9 * stats.Quantile(r.Over, q)) }
		t.Add(r.Link.String(), r.How, ns(0.5), ns(0.99), ns(1), late(r, r.Trip.LateP50), late(r, r.Trip.LateP99), show.Bits(r.Bits), show.SI(r.Pace, ""), show.Count(r.Sum.Missed))
	}
	p.Table(t)
}
