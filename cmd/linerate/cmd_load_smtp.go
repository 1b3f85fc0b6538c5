package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/calc"
	"linerate/internal/hint"
	"linerate/internal/load/client"
	"linerate/internal/load/smtpload"
)

// loadSMTPFlags are the flags of load smtp as they were typed.
type loadSMTPFlags struct {
	loadFlags
	from, to, size, src, queue     string
	accounts, sessions, perSession int
	drain                          time.Duration
}

const loadSMTPLong = `Send messages to your own mail server over SMTP, and account for every one. With --rate
the loop is open: latency runs from when a message was due. Without it each session
sends its next message when the last was taken. --queue watches Postfix's queue.

    linerate load smtp 198.18.0.2 --to user%d@example.org --accounts 15000
    linerate load smtp 198.18.0.2 --to user@example.org --rate 50`

func newLoadSMTPCmd() *cobra.Command {
	var f loadSMTPFlags
	cmd := &cobra.Command{
		Use:   "smtp HOST[:PORT] --to ADDRESS",
		Short: "send messages over SMTP, in an open or closed loop",
		Long:  loadSMTPLong,
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return runLoadSMTP(cmd, f, args[0]) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.to, "to", "", "recipient; %d is a number up to --accounts")
	fs.StringVar(&f.from, "from", "linerate@linerate.invalid", "sender")
	fs.IntVar(&f.accounts, "accounts", 1, "recipients")
	fs.StringVar(&f.size, "size", "4kB", "of a message with header, or several: 1kB,10kB")
	fs.IntVarP(&f.sessions, "sessions", "c", 0, "sessions at once (default 10; open loop: up to 100)")
	fs.IntVar(&f.perSession, "per-session", 1, "messages per session; 0: no limit")
	fs.StringVar(&f.src, "src", "", "addresses to connect from, in turn")
	fs.StringVar(&f.queue, "queue", "", "queue directory of the server's Postfix, to watch")
	fs.DurationVar(&f.drain, "drain", 5*time.Minute, "with --queue: wait at most until it is empty")
	f.add(cmd, loadWords{of: "messages", begin: "offer load", timeout: 30 * time.Second, late: "a message taken later than this is too late",
		seed: "arrivals, sizes and recipients", strict: "one failed, or the generator was saturated"})
	return cmd
}

func runLoadSMTP(cmd *cobra.Command, f loadSMTPFlags, server string) error {
	spec, err := f.spec(cmd, server)
	if err != nil {
		return err
	}
	var queue *smtpload.Queue
	if f.queue != "" {
		if queue, err = smtpload.WatchQueue(f.queue, queueEvery); err != nil {
			return err
		}
	}
	live := newLoadLive(cmd.ErrOrStderr(), "msg/s")
	spec.Every, spec.Watch = live.every(f.every), live.show
	a, m, err := smtpload.Account(cmd.Context(), spec)
	p := smtpload.Point{Sessions: spec.Sessions}
	if queue != nil {
		live.Show("waiting for the queue to empty")
		q := queue.Drain(context.WithoutCancel(cmd.Context()), f.patience(err))
		p.Queue, m.Settle = &q, time.Duration(q.DrainSeconds*1e9)
	}
	live.End()
	if a == nil || err != nil && !interrupted(err) {
		return err
	}
	p.Result = a.Result(m)
	doc := smtpload.Document{Version: 1, Offer: smtpload.OfferOf(spec), Points: []smtpload.Point{p}}
	if err = errors.Join(f.print(cmd, doc, doc.Page), err); err == nil && f.strict {
		return p.Strictly("messages")
	}
	return err
}

// queueEvery is how often a queue is looked at during a load.
const queueEvery = 100 * time.Millisecond

// patience is how long to wait for the queue: not at all after an error.
func (f loadSMTPFlags) patience(err error) time.Duration {
	if err != nil {
		return 0
	}
	return f.drain
}

// spec turns the flags into a load.
func (f loadSMTPFlags) spec(cmd *cobra.Command, server string) (s smtpload.Spec, err error) {
	s = smtpload.Spec{Server: server, From: f.from, To: f.to, Accounts: f.accounts, Sessions: f.sessions, PerSession: f.perSession}
	if f.to == "" {
		return s, hint.With(hint.Usagef("--to is missing: who is to get the messages?"), "for instance --to user%%d@example.org --accounts 1000")
	}
	for part := range strings.SplitSeq(f.size, ",") {
		v, err := calc.Parse(strings.TrimSpace(part), calc.Bytes)
		if err != nil || v < 0 || v > smtpload.MaxSize {
			return s, hint.With(hint.Usagef("--size %q", f.size), "sizes such as 1kB,10kB, up to 64MiB")
		}
		s.Sizes = append(s.Sizes, int(v))
	}
	if s.Sessions == 0 {
		if s.Sessions = 10; f.rate > 0 {
			s.Sessions = 100
		}
	}
	if s.Load, err = f.load(cmd); err != nil {
		return s, err
	}
	if f.src != "" {
		if s.Sources, err = client.ParseSources(f.src); err != nil {
			return s, err
		}
	}
	if f.drain < 0 {
		return s, hint.Usagef("--drain %v", f.drain)
	}
	return s, s.Validate()
}
