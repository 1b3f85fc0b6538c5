package smtpload

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"linerate/internal/hint"
	"linerate/internal/load/client"
	"linerate/internal/load/request"
	"linerate/internal/tooltext"
)

// Postal has the program of that name send the messages, for a time: a closed loop
// of so many sessions. Messages are those that it logs as taken; latencies, bytes and
// sessions are not known, for it tells of them at the end of each minute alone.
type Postal struct {
	Spec
	// Start starts the program, bound to this process.
	Start func(*exec.Cmd) error
}

// FindPostal finds the program, and says which package has it where there is none.
func FindPostal() (path string, err error) {
	for _, name := range []string{"postal", "/usr/sbin/postal", "/usr/local/sbin/postal"} {
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", hint.With(errors.New("postal is not installed"), "install the package postal (Debian), or let linerate send the messages")
}

// mostPostalAccounts bounds the file of recipients, mostPostalMessage the kilobytes
// of a message.
const (
	mostPostalAccounts = 1_000_000
	mostPostalMessage  = 10_000
)

// Validate refuses what the program cannot do.
func (p *Postal) Validate() error {
	if err := p.Spec.Validate(); err != nil {
		return err
	}
	host, _, err := p.server()
	switch {
	case err != nil:
		return err
	case strings.Contains(host, ":"):
		return hint.Usagef("postal knows no addresses of IPv6: %s", host)
	case p.Rate > 0 || p.Messages > 0 || p.Warmup > 0:
		return hint.Usagef("postal has a closed loop for a time: no rate, number of messages or warm-up")
	case len(p.Sources) > 0:
		return hint.Usagef("postal connects from the system's choice of addresses here")
	case len(p.Sizes) > 1 || p.Sizes[0] > mostPostalMessage<<10:
		return hint.Usagef("postal is given one size, of %d kB at most", mostPostalMessage)
	case p.Accounts > mostPostalAccounts:
		return hint.Usagef("%d accounts: postal is given %d at most", p.Accounts, mostPostalAccounts)
	}
	return nil
}

// Account sends messages until the time is over, or ctx ends it.
func (p *Postal) Account(ctx context.Context) (*request.Account, request.Meter, error) {
	if err := p.Validate(); err != nil {
		return nil, request.Meter{}, err
	}
	path, err := FindPostal()
	if err != nil {
		return nil, request.Meter{}, err
	}
	dir, err := os.MkdirTemp("", "linerate-postal")
	if err != nil {
		return nil, request.Meter{}, fmt.Errorf("make a directory for postal: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := p.lists(dir); err != nil {
		return nil, request.Meter{}, fmt.Errorf("tell postal of accounts: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, p.Duration)
	defer cancel()
	out, said := &tooltext.PostalSaid{}, &tooltext.PostalSaid{}
	c := exec.CommandContext(limited, path, p.argv()...)
	c.Dir, c.Env, c.Stdout, c.Stderr = dir, []string{"LC_ALL=C"}, out, said // its log is where it is
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 2 * time.Second
	begin := time.Now()
	if err := p.Start(c); err != nil {
		return nil, request.Meter{}, fmt.Errorf("start postal: %w", err)
	}
	err = c.Wait()
	took := time.Since(begin)
	if limited.Err() == nil {
		return nil, request.Meter{}, fmt.Errorf("postal ended by itself (%w): %.300s", errors.Join(err, errEnded), out.Text+said.Text)
	}
	a, err := accountOf(filepath.Join(dir, "postal.log"), out, said)
	if err != nil {
		return nil, request.Meter{}, err
	}
	m := request.Meter{Elapsed: took, CPUs: client.CPUs, CPU: c.ProcessState.UserTime() + c.ProcessState.SystemTime()}
	return a, m, ctx.Err()
}

var errEnded = errors.New("it runs until it is stopped")

// argv is how the program is called. It resolves names, and has its port in its own way.
func (p *Postal) argv() []string {
	host, port, _ := p.server() // it was checked
	if _, err := netip.ParseAddr(host); err == nil || port != "25" {
		host = "[" + host + "]" + port
	}
	kb := strconv.Itoa((p.Sizes[0] + 1023) / 1024)
	per := p.PerSession
	if per == 0 {
		per = -1 // some four billion
	}
	return []string{"-t", strconv.Itoa(p.Sessions), "-m", kb, "-M", kb, "-c", strconv.Itoa(per), "-r", "10000000", "-f", sendersFile, host, usersFile}
}

// The files that postal is given.
const (
	usersFile   = "users"
	sendersFile = "senders"
)

// lists writes the recipients and the sender.
func (p *Postal) lists(dir string) error {
	f, err := os.Create(filepath.Join(dir, usersFile))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for i := range p.Accounts {
		fmt.Fprintln(w, strings.ReplaceAll(p.To, "%d", strconv.Itoa(i+1)))
	}
	return errors.Join(w.Flush(), f.Close(), os.WriteFile(filepath.Join(dir, sendersFile), []byte(p.From+"\n"), 0o600))
}

// accountOf reads what came of the messages.
func accountOf(log string, said ...*tooltext.PostalSaid) (*request.Account, error) {
	a := request.NewAccount(1)
	for _, s := range said {
		s.End()
		a.CountFailed(request.Status, s.Messages, s.First)
		a.CountFailed(request.Unreachable, s.Sessions, s.First)
	}
	f, err := os.Open(log)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil // it makes one with the first message
	}
	if err != nil {
		return nil, fmt.Errorf("read postal's log: %w", err)
	}
	defer f.Close()
	n, err := tooltext.PostalTaken(f)
	a.CountAnswered(n, 0)
	return a, err
}
