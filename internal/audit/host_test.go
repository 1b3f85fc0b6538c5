package audit_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"linerate/internal/sharedtest"

	"linerate/catalogue"
	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/fact/freebsd"
	"linerate/internal/fact/release"
	"linerate/internal/host/filehost"
	"linerate/internal/inspect"
	"linerate/internal/tunable"
)

// rules loads the built-in rules.
var rules = sync.OnceValues(func() (*audit.RuleSet, error) { return audit.LoadRules(sharedtest.Catalogue()) })

func known(t testing.TB) (*tunable.Catalogue, *audit.RuleSet) {
	t.Helper()
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	r, err := rules()
	if err != nil {
		t.Fatal(err)
	}
	return c, r
}

// tree writes files to a temporary directory and reads its facts.
func tree(t testing.TB, rel string, files map[string]string) *fact.Facts {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"etc", "boot"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		if err := os.WriteFile(p, []byte(text), map[bool]os.FileMode{true: 0o755, false: 0o644}[strings.HasSuffix(name, "rc.local")]); err != nil {
			t.Fatal(err)
		}
	}
	return treeAt(t, rel, dir)
}

func treeAt(t testing.TB, rel, dir string) *fact.Facts {
	t.Helper()
	r, err := filehost.OpenTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := inspect.Host(context.Background(), r, inspect.Options{Release: release.MustParse(rel)})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// run audits facts for a role with the built-in catalogue and rules.
func run(t testing.TB, f *fact.Facts, role string) *audit.Report {
	t.Helper()
	c, r := known(t)
	rep, err := audit.Run(audit.Input{Facts: f, Catalogue: c, Rules: r, Role: role})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// find returns the findings of a rule about a name ("" for any).
func find(r *audit.Report, rule, name string) []audit.Finding {
	var found []audit.Finding
	for _, f := range r.Findings {
		if (rule == "" || f.Rule() == rule) && (name == "" || f.Name == name) {
			found = append(found, f)
		}
	}
	return found
}

// host returns the facts of a rule's example.
func host(t testing.TB, x audit.Example) *fact.Facts {
	t.Helper()
	f := tree(t, cmp.Or(x.Release, "14.3"), x.Files)
	f.Memory.Physical, f.Memory.PageSize, f.Memory.KernelMap = x.Memory, 4096, x.Memory
	f.CPU.Count, f.CPU.Cores = x.CPUs, x.Cores
	if x.CPUs > 0 && x.Cores > 0 {
		f.CPU.ThreadsPerCore = x.CPUs / x.Cores
	}
	for name, v := range x.Live {
		setLive(f, name, v)
	}
	for name, v := range x.Counters {
		f.Counters = append(f.Counters, fact.Counter{Name: name, Value: v})
	}
	for _, n := range x.NICs {
		addNIC(f, n)
	}
	for name, rate := range x.Rates {
		dev, queue, _ := strings.Cut(strings.TrimSpace(name[strings.IndexByte(name, ':')+1:]), ":")
		f.Interrupts = append(f.Interrupts, fact.Interrupt{Name: name, Device: dev, Queue: queue, Rate: rate})
	}
	yes := true
	for _, m := range x.Modules {
		f.Modules = append(f.Modules, fact.Module{Name: m, Loaded: &yes})
	}
	for _, s := range x.Services {
		f.Services = append(f.Services, fact.Service{Name: s, Enabled: &yes})
	}
	if len(x.Conntrack) == 2 {
		f.Firewall.NFT = &fact.NFT{Connections: &x.Conntrack[0], Max: &x.Conntrack[1]}
	}
	if x.IPFWRules > 0 && f.Firewall.IPFW != nil {
		f.Firewall.IPFW.Rules = x.IPFWRules
	}
	if x.PFStates != nil {
		if f.Firewall.PF == nil {
			f.Firewall.PF = &fact.PF{}
		}
		f.Firewall.PF.States = x.PFStates
	}
	f.Normalise()
	return f
}

func addNIC(f *fact.Facts, x audit.ExampleNIC) {
	driver, kind := freebsd.Driver(x.Name)
	n := fact.NIC{Name: x.Name, Driver: cmp.Or(x.Driver, driver), Kind: cmp.Or(x.Kind, kind), RXQueues: x.RXQueues,
		SpeedBits: x.Speed, Options: x.Options, Members: x.Members, FlowControl: x.FlowControl}
	for i := range f.NICs {
		if f.NICs[i].Name == n.Name {
			n.Configured, n.ConfigFlags = f.NICs[i].Configured, f.NICs[i].ConfigFlags
			f.NICs[i] = n
			return
		}
	}
	f.NICs = append(f.NICs, n)
}

func setLive(f *fact.Facts, name, value string) {
	for i := range f.Settings {
		if f.Settings[i].Name == name && f.Settings[i].Namespace == fact.Kernel {
			f.Settings[i].Live = &value
			return
		}
	}
	f.Settings = append(f.Settings, fact.Tunable{Name: name, Namespace: fact.Kernel, Live: &value})
}
