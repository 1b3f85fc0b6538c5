package sshbed

import (
	"cmp"
	"context"
	_ "embed" // bed.sh
	"errors"
	"fmt"
	"io"
	"math/bits"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"linerate/internal/wait"

	"linerate/internal/host"
	"linerate/internal/testbed"
)

//go:embed bed.sh
var bedScript string

// Conn is a connection to one machine.
type Conn interface {
	host.Runner
	host.Piper
}

// Identity is a machine and its boot.
type Identity struct {
	OS, Release, Arch string
	UID               int
	// Boot identifies the boot uniquely. Booted is its time.
	Boot   string
	Booted time.Time
	Clock  string // the kernel's clock source
}

// Port is the present state of a machine's interface.
type Port struct {
	Device     string
	MAC        net.HardwareAddr
	Up         bool
	MTU        int
	IPv4, IPv6 netip.Prefix // the first of each; invalid if there is none
	// AtOnce is set if its counters are the kernel's own. Other drivers may
	// read them from the NIC only about once a second.
	AtOnce bool
}

// ask runs a function in bed.sh.
func ask(ctx context.Context, c Conn, stdin []byte, args ...string) (string, error) {
	out, err := c.Run(ctx, bedScript, args, stdin)
	if err != nil && !strings.Contains(err.Error(), c.Where()) { // the connection names it
		err = fmt.Errorf("%s: %w", c.Where(), err)
	}
	return string(out), err
}

// Identify asks a machine for its identity.
func Identify(ctx context.Context, c Conn) (Identity, error) {
	out, err := ask(ctx, c, nil, "identity")
	if err != nil {
		return Identity{}, err
	}
	id := Identity{UID: -1} // an answer without a UID must not pass for root
	for line := range strings.Lines(out) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "os":
			id.OS = strings.ToLower(rest)
		case "release":
			id.Release = rest
		case "arch":
			id.Arch = rest
		case "uid":
			if n, err := strconv.Atoi(rest); err == nil {
				id.UID = n
			}
		case "boot":
			id.Boot = rest
		case "booted":
			s, _ := strconv.ParseInt(rest, 10, 64)
			id.Booted = time.Unix(s, 0).UTC()
		case "clock":
			id.Clock = rest
		}
	}
	if id.OS == "" || id.Boot == "" {
		return id, fmt.Errorf("%s does not say who it is: %.80q", c.Where(), out)
	}
	return id, nil
}

// PortOf reads an interface of a machine.
func PortOf(ctx context.Context, c Conn, device string) (Port, error) {
	out, err := ask(ctx, c, nil, "port", device)
	if err != nil {
		return Port{}, err
	}
	p := Port{Device: device}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		switch f[0] {
		case "mac":
			p.MAC, err = net.ParseMAC(f[1])
		case "mtu":
			p.MTU, err = strconv.Atoi(f[1])
		case "up":
			p.Up = f[1] == "yes"
		case "counts":
			p.AtOnce = f[1] == "at-once"
		case "inet":
			p.IPv4, err = address(p.IPv4, f)
		case "inet6":
			p.IPv6, err = address(p.IPv6, f)
		}
		if err != nil {
			return p, fmt.Errorf("%s: interface %s: %w", c.Where(), device, err)
		}
	}
	return p, nil
}

// address keeps the first address: ADDRESS/BITS on Linux, ADDRESS MASK (hex
// or bits) on FreeBSD.
func address(first netip.Prefix, f []string) (netip.Prefix, error) {
	if first.IsValid() || len(f) < 3 {
		return first, nil
	}
	if strings.Contains(f[1], "/") {
		return netip.ParsePrefix(f[1])
	}
	a, err := netip.ParseAddr(strings.Split(f[1], "%")[0])
	if err != nil {
		return first, err
	}
	if n, err := strconv.Atoi(f[2]); err == nil && !strings.HasPrefix(f[2], "0x") {
		return netip.PrefixFrom(a, n), nil
	}
	mask, err := strconv.ParseUint(strings.TrimPrefix(f[2], "0x"), 16, 32)
	if err != nil {
		return first, fmt.Errorf("netmask %q", f[2])
	}
	return netip.PrefixFrom(a, bits.OnesCount64(mask)), nil
}

