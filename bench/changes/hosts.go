// Package changes checks everything that linerate offers to change (fixes, shorter files, plans,
// results of tune, exports) for one property: once applied to the files and audited again, it
// causes no new finding, and the host forwards, filters and starts what it did before.
package changes

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/catalogue"
	"linerate/internal/assemble/hosts"
	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/host/filehost"
	"linerate/internal/inspect"
	"linerate/internal/plan"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// Tree is the configuration files of a host, by path.
type Tree map[string]string

// Host is a tree, its operating system, and facts that its files do not contain.
type Host struct {
	OS, Release, Role string
	Files             Tree
	Memory            uint64
	CPUs              int
	Booted            bool // running values are known, and equal those of the files
	Needs             plan.Needs
	Unmeasured        bool
}

// Bench holds the data for audits and plans, and lines of published configurations.
type Bench struct {
	known   audit.Input
	library *plan.Library
	names   map[string][]string // names of settings in the catalogue
	Trees   []Host              // configurations to change, besides generated ones
	Lines   []string            // lines of sysctl.d files
}

// New returns a Bench with the catalogue loaded.
func New() (*Bench, error) {
	known, err := hosts.Input()
	if err != nil {
		return nil, err
	}
	known.Today = time.Unix(0, 0)
	b := &Bench{known: known, names: map[string][]string{}}
	if b.library, err = plan.Unpack(catalogue.PackedPlans()); err != nil {
		return nil, err
	}
	for _, rec := range known.Catalogue.Records {
		if slices.Contains([]setting.Mechanism{setting.Sysctl, setting.Loader, setting.RC}, rec.Mechanism) && !strings.ContainsAny(rec.Name, " :") {
			b.names[rec.OS] = append(b.names[rec.OS], strings.NewReplacer(".N.", ".0.", ".IF.", ".eth0.").Replace(rec.Name))
		}
	}
	return b, nil
}

var (
	releases = map[string][]string{fact.FreeBSD: {"14.3", "12.4", "15.0", "13.2"}, fact.Linux: {"6.12", "5.15", "7.1"}}
	roles    = []string{"router", "firewall", "web", "cdn", "storage", "endpoint"}
	// switches turn forwarding or filtering on.
	switches = map[string][]string{
		fact.Linux:   {"net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding", "net.ipv4.conf.all.rp_filter", "net.ipv4.conf.eth0.forwarding"},
		fact.FreeBSD: {"gateway_enable", "ipv6_gateway_enable", "pf_enable", "firewall_enable", "net.inet.ip.forwarding", "net.inet6.ip6.forwarding"},
	}
	places = map[string][]string{
		fact.Linux:   {"/etc/sysctl.d/10-a.conf", "/etc/sysctl.d/99-z.conf", "/etc/sysctl.conf", "/etc/modprobe.d/x.conf"},
		fact.FreeBSD: {"/etc/sysctl.conf", "/boot/loader.conf", "/etc/rc.conf"},
	}
	values = []string{"0", "1", "2", "-1", "128", "4096", "65536", "262144", "16777216", "4294967296", "YES", "NO", "4096 87380 16777216", "off"}
)

// Host generates the host of a seed: a published tree or a minimal one, with random
// lines added, some of them conflicting, in wrong files, or of wrong or old names.
func (b *Bench) Host(seed uint64) Host {
	r := rand.New(rand.NewPCG(seed, 1))
	h := Host{OS: []string{fact.FreeBSD, fact.Linux}[r.IntN(2)], Role: roles[r.IntN(len(roles))], Unmeasured: r.IntN(2) == 0, Booted: r.IntN(3) == 0}
	h.Files = Tree{"/etc/hostname": "x\n"}
	if h.OS == fact.FreeBSD {
		h.Files = Tree{"/etc/rc.conf": "hostname=\"x\"\n", "/boot/loader.conf": "autoboot_delay=\"2\"\n"}
	}
	if len(b.Trees) > 0 && r.IntN(4) == 0 {
		t := b.Trees[r.IntN(len(b.Trees))]
		h.OS, h.Files = t.OS, Tree{}
		for name, text := range t.Files {
			h.Files[name] = text
		}
	}
	h.Release = releases[h.OS][r.IntN(len(releases[h.OS]))]
	if r.IntN(2) == 0 {
		h.Memory, h.CPUs = uint64(1<<r.IntN(9))<<30, 1<<r.IntN(7)
	}
	if r.IntN(3) > 0 {
		h.Needs = plan.Needs{Link: []float64{1e9, 10e9, 100e9}[r.IntN(3)], RTT: []float64{0.001, 0.03, 0.2}[r.IntN(3)],
			States: float64(r.IntN(2)) * 1e5 * float64(1+r.IntN(100)), Connections: float64(r.IntN(2)) * 1e4 * float64(1+r.IntN(50))}
	}
	b.write(r, h)
	return h
}

