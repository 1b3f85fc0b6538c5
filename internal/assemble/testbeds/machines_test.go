package testbeds

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/hint"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/testbed/sshbed"
)

const bed = `hosts:
  dut: {ssh: ssh://root@dut, management: em0, become: doas}
  generator: {ssh: ssh://root@gen, namespace: outer}
wires:
  - {from: generator/ix0, to: dut/ix0}
  - {from: dut/ix1, to: receiver/ix1}
`

func parsed(t *testing.T, text string) testbed.File {
	t.Helper()
	f, err := testbed.Parse("lab.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := ReadFile(filepath.Join(dir, "none.yaml")); !hint.IsUsage(err) || !strings.Contains(hint.Of(err), "help testbeds") {
		t.Errorf("no file: %v", err)
	}
	at := filepath.Join(dir, "lab.yaml")
	if err := os.WriteFile(at, []byte(bed), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, text, err := ReadFile(at); err != nil || f.Hosts.DUT.Become != "doas" || string(text) != bed {
		t.Errorf("%+v, %v", f, err)
	}
	if err := os.WriteFile(at, []byte("hosts: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadFile(at); err == nil || !strings.Contains(err.Error(), at) {
		t.Errorf("no testbed: %v", err)
	}
}

// TestWindow: a DUT stays changed for two of the longest trials and five minutes, unless the file
// says for how long.
func TestWindow(t *testing.T) {
	s, err := study.Parse("s", []byte("name: s\nquestion: Does b cost more than a?\ntestbed: {kind: ssh, file: lab.yaml}\nvariants: [{name: a}, {name: b, settings: [{sysctl: net.ipv4.ip_early_demux, value: 0}]}]\n"+
		"parts:\n  - {name: short, mode: overload, rate: max, blocks: 3, seconds: 10}\n  - {name: long, mode: overload, rate: max, blocks: 3, seconds: 60, warmup: 30}\nmetrics: [{metric: overload_forwarding_rate_pps, part: short, primary: true}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	f := parsed(t, bed)
	if got := WindowOf(s, f); got < 5*time.Minute+180*time.Second || got > 15*time.Minute {
		t.Errorf("two trials of 90 s and five minutes are %s", got)
	}
	shorter := s
	shorter.Parts = s.Parts[:1]
	if WindowOf(shorter, f) >= WindowOf(s, f) {
		t.Error("a shorter study has no shorter window")
	}
	f.Window = testbed.Duration(time.Minute)
	if got := WindowOf(s, f); got != time.Minute {
		t.Errorf("one that is given is %s", got)
	}
}

// TestOwners: one word each, that no shell changes, and another for another record or testbed.
func TestOwners(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"lab", "lab 1", "lab;1", "$(reboot)", strings.Repeat("n", 99), strings.Repeat("n", 98), "ä", "ö", "", "../x", "x"} {
		for kind, owner := range map[string]string{"record ": OwnerOf(filepath.Join("/srv", name)), "testbed ": OwnerByName(name)} {
			if strings.Trim(owner, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-./") != "" || len(owner) > 32+32+16+2 || strings.Count(owner, "/") != 2 {
				t.Errorf("%s%q is held by %q", kind, name, owner)
			}
			if was, twice := seen[owner]; twice && was != kind+name {
				t.Errorf("%s and %s%s are both held by %s", was, kind, name, owner)
			}
			seen[owner] = kind + name
		}
	}
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if OwnerOf("record") != OwnerOf(filepath.Join(here, "record")) {
		t.Error("a record is another's when it is named from elsewhere")
	}
}

// TestSets: configuration sets are read beside the study's file, or where the record keeps them.
func TestSets(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	write("sets/fast/etc/sysctl.conf", "net.inet.ip.redirect=0\n")
	write("lab.yaml", bed)
	write("study.yaml", "name: s\nquestion: Which is faster?\ntestbed: {kind: ssh, file: lab.yaml}\nreset: reboot\nvariants: [{name: a}, {name: b, settings: [{files: sets/fast}]}]\nparts: [{mode: overload, rate: max, blocks: 3, seconds: 10}]\nmetrics: [{metric: overload_forwarding_rate_pps, primary: true}]\n")
	text, err := os.ReadFile(filepath.Join(dir, "study.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse("study.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	file, sets, err := Gather(s, filepath.Join(dir, "study.yaml"))
	if err != nil || string(file) != bed || len(sets) != 1 {
		t.Fatalf("%d sets, %v", len(sets), err)
	}
	files, err := TreesOf(sets)("sets/fast")
	if err != nil || len(files) != 1 || files[0].Path != "/etc/sysctl.conf" || files[0].Content != "net.inet.ip.redirect=0\n" || files[0].Mode != 0o644 {
		t.Errorf("%+v, %v", files, err)
	}
	if _, err := TreesOf(sets)("sets/slow"); err == nil || !strings.Contains(err.Error(), "no configuration set sets/slow") {
		t.Errorf("a set that is not there: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "sets")); err != nil {
		t.Fatal(err)
	}
	if _, err := Sets(s, filepath.Join(dir, "study.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a set that is gone: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "lab.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Gather(s, filepath.Join(dir, "study.yaml")); !hint.IsUsage(err) {
		t.Errorf("a testbed that is gone: %v", err)
	}
	if placeOf("/a/study.yaml", "/b/lab.yaml") != "/b/lab.yaml" || placeOf("/a/study.yaml", "lab.yaml") != "/a/lab.yaml" {
		t.Error("a place that a study's file names")
	}
}

// recorded is a connection that keeps what was asked of it.
type recorded struct {
	sshbed.Conn
	script string
	args   []string
	fails  error
}

func (r *recorded) Run(_ context.Context, script string, args []string, _ []byte) ([]byte, error) {
	r.script, r.args = script, args
	return nil, r.fails
}

func (r *recorded) Pipe(_ context.Context, script string, args ...string) (io.ReadWriteCloser, error) {
	r.script, r.args = script, args
	return nil, r.fails
}

// TestWithinNamespace: a script and its arguments go through whole, as arguments, and one that cannot
// enter says what to make there.
func TestWithinNamespace(t *testing.T) {
	var r recorded
	c := within(&r, "outer")
	if _, err := c.Run(t.Context(), "echo \"$1\"", []string{"a b", "$(id)"}, nil); err != nil || !slices.Equal(r.args, []string{"outer", "echo \"$1\"", "a b", "$(id)"}) || strings.Contains(r.script, "id)") {
		t.Errorf("%q %q, %v", r.script, r.args, err)
	}
	if _, err := c.Pipe(t.Context(), "cat", "x"); err != nil || !slices.Equal(r.args, []string{"outer", "cat", "x"}) || !strings.Contains(r.script, "exec ip netns exec") {
		t.Errorf("%q %q, %v", r.script, r.args, err)
	}
	r.fails = errors.New(`Cannot open network namespace "outer": No such file or directory`)
	if _, err := c.Run(t.Context(), "true", nil, nil); !strings.Contains(hint.Of(err), "ip netns add outer") {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
	r.fails = errors.New("permission denied")
	if _, err := c.Run(t.Context(), "true", nil, nil); hint.Of(err) != "" {
		t.Errorf("another error: %v (%s)", err, hint.Of(err))
	}
	if within(&r, "") != sshbed.Conn(&r) {
		t.Error("a host without a namespace is entered")
	}
}

// TestOptions: each role has its connection, a DUT that is not there has none, and a receiver that is
// not named is the generator's host.
func TestOptions(t *testing.T) {
	m := &Machines{File: parsed(t, bed), Talk: io.Discard}
	o, err := m.Options(sshbed.Options{Owner: "me"})
	if err != nil || o.DUT == nil || o.Generator == nil || o.Receiver == nil || o.Owner != "me" || o.Line == nil {
		t.Fatalf("%+v, %v", o, err)
	}
	if line := o.Line("confirm"); line != "linerate confirm ssh://root@dut --become doas" {
		t.Errorf("%s", line)
	}
	if n, ok := o.Receiver.(inNamespace); !ok || n.name != "outer" {
		t.Errorf("the receiver is %T", o.Receiver)
	}
	if _, ok := o.DUT.(inNamespace); ok {
		t.Error("the DUT is in a namespace")
	}
	ports := parsed(t, "hosts:\n  generator: {}\nwires:\n  - {from: generator/a, to: dut/x}\n  - {from: dut/y, to: receiver/b}\n")
	if o, err = (&Machines{File: ports, Talk: io.Discard}).Options(sshbed.Options{}); err != nil || o.DUT != nil || o.Line != nil {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestPktGenOfAFile: a testbed's words are pkt-gen's.
func TestPktGenOfAFile(t *testing.T) {
	f := parsed(t, bed+"traffic: {tool: pkt-gen, generate: [-p, '2'], receive: [-p, '3']}\n")
	e, err := (&Machines{File: f, Talk: io.Discard}).Engine()
	if err != nil || e.Name() != "pkt-gen" || e.Available() != nil {
		t.Fatalf("%v, %v", e, err)
	}
	if g := e.(pktGen); !slices.Equal(g.Generate, []string{"-p", "2"}) || !slices.Equal(g.Receive, []string{"-p", "3"}) || g.Generator.Host == nil || g.PktGen.Receiver.Host == nil {
		t.Errorf("%+v", g)
	}
}
