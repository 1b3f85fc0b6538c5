package tunable_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"linerate/catalogue"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/setting"
	"linerate/internal/sharedtest"
	"linerate/internal/tunable"
)

// captured is what a real FreeBSD reports about its sysctls.
type captured struct {
	value, kind   map[string]string
	boot, runtime map[string]bool
}

// readCaptured reads `sysctl -a`, -at, -aNT and -aNW from a folder, of the system as booted and
// with modules loaded.
func readCaptured(t *testing.T, dir string) captured {
	t.Helper()
	c := captured{map[string]string{}, map[string]string{}, map[string]bool{}, map[string]bool{}}
	for _, part := range []string{"02-modules.", "01-default."} {
		for _, l := range lines(t, dir, part+"sysctl-a.txt") {
			if name, value, ok := strings.Cut(l, ": "); ok && !strings.Contains(name, " ") {
				c.value[name] = value
			} else if name, ok := strings.CutSuffix(l, ":"); ok && !strings.Contains(name, " ") {
				c.value[name] = ""
			}
		}
		for _, l := range lines(t, dir, part+"sysctl-at.txt") {
			name, kind, _ := strings.Cut(l, ": ")
			c.kind[name] = kind
		}
		for _, name := range lines(t, dir, part+"sysctl-aNT.txt") {
			c.boot[name] = true
		}
		for _, name := range lines(t, dir, part+"sysctl-aNW.txt") {
			c.runtime[name] = true
		}
	}
	return c
}

