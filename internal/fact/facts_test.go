package fact

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// TestDropPlaces: every counter of losses is listed, in the order of a packet's path; zero counters and
// those of other events are not.
func TestDropPlaces(t *testing.T) {
	for name, where := range map[string]string{
		"nic.em0.rx_missed": "NIC", "nic.igb0.100.crc_errors": "NIC", "nic.e0.input_drops": "driver", "mbuf.denied.clusters": "memory", "softnet.cpu3.dropped": "softnet",
		"netisr.ip.queue_drops": "netisr", "pf.counter.state-limit": "pf", "conntrack.early_drop": "conntrack", "arp.no_entry": "link layer",
		"neigh.arp.table_fulls": "link layer", "neigh.ndisc.unresolved_discards": "link layer", "ip.reverse_path_drops": "IP", "ip6.input_no_route": "IP", "ip6.too_big": "IP",
		"tcp.receive_queue_drops": "socket", "tcp.zero_window_drops": "socket", "udp.full_sockets": "socket", "udp6.full_sockets": "socket", "qdisc.eth0.fq_codel.drops": "output queue",
		"nic.e0.output_errors": "output", "zone.mbuf.failures": "memory",
		// No loss, or not a counter.
		"pf.counter.match": "", "zone.vmem_btag.failures": "", "zone.64_Bucket.failures": "", "nic.em0.input_packets": "", "neigh.arp.entries": "", "qdisc.eth0.fq.packets": "",
		"ip.forwarded": "", "nic..rx_missed": "", "pf.counter.": "", "xnic.em0.rx_missed": "", "arp.no_entry.x": "",
	} {
		f := &Facts{Counters: []Counter{{Name: name, Value: 3}, {Name: "ip.received", Value: 9}}}
		got := f.Drops()
		switch {
		case where == "" && len(got) > 0, where != "" && (len(got) != 1 || got[0].Where != where || got[0].Counter != name || got[0].Value != 3 || got[0].Meaning == ""):
			t.Errorf("%s: %+v, want it at %q", name, got, where)
		}
		f.Counters[0].Value = 0
		if got := f.Drops(); got == nil || len(got) > 0 {
			t.Errorf("%s at 0: %+v", name, got)
		}
	}
	f := &Facts{Counters: []Counter{{Name: "udp.full_sockets", Value: 1}, {Name: "nic.a.rx_missed", Value: 1}, {Name: "softnet.cpu0.dropped", Value: 1}, {Name: "ip.no_route", Value: 1}}}
	var places []string
	for _, d := range f.Drops() {
		places = append(places, d.Where)
	}
	if want := []string{"NIC", "softnet", "IP", "socket"}; !slices.Equal(places, want) {
		t.Errorf("places %q, want %q", places, want)
	}
}

// TestCountersAreFoundAfterSorting: readers may add and sort alternately.
func TestCountersAreFoundAfterSorting(t *testing.T) {
	var f Facts
	f.AddCounter("z", 1, "first")
	f.AddCounter("a", 2, "x")
	f.Normalise()
	f.AddCounter("z", 10, "second")
	f.MaxCounter("a", 1, "x")
	f.MaxCounter("m", 7, "x")
	f.Counters = append(f.Counters, Counter{Name: "from outside", Value: 1})
	f.AddCounter("from outside", 1, "x")
	f.Normalise()
	want := []Counter{{Name: "a", Value: 2, Source: "x"}, {Name: "from outside", Value: 2}, {Name: "m", Value: 7, Source: "x"}, {Name: "z", Value: 11, Source: "first"}}
	if d := cmp.Diff(want, f.Counters); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if _, ok := f.Counter("b"); ok {
		t.Error("a counter was found that was not added")
	}
	if sum := f.Sum("*"); sum != 22 {
		t.Errorf("the sum of all counters is %v", sum)
	}
}

// TestReadTellsByStatus: only a source that was read, at least in part, shows what is absent.
func TestReadTellsByStatus(t *testing.T) {
	f := &Facts{Sources: []Source{{"/etc/a", StatusRead, ""}, {"/etc/b", StatusPartial, "cut"}, {"/etc/c", StatusMissing, ""}, {"/etc/d", StatusUnreadable, ""}, {"/etc/e", StatusLeftOut, ""}, {"/etc/f", StatusIgnored, ""}}}
	for name, want := range map[string]bool{"/etc/a": true, "/etc/b": true, "/etc/c": false, "/etc/d": false, "/etc/e": false, "/etc/f": false, "/etc": true, "etc/a": false, "/etc/a/b": false} {
		if f.Read(name) != want {
			t.Errorf("%s was read: %v", name, !want)
		}
	}
}