// countersOf reads absolute counters: of frames received by some interfaces, and
// sent by others.
func countersOf(ctx context.Context, c Conn, in, out []string) (testbed.Counters, error) {
	args := []string{"counters"}
	for _, i := range in {
		args = append(args, "rx="+i)
	}
	for _, o := range out {
		args = append(args, "tx="+o)
	}
	text, err := ask(ctx, c, nil, args...)
	if err != nil {
		return testbed.Counters{}, err
	}
	var t testbed.Counters
	if _, err := fmt.Sscan(text, &t.Received, &t.Forwarded, &t.Dropped); err != nil {
		return t, fmt.Errorf("%s counts %.80q", c.Where(), text)
	}
	return t, nil
}

// Counts reads the absolute packet counters of an interface on any machine.
func Counts(ctx context.Context, c Conn, device string) (received, sent uint64, err error) {
	t, err := countersOf(ctx, c, []string{device}, []string{device})
	return t.Received, t.Forwarded, err
}

// ErrHeld is returned if another study holds the testbed.
var ErrHeld = errors.New("the testbed is in use")

// holdScript holds a lock on the DUT as long as its standard input is open:
// sshd closes it when the controller is gone, as does a boot.
const holdScript = `S=${LINERATE_ROOT-}/var/lib/linerate; if [ $(uname -s) = FreeBSD ]; then S=${LINERATE_ROOT-}/var/db/linerate; fi; ` +
	`PATH=$PATH:/sbin:/usr/sbin; export S PATH; umask 077; mkdir -p $S || exit 1; ` +
	`if [ $(uname -s) = FreeBSD ]; then exec lockf -k -s -t 0 $S/bed.lock /bin/sh -c "echo \$\$ \$1 >\$S/bed.holder; echo held; exec cat >/dev/null" hold $1; fi; ` +
	`exec flock -n -E 75 $S/bed.lock /bin/sh -c "echo \$\$ \$1 >\$S/bed.holder; echo held; exec cat >/dev/null" hold $1`

// hold locks the testbed for owner, a plain word. The lock outlives ctx, but
// waiting for it does not.
func hold(ctx context.Context, c Conn, owner string) (io.ReadWriteCloser, error) {
	var who string
	for range 5 {
		p, err := holding(ctx, c, owner)
		var said *host.ScriptError
		switch {
		case err == nil:
			return p, nil
		case !errors.As(err, &said) || said.Code != lockedCode:
			return nil, fmt.Errorf("%s: take the testbed: %w", c.Where(), err)
		}
		if who, err = ask(ctx, c, nil, "holder"); err != nil {
			return nil, err
		}
		if _, err := ask(ctx, c, nil, "dismiss", owner); err != nil {
			break // another owner has it
		}
		if err := wait.For(ctx, 200*time.Millisecond); err != nil {
			return nil, err
		}
	}
	_, name, _ := strings.Cut(strings.TrimSpace(who), " ")
	name = cmp.Or(name, "another study")
	return nil, fmt.Errorf("%s: %w by %s", c.Where(), ErrHeld, name)
}

// lockedCode is the exit code of holdScript if another has the lock (sysexits(3),
// EX_TEMPFAIL).
const lockedCode = 75

// holding runs holdScript until it has the lock.
func holding(ctx context.Context, c Conn, owner string) (io.ReadWriteCloser, error) {
	p, err := c.Pipe(ctx, holdScript, owner)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { p.Close() })
	buf := make([]byte, 5)
	_, err = io.ReadFull(p, buf)
	switch {
	case !stop():
		return nil, context.Cause(ctx)
	case err == nil && string(buf) == "held\n":
		return p, nil
	case err == nil:
		err = fmt.Errorf("its lock says %.80q", buf)
	}
	p.Close()
	return nil, err
}
