package explain

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/evidence"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/judge"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/tunable"
)

const words = `
subsystem: x
records:
  - {name: net.x.boot, mechanism: sysctl, type: uint, settable: boot, default: 1, summary: s, sources: [x]}
  - {name: net.x.both, mechanism: sysctl, type: uint, settable: boot+runtime, since: 13.0, removed: 15.0, renamed_to: net.x.run, default: 1, summary: s, sources: [x]}
  - {name: net.x.run, mechanism: sysctl, type: uint, settable: runtime, since: 15.0, default: 1, summary: s, sources: [x]}
  - {name: net.x.seen, mechanism: sysctl, type: uint, settable: read-only, summary: s, sources: [x]}
  - {name: x_enable, mechanism: rc, type: bool, settable: boot, default: 0, summary: s, sources: [x]}
  - {name: hw.x.count, mechanism: loader, type: uint, settable: boot, default: 1, summary: s, sources: [x]}
  - {name: x_load, mechanism: module, type: bool, settable: boot, default: 0, summary: s, sources: [x]}
`

const linuxWords = `
subsystem: x
records:
  - name: net.ipv4.conf.IF.x
    instances: [net.ipv4.conf.all.x, net.ipv4.conf.default.x]
    mechanism: sysctl
    type: int
    unit: packets
    settable: runtime
    scope: device
    with_all: max
    default: 5
    summary: s
    sources: [x]
    cautions:
      - {kind: memory, when: this > 100, text: Takes memory.}
      - {kind: harmful, when: this > 100 && role == "web", text: Makes waiting long.}
      - {kind: note, text: Without a condition.}
  - {name: vm.host, mechanism: sysctl, type: int, settable: runtime, scope: host, default: 60, summary: s, sources: [x]}
`

