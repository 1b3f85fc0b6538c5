package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/show"
)

const benchSMTPLong = `Let linerate and postal (if it is on PATH) take turns in sending messages of some
4 kB to a smtp-sink(1) of this command's own, on loopback, which throws them away:
clients are compared, not servers. Messages are those that the sink counted, over
the time of the client's whole process; neither client is asked. Ratios are medians
over rounds of those to the first row of each case; CPU is the client's.

postal writes so that Nagle's algorithm and delayed acknowledgements make the two
ends wait for each other. --quickack, as root, has all acknowledged at once, by the
route of a loopback in a namespace of this command's own: the clients' own work is
compared then, over a path as there is none.`

func newSMTPCmd() *cobra.Command {
	var b smtpBench
	cmd := &cobra.Command{
		Use:   "smtp",
		Short: "compare sending of messages with postal, to a sink",
		Long:  benchSMTPLong,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.run(cmd) },
	}
	cmd.Flags().IntVar(&b.rounds, "rounds", 10, "interleaved rounds")
	cmd.Flags().IntVar(&b.seconds, "seconds", 2, "of each run")
	cmd.Flags().IntVar(&b.sessions, "sessions", 10, "sessions at once")
	cmd.Flags().BoolVar(&b.quickack, "quickack", false, "acknowledge at once, in a namespace of this command's own")
	cmd.Flags().BoolVar(&b.json, "json", false, "print the rows as JSON")
	return cmd
}

type smtpBench struct {
	rounds, seconds, sessions int
	quickack, json            bool
	sink                      sink
}

// mailer is a client that sends messages to an address.
type mailer struct {
	argv func(at string) []string
	// endless clients run until a signal ends them.
	endless bool
}

func (b *smtpBench) run(cmd *cobra.Command) (err error) {
	if b.rounds < 1 || b.seconds < 1 || b.sessions < 1 || b.sessions > 200 {
		return hint.Usagef("--rounds, --seconds and --sessions are at least 1, sessions at most 200")
	}
	if b.sink.path, err = findSink(); err != nil {
		return err
	}
	if b.sink.dir, err = os.MkdirTemp("", "linerate-sink"); err != nil {
		return err
	}
	defer os.RemoveAll(b.sink.dir)
	rivals, err := b.rivals()
	if err != nil {
		return err
	}
	path := "loopback"
	if b.quickack {
		if err := quickLoopback(); err != nil {
			return err
		}
		path = "a loopback that acknowledges at once"
	}
	all := contest{
		rounds: b.rounds, json: b.json, doc: map[string]any{"seconds": b.seconds, "sessions": b.sessions, "quickack": b.quickack},
		title: fmt.Sprintf("closed loop, %s, smtp-sink on %s; %s of %d s", show.Plural(b.sessions, "session"), path, show.Plural(b.rounds, "interleaved round"), b.seconds),
		unit:  "messages/s", cpu: "CPU/message", write: inSI,
	}
	return all.run(cmd, rivals)
}

// benchAccounts is how many recipients there are.
const benchAccounts = 1000

// rivals lists who takes turns at what; linerate is the first of each case.
func (b *smtpBench) rivals() (rivals []*rival, err error) {
	self, err := thisProgram()
	if err != nil {
		return nil, err
	}
	users := filepath.Join(b.sink.dir, "users")
	var list strings.Builder
	for i := range benchAccounts {
		fmt.Fprintf(&list, "user%d@example.org\n", i+1)
	}
	if err := os.WriteFile(users, []byte(list.String()), 0o600); err != nil {
		return nil, err
	}
	postal, _ := exec.LookPath("postal") // none: linerate is alone
	n := strconv.Itoa(b.sessions)
	add := func(name, client string, m mailer) {
		rivals = append(rivals, &rival{Case: name, Client: client, once: func(ctx context.Context) (measurement, error) { return b.once(ctx, m) }})
	}
	for _, c := range []struct{ name, ours, postals string }{{"a session for each message", "1", "1"}, {"sessions of some 500 messages", "500", "1000"}} {
		add(c.name, "linerate", mailer{argv: func(at string) []string {
			return []string{self, "client", "smtp", at, "--sessions", n, "--duration", asSeconds(b.seconds), "--per-session", c.ours}
		}})
		if postal != "" {
			add(c.name, "postal", mailer{endless: true, argv: func(at string) []string {
				return []string{postal, "-t", n, "-m", "4", "-M", "4", "-c", c.postals, "-r", "10000000", postalAddress(at), users}
			}})
		}
	}
	return rivals, nil
}

// postalAddress is host:port as postal has it.
func postalAddress(at string) string {
	host, port, _ := strings.Cut(at, ":")
	return "[" + host + "]" + port
}

// once runs a client against a sink of its own.
func (b *smtpBench) once(ctx context.Context, m mailer) (o measurement, err error) {
	if err := b.sink.start(ctx); err != nil {
		return o, err
	}
	took, cpu, err := b.send(ctx, m)
	if err = errors.Join(err, b.sink.stop()); err != nil {
		return o, err
	}
	messages, err := b.sink.taken()
	if err != nil {
		return o, err
	}
	if messages <= 0 {
		return o, errors.New("no message arrived")
	}
	return measurement{value: messages / took.Seconds(), cpu: cpu.Seconds() / messages}, nil
}

// send runs a client for its time, and says how long it ran and at what cost.
func (b *smtpBench) send(ctx context.Context, m mailer) (took, cpu time.Duration, err error) {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if m.endless {
		limited, cancel = context.WithTimeout(ctx, time.Duration(b.seconds)*time.Second)
	}
	defer cancel()
	argv := m.argv(b.sink.at)
	c := exec.CommandContext(limited, argv[0], argv[1:]...)
	c.Env = append(os.Environ(), "LC_ALL=C")
	c.Dir = b.sink.dir // postal leaves a postal.log where it is
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 2 * time.Second
	cli.EndsWithUs(c)
	begin := time.Now()
	out, err := c.CombinedOutput()
	took = time.Since(begin)
	told := m.endless && limited.Err() != nil && ctx.Err() == nil
	if err != nil && !told || err == nil && m.endless {
		return 0, 0, fmt.Errorf("run %s: %w: %.300q", strings.Join(argv, " "), err, out)
	}
	return took, cpuOf(c), nil
}