// TestNormaliseIsOrderIndependent: equal hosts give equal documents, in whatever order their sources were
// read, and lookups give the same results before and after.
func TestNormaliseIsOrderIndependent(t *testing.T) {
	build := func(seed uint64) *Facts {
		f := &Facts{
			Settings: []Tunable{{Name: "a", Namespace: RC}, {Name: "a", Namespace: Kernel}, {Name: "b", Namespace: Fields}, {Name: "a.b", Namespace: Kernel}},
			Modules:  []Module{{Name: "pf"}, {Name: "ipfw"}, {Name: "zfs"}}, Counters: []Counter{{Name: "y"}, {Name: "x"}, {Name: "w"}},
		}
		r := rand.New(rand.NewPCG(seed, 1))
		r.Shuffle(len(f.Settings), reflect.Swapper(f.Settings))
		r.Shuffle(len(f.Modules), reflect.Swapper(f.Modules))
		r.Shuffle(len(f.Counters), reflect.Swapper(f.Counters))
		f.Normalise()
		return f
	}
	document := func(f *Facts) string {
		b, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first := build(0)
	for seed := range uint64(20) {
		if d := cmp.Diff(document(first), document(build(seed))); d != "" {
			t.Fatalf("seed %d (-first +this)\n%s", seed, d)
		}
	}
	if _, ok := first.Tunable("a"); !ok || first.NICs == nil || first.Sources == nil || first.Version != Version {
		t.Errorf("%+v", first)
	}
	for _, name := range []string{"pf", "ipfw", "zfs"} {
		if m, ok := first.Module(name); !ok || m.Name != name {
			t.Errorf("module %s: %+v, %v", name, m, ok)
		}
	}
	if _, ok := first.Module("nosuch"); ok {
		t.Error("a module that does not exist is found")
	}
	empty := &Facts{}
	if empty.Normalise(); empty.NICs == nil || empty.Settings == nil || empty.Sources == nil {
		t.Error("empty facts have null instead of an empty list")
	}
}

// TestNamespacesAreApart: the same name may be a sysctl, an rc.conf variable and a field of an appliance,
// each with a separate value.
func TestNamespacesAreApart(t *testing.T) {
	var f Facts
	f.AddLines([]Line{
		{Name: "x", Value: "kernel", Stage: Sysctl, Effective: true}, {Name: "x", Value: "YES", Stage: RCConf, Effective: true}, {Name: "x", Value: "field", Stage: Field, Effective: true},
		{Name: "d", Value: "1", Stage: Sysctl, Effective: true, Default: true},
	})
	f.Normalise()
	if v, ok := f.Value("x"); v != "kernel" || !ok {
		t.Errorf("the sysctl is %q", v)
	}
	if v, ok := f.RCValue("x"); v != "YES" || !ok || !f.RCYes("x") {
		t.Errorf("the variable is %q", v)
	}
	if f.FieldValue("x") != "field" || !f.FieldIs("x", "field") || f.FieldIs("x", "YES") || f.FieldValue("y") != "" {
		t.Errorf("the field is %q", f.FieldValue("x"))
	}
	if _, ok := f.Value("y"); ok {
		t.Error("a name that nothing sets has a value")
	}
	if f.IsSet("d") || !f.IsSet("x") || f.IsSet("y") {
		t.Error("a system's own default counts as set, or a line does not")
	}
	if f.Live() {
		t.Error("facts of files only claim to have running values")
	}
	var names []string
	for _, l := range f.Lines() {
		names = append(names, l.Value)
	}
	if want := []string{"YES", "kernel", "field"}; !slices.Equal(names, want) {
		t.Errorf("lines in the order %q, want %q", names, want)
	}
}

// TestModuleParametersOfTheCommandLine: a module's parameter is set in modprobe.d or on the command line;
// the running value overrides both.
func TestModuleParametersOfTheCommandLine(t *testing.T) {
	var f Facts
	f.AddLines([]Line{{Name: "cmdline.nf_conntrack.hashsize", Value: "65536", Stage: CommandLine, Effective: true}})
	f.Normalise()
	if v, ok := f.Value("module.nf_conntrack.hashsize"); v != "65536" || !ok || !f.IsSet("module.nf_conntrack.hashsize") || f.IsSet("module.other.hashsize") {
		t.Errorf("%q, %v", v, ok)
	}
	f.AddLines([]Line{{Name: "module.nf_conntrack.hashsize", Value: "1", Stage: Modprobe, Effective: true}})
	f.Normalise()
	if v, _ := f.Value("module.nf_conntrack.hashsize"); v != "1" {
		t.Errorf("%q, want modprobe.d's", v)
	}
}

// TestRefusedLines: a line that the system refuses is not effective; that of an earlier stage is.
func TestRefusedLines(t *testing.T) {
	var f Facts
	f.AddLines([]Line{{Name: "x", Value: "1", Stage: Loader, Effective: true}, {Name: "x", Value: "2", Stage: Sysctl, Effective: true}, {Name: "x", Value: "3", Stage: Sysctl}})
	f.Normalise()
	for refused, want := range map[string]string{"": "2", "2": "1", "9": "2"} {
		if v, ok := f.ValueUnless("x", func(l Line) bool { return l.Value == refused }); v != want || !ok {
			t.Errorf("if %q is refused, %q is effective, want %q", refused, v, want)
		}
	}
	if v, ok := f.ValueUnless("x", func(Line) bool { return true }); ok {
		t.Errorf("%q is effective although all lines are refused", v)
	}
}

// TestRulesetsOfFileAndKernel: the counts are those of the running rules; what only the file has (limits,
// line numbers) is added.
func TestRulesetsOfFileAndKernel(t *testing.T) {
	yes, no := true, false
	file := PF{File: "/etc/pf.conf", Rules: 5, Translations: 2, SourceTracking: 6,
		FileLimits: []Limit{{Name: "states", Value: 9}}, Timeouts: []Limit{{Name: "tcp.first"}}, Scrub: []Scrub{{Text: "scrub in", Line: 3}}, Options: []Line{{Name: "optimization"}}}
	for _, c := range []struct {
		name  string
		pf    PF
		rules int
	}{
		{"running", PF{Enabled: &yes, Rules: 40, Scrub: []Scrub{{Text: "scrub all"}}}, 40},
		{"switched off", PF{Enabled: &no, Rules: 40}, 5},
		{"on and empty", PF{Enabled: &yes}, 5},
		{"not known", PF{}, 5},
	} {
		pf := c.pf
		pf.AddFile(file)
		if pf.Rules != c.rules || pf.File != file.File || len(pf.FileLimits) != 1 || len(pf.Timeouts) != 1 || pf.Scrub[0].Line != 3 {
			t.Errorf("%s: %+v", c.name, pf)
		}
		if ours := c.rules == 5; (pf.SourceTracking == 6) != ours || (pf.Translations == 2) != ours {
			t.Errorf("%s: %+v", c.name, pf)
		}
	}
	keeps := PF{Scrub: []Scrub{{Text: "scrub all"}}}
	if keeps.AddFile(PF{}); len(keeps.Scrub) != 1 {
		t.Error("a file without a scrub rule removes the running one")
	}
	for _, c := range []struct {
		w                IPFW
		rules, nat, pipe int
	}{
		{IPFW{Enabled: &yes, Rules: 7, NAT: 1, Pipes: 9}, 7, 2, 9}, {IPFW{Enabled: &yes}, 3, 2, 4}, {IPFW{Rules: 7}, 3, 2, 4}, {IPFW{Enabled: &yes, Rules: 7, NAT: 5}, 7, 5, 4},
	} {
		w := c.w
		w.AddFile(IPFW{File: "/etc/ipfw.rules", Rules: 3, Stateful: 1, NAT: 2, Pipes: 4, NATLines: []Line{{Text: "nat"}}})
		if w.Rules != c.rules || w.NAT != c.nat || w.Pipes != c.pipe || w.File == "" || len(w.NATLines) != 1 || (w.Stateful == 1) != (c.rules == 3) {
			t.Errorf("%+v and its file: %+v", c.w, w)
		}
	}
	if l := (Limit{Value: 1<<64 - 1, File: "f", Line: 4, Text: "t", Place: "p"}).AsLine("pf.limit.states"); l.Value != "18446744073709551615" || l.Number != 4 || l.Stage != Conf || !l.Effective || l.Place != "p" {
		t.Errorf("%+v", l)
	}
}

// TestInterfacesOfFiles: the running state overrides a file's values, and a file fills in unknown ones; the
// number of interfaces is bounded.
func TestInterfacesOfFiles(t *testing.T) {
	said := NIC{Name: "e0", MTU: 9000, Parent: "p", Members: []string{"m"}, IPv4: 1, IPv6: 2, Configured: []Line{{Text: "x"}}, ConfigFlags: []string{"-lro"}}
	for _, c := range []struct {
		name     string
		was      NIC
		mtu, ip4 int
		parent   string
		members  []string
	}{
		{"running", NIC{Name: "e0", Flags: []string{}, MTU: 1500, IPv4: 3}, 1500, 3, "", nil},
		{"of another file", NIC{Name: "e0", MTU: 1500, IPv4: 3, Parent: "q", Members: []string{"n"}}, 9000, 4, "p", []string{"n", "m"}},
	} {
		f := &Facts{NICs: []NIC{{Name: "other"}, c.was}}
		f.AddConfigured(said)
		n, ok := f.NIC("e0")
		if !ok || len(f.NICs) != 2 || n.MTU != c.mtu || n.IPv4 != c.ip4 || n.Parent != c.parent || !slices.Equal(n.Members, c.members) || len(n.Configured) != 1 || len(n.ConfigFlags) != 1 {
			t.Errorf("%s: %+v", c.name, n)
		}
	}
	f := &Facts{NICs: []NIC{{Name: "e0", MTU: 1500, Parent: "q"}}}
	f.AddConfigured(NIC{Name: "e0"})
	if f.NICs[0].MTU != 1500 || f.NICs[0].Parent != "q" {
		t.Errorf("a line without MTU and parent cleared them: %+v", f.NICs[0])
	}
	f.AddConfigured(NIC{Name: "e1"})
	f.NICs = append(f.NICs, make([]NIC, MaxNICs-3)...)
	f.AddConfigured(NIC{Name: "last"})
	f.AddConfigured(NIC{Name: "beyond"})
	if len(f.NICs) != MaxNICs || f.NICs[MaxNICs-1].Name != "last" {
		t.Errorf("%d interfaces", len(f.NICs))
	}
	if _, ok := f.NIC("beyond"); ok || !(NIC{Options: []string{"LRO"}}).Has("LRO") || (NIC{}).Has("LRO") {
		t.Error("an interface beyond the bound, or an unknown option, was found")
	}
}

// TestPredicates: predicates used by rules, at their edges.
func TestPredicates(t *testing.T) {
	yes, no := true, false
	f := &Facts{
		Services:   []Service{{Name: "nginx", Enabled: &yes, Details: []Line{{Name: "backlog", Value: "511"}, {Name: "other", Value: "1"}, {Name: "backlog", Value: "4096"}}}, {Name: "unbound", Enabled: &no}, {Name: "sshd"}},
		Listeners:  []Listener{{Protocol: "tcp4", Port: 443}, {Protocol: "tcp4", Port: 80, Local: true}, {Protocol: "udp4", Port: 53}},
		Mounts:     []Mount{{Type: "zfs"}},
		NICs:       []NIC{{Name: "em0", Driver: "em"}, {Name: "pfsync0", Driver: "pfsync", Up: &no}, {Name: "ix0", Driver: "ix", Up: &yes}},
		Complaints: []Complaint{{Text: "kern.ipc.nmbclusters limit REACHED"}},
	}
	for name, is := range map[string][2]bool{
		"runs nginx": {f.RunsService("nginx"), true}, "runs unbound": {f.RunsService("unbound"), false}, "runs sshd": {f.RunsService("sshd"), false},
		"listens 443": {f.Listens(443), true}, "listens 80": {f.Listens(80), false}, "listens 53": {f.Listens(53), false}, "udp 53": {f.ListensUDP(53), true}, "udp 443": {f.ListensUDP(443), false},
		"serves web": {f.Serves("nginx", 80, 443), true}, "serves on a local port": {f.Serves("nginx", 80), false}, "serves datagrams": {f.Serves("nginx", 53), true}, "serves, switched off": {f.Serves("unbound", 53), false},
		"zfs": {f.HasMount("zfs"), true}, "nfs": {f.HasMount("nfs"), false}, "em": {f.HasInterface("em"), true}, "pfsync": {f.HasInterface("pfsync"), false}, "ix": {f.HasInterface("ix"), true},
		"complains": {f.Complained("reached"), true}, "complains of nothing": {f.Complained("denied"), false},
		"bare metal": {(&Facts{Hypervisor: "none"}).Virtual(), false}, "unknown": {(&Facts{}).Virtual(), false}, "kvm": {(&Facts{Hypervisor: "kvm"}).Virtual(), true},
		"hardware": {NIC{Kind: KindEthernet}.Hardware(), true}, "of unknown kind": {NIC{}.Hardware(), true}, "vlan": {NIC{Kind: KindVLAN}.Hardware(), false},
		"ipf": {(&Facts{Firewall: Firewall{IPF: true}}).IPFOn(), true}, "no ipf": {(&Facts{}).IPFOn(), false},
		"no switch of rc.conf": {(&Facts{}).RCYes("x"), false},
	} {
		if is[0] != is[1] {
			t.Errorf("%s: %v", name, is[0])
		}
	}
	if got := f.Details("nginx", "backlog"); !slices.Equal(got, []string{"511", "4096"}) {
		t.Errorf("backlogs %q", got)
	}
	if got := f.Details("nosuch", "backlog"); got == nil || len(got) > 0 {
		t.Errorf("backlogs of a daemon that does not run: %q", got)
	}
	if (&Facts{Services: f.Services}).Serves("nginx", 1) != true {
		t.Error("an enabled daemon does not count as serving although no sockets are known")
	}
	for value, want := range map[string]bool{"yes": true, "YES": true, "True": true, "on": true, "1": true, "no": false, "": false, "2": false, "y": false} {
		if host(FreeBSD, nil, values{"x_enable": value}).RCYes("x_enable") != want {
			t.Errorf("%q switches on: %v", value, !want)
		}
	}
}

// TestConntrackByItsLimit: without rules and connections, the module's running limit shows tracking.
func TestConntrackByItsLimit(t *testing.T) {
	yes := true
	if !host(Linux, values{"net.netfilter.nf_conntrack_max": "65536"}, nil).TracksConnections() || host(Linux, nil, values{"net.netfilter.nf_conntrack_max": "65536"}).TracksConnections() {
		t.Error("a running limit must imply tracking, one in a file must not")
	}
	if !(&Facts{Modules: []Module{{Name: "nf_conntrack", Loaded: &yes}}}).TracksConnections() {
		t.Error("the loaded module must imply tracking")
	}
}

// TestShortenKeepsEnds: text within the bound is unchanged; beyond it both ends are kept, and no character
// is split.
func TestShortenKeepsEnds(t *testing.T) {
	for _, most := range []int{8, 9, 16, 100} {
		for n := range 400 {
			s := strings.Repeat("aé€😀", n/4) + strings.Repeat("z", n%4)
			got := Shorten(s, most)
			if len(s) <= most {
				if got != s {
					t.Fatalf("%d bytes of at most %d: %q", len(s), most, got)
				}
				continue
			}
			head, tail, cut := strings.Cut(got, "…(")
			_, tail, _ = strings.Cut(tail, ")…")
			if !cut || !utf8.ValidString(got) || !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) || len(head)+len(tail) > most {
				t.Fatalf("%d bytes of at most %d: %q", len(s), most, got)
			}
		}
	}
}

// TestShortenedIsACopy: the shortened copy can be modified without changing the facts.
func TestShortenedIsACopy(t *testing.T) {
	live := "1"
	f := &Facts{Settings: []Tunable{{Name: "a", Live: &live}}, CPU: CPU{Mitigations: map[string]string{"x": "y"}, Domains: []Domain{{CPUs: []int{1}}}}}
	g := f.Shortened()
	if d := cmp.Diff(f.Settings, g.Settings); d != "" || g.CPU.Mitigations["x"] != "y" || g.NICs != nil {
		t.Errorf("shortening changes short facts: %s %+v", d, g.CPU)
	}
	*g.Settings[0].Live, g.CPU.Mitigations["x"], g.CPU.Domains[0].CPUs[0] = "2", "z", 5
	if live != "1" || f.CPU.Mitigations["x"] != "y" || f.CPU.Domains[0].CPUs[0] != 1 {
		t.Error("modifying the copy changes the facts")
	}
}

// TestRanges: lists of numbers in the kernels' notation.
func TestRanges(t *testing.T) {
	for want, n := range map[string][]int{"": nil, "5": {5}, "0-1": {0, 1}, "0-3,8,10-11": {0, 1, 2, 3, 8, 10, 11}} {
		if got := Ranges(n); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}
