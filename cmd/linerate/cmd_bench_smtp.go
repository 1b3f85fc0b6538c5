package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
	"linerate/internal/show"
)

const benchSMTPLong = `Let linerate and postal (if it is on PATH) take turns in sending messages of some
4 kB to a smtp-sink(1) of this command's own, on loopback, which throws them away:
clients are compared, not servers. Messages are those that the sink counted, over
the time of the client's whole process; neither client is asked. Ratios are medians
over rounds of those to the first row of each case; CPU is the client's.`

func newBenchSMTPCmd() *cobra.Command {
	var b smtpBench
	cmd := &cobra.Command{
		Use:   "smtp",
		Short: "how fast messages are sent, beside postal, to a sink of its own",
		Long:  benchSMTPLong,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.run(cmd) },
	}
	cmd.Flags().IntVar(&b.rounds, "rounds", 10, "interleaved rounds")
	cmd.Flags().IntVar(&b.seconds, "seconds", 2, "of each run")
	cmd.Flags().IntVar(&b.sessions, "sessions", 10, "sessions at once")
	cmd.Flags().BoolVar(&b.json, "json", false, "print the rows as JSON")
	return cmd
}

type smtpBench struct {
	rounds, seconds, sessions int
	json                      bool
	sink                      sink
}

// smtpRow is one client in one case.
type smtpRow struct {
	Case   string    `json:"case"`
	Client string    `json:"client"`
	Rate   []float64 `json:"messages_per_second"`
	CPU    []float64 `json:"cpu_seconds_per_message"`
	Ratio  float64   `json:"rate_ratio"`
	Cost   float64   `json:"cpu_ratio"`
	argv   func(at string) []string
	// endless clients run until they are told to end.
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
	rows, err := b.rows()
	if err != nil {
		return err
	}
	live := newLive(cmd.ErrOrStderr())
	for round := range b.rounds {
		for i := range rows {
			r := rows[(i+round)%len(rows)]
			live.Show("round %d of %d: %s, %s", round+1, b.rounds, r.Case, r.Client)
			if err := b.once(cmd.Context(), r); err != nil {
				live.End()
				return fmt.Errorf("%s, %s: %w", r.Case, r.Client, err)
			}
		}
	}
	live.End()
	compareSMTP(rows)
	if b.json {
		return printJSON(cmd.OutOrStdout(), map[string]any{"version": 1, "rounds": b.rounds, "seconds": b.seconds, "sessions": b.sessions, "rows": rows})
	}
	return b.print(cmd.OutOrStdout(), rows)
}

// benchAccounts is how many recipients there are.
const benchAccounts = 1000

// rows lists who takes turns at what; linerate is the first of each case.
func (b *smtpBench) rows() ([]*smtpRow, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
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
	n, secs := strconv.Itoa(b.sessions), strconv.Itoa(b.seconds)+"s"
	var rows []*smtpRow
	for _, c := range []struct{ name, ours, postals string }{{"a session for each message", "1", "1"}, {"sessions of some 500 messages", "500", "1000"}} {
		rows = append(rows, &smtpRow{Case: c.name, Client: "linerate", argv: func(at string) []string {
			return []string{self, "load", "smtp", at, "--to", "user%d@example.org", "--accounts", strconv.Itoa(benchAccounts), "--json", "--strict",
				"-c", n, "-d", secs, "--size", "4kB", "--per-session", c.ours, "--interval", "1h"}
		}})
		if postal != "" {
			rows = append(rows, &smtpRow{Case: c.name, Client: "postal", endless: true, argv: func(at string) []string {
				return []string{postal, "-t", n, "-m", "4", "-M", "4", "-c", c.postals, "-r", "10000000", postalAddress(at), users}
			}})
		}
	}
	return rows, nil
}

// postalAddress is host:port as postal has it.
func postalAddress(at string) string {
	host, port, _ := strings.Cut(at, ":")
	return "[" + host + "]" + port
}

// once runs a client against a sink of its own.
func (b *smtpBench) once(ctx context.Context, r *smtpRow) error {
	if err := b.sink.start(ctx); err != nil {
		return err
	}
	took, cpu, err := b.send(ctx, r)
	if err = errors.Join(err, b.sink.stop()); err != nil {
		return err
	}
	messages, err := b.sink.taken()
	if err != nil {
		return err
	}
	if messages <= 0 {
		return errors.New("no message arrived")
	}
	r.Rate = append(r.Rate, messages/took.Seconds())
	r.CPU = append(r.CPU, cpu.Seconds()/messages)
	return nil
}

// send runs a client for its time, and says how long it ran and at what cost.
func (b *smtpBench) send(ctx context.Context, r *smtpRow) (took, cpu time.Duration, err error) {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if r.endless {
		limited, cancel = context.WithTimeout(ctx, time.Duration(b.seconds)*time.Second)
	}
	defer cancel()
	argv := r.argv(b.sink.at)
	c := exec.CommandContext(limited, argv[0], argv[1:]...)
	c.Env = append(os.Environ(), "LC_ALL=C")
	c.Dir = b.sink.dir // postal leaves a postal.log where it is
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 2 * time.Second
	endsWithUs(c)
	begin := time.Now()
	out, err := c.CombinedOutput()
	took = time.Since(begin)
	told := r.endless && limited.Err() != nil && ctx.Err() == nil
	if err != nil && !told || err == nil && r.endless {
		return 0, 0, fmt.Errorf("run %s: %w: %.300q", strings.Join(argv, " "), err, out)
	}
	return took, c.ProcessState.UserTime() + c.ProcessState.SystemTime(), nil
}

// compareSMTP works out the ratios to each case's first row, round by round.
func compareSMTP(rows []*smtpRow) {
	var base *smtpRow
	for _, r := range rows {
		if base == nil || r.Case != base.Case {
			base = r
		}
		r.Ratio, r.Cost = medianRatio(r.Rate, base.Rate), medianRatio(r.CPU, base.CPU)
	}
}

func (b *smtpBench) print(w io.Writer, rows []*smtpRow) error {
	p := show.NewPage(styleOf(w))
	p.Line(fmt.Sprintf("closed loop, %s, smtp-sink on loopback; %s of %d s", show.Plural(b.sessions, "session"), show.Plural(b.rounds, "interleaved round"), b.seconds))
	p.Line("")
	t := show.Table{Right: numbersAfter(2), Header: []string{"case", "client", "messages/s", "ratio", "CPU/message", "ratio"}}
	for _, r := range rows {
		t.Add(r.Case, r.Client, show.SI(medianOf(r.Rate), ""), show.Digits(r.Ratio), show.Nanos(medianOf(r.CPU)*1e9), show.Digits(r.Cost))
	}
	p.Table(t)
	return p.Flush(w)
}