func (b *Bench) write(r *rand.Rand, h Host) {
	var used []string
	for range 3 + r.IntN(12) {
		if h.OS == fact.Linux && len(b.Lines) > 0 && r.IntN(3) == 0 {
			h.Files.add(places[h.OS][r.IntN(3)], b.Lines[r.IntN(len(b.Lines))])
			continue
		}
		names := b.names[h.OS]
		name := names[r.IntN(len(names))]
		switch r.IntN(5) {
		case 0:
			name = switches[h.OS][r.IntN(len(switches[h.OS]))]
		case 1:
			if len(used) > 0 {
				name = used[r.IntN(len(used))]
			}
		case 2:
			if r.IntN(4) == 0 {
				name = name[:len(name)-1]
			}
		}
		used = append(used, name)
		value := values[r.IntN(len(values))]
		if rec, ok := b.known.Catalogue.Lookup(h.OS, name); ok && rec.Default != nil && r.IntN(2) == 0 {
			value = *rec.Default
		}
		if value == "" || strings.ContainsAny(value, "\n\"'$`\\") {
			value = "1"
		}
		file := places[h.OS][r.IntN(len(places[h.OS]))]
		if r.IntN(3) > 0 && h.OS == fact.FreeBSD && !strings.Contains(name, ".") {
			file = "/etc/rc.conf"
		} else if r.IntN(3) > 0 {
			file = places[h.OS][0]
		}
		if path.Base(file) == "rc.conf" || path.Base(file) == "loader.conf" {
			value = strconv.Quote(value)
		}
		h.Files.add(file, name+"="+value)
	}
}

// add appends a line to a file.
func (t Tree) add(file, line string) {
	if text := t[file]; text != "" && !strings.HasSuffix(text, "\n") {
		t[file] += "\n"
	}
	t[file] += line + "\n"
}

// facts inspects the files of a host, and adds the facts that they do not contain.
func (b *Bench) facts(h Host, files Tree) (*fact.Facts, error) {
	texts := map[string][]byte{}
	for p, text := range files {
		texts[p] = []byte(text)
	}
	f, err := inspect.Host(context.Background(), filehost.New(texts, h.OS), inspect.Options{OS: h.OS, Release: release.MustParse(h.Release)})
	if err != nil {
		return nil, fmt.Errorf("read the tree: %w", err)
	}
	f.Memory.Physical, f.CPU.Count = h.Memory, h.CPUs
	if h.Booted { // every kernel reports this value
		f.Settings = append(f.Settings, fact.Tunable{Name: map[string]string{fact.FreeBSD: "kern.ostype", fact.Linux: "kernel.ostype"}[h.OS], Namespace: fact.Kernel, Live: &h.OS})
		f.Normalise()
	}
	v4, v6 := f.ForwardsIPv4(), f.ForwardsIPv6()
	for i := range f.Settings {
		s := &f.Settings[i]
		rec, known := b.record(h, s.Name)
		l, ok := s.StandsUnless(func(l fact.Line) bool {
			return !known || !takes(rec.At(f.Release), l.Stage) || rec.RejectLine(f.Release, l) != nil
		})
		if ok && h.Booted && s.Namespace == fact.Kernel {
			s.Live = &l.Value
		}
	}
	if h.Booted {
		runs(f, forwarding[h.OS][0], v4)
		runs(f, forwarding[h.OS][1], v6)
	}
	return f, nil
}

// forwarding are the sysctls for IPv4 and IPv6 forwarding, which every kernel has.
var forwarding = map[string][2]string{fact.Linux: {"net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"}, fact.FreeBSD: {"net.inet.ip.forwarding", "net.inet6.ip6.forwarding"}}

// runs sets the running value of a switch unless it is already known.
func runs(f *fact.Facts, name string, on bool) {
	if _, known := f.LiveValue(name); known {
		return
	}
	value := map[bool]string{true: "1", false: "0"}[on]
	for i := range f.Settings {
		if s := &f.Settings[i]; s.Name == name && s.Namespace == fact.Kernel {
			s.Live = &value
			return
		}
	}
	f.Settings = append(f.Settings, fact.Tunable{Name: name, Namespace: fact.Kernel, Live: &value})
	f.Normalise()
}

// takes reports whether a setting can be set in a stage of the boot.
func takes(s tunable.State, stage fact.Stage) bool {
	return stage == fact.Sysctl && s.Settable.AtRuntime() || stage == fact.Loader && s.Settable.AtBoot()
}

// judge returns an audit for the host's role.
func (b *Bench) judge(h Host) plan.Judge {
	known := b.known
	known.Role = h.Role
	return plan.By(known)
}

// record returns the catalogue's record of a name, if it exists in the host's release.
func (b *Bench) record(h Host, name string) (*tunable.Record, bool) {
	rec, ok := b.known.Catalogue.Lookup(h.OS, name)
	return rec, ok && rec.Exists(release.MustParse(h.Release))
}