func lines(t *testing.T, dir, name string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

func (c captured) settable(name string) tunable.Settable {
	switch {
	case c.boot[name] && c.runtime[name]:
		return tunable.BootRuntime
	case c.boot[name]:
		return tunable.Boot
	case c.runtime[name]:
		return tunable.Runtime
	}
	return tunable.ReadOnly
}

// kinds maps sysctl(8)'s names of types to the catalogue's.
var kinds = map[string][]tunable.Type{
	"integer": {tunable.Int}, "unsigned integer": {tunable.Uint}, "long integer": {tunable.Long},
	"unsigned long": {tunable.Ulong}, "int8_t": {tunable.S8}, "int16_t": {tunable.S16},
	"int32_t": {tunable.S32}, "int64_t": {tunable.S64}, "uint8_t": {tunable.U8, tunable.Bool},
	"uint16_t": {tunable.U16}, "uint32_t": {tunable.U32}, "uint64_t": {tunable.U64},
	"string": {tunable.String}, "node": {tunable.Node}, "opaque": {tunable.Opaque},
}

// exception is a correct difference between catalogue and capture.
type exception struct {
	Name string `yaml:"name"`
	What string `yaml:"what"` // exists, settable, type or default
	Why  string `yaml:"why"`
}

func readExceptions(t *testing.T, name string) map[exception]bool {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Exceptions []exception `yaml:"exceptions"`
	}
	if err := yaml.UnmarshalWithOptions(b, &list, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	known := map[exception]bool{}
	for _, e := range list.Exceptions {
		if e.Why == "" {
			t.Errorf("%s: exception %s %s without a reason", name, e.Name, e.What)
		}
		known[exception{Name: e.Name, What: e.What}] = false
	}
	return known
}

// TestAgainstFreeBSD14 compares every record with a real FreeBSD 14.0: existence, when it can be
// set, type, and the default of what was not set.
func TestAgainstFreeBSD14(t *testing.T) {
	dir := sharedtest.Dir(t, "data", "freebsd-14.0")
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	host := readCaptured(t, dir)
	known := readExceptions(t, "capture-14.0.yaml")
	seen := map[*tunable.Record]bool{}
	compared := 0
	differs := func(name, what, format string, args ...any) {
		e := exception{Name: name, What: what}
		if _, ok := known[e]; ok {
			known[e] = true
			return
		}
		t.Errorf("%s: %s: %s", name, what, fmt.Sprintf(format, args...))
	}
	set := setByFiles(t, dir)
	f := hostOf(host)
	env := c.NewEnv(f, "")
	rel := f.Release
	for name := range host.kind {
		r, ok := c.Lookup(tunable.FreeBSD, name)
		if !ok || r.Mechanism != setting.Sysctl {
			continue
		}
		seen[r] = true
		s := r.At(rel)
		if !s.Exists {
			differs(r.Name, "exists", "the host has %s", name)
			continue
		}
		compared++
		// The flag of a vnet's value does not mean that this kernel fetches it.
		if got := host.settable(name); got != s.Settable && !(s.Scope == tunable.VNET && got == tunable.BootRuntime && s.Settable == tunable.Runtime) {
			differs(r.Name, "settable", "catalogue %s, host %s", s.Settable, got)
		}
		if !slices.Contains(kinds[host.kind[name]], s.Type) {
			differs(r.Name, "type", "catalogue %s, host %s", s.Type, host.kind[name])
		}
		if set[name] || s.Settable == tunable.ReadOnly && s.Default == nil {
			continue
		}
		got, shown := host.value[name] // sysctl -a leaves some names out
		if want, ok := r.DefaultIn(rel, env); ok && shown && !r.SameValue(got, want) {
			differs(r.Name, "default", "catalogue %q, host %q", want, got)
		}
	}
	for _, r := range c.Records {
		if r.OS == tunable.FreeBSD && r.Mechanism == setting.Sysctl && !seen[r] && expected(r, rel, host) {
			differs(r.Name, "exists", "the host has none, though it has its node")
		}
	}
	for e, used := range known {
		if !used {
			t.Errorf("exception %s %s is not needed", e.Name, e.What)
		}
	}
	t.Logf("%d sysctls of the host compared", compared)
	if compared < 300 {
		t.Errorf("only %d sysctls compared", compared)
	}
}

// expected reports whether a host with the record's node should have the record: it needs no
// further module or device.
func expected(r *tunable.Record, rel release.Release, host captured) bool {
	s := r.At(rel)
	node := r.Name[:max(strings.LastIndex(r.Name, "."), 0)]
	_, has := host.kind[node]
	return s.Exists && has && s.Module == "" && r.KernelOption == "" && s.Mechanism == setting.Sysctl &&
		!strings.HasPrefix(r.Name, "dev.")
}

// setByFiles are the names that the host's own files set, and those that its rc scripts set from
// rc.conf.
func setByFiles(t *testing.T, dir string) map[string]bool {
	set := map[string]bool{"net.inet.ip.forwarding": true, "net.inet6.ip6.forwarding": true}
	for _, file := range []string{"loader.conf.txt", "sysctl.conf.txt"} {
		for _, l := range lines(t, dir, file) {
			if name, _, ok := strings.Cut(l, "="); ok && !strings.HasPrefix(l, "#") {
				set[name] = true
			}
		}
	}
	return set
}

// hostOf returns facts of the captured host, as far as formulas need them.
func hostOf(host captured) *fact.Facts {
	number := func(name string) uint64 {
		n, _ := tunable.ParseInteger(host.value[name])
		if n == nil {
			return 0
		}
		return n.Uint64()
	}
	f := &fact.Facts{OS: fact.FreeBSD, Release: release.MustParse("14.0"), Arch: "amd64", Hypervisor: "kvm"}
	f.Memory = fact.Memory{Physical: number("hw.physmem"), Real: number("hw.realmem"), PageSize: number("hw.pagesize"), KernelMap: number("vm.kmem_size")}
	f.CPU = fact.CPU{Count: int(number("hw.ncpu")), Cores: int(number("kern.smp.cores")), ThreadsPerCore: int(number("kern.smp.threads_per_core"))}
	for name, v := range host.value {
		f.Settings = append(f.Settings, fact.Tunable{Name: name, Namespace: fact.Kernel, Live: &v})
	}
	f.Normalise()
	return f
}

// TestTCPIsWhole: the catalogue has every name below net.inet.tcp of a host with the stacks RACK
// and BBR loaded.
func TestTCPIsWhole(t *testing.T) {
	host := readCaptured(t, sharedtest.Dir(t, "data", "freebsd-14.0"))
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for name, kind := range host.kind {
		if !strings.HasPrefix(name, "net.inet.tcp.") || kind == "node" {
			continue
		}
		names++
		if _, ok := c.Lookup(tunable.FreeBSD, name); !ok {
			t.Errorf("%s (%s) is not in the catalogue", name, kind)
		}
	}
	if names < 400 {
		t.Errorf("only %d names", names)
	}
}