func records(t *testing.T) *tunable.Catalogue {
	t.Helper()
	c, err := tunable.Read(fstest.MapFS{"freebsd/x.yaml": {Data: []byte(words)}, "linux/x.yaml": {Data: []byte(linuxWords)}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func found(t *testing.T, c *tunable.Catalogue, os, name string) *tunable.Record {
	t.Helper()
	r, err := c.Find(os, name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWhereItIsSet: each mechanism's place, on a release that has the tunable and on one that does
// not.
func TestWhereItIsSet(t *testing.T) {
	c := records(t)
	for _, x := range []struct{ name, release, want string }{
		{"net.x.boot", "14.3", "/boot/loader.conf only; sysctl.conf and sysctl(8) are refused"}, {"net.x.both", "14.3", "/boot/loader.conf, /etc/sysctl.conf or sysctl(8)"},
		{"net.x.run", "15.0", "/etc/sysctl.conf or sysctl(8); a line in loader.conf does nothing"}, {"net.x.seen", "14.3", "nowhere: it only reports"},
		{"x_enable", "14.3", "/etc/rc.conf (sysrc), read when its service starts"}, {"hw.x.count", "14.3", "/boot/loader.conf only: there is no sysctl of that name"}, {"x_load", "14.3", "/boot/loader.conf, or kld_list in rc.conf, or kldload(8)"},
		{"net.x.both", "15.0", "nowhere: removed in 15.0; now net.x.run"}, {"net.x.both", "16.0", "nowhere: removed in 15.0; now net.x.run"}, {"net.x.both", "12.4", "nowhere: there since 13.0"}, {"net.x.run", "14.3", "nowhere: there since 15.0"},
		{"net.x.both", "", "nowhere: removed in 15.0; now net.x.run"},
	} {
		var rel release.Release
		if x.release != "" {
			rel = release.MustParse(x.release)
		}
		r := found(t, c, tunable.FreeBSD, x.name)
		if p := Of(c, r, r.Name, rel); p.Where != x.want {
			t.Errorf("%s on %q: %s, want %s", x.name, x.release, p.Where, x.want)
		}
	}
	r := found(t, c, tunable.FreeBSD, "net.x.both")
	if d := cmp.Diff([]Period{{"11.4 to 12.4", "not there"}, {"13.5 to 14.3", "default 1, set at boot or while running, uint"}, {"15.0 to 16.0", "not there"}}, history(r)); d != "" {
		t.Errorf("history (-want +got)\n%s", d)
	}
	if got := Of(c, r, r.Name, release.MustParse("14.3")).becomes(); got != "net.x.run in 15.0" {
		t.Errorf("becomes %q", got)
	}
	if got := Of(c, r, r.Name, release.MustParse("15.0")).becomes(); got != "" {
		t.Errorf("what is gone becomes %q", got)
	}
	for settable, want := range map[tunable.Settable]string{tunable.Boot: "kernel's command line", tunable.Runtime: "/etc/sysctl.d", tunable.BootRuntime: "and while running", tunable.ReadOnly: "only reports"} {
		if said := told(tunable.Linux, settable); !strings.Contains(said, want) {
			t.Errorf("%v on Linux: %s", settable, said)
		}
	}
}

// TestWhatAnInstanceGoverns: conf.all, conf.default and one device's are different things.
func TestWhatAnInstanceGoverns(t *testing.T) {
	c := records(t)
	r := found(t, c, tunable.Linux, "net.ipv4.conf.IF.x")
	for asked, want := range map[string]string{"net.ipv4.conf.all.x": "one network namespace", "net.ipv4.conf.default.x": "devices that appear later", "net.ipv4.conf.eth0.x": "one network device", "net.ipv4.conf.IF.x": "one network device"} {
		if p := Of(c, r, asked, release.MustParse("6.12")); !strings.Contains(p.Scope, want) || (p.Asked == "") != (asked == r.Name) || p.WithAll != "the greater of conf.all and the device counts" {
			t.Errorf("%s governs %q (asked %q)", asked, p.Scope, p.Asked)
		}
	}
}

// TestOnAHost: the host's own names, values and lines, and the cautions that apply to them; in a
// container, also who owns the value.
func TestOnAHost(t *testing.T) {
	c := records(t)
	r := found(t, c, tunable.Linux, "net.ipv4.conf.IF.x")
	f := &fact.Facts{OS: fact.Linux, Release: release.MustParse("6.12")}
	for name, v := range map[string]string{"net.ipv4.conf.all.x": "5", "net.ipv4.conf.eth0.x": "200", "net.ipv4.conf.eth0/100.x": "300", "vm.host": "60"} {
		f.Settings = append(f.Settings, fact.Tunable{Name: name, Namespace: fact.Kernel, Live: &v})
	}
	f.AddLines([]fact.Line{
		{File: "/etc/sysctl.conf", Number: 3, Name: "net.ipv4.conf.eth0.x", Value: "100", Stage: fact.Sysctl, Effective: true}, {File: "/etc/sysctl.conf", Number: 9, Name: "net.ipv4.conf.eth0.x", Value: "200", Stage: fact.Sysctl, Effective: true},
		{Name: "net.ipv4.conf.all.x", Value: "5", Note: "the product's own", Stage: fact.Sysctl, Effective: true},
	})
	f.Normalise()
	on := func(asked, role string) *OnHost {
		p := Of(c, r, asked, f.Release)
		p.AddHost(judge.New(judge.Input{Facts: f, Catalogue: c, Role: role}), r, "fw1")
		return p.Host
	}
	h := on(r.Name, "web")
	want := []HostValue{{Name: "net.ipv4.conf.all.x", Running: "5", Lines: []string{"5 (the product's own)"}, Do: judge.Keep, Basis: judge.None}, {Name: "net.ipv4.conf.eth0.x", Running: "200", Lines: []string{"/etc/sysctl.conf:3: 100 (not in effect)", "/etc/sysctl.conf:9: 200"}, Do: judge.Keep, Basis: judge.None}, {Name: "net.ipv4.conf.eth0/100.x", Running: "300", Do: judge.Keep, Basis: judge.None}}
	if d := cmp.Diff(want, h.Values); d != "" || h.Default != "5" || h.Source != "fw1" || h.Role != "web" || h.Elsewhere != "" {
		t.Errorf("%+v (-want +got)\n%s", h, d)
	}
	if want := []string{"memory: Takes memory.", "harmful: Makes waiting long."}; !slices.Equal(h.Cautions, want) {
		t.Errorf("cautions %q, want %q", h.Cautions, want)
	}
	if h := on("net.ipv4.conf.all.x", "router"); len(h.Values) != 1 || h.Values[0].Name != "net.ipv4.conf.all.x" || len(h.Cautions) > 0 {
		t.Errorf("of all devices: %+v", h)
	}
	if h := on("net.ipv4.conf.eth0.x", "router"); len(h.Values) != 3 || !slices.Equal(h.Cautions, []string{"memory: Takes memory."}) {
		t.Errorf("a device is one of them: %+v", h)
	}
	f.Container = "lxc"
	if h := on(r.Name, "web"); h.Elsewhere != "" {
		t.Errorf("a container has devices of its own: %q", h.Elsewhere)
	}
	vm := found(t, c, tunable.Linux, "vm.host")
	p := Of(c, vm, "vm.host", f.Release)
	p.AddHost(judge.New(judge.Input{Facts: f, Catalogue: c, Role: "web"}), vm, "ct1")
	var out strings.Builder
	if err := p.Text(&out, show.Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(p.Host.Elsewhere, "container (lxc)") || !strings.Contains(out.String(), "On ct1\n  Set in        this is a container (lxc)") || !strings.Contains(out.String(), "vm.host runs with 60") {
		t.Errorf("%q\n%s", p.Host.Elsewhere, out.String())
	}
}

// TestHostsOfManyNames: dozens of devices are counted, not listed; a host without any is said to
// have none.
func TestHostsOfManyNames(t *testing.T) {
	text := func(n int) string {
		h := OnHost{Source: "this machine"}
		for i := range n {
			h.Values = append(h.Values, HostValue{Name: fmt.Sprintf("dev.igb.%d.fc", i), Lines: []string{"/boot/loader.conf:1: 0"}})
		}
		o := &page{show.NewPage(show.Style{Width: 80})}
		o.host(h)
		var b strings.Builder
		if err := o.Flush(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got := text(0); !strings.Contains(got, "nothing sets it, and no running value is known") {
		t.Errorf("of none:\n%s", got)
	}
	if got := text(mostValues); strings.Contains(got, "more, all in the JSON") || !strings.Contains(got, "dev.igb.7.fc\n    set by /boot/loader.conf:1: 0") {
		t.Errorf("of eight:\n%s", got)
	}
	if got := text(mostValues + 3); !strings.Contains(got, "and 3 more, all in the JSON") || strings.Contains(got, "dev.igb.8.fc") {
		t.Errorf("of eleven:\n%s", got)
	}
}

// TestCited: a source as people cite it, without line numbers, which may differ in the reader's
// edition.
func TestCited(t *testing.T) {
	for want, c := range map[string]Claim{
		"Guide (A, 2012), section 3": {Title: "Guide", Author: "A", Date: "2012", At: "section 3, line 7"}, "Guide (A), 4": {Title: "Guide", Author: "A", At: "4, lines 7-9, 12 and 14"}, "Guide (2012)": {Title: "Guide", Date: "2012", At: "line 7"},
		"Guide": {Title: "Guide", At: "in the text"}, "a forum, thread 5": {Title: "Collection", Author: "various", At: "a forum, thread 5, line 3"}, "Collection (various)": {Title: "Collection", Author: "various", At: "line 3"}, "Guide, outline 3": {Title: "Guide", At: "outline 3"},
	} {
		if got := c.cited(); got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
	for _, c := range [][3]string{
		{"leave it", "Leave it; large reads profit.", "Large reads profit."}, {"leave it", "Leave it unless it is short.", "Leave it unless it is short."}, {"measure it", "Measure: it depends.", "It depends."}, {"512", "Bursts.", "Bursts."}, {"raise it where it is short", "Raise, with care.", "With care."},
		{"leave it", "Leave it.", "Leave it."}, {"leave it", "", ""}, {"0", "0, as ever", "As ever"},
	} {
		if got := unsaid(c[0], c[1]); got != c[2] {
			t.Errorf("after %q %q says %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// TestVerdicts: a page keeps its own flags, has a verdict for each table, and limits how many it
// lists.
func TestVerdicts(t *testing.T) {
	row := evidence.Row{ID: "v1", Subject: evidence.Subject{Tunable: "net.x", After: "1", OS: "Linux", Release: "6.12.1 #1 SMP", CPU: "Atom", Cores: 8}, Flags: []string{"few blocks"}, Study: "early", Started: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Primary: true,
		Result: stats.Result{N: 5, PHolm: stats.Num(0.01), Verdict: stats.Better, Effect: stats.Effect{EffectPercent: stats.Num(1)}}}
	row.Excluded = "a cable"
	e := Measured([]evidence.Row{row})[0]
	row.Flags[0] = "changed later"
	if e.Started.IsZero() || e.Flags[0] != "few blocks" || e.Excluded != "a cable" || e.Machine != row.Machine() {
		t.Errorf("%+v", e)
	}
	page := Page{Name: "net.x", Evidence: []Evidence{e}}
	for i := range maxShown + 3 {
		page.Evidence = append(page.Evidence, Measured([]evidence.Row{{ID: fmt.Sprint(i), Study: fmt.Sprintf("study%d", i), Primary: true, Subject: evidence.Subject{CPU: "m", Alone: true}}})...)
	}
	var out strings.Builder
	if err := page.Text(&out, show.Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Linux 6.12.1, early", "default → 1", "excluded: a cable", "and 4 verdicts more, all in the JSON", "study14"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q", want)
		}
	}
	if strings.Contains(out.String(), "study15") || strings.Contains(out.String(), "SMP") {
		t.Errorf("%s", out.String())
	}
}

// TestMasksInWords: sources of randomness by name, and those that no mask controls.
func TestMasksInWords(t *testing.T) {
	rel := release.MustParse("14.3")
	got := decodeHarvest(rel, 0b11)
	if len(got) != 3 || !strings.HasPrefix(got[0], "on: ") || !strings.HasPrefix(got[1], "off: ") || !strings.HasPrefix(got[2], "the kernel decides") {
		t.Fatalf("%q", got)
	}
	count := func(mask uint32) (on, off int) {
		parts := decodeHarvest(rel, mask)
		return strings.Count(parts[0], "(bit"), strings.Count(parts[1], "(bit")
	}
	onNone, offNone := count(0)
	on, off := count(tunable.HarvestDefault(rel))
	if onNone != 0 || on == 0 || on+off != offNone {
		t.Errorf("of no bits %d are on and %d off, by default %d and %d", onNone, offNone, on, off)
	}
	if got := decodeHarvest(rel, 1<<32-1); len(got) != 1 || strings.HasPrefix(got[0], "on: ") {
		t.Errorf("bits that no source has: %q", got)
	}
}
