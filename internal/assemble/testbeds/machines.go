// Package testbeds connects to the hosts of a testbed file and sets up a testbed
// on them, finds traffic engines by name, and starts the servers that a study
// measures, each with its load.
package testbeds

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"linerate/internal/assemble/hosts"
	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/host/localhost"
	"linerate/internal/host/sshhost"
	"linerate/internal/lazy"
	"linerate/internal/list"
	"linerate/internal/plan"
	"linerate/internal/port"
	"linerate/internal/study"
	"linerate/internal/studydir"
	"linerate/internal/testbed"
	"linerate/internal/testbed/sshbed"
)

// Machines are the hosts of a testbed file.
type Machines struct {
	File   testbed.File
	Config string // for ssh, "" for the user's
	Talk   io.Writer
}

// ReadFile reads a testbed's file.
func ReadFile(path string) (testbed.File, []byte, error) {
	data, err := host.ReadFile(path, host.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return testbed.File{}, nil, hint.With(hint.Usagef("no testbed file %s", path), "linerate help testbeds describes it")
	}
	if err != nil {
		return testbed.File{}, nil, fmt.Errorf("read the testbed: %w", err)
	}
	f, err := testbed.Parse(path, data)
	return f, data, err
}

// Limits on silent connections: a DUT may be silent under overload, but not generators and
// receivers, nor a DUT without load, which may be rebooting; a reboot does not close connections.
const (
	dutSilence   = 3 * time.Minute
	outerSilence = 20 * time.Second
)

// conn connects to a host by role; it returns nil for a DUT missing in the file.
func (m *Machines) conn(role string) (sshbed.Conn, error) {
	h := m.File.Host(role)
	if h == nil {
		return nil, nil
	}
	if h.SSH == "" {
		return within(&localhost.Runner{}, h.Namespace), nil
	}
	target, err := sshhost.ParseTarget(h.SSH)
	if err != nil {
		return nil, err
	}
	o := sshhost.Options{Become: h.Become, Alive: outerSilence, Config: m.Config}
	if role == testbed.DUT {
		o.Alive = dutSilence
	}
	r := &sshhost.Runner{Name: h.SSH, Dial: func(ctx context.Context) (*sshhost.Client, error) { return sshhost.Dial(ctx, target, o) }}
	return within(r, h.Namespace), nil
}

// within returns a connection to a namespace of a host, or to the host itself.
func within(c sshbed.Conn, namespace string) sshbed.Conn {
	if namespace == "" {
		return c
	}
	return inNamespace{c, namespace}
}

// Options adds to the options of a testbed how its machines are reached.
func (m *Machines) Options(o sshbed.Options) (sshbed.Options, error) {
	o.File, o.Local = m.File, runHere
	o.Say = func(format string, args ...any) { fmt.Fprintf(m.Talk, "linerate: "+format+"\n", args...) }
	if h := m.File.Hosts.DUT; h != nil {
		o.Line = (&hosts.Remote{Become: h.Become, Config: m.Config}).Line(h.SSH)
	}
	var err error
	for role, c := range map[string]*sshbed.Conn{testbed.DUT: &o.DUT, testbed.Generator: &o.Generator, testbed.Receiver: &o.Receiver} {
		if *c, err = m.conn(role); err != nil {
			return o, err
		}
	}
	return o, nil
}

// Bed sets up the testbed.
func (m *Machines) Bed(ctx context.Context, o sshbed.Options) (*sshbed.Bed, error) {
	o, err := m.Options(o)
	if err != nil {
		return nil, err
	}
	return sshbed.Up(ctx, o)
}

// runHere runs a command from the testbed file on this machine.
func runHere(ctx context.Context, argv []string) error {
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %.200s", err, out)
	}
	return nil
}

// FactsOf returns the facts of a study's DUT. When a study resumes the DUT may be rebooting:
// FactsOf waits as long as a reboot may take.
func (m *Machines) FactsOf(ctx context.Context, s study.Spec) (facts *fact.Facts, err error) {
	err = sshbed.Await(ctx, time.Duration(m.File.Reboot.Wait), time.Second, func() (final bool, err error) {
		facts, err = m.facts(ctx)
		return s.Reset != study.ResetReboot, err
	}, func(err error, wait time.Duration) {
		fmt.Fprintf(m.Talk, "linerate: %v: waiting for it, up to %s\n", err, wait)
	})
	return facts, err
}

// patienceSilent is how long a user may wait without a message.
const patienceSilent = 10 * time.Second

