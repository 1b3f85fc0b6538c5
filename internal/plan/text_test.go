package plan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/setting"
	"linerate/internal/show"
)

// page returns a plan as text.
func page(t *testing.T, p Plan) string {
	t.Helper()
	var out strings.Builder
	if err := p.Text(&out, show.Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestPage: the complete page of a plan with something in every section, in order.
func TestPage(t *testing.T) {
	p := Plan{OS: "linux", Release: "6.12.4", Role: "router", Host: "fw1", Digest: "sha256:0123456789abcdef", Needs: map[string]string{"link": "10G", "connections": "2M", "states": "5M", "rtt": "30ms", "other": "x"},
		Unmet: []string{"states: more memory than there is"}, Unanswered: []Unanswered{{"rtt", "nothing is computed from it"}},
		Settings: []Step{
			{Name: "net.core.rmem_max", Mechanism: setting.Sysctl, Current: Current{ptr("212992"), "default"}, Value: "67108864", Formula: "2 × 30 MB", Where: Where{File: LinuxSysctl, Runtime: true}, Reason: "buffers", Risk: "memory", ResetCost: "new", Undo: "automatic",
				Evidence: Evidence{Kind: Arithmetic, Text: "from the link"}, For: []Claim{{"set it", "a guide"}}, Against: []Claim{{"leave it", "a talk"}}, Instead: []Removal{{File: "/etc/sysctl.conf", Line: 3, Text: "net.core.rmem_max=1", Reason: "too small"}}},
			{Name: "mtu", Mechanism: setting.Link, Device: "eth0", Value: "9000", Where: Where{Runtime: true}, Reason: "\x1b[31mframes", ResetCost: "link-flap"},
			{Name: "x/y", Mechanism: setting.ModParam, Value: "1", Where: Where{File: LinuxModprobe}, Reason: "r", ResetCost: "odd", Current: Current{Origin: "modprobe.d"}},
		},
		ByHand:    []ByHand{{Name: "worker_processes", Value: "4", Do: "set it in nginx.conf", Reason: "faster", Evidence: Evidence{Kind: MeasuredHere}}},
		Remove:    []Removal{{File: "/etc/sysctl.d/x.conf", Line: 9, Text: "net.ipv4.tcp_tw_recycle=1", Reason: "gone since 4.12"}},
		LeftAlone: []LeftAlone{{Name: "ring rx of eth0", Value: ptr("512"), Reason: "not measured"}, {Name: "vm.swappiness", Reason: "no need"}, {Name: "ring rx of eth1", Reason: "not measured"}},
	}
	want := `Plan 0123456789ab for fw1 (linux 6.12.4, role router)
Requirements: link 10G, rtt 30ms, flows tracked 5M, connections 2M.
Not met: states: more memory than there is
rtt: nothing is computed from it

net.core.rmem_max: 212992 (default) → 67108864
  why        buffers
  how much   2 × 30 MB
  evidence   arithmetic: from the link
  where      now, and /etc/sysctl.d/90-linerate.conf
  costs      none; affects only new connections
  risk       memory
  undo       automatic
  delete     /etc/sysctl.conf:3: net.core.rmem_max=1: too small
  for it     a guide: set it
  others say a talk: leave it

link mtu of eth0: not known → 9000
  why        ?[31mframes
  where      now, until the next boot
  costs      the link goes down and up

module-param x/y: not known (modprobe.d) → 1
  why        r
  where      /etc/modprobe.d/linerate.conf (at the next boot)
  costs      odd

To set by hand (linerate has no file for it)
  worker_processes: 4
      set it in nginx.conf
      faster
      measured here

Better gone (yours to delete: a plan never edits your files)
  /etc/sysctl.d/x.conf:9: net.ipv4.tcp_tw_recycle=1
      gone since 4.12

Left alone on purpose
  ring rx of eth0 (512), ring rx of eth1: not measured
  vm.swappiness: no need
`
	if d := cmp.Diff(want, page(t, p)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if got := page(t, Plan{OS: "linux", Role: "web"}); !strings.HasPrefix(got, "Plan  for any host (linux, role web)\nNothing to set: ") {
		t.Errorf("an empty plan:\n%s", got)
	}
	if got := page(t, Plan{OS: "linux", Unmet: []string{"x"}}); strings.Contains(got, "Nothing to set") {
		t.Errorf("an unmet need is shown as nothing to do:\n%s", got)
	}
}

// TestAlikeStepsShareALine: each port and property is named once, and only steps that are otherwise equal
// are combined.
func TestAlikeStepsShareALine(t *testing.T) {
	step := func(m setting.Mechanism, device, name string) Step {
		return Step{Mechanism: m, Device: device, Name: name, Value: "4096", Reason: "bursts", Where: Where{Runtime: true}, Current: Current{Value: ptr("256")}}
	}
	with := func(s Step, change func(*Step)) Step { change(&s); return s }
	rx := step(setting.Ring, "eth0", "rx")
	for _, c := range []struct {
		name  string
		steps []Step
		want  []string
	}{
		{"ports", []Step{rx, step(setting.Ring, "eth1", "rx"), step(setting.Ring, "eth2", "rx")}, []string{"ring rx of eth0, eth1, eth2"}},
		{"properties of a port", []Step{rx, step(setting.Ring, "eth0", "tx")}, []string{"ring rx of eth0, tx"}},
		{"CPUs", []Step{step(setting.Governor, "", "cpu0"), step(setting.Governor, "", "cpu1")}, []string{"governor cpu0, cpu1"}},
		{"another port and another property", []Step{rx, step(setting.Ring, "eth1", "tx")}, []string{"ring rx of eth0", "ring tx of eth1"}},
		{"sysctls are separate", []Step{step(setting.Sysctl, "", "a"), step(setting.Sysctl, "", "b")}, []string{"a", "b"}},
		{"another value", []Step{rx, with(step(setting.Ring, "eth1", "rx"), func(s *Step) { s.Value = "1" })}, []string{"ring rx of eth0", "ring rx of eth1"}},
		{"different old values", []Step{rx, with(step(setting.Ring, "eth1", "rx"), func(s *Step) { s.Current.Value = nil })}, []string{"ring rx of eth0", "ring rx of eth1"}},
		{"another origin", []Step{rx, with(step(setting.Ring, "eth1", "rx"), func(s *Step) { s.Current.Origin = "x" })}, []string{"ring rx of eth0", "ring rx of eth1"}},
		{"another formula", []Step{rx, with(step(setting.Ring, "eth1", "rx"), func(s *Step) { s.Formula = "x" })}, []string{"ring rx of eth0", "ring rx of eth1"}},
		{"another reason", []Step{rx, with(step(setting.Ring, "eth1", "rx"), func(s *Step) { s.Reason = "x" })}, []string{"ring rx of eth0", "ring rx of eth1"}},
		{"elsewhere", []Step{rx, with(step(setting.Ring, "eth1", "rx"), func(s *Step) { s.Where.File = LinuxUdev })}, []string{"ring rx of eth0", "ring rx of eth1"}},
		{"a claim", []Step{rx, with(step(setting.Ring, "eth1", "rx"), func(s *Step) { s.For = []Claim{{"x", "y"}} })}, []string{"ring rx of eth0", "ring rx of eth1"}},
		{"another mechanism", []Step{rx, step(setting.Coalesce, "eth0", "rx")}, []string{"ring rx of eth0", "coalesce rx of eth0"}},
	} {
		var titles []string
		for line := range strings.Lines(page(t, Plan{OS: "linux", Settings: c.steps})) {
			if title, _, ok := strings.Cut(line, ": "); ok && strings.Contains(line, " → ") {
				titles = append(titles, title)
			}
		}
		if d := cmp.Diff(c.want, titles); d != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, d)
		}
	}
}

// TestWhere: an appliance's place is shown instead of a file.
func TestWhere(t *testing.T) {
	for want, w := range map[string]Where{
		"now, until the next boot": {Runtime: true}, "now, and /etc/x": {File: "/etc/x", Runtime: true}, "/etc/x (at the next boot)": {File: "/etc/x"},
		"System ▸ Tunables": {Place: "System ▸ Tunables", Runtime: true, File: "/etc/x"}, "System ▸ Tunables (at the next boot)": {Place: "System ▸ Tunables"},
	} {
		if got := w.String(); got != want {
			t.Errorf("%+v: %q, want %q", w, got, want)
		}
	}
	for digest, want := range map[string]string{"sha256:0123456789abcdef": "0123456789ab", "sha256:0123456789ab": "0123456789ab", "sha256:0123": "sha256:0123", "": ""} {
		if got := (Plan{Digest: digest}).Short(); got != want {
			t.Errorf("the short form of %q is %q, want %q", digest, got, want)
		}
	}
}

// TestDirectivesThatAreRefused: a setting that a file cannot represent exactly is refused with a reason,
// because half a setting is worse than none.
func TestDirectivesThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		os, path string
		s        Step
		want     string
	}{
		{"freebsd", FreeBSDSysctl, Step{Mechanism: setting.Sysctl, Name: "a.b", Value: "1 # x"}, "begins a comment"},
		{"freebsd", FreeBSDSysctl, Step{Mechanism: setting.Sysctl, Name: "a.b", Value: `"x"`}, "quotes are taken off"},
		{"freebsd", FreeBSDLoader, Step{Mechanism: setting.Loader, Name: "a.b", Value: `a"b`}, "the loader cannot take"},
		{"freebsd", FreeBSDLoader, Step{Mechanism: setting.Loader, Name: "a.b", Value: "$x"}, "the loader cannot take"},
		{"freebsd", FreeBSDRC, Step{Mechanism: setting.RC, Name: "a.b", Value: "YES"}, "not the name of a variable"},
		{"freebsd", FreeBSDRC, Step{Mechanism: setting.RC, Name: "a-b", Value: "YES"}, "not the name of a variable"},
		{"freebsd", FreeBSDRC, Step{Mechanism: setting.Link, Device: "em0", Name: "txqueuelen", Value: "5"}, "has no \"txqueuelen\" here"},
		{"freebsd", FreeBSDRC, Step{Mechanism: setting.Link, Device: "em0", Name: "mtu", Value: "5 up"}, "not one plain word"},
		{"freebsd", FreeBSDRC, Step{Mechanism: setting.Offload, Device: "em0", Name: "lro", Value: "maybe"}, "neither on nor off"},
		{"freebsd", FreeBSDRC, Step{Mechanism: setting.Module, Name: "pf", Value: "absent"}, "not keep it away"},
		{"freebsd", FreeBSDSysctl, Step{Mechanism: setting.Loader, Name: "a", Value: "1"}, "loader is not read there"},
		{"linux", LinuxSysctl, Step{Mechanism: setting.Route, Name: "a", Value: "1"}, "route is not read there"},
		{"linux", LinuxModules, Step{Mechanism: setting.Module, Name: "x", Value: "absent"}, "not keep it away"},
		{"linux", LinuxModprobe, Step{Mechanism: setting.ModParam, Name: "x", Value: "1"}, "want MODULE/PARAMETER"},
		{"linux", LinuxModprobe, Step{Mechanism: setting.ModParam, Name: "x/y", Value: "1 z=2"}, "a value of one word"},
		{"linux", LinuxModprobe, Step{Mechanism: setting.ModParam, Name: "x/y", Value: "1\tz"}, "a value of one word"},
		{"linux", LinuxUdev, Step{Mechanism: setting.Link, Device: "eth*", Name: "mtu", Value: "1"}, "not one plain word"},
		{"linux", LinuxUdev, Step{Mechanism: setting.Link, Device: "eth0", Name: "mtu", Value: "1\""}, "not one plain word"},
		{"linux", LinuxUdev, Step{Mechanism: setting.Link, Device: "eth0", Name: "..", Value: "1"}, "not one plain word"},
		{"linux", LinuxUdev, Step{Mechanism: setting.Link, Device: "eth0", Name: "alias", Value: "1"}, `no property "alias" that lasts`},
		{"linux", LinuxTmpfiles, Step{Mechanism: setting.Governor, Name: "cpu0", Value: "a b"}, "not one plain word"},
		{"linux", LinuxTmpfiles, Step{Mechanism: setting.Governor, Name: "cpu0", Value: ""}, "not one plain word"},
	} {
		line, err := directive(c.os, c.path, c.s)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in %s: %q, %v, want %q", c.s.Title(), c.path, line, err, c.want)
		}
		c.s.Where.File = c.path
		if files, err := Render(Plan{OS: c.os, Settings: []Step{c.s}}, nil); err == nil || files != nil || !strings.Contains(err.Error(), c.s.Title()+" in "+c.path) {
			t.Errorf("%s in %s renders: %v", c.s.Title(), c.path, err)
		}
	}
	for line, s := range map[string]Step{
		`ACTION=="add", SUBSYSTEM=="net", KERNEL=="e0", ATTR{threaded}="1"`:                    {Mechanism: setting.NAPI, Device: "e0", Name: "threaded", Value: "on"},
		`ACTION=="add", SUBSYSTEM=="net", KERNEL=="e0", ATTR{tx_queue_len}="1000"`:             {Mechanism: setting.Link, Device: "e0", Name: "txqueuelen", Value: "1000"},
		`ACTION=="add", SUBSYSTEM=="net", KERNEL=="e0", ATTR{queues/tx-0/xps_cpus}="f"`:        {Mechanism: setting.XPS, Device: "e0", Name: "tx-0", Value: "f"},
		`ACTION=="add", SUBSYSTEM=="net", KERNEL=="e0", RUN+="/sbin/ethtool -L e0 combined 4"`: {Mechanism: setting.Channels, Device: "e0", Name: "combined", Value: "4"},
	} {
		if got, err := directive("linux", LinuxUdev, s); err != nil || got != line {
			t.Errorf("%s: %q, %v, want %q", s.Title(), got, err, line)
		}
	}
}

