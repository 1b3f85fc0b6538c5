package fileload

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"sync"
	"time"

	"linerate/internal/hint"
	"linerate/internal/load/client"
	"linerate/internal/load/request"
	"linerate/internal/tooltext"
)

// Postmark runs the program of that name, which makes and removes the files of each run. It
// has one lane, a closed loop, and no fsync(2). It prints times in whole seconds, so its
// steps are timed when it announces them.
type Postmark struct {
	Pool
	// Dir is where the files are, for the program. Start starts it there: within
	// other namespaces, bound to this process.
	Dir   string
	Start func(*exec.Cmd) error
	Said  tooltext.Postmark // its report of the last run
	// System is the kernel's time for all runs so far.
	System time.Duration
}

// FindPostmark finds the program, and says which package has it where there is none.
func FindPostmark() (path string, err error) {
	if path, err = exec.LookPath("postmark"); err != nil {
		return "", hint.With(errors.New("postmark is not installed"), "install the package postmark (Debian), or leave out driver: postmark")
	}
	return path, nil
}

// Validate refuses what the program cannot do.
func (p *Postmark) Validate(l client.Load) error {
	if err := p.Pool.Validate(); err != nil {
		return err
	}
	switch {
	case l.Rate > 0:
		return hint.Usagef("postmark has no rate: its loop is closed")
	case p.Lanes != 1:
		return hint.Usagef("postmark does one transaction at a time, not %d", p.Lanes)
	case p.Sync:
		return hint.Usagef("postmark calls no fsync(2)")
	case p.Min < 1 || p.Files > math.MaxInt32 || l.Requests > math.MaxInt32:
		return hint.Usagef("postmark makes no empty files, and does at most 2,147,483,647 transactions")
	case l.Requests < 1 || l.Warmup > 0:
		return hint.Usagef("postmark does a number of transactions, at once")
	case tenths(p.Reads) < 0 || tenths(p.Creates) < 0:
		return hint.Usagef("postmark has shares in tenths, not %g reads and %g creations", p.Reads, p.Creates)
	}
	return nil
}

// tenths is a share as the program's biases have it; -1 where it has no such one.
func tenths(share float64) int {
	n := math.Round(10 * share)
	if math.Abs(n-10*share) > 1e-9 {
		return -1
	}
	return int(n)
}

// script is the input of the program.
func (p *Postmark) script(l client.Load) string {
	below := ""
	if p.Directories > 0 {
		below = fmt.Sprintf("set subdirectories %d\n", p.Directories)
	}
	return fmt.Sprintf("set location .\nset number %d\nset size %d %d\n%sset read %d\nset write %d\nset bias read %d\nset bias create %d\n"+
		"set buffering false\nset report verbose\nset seed %d\nset transactions %d\nrun\nquit\n",
		p.Files, p.Min, p.Max, below, p.Block, p.Block, tenths(p.Reads), tenths(p.Creates), 1+l.Seed%(math.MaxInt32-1), l.Requests)
}

// Account does the transactions. Their latencies are not known: the account has none.
func (p *Postmark) Account(ctx context.Context, l client.Load) (*request.Account, request.Meter, error) {
	if err := p.Validate(l); err != nil {
		return nil, request.Meter{}, err
	}
	path, err := FindPostmark()
	if err != nil {
		return nil, request.Meter{}, err
	}
	out, complaints := &steps{}, &steps{}
	c := exec.CommandContext(ctx, path)
	c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr = p.Dir, []string{"LC_ALL=C"}, strings.NewReader(p.script(l)), out, complaints
	if err := p.Start(c); err != nil {
		return nil, request.Meter{}, fmt.Errorf("start postmark: %w", err)
	}
	if err := c.Wait(); err != nil {
		return nil, request.Meter{}, errors.Join(ctx.Err(), fmt.Errorf("postmark: %w: %.300q", err, complaints.text))
	}
	p.System += c.ProcessState.SystemTime()
	if len(complaints.text) > 0 { // it ends well whatever happened
		return nil, request.Meter{}, explainText(fmt.Errorf("postmark failed: %.300s", firstLine(complaints.text)))
	}
	if p.Said, err = tooltext.ReadPostmark(string(out.text)); err != nil {
		return nil, request.Meter{}, err
	}
	if p.Said.Transactions != l.Requests || out.transacts.IsZero() || out.removes.IsZero() {
		return nil, request.Meter{}, fmt.Errorf("postmark reports %d transactions instead of %d", p.Said.Transactions, l.Requests)
	}
	a := request.NewAccount(len(Pairs))
	a.CountAnswered(p.Said.Transactions, p.Said.ReadBytes+p.Said.WrittenBytes)
	return a, request.Meter{Elapsed: out.removes.Sub(out.transacts), CPU: c.ProcessState.UserTime(), CPUs: 1}, nil
}

// explainText adds what to do about a full file system.
func explainText(err error) error {
	if strings.Contains(err.Error(), "for writing") {
		return hint.With(err, "is the file system full? fewer or smaller files, or a larger file system")
	}
	return err
}

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

// steps keeps what the program says, no more than it needs to, and when it said
// what it does next.
type steps struct {
	mu                 sync.Mutex
	text               []byte
	transacts, removes time.Time
}

const mostSaid = 64 << 10

func (s *steps) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, b[:min(len(b), mostSaid-len(s.text))]...)
	for word, at := range map[string]*time.Time{tooltext.PostmarkTransacts: &s.transacts, tooltext.PostmarkRemoves: &s.removes} {
		if at.IsZero() && strings.Contains(string(s.text), word) {
			*at = time.Now()
		}
	}
	return len(b), nil
}