// facts returns the DUT's facts, or this machine's if the testbed has no connection to the DUT.
func (m *Machines) facts(ctx context.Context) (*fact.Facts, error) {
	if m.File.Hosts.DUT == nil {
		return (&hosts.Source{}).Facts(ctx, nil)
	}
	s := &hosts.Source{Remote: hosts.Remote{Become: m.File.Hosts.DUT.Become, Timeout: 5 * time.Minute, Alive: outerSilence, Config: m.Config}}
	slow := time.AfterFunc(patienceSilent, func() {
		fmt.Fprintf(m.Talk, "linerate: still reading what %s is, for the record: up to %s\n", m.File.Hosts.DUT.SSH, s.Timeout)
	})
	defer slow.Stop()
	facts, err := s.Facts(ctx, []string{m.File.Hosts.DUT.SSH})
	if err == nil || ctx.Err() != nil {
		return facts, err
	}
	// A minimal DUT can still identify itself.
	c, failed := m.conn(testbed.DUT)
	if failed != nil {
		return nil, failed
	}
	defer c.Close()
	id, failed := sshbed.Identify(ctx, c)
	if failed != nil {
		return nil, failed
	}
	fmt.Fprintf(m.Talk, "linerate: the DUT's facts are not in the record: %v\n", err)
	return &fact.Facts{Version: fact.Version, OS: id.OS, Kernel: id.Release, Arch: id.Arch, Hostname: m.File.Hosts.DUT.SSH, Clocksource: id.Clock}, nil
}

// WindowOf returns how long the DUT stays changed if contact is lost.
func WindowOf(s study.Spec, f testbed.File) time.Duration {
	if f.Window != 0 {
		return time.Duration(f.Window)
	}
	longest := 0.0
	for _, p := range s.Parts {
		longest = max(longest, s.Expected(p))
	}
	return 5*time.Minute + 2*time.Duration(longest*float64(time.Second))
}

// OwnerOf identifies a study by the path of its record, readable by machine and record name; it is
// the same after resuming.
func OwnerOf(record string) string {
	abs, err := filepath.Abs(record)
	if err != nil {
		abs = record
	}
	host, _ := os.Hostname()
	sum := sha256.Sum256([]byte(host + "\n" + abs))
	return plainWord(host) + "/" + plainWord(filepath.Base(abs)) + "/" + hex.EncodeToString(sum[:])[:16]
}

// OwnerByName identifies a testbed of the queue, whose leases decide who holds it: it is the same
// for all workers, so that the next one can take over the DUT from a dead one.
func OwnerByName(testbed string) string {
	sum := sha256.Sum256([]byte("linerate queue\n" + testbed))
	return "queue/" + plainWord(testbed) + "/" + hex.EncodeToString(sum[:])[:16]
}

var special = lazy.Regexp(`[^A-Za-z0-9.-]+`)

// plainWord returns the characters of a name that are not special in any shell, at most 32.
func plainWord(name string) string {
	word := special().ReplaceAllString(name, "")
	return word[:min(len(word), 32)]
}

// TreesOf returns a function that finds a configuration set by name.
func TreesOf(sets map[string][]studydir.SetFile) func(string) ([]plan.File, error) {
	return func(name string) ([]plan.File, error) {
		set, ok := sets[name]
		if !ok {
			return nil, fmt.Errorf("the study's record has no configuration set %s", name)
		}
		return list.Map(set, func(f studydir.SetFile) plan.File {
			return plan.File{Path: f.Path, Mode: uint32(f.Mode.Perm()), Content: f.Text}
		}), nil
	}
}

// Onlooker is this machine as an observer if the testbed is elsewhere: its own load does not affect
// trials.
type Onlooker struct{}

// Now returns this machine's time.
func (Onlooker) Now() time.Time { return time.Now() }

// Spin measures nothing: the testbed pins nothing here.
func (Onlooker) Spin(int) (float64, error) { return 0, nil }

// Stolen returns zero.
func (Onlooker) Stolen(int) (time.Duration, error) { return 0, nil }

// Load1 returns zero.
func (Onlooker) Load1() float64 { return 0 }

// Meter measures nothing.
func (Onlooker) Meter(in port.Place, _ int) (port.Place, func() time.Duration) {
	return in, func() time.Duration { return 0 }
}

// Watch measures nothing.
func (Onlooker) Watch(int, int) func() time.Duration { return func() time.Duration { return 0 } }

// Gather reads what a study on machines needs besides its own file: the testbed file and the
// configuration sets.
func Gather(s study.Spec, studyFile string) (bed []byte, sets map[string][]studydir.SetFile, err error) {
	if _, bed, err = ReadFile(placeOf(studyFile, s.Testbed.File)); err != nil {
		return nil, nil, err
	}
	sets, err = Sets(s, studyFile)
	return bed, sets, err
}

// placeOf resolves a path given in a study file.
func placeOf(studyFile, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(studyFile), name)
}

// Sets reads the configuration sets that a study uses.
func Sets(s study.Spec, studyFile string) (map[string][]studydir.SetFile, error) {
	kept, err := studydir.ReadSets(filepath.Dir(studyFile))
	if err != nil {
		return nil, err
	}
	sets := map[string][]studydir.SetFile{}
	for _, name := range s.Trees() {
		if sets[name] = kept[name]; sets[name] != nil {
			continue
		}
		if sets[name], err = studydir.ReadSet(placeOf(studyFile, name)); err != nil {
			return nil, err
		}
	}
	return sets, nil
}