// TestPlansAtTheirBounds: values just beyond a bound are refused, values at the bound accepted.
func TestPlansAtTheirBounds(t *testing.T) {
	plan := func(change func(*Plan)) Plan {
		p := Plan{OS: "linux", Release: "6.12", Settings: []Step{{Mechanism: setting.Sysctl, Name: "a.b", Value: "1", Where: Where{Runtime: true}}}}
		change(&p)
		return p
	}
	long := strings.Repeat("a", MaxValue)
	for name, c := range map[string]struct {
		p    Plan
		want string
	}{
		"as it is":                 {plan(func(*Plan) {}), ""},
		"another system":           {plan(func(p *Plan) { p.OS = "openbsd" }), `the system "openbsd"`},
		"no release":               {plan(func(p *Plan) { p.Release = "" }), "the plan's release"},
		"the longest value":        {plan(func(p *Plan) { p.Settings[0].Value = long }), ""},
		"a longer value":           {plan(func(p *Plan) { p.Settings[0].Value = long + "a" }), "not one line"},
		"the longest name":         {plan(func(p *Plan) { p.Settings[0].Name = long }), ""},
		"a longer name":            {plan(func(p *Plan) { p.Settings[0].Name = long + "a" }), "its name"},
		"no name":                  {plan(func(p *Plan) { p.Settings[0].Name = "" }), "its name"},
		"a tab":                    {plan(func(p *Plan) { p.Settings[0].Value = "1\t2" }), ""},
		"a bell":                   {plan(func(p *Plan) { p.Settings[0].Value = "1\a" }), "not one line"},
		"no text":                  {plan(func(p *Plan) { p.Settings[0].Value = "\xff" }), "not one line"},
		"it was of two lines":      {plan(func(p *Plan) { p.Settings[0].Current.Value = ptr("1\n2") }), "not one line"},
		"nowhere":                  {plan(func(p *Plan) { p.Settings[0].Where = Where{} }), "it has no place"},
		"FreeBSD's file":           {plan(func(p *Plan) { p.Settings[0].Where.File = FreeBSDSysctl }), "would write"},
		"twice":                    {plan(func(p *Plan) { p.Settings = append(p.Settings, p.Settings[0]) }), "a.b is in the plan twice"},
		"of two devices":           {plan(func(p *Plan) { s := p.Settings[0]; s.Device = "e0"; p.Settings = append(p.Settings, s) }), ""},
		"a mechanism of a lab":     {plan(func(p *Plan) { p.Settings[0].Mechanism = setting.Command }), "unknown mechanism"},
		"the most settings":        {plan(func(p *Plan) { p.Settings = many(MaxSettings) }), ""},
		"more settings":            {plan(func(p *Plan) { p.Settings = many(MaxSettings + 1) }), "the limit is 4096"},
		"a clipped name in errors": {plan(func(p *Plan) { p.OS = strings.Repeat("x", 81) }), strings.Repeat("x", 80) + "…"},
		"one that is not clipped":  {plan(func(p *Plan) { p.OS = strings.Repeat("x", 80) }), strings.Repeat("x", 80) + `"`},
	} {
		if err := c.p.Check(); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	doc, err := Marshal(plan(func(p *Plan) { p.Settings[0].Reason = "a < b & c" }))
	if err != nil || !strings.Contains(string(doc), `"a < b & c"`) || !strings.Contains(string(doc), `"left_alone": []`) {
		t.Errorf("%v\n%s", err, doc)
	}
	sealed, err := ParseUnsealed(doc)
	if err == nil || sealed.Digest != "" {
		t.Errorf("a document without a version is sealed: %v", err)
	}
	sealed, err = ParseUnsealed([]byte(strings.Replace(string(doc), `"version": 0`, `"version": 1`, 1)))
	if err != nil || sealed.Digest == "" {
		t.Fatalf("a document written by hand: %v", err)
	}
	again, err := Marshal(sealed)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := Parse(again); err != nil || back.Digest != sealed.Digest {
		t.Errorf("a sealed document is refused: %v", err)
	}
}

// many returns n sysctls.
func many(n int) []Step {
	steps := make([]Step, n)
	for i := range steps {
		steps[i] = Step{Mechanism: setting.Sysctl, Name: fmt.Sprintf("a.b%d", i), Value: "1", Where: Where{Runtime: true}}
	}
	return steps
}

// TestRenderingKeepsAll: after any sequence of plans each setting's last value is in its file once;
// rendering is idempotent; no setting is in another's block.
func TestRenderingKeepsAll(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 50 {
		own, last := map[string]string{}, map[string]string{}
		for range 6 {
			p := Plan{OS: "linux", Role: "router"}
			for range 1 + r.IntN(5) {
				s := Step{Mechanism: setting.Sysctl, Name: fmt.Sprintf("net.x%d", r.IntN(8)), Value: fmt.Sprint(r.IntN(1000)), Reason: strings.Repeat("why #: not\n", r.IntN(4)), Formula: "a\u2028b=\x85c",
					Where: Where{File: LinuxSysctl, Runtime: true}}
				p.Settings, last[s.Name] = append(p.Settings, s), s.Value
			}
			files, err := Render(p, own)
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			own[LinuxSysctl] = files[0].Content
			if again, _ := Render(p, own); again[0].Content != files[0].Content {
				t.Fatalf("rendered twice\n%s\nand\n%s", files[0].Content, again[0].Content)
			}
			got := map[string]string{}
			for line := range strings.Lines(own[LinuxSysctl]) {
				if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && line[0] != '#' {
					if _, twice := got[name]; twice {
						t.Fatalf("%s is in the file twice\n%s", name, own[LinuxSysctl])
					}
					got[name] = value
				}
			}
			if d := cmp.Diff(last, got); d != "" {
				t.Fatalf("(-want +got)\n%s\n%s", d, own[LinuxSysctl])
			}
		}
	}
}
