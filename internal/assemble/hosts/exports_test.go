package hosts

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"linerate/internal/export"
	"linerate/internal/fact"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

// Settings that a form has no place for: it lists them as comments.
const (
	interfaces = `^nic |^kernel ethtool -|^rc ifconfig_` // of interfaces
	modules    = `^module |^rc kld_list`
	params     = `^kernel module\.zfs`
	variables  = `^rc `
	tunables   = `^kernel [a-z]+\.`
	loader     = `^kernel net\.isr\.`
	governor   = `^kernel /sys/devices/system/cpu/`
)

// backForms are the forms of a plan: the system whose plans it takes, "" for both, the
// release by which it is read back, and which settings are not, with the reason.
var backForms = map[string]struct {
	os, release string
	lacks       map[string]string
}{
	"sysctl.d": {"", "", map[string]string{interfaces: "no sysctls", modules: "no sysctls", params: "no sysctls", variables: "no sysctls", loader: "of the loader", governor: "no sysctl"}},
	"rc.conf":  {fact.FreeBSD, "", map[string]string{tunables: "rc.conf holds variables of rc.d"}},
	"ansible":  {}, "nixos": {fact.Linux, "", nil}, "cloud-init": {fact.Linux, "", nil},
	"opnsense": {fact.FreeBSD, "25.1", map[string]string{variables: "the product writes rc.conf", modules: "the same", interfaces: "set at Interfaces"}},
	"pfsense":  {fact.FreeBSD, "2.7.2", map[string]string{variables: "the product writes rc.conf", modules: "the same", interfaces: "set at System, Advanced, Networking", loader: "the list is for sysctl(8) alone"}},
	"vyos": {fact.Linux, "1.4", map[string]string{governor: "no node", modules: "the product loads them", params: "no node", `^nic eth1 large-receive-offload`: "off is a node that is not there",
		`^kernel module\.nf_conntrack\.hashsize`: "not planned: the node's other name for net.netfilter.nf_conntrack_buckets"}},
	"openwrt":       {fact.Linux, "23.05", map[string]string{governor: "not in UCI", modules: "the product loads them", params: "not in UCI", `^nic eth\d [^m]|ethtool -`: "offloads and rings are not in UCI"}},
	"truenas-core":  {fact.FreeBSD, "13.0", map[string]string{modules: "the middleware has no type for them", interfaces: "set at Network, Interfaces"}},
	"truenas-scale": {fact.Linux, "24.04", map[string]string{governor: "the middleware has no type for it", modules: "the middleware has no type for them", interfaces: "set at Network, Interfaces"}},
}

var baseReleases = map[string]string{fact.FreeBSD: "14.3", fact.Linux: "6.12"}

// more are steps of the sorts that the plans of bare hosts have none of.
var more = map[string][]setting.Setting{
	fact.FreeBSD: {
		{Mechanism: setting.Loader, Name: "net.isr.maxthreads", Value: "-1"}, {Mechanism: setting.Sysctl, Name: "kern.ipc.maxsockbuf", Value: "16777216"}, {Mechanism: setting.RC, Name: "pf_enable", Value: "YES"},
		{Mechanism: setting.Module, Name: "cc_htcp", Value: "loaded"}, {Mechanism: setting.Link, Name: "mtu", Device: "ix0", Value: "9000"}, {Mechanism: setting.Offload, Name: "lro", Device: "ix1", Value: "off"},
	},
	fact.Linux: {
		{Mechanism: setting.Sysctl, Name: "net.ipv4.tcp_rmem", Value: "4096 131072 6291456"}, {Mechanism: setting.Sysctl, Name: "net.ipv4.tcp_congestion_control", Value: "bbr"},
		{Mechanism: setting.Sysctl, Name: "fs.aio-max-nr", Value: "1048576"}, {Mechanism: setting.Module, Name: "tcp_bbr", Value: "loaded"}, {Mechanism: setting.ModParam, Name: "zfs/zfs_arc_max", Value: "8589934592"},
		{Mechanism: setting.Link, Name: "mtu", Device: "eth1", Value: "9000"}, {Mechanism: setting.Offload, Name: "gro", Device: "eth0", Value: "on"}, {Mechanism: setting.Offload, Name: "lro", Device: "eth1", Value: "off"},
		{Mechanism: setting.Ring, Name: "rx", Device: "eth1", Value: "4096"}, {Mechanism: setting.Governor, Name: "cpu0", Value: "performance"},
	},
}

// planned is a plan for a bare host in a role, with a step of every other sort.
func planned(t *testing.T, os, role string) plan.Plan {
	t.Helper()
	root := t.TempDir()
	written(t, root, "etc/sysctl.conf", "# none yet\n")
	s := &Source{Root: root, OS: os, Release: baseReleases[os], Memory: 64 << 30, CPUs: 16}
	f, err := s.Facts(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	planner, err := NewPlanner(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	in, err := planner.Input(f, role, "given", plan.Needs{Link: 10e9, RTT: 0.03, States: 1e6, Connections: 20e3})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Make(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range more[os] {
		if slices.ContainsFunc(p.Settings, func(s plan.Step) bool { return s.Name == m.Name && s.Device == m.Device }) {
			continue
		}
		p.Settings = append(p.Settings, plan.Step{Name: m.Name, Mechanism: m.Mechanism, Device: m.Device, Value: m.Value, Where: plan.Where{File: plan.PlaceOf(os, m.Mechanism), Runtime: true},
			Reason: "It's \"meant\" for ${this}; 'that' -- too.", Evidence: plan.Evidence{Kind: plan.Arithmetic, Text: "it adds up"}})
	}
	p.Digest = ""
	if p, err = plan.Seal(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// readBack are the settings of facts by name, those of an interface under one name whether
// udev's rules or a product's own configuration sets them.
func readBack(f *fact.Facts) (all map[string]string, stock map[string]bool) {
	all, stock = map[string]string{}, map[string]bool{}
	for _, s := range f.Settings {
		l, ok := s.Stands()
		name := string(s.Namespace) + " " + s.Name
		if ok && l.Stage != fact.Field && !strings.HasPrefix(name, "kernel ethtool -K ") { // which is in the NIC's flags
			if device, mtu := strings.CutSuffix(strings.TrimPrefix(name, "kernel link."), ".mtu"); mtu {
				name = "nic " + device + " mtu"
			}
			all[name], stock[name] = l.Value, l.Default
		}
	}
	for _, n := range f.NICs {
		if n.MTU > 0 {
			all["nic "+n.Name+" mtu"] = strconv.Itoa(n.MTU)
		}
		for _, w := range n.ConfigFlags {
			all["nic "+n.Name+" "+strings.TrimPrefix(w, "-")] = strconv.FormatBool(!strings.HasPrefix(w, "-"))
		}
	}
	for _, m := range f.Modules {
		if len(m.Lines) > 0 {
			all["module "+m.Name] = "loads"
		}
	}
	return all, stock
}

// TestFormsReadBack: every form of a plan has linerate's mark, and is read as audit reads a
// file to the settings that the plan's own files give a host.
func TestFormsReadBack(t *testing.T) {
	if got := slices.Sorted(maps.Keys(backForms)); !slices.Equal(got, slices.Sorted(slices.Values(export.Names()))) {
		t.Fatalf("forms: %v", got)
	}
	for os, roles := range map[string][]string{fact.FreeBSD: {"firewall", "storage"}, fact.Linux: {"router", "firewall", "storage"}} {
		for _, role := range roles {
			p := planned(t, os, role)
			files, err := plan.Render(p, nil)
			if err != nil {
				t.Fatal(err)
			}
			root := t.TempDir()
			for _, f := range files {
				written(t, root, f.Path, f.Content)
			}
			f, err := (&Source{Root: root, OS: os, Release: baseReleases[os]}).Facts(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := readBack(f)
			for form, c := range backForms {
				if c.os == "" || c.os == os {
					t.Run(os+"-"+role+"-"+form, func(t *testing.T) { formReadsBack(t, p, form, cmp.Or(c.release, baseReleases[os]), want, c.lacks) })
				}
			}
		}
	}
}

func formReadsBack(t *testing.T, p plan.Plan, form, release string, want, lacks map[string]string) {
	text, err := export.Write(p, form)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, strings.TrimPrefix(plan.Marker, "#")) {
		t.Error("has no mark of linerate")
	}
	f, err := (&Source{Release: release}).Facts(t.Context(), []string{written(t, t.TempDir(), "exported", text)})
	if err != nil {
		t.Fatal(err)
	}
	got, stock := readBack(f)
	lacking := func(name string) bool {
		for pattern := range lacks {
			if regexp.MustCompile(pattern).MatchString(name) {
				return true
			}
		}
		return false
	}
	for name, value := range want {
		if x, ok := got[name]; !lacking(name) && x != value {
			t.Errorf("%s is read back as %q, not %q", name, x, value)
		} else if ok && lacking(name) && !stock[name] {
			t.Errorf("%s=%s is read, and should not be there: %v", name, x, lacks)
		}
	}
	for name, value := range got {
		if _, ok := want[name]; !ok && !stock[name] && !lacking(name) {
			t.Errorf("%s=%s is read, and not planned", name, value)
		}
	}
}
