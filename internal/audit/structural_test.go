package audit_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"linerate/internal/sharedtest"

	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/tunable"
)

// small is a catalogue with a made-up tunable of each kind.
const small = `
subsystem: test
records:
  - {name: net.t.run, mechanism: sysctl, type: int, settable: runtime, default: "5", summary: Set while it runs., sources: [t.c], related: []}
  - {name: net.t.boot, mechanism: sysctl, type: int, settable: boot, default: "1", summary: Set at boot., sources: [t.c]}
  - {name: net.t.both, mechanism: sysctl, type: u16, settable: boot+runtime, default: "64", summary: Both., sources: [t.c], constraints: {min: 16, power_of_two: true, outside: refused}}
  - {name: net.t.clamp, mechanism: sysctl, type: int, settable: runtime, default: "1", summary: Clamped., sources: [t.c], constraints: {max: 9, outside: clamped}}
  - {name: net.t.report, mechanism: sysctl, type: int, settable: read-only, summary: Reports., sources: [t.c]}
  - {name: net.t.old, mechanism: sysctl, type: int, settable: runtime, removed: 14.0, renamed_to: net.t.run, default: "5", summary: The former name., sources: [t.c]}
  - {name: net.t.gone, mechanism: sysctl, type: int, settable: runtime, removed: 13.0, default: "0", summary: No more., sources: [t.c], notes: [It went.]}
  - {name: net.t.tomorrow, mechanism: sysctl, type: int, settable: runtime, since: 15.0, default: "0", summary: Not yet., sources: [t.c]}
  - {name: net.t.module, mechanism: sysctl, type: int, settable: runtime, default: "0", module: tmod, summary: Of a module., sources: [t.c]}
  - {name: net.t.computed, mechanism: sysctl, type: int, settable: boot+runtime, formula: "memory / 1024", summary: Computed., sources: [t.c], constraints: {only_raise: true}, vectors: [{with: {memory: 1024}, want: "1"}]}
  - {name: net.t.grown, mechanism: sysctl, type: int, settable: runtime, default: "2097152", summary: Grew., sources: [t.c], changes: [{from: 15.0, default: "8388608", why: test}]}
  - {name: net.t.small, mechanism: sysctl, type: int, settable: runtime, default: "100", summary: Below the next., sources: [t.c], coupled: [{name: net.t.large, holds: this <= other, why: It cannot be above., vectors: []}]}
  - {name: net.t.large, mechanism: sysctl, type: int, settable: runtime, default: "200", summary: Above the last., sources: [t.c]}
  - {name: net.t.said, mechanism: sysctl, type: int, settable: runtime, default: "1", summary: Claimed., sources: [t.c]}
  - {name: net.t.careful, mechanism: sysctl, type: int, settable: runtime, default: "1", summary: With care., sources: [t.c], cautions: [{kind: harmful, when: 'this == 7 && role == "web"', text: Seven is bad for the web.}, {kind: memory, when: this > memory, text: Too much.}, {kind: harmful, when: this == 8, text: Eight needs seven., fix: Set seven beside it.}]}
  - {name: net.t.custom, mechanism: sysctl, type: int, settable: runtime, default: "0", kernel_option: TOPTION, summary: Of a kernel built so., sources: [t.c]}
  - {name: net.t.queue, mechanism: sysctl, type: int, settable: runtime, default: "128", summary: A queue., sources: [t.c]}
  - {name: net.t.somany, mechanism: sysctl, type: int, settable: runtime, default: "128", alias_of: net.t.queue, summary: Its old name., sources: [t.c]}
  - {name: net.t.fetched, mechanism: sysctl, type: int, settable: boot+runtime, default: "1", summary: Fetched by TUNABLE_INT_FETCH., sources: [t.c]}
  - {name: net.t.stack, mechanism: sysctl, type: int, settable: runtime, default: "1", scope: vnet, summary: Of a vnet., sources: [t.c]}
  - {name: net.t.taken, mechanism: sysctl, type: int, settable: runtime, default: "1", summary: Unchecked., sources: [t.c], constraints: {max: 1, outside: taken}}
  - {name: net.t.wrapped, mechanism: sysctl, type: uint, settable: runtime, default: "1", summary: Unsigned., sources: [t.c]}
  - {name: net.t.unread, mechanism: sysctl, type: int, settable: runtime, default: "1", summary: Nobody looked., sources: [t.c], constraints: {max: 9}}
  - {name: net.t.ancient, mechanism: sysctl, type: int, settable: runtime, removed: 12.0, default: "1", related: [net.t.run], summary: Superseded., sources: [t.c]}
  - {name: hw.t.slices, mechanism: loader, type: int, settable: boot, default: "1", summary: Of the loader., sources: [t.c]}
  - {name: dev.tnic.N.fc, mechanism: sysctl, type: int, settable: runtime, default: "3", summary: Flow control., sources: [t.c]}
  - {name: tsvc_enable, mechanism: rc, type: yesno, settable: boot, default: "NO", summary: A service., sources: [t.sh]}
`

const smallClaims = `
source: test
os: freebsd
title: A guide
author: nobody
date: "2020"
kind: guide
claims:
  - {name: net.t.said, value: "42", in: sysctl.conf, active: true, says: It is faster., at: line 1, verdict: folklore}
  - {name: net.t.said, value: "43", in: sysctl.conf, active: true, says: Faster yet., at: line 2, verdict: wrong, truth: It is not.}
`

func smallCatalogue(t testing.TB) *tunable.Catalogue {
	t.Helper()
	c, err := tunable.Read(fstest.MapFS{
		"freebsd/test.yaml": {Data: []byte(small)},
		"claims/test.yaml":  {Data: []byte(smallClaims)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// summary returns a finding as "id severity action file".
func summary(f audit.Finding) string {
	place := f.File[strings.LastIndexByte(f.File, '/')+1:]
	return strings.Join([]string{f.ID, string(f.Severity), string(f.Action), place}, " ")
}

func TestStructural(t *testing.T) {
	const loader, sysctl, rc = "/boot/loader.conf", "/etc/sysctl.conf", "/etc/rc.conf"
	for _, c := range []struct {
		name, release string
		files         map[string]string
		memory        uint64
		live          map[string]string
		want          []string // in the report's order
		says          string   // message of the first one
	}{
		{name: "fine", files: map[string]string{sysctl: "net.t.run=6", loader: `net.t.boot="2"`}},
		{name: "default", files: map[string]string{sysctl: "net.t.run=5"}, want: []string{"LR-DEFAULT:net.t.run info remove sysctl.conf"}},
		{name: "default in another notation", files: map[string]string{sysctl: "net.t.run=0x5"}, want: []string{"LR-DEFAULT:net.t.run info remove sysctl.conf"}},
		{name: "default that undoes the loader's", files: map[string]string{loader: `net.t.both="128"`, sysctl: "net.t.both=64"},
			want: []string{"LR-DUPLICATE:net.t.both warning remove loader.conf"}},
		{name: "typo", files: map[string]string{sysctl: "net.t.comptued=6"}, want: []string{"LR-UNKNOWN:net.t.comptued info measure sysctl.conf"}},
		{name: "typo, confirmed by the running kernel", files: map[string]string{sysctl: "net.t.comptued=6"}, live: map[string]string{"net.t.run": "5"}, want: []string{"LR-UNKNOWN:net.t.comptued error change sysctl.conf"}},
		{name: "similar name in another driver is no typo", files: map[string]string{sysctl: "dev.xnic.0.fc=0"}, want: []string{"LR-UNKNOWN:dev.xnic.0.fc info measure sysctl.conf"}},
		{name: "unit", files: map[string]string{sysctl: "dev.tnic.7.fc=3"}, want: []string{"LR-DEFAULT:dev.tnic.7.fc info remove sysctl.conf"}},
		{name: "unknown to the running kernel", files: map[string]string{sysctl: "vm.nothing.like.it=1"}, live: map[string]string{"net.t.run": "5"},
			want: []string{"LR-UNKNOWN:vm.nothing.like.it error remove sysctl.conf"}},
		{name: "removed", files: map[string]string{sysctl: "net.t.gone=1"}, want: []string{"LR-REMOVED:net.t.gone error remove sysctl.conf"}},
		{name: "removed, where no error is printed", files: map[string]string{loader: `net.t.gone="1"`}, want: []string{"LR-REMOVED:net.t.gone warning remove loader.conf"}},
		{name: "still there", release: "11.4", files: map[string]string{sysctl: "net.t.gone=1"}},
		{name: "removed in the next release", release: "12.4", files: map[string]string{sysctl: "net.t.gone=1"}, want: []string{"LR-LEAVING:net.t.gone info measure sysctl.conf"}},
		{name: "renamed", files: map[string]string{sysctl: "net.t.old=6"}, want: []string{"LR-RENAMED:net.t.old error change sysctl.conf"}},
		{name: "renamed, and equal to the default", files: map[string]string{sysctl: "net.t.old=5"}, want: []string{"LR-RENAMED:net.t.old error remove sysctl.conf"}},
		{name: "not yet", files: map[string]string{sysctl: "net.t.tomorrow=1"}, want: []string{"LR-NOTYET:net.t.tomorrow error remove sysctl.conf"}},
		{name: "boot only", files: map[string]string{sysctl: "net.t.boot=2"}, want: []string{"LR-MISPLACED:net.t.boot error move sysctl.conf"}},
		{name: "boot only, and the default", files: map[string]string{sysctl: "net.t.boot=1"}, want: []string{"LR-MISPLACED:net.t.boot info remove sysctl.conf"}},
		{name: "run time only", files: map[string]string{loader: `net.t.run="6"`}, want: []string{"LR-MISPLACED:net.t.run error move loader.conf"}},
		{name: "loader variable", files: map[string]string{sysctl: "hw.t.slices=4"}, want: []string{"LR-MISPLACED:hw.t.slices error move sysctl.conf"}},
		{name: "rc variable", files: map[string]string{loader: `tsvc_enable="YES"`}, want: []string{"LR-MISPLACED:tsvc_enable error move loader.conf"}},
		{name: "sysctl in rc.conf", files: map[string]string{rc: "net.t.run=6"}, want: []string{"LR-MISPLACED:net.t.run error move rc.conf"}},
		{name: "report", files: map[string]string{sysctl: "net.t.report=1"}, want: []string{"LR-MISPLACED:net.t.report error remove sysctl.conf"}},
		{name: "type", files: map[string]string{sysctl: "net.t.both=65536"}, want: []string{"LR-RANGE:net.t.both error change sysctl.conf"}},
		{name: "not a number", files: map[string]string{sysctl: "net.t.run=fast"}, want: []string{"LR-RANGE:net.t.run error change sysctl.conf"}},
		{name: "power of two", files: map[string]string{sysctl: "net.t.both=48"}, want: []string{"LR-RANGE:net.t.both error change sysctl.conf"}},
		{name: "clamped", files: map[string]string{sysctl: "net.t.clamp=10"}, want: []string{"LR-RANGE:net.t.clamp warning change sysctl.conf"}},
		{name: "accepted, no effect", files: map[string]string{sysctl: "net.t.taken=2"}, want: []string{"LR-RANGE:net.t.taken warning change sysctl.conf"}},
		{name: "wrapped", files: map[string]string{sysctl: "net.t.wrapped=-5"}, want: []string{"LR-RANGE:net.t.wrapped error change sysctl.conf"}},
		{name: "out of range, effect unknown", files: map[string]string{sysctl: "net.t.unread=10"}, want: []string{"LR-RANGE:net.t.unread warning change sysctl.conf"}},
		{name: "suffix that sysctl(8) refuses", files: map[string]string{sysctl: "net.t.run=2m"}, want: []string{"LR-RANGE:net.t.run error change sysctl.conf"}},
		{name: "suffix that the loader takes", files: map[string]string{loader: `net.t.both="1k"`}},
		{name: "option that GENERIC lacks", files: map[string]string{sysctl: "net.t.custom=1"}, want: []string{"LR-NOOPTION:net.t.custom warning change sysctl.conf"}},
		{name: "option that the kernel has", files: map[string]string{sysctl: "net.t.custom=1"}, live: map[string]string{"net.t.custom": "1"}},
		{name: "option that the kernel lacks", files: map[string]string{sysctl: "net.t.custom=1"}, live: map[string]string{"net.t.run": "5"},
			want: []string{"LR-NOOPTION:net.t.custom error remove sysctl.conf"}},
		{name: "two names of one variable", files: map[string]string{sysctl: "net.t.somany=1024\nnet.t.queue=2048"}, want: []string{"LR-DUPLICATE:net.t.somany warning remove sysctl.conf"},
			says: "net.t.somany=1024 and net.t.queue=2048 (sysctl.conf line 2) are one variable"},
		{name: "two names, one value", files: map[string]string{sysctl: "net.t.somany=1024\nnet.t.queue=1024"}},
		{name: "removed, with a successor", files: map[string]string{sysctl: "net.t.ancient=3"}, want: []string{"LR-REMOVED:net.t.ancient error remove sysctl.conf"}},
		{name: "cannot be lowered", memory: 1 << 20, files: map[string]string{sysctl: "net.t.computed=1000"}, want: []string{"LR-RANGE:net.t.computed error remove sysctl.conf"}},
		{name: "below the computed default", memory: 1 << 20, files: map[string]string{loader: `net.t.computed="1000"`}, want: []string{"LR-LOWERS:net.t.computed warning remove loader.conf"}},
		{name: "above the computed default", memory: 1 << 20, files: map[string]string{loader: `net.t.computed="2000"`}},
		{name: "below the computed default of any machine", files: map[string]string{loader: `net.t.computed="2000"`}, want: []string{"LR-LOWERS:net.t.computed warning remove loader.conf"}},
		{name: "below the computed default of some machines", files: map[string]string{loader: `net.t.computed="8000000"`}, want: []string{"LR-LOWERS:net.t.computed info measure loader.conf"}},
		{name: "above an older default, below this one", release: "15.0", files: map[string]string{sysctl: "net.t.grown=4194304"}, want: []string{"LR-LOWERS:net.t.grown warning remove sysctl.conf"}},
		{name: "above this default", files: map[string]string{sysctl: "net.t.grown=4194304"}},
		{name: "lowered on purpose", release: "15.0", files: map[string]string{sysctl: "net.t.grown=65536"}},
		{name: "loader files unknown", files: map[string]string{sysctl: "net.t.module=1"}},
		{name: "no module", files: map[string]string{sysctl: "net.t.module=1", loader: "# empty"}, want: []string{"LR-NOMODULE:net.t.module warning change sysctl.conf"}},
		{name: "module in time", files: map[string]string{sysctl: "net.t.module=1", loader: `tmod_load="YES"`}},
		{name: "module too late", files: map[string]string{sysctl: "net.t.module=1", rc: `kld_list="tmod"`}, want: []string{"LR-ORDER:net.t.module info change sysctl.conf"}},
		{name: "twice", files: map[string]string{sysctl: "net.t.run=6\nnet.t.run=7"}, want: []string{"LR-DUPLICATE:net.t.run warning remove sysctl.conf"}},
		{name: "twice the same", files: map[string]string{sysctl: "net.t.run=6\nnet.t.run=6"}, want: []string{"LR-DUPLICATE:net.t.run info remove sysctl.conf"}},
		{name: "later file", files: map[string]string{loader: `net.t.boot="2"`, "/boot/loader.conf.local": `net.t.boot="3"`}, want: []string{"LR-DUPLICATE:net.t.boot warning remove loader.conf"}},
		{name: "drift", files: map[string]string{sysctl: "net.t.run=6"}, live: map[string]string{"net.t.run": "7"}, want: []string{"LR-DRIFT:net.t.run warning change sysctl.conf"}},
		{name: "no drift from the system's own files", files: map[string]string{"/boot/defaults/loader.conf": `net.t.both="128"`}, live: map[string]string{"net.t.both": "64"}},
		{name: "no drift", files: map[string]string{sysctl: "net.t.run=6"}, live: map[string]string{"net.t.run": "6"}},
		{name: "coupled", files: map[string]string{sysctl: "net.t.small=300"}, want: []string{"LR-COUPLED:net.t.small~net.t.large warning change sysctl.conf"}},
		{name: "coupled and raised together", files: map[string]string{sysctl: "net.t.small=300\nnet.t.large=400"}},
		{name: "caution", files: map[string]string{sysctl: "net.t.careful=7"}, want: []string{"LR-HARMFUL:net.t.careful warning change sysctl.conf"}},
		{name: "folklore", files: map[string]string{sysctl: "net.t.said=42"}, want: []string{"LR-FOLKLORE:net.t.said info measure sysctl.conf"}},
		{name: "wrong advice", files: map[string]string{sysctl: "net.t.said=43"}, want: []string{"LR-FOLKLORE:net.t.said warning remove sysctl.conf"}},
		{name: "syntax", files: map[string]string{sysctl: "a comment without its mark"}, want: []string{"LR-SYNTAX:/etc/sysctl.conf:REDACTED error change sysctl.conf"}},
		{name: "the same twice over", files: map[string]string{sysctl: "net.t.gone=1", loader: `net.t.gone="1"`},
			want: []string{"LR-REMOVED:net.t.gone@/etc/sysctl.conf error remove sysctl.conf", "LR-REMOVED:net.t.gone warning remove loader.conf"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := tree(t, map[bool]string{true: "14.3", false: c.release}[c.release == ""], c.files)
			f.Memory.Physical = c.memory
			for name, v := range c.live {
				setLive(f, name, v)
			}
			f.Normalise()
			r, err := audit.Run(audit.Input{Facts: f, Catalogue: smallCatalogue(t), Role: "web", Rules: smallRules()})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, x := range r.Findings {
				got = append(got, summary(x))
				checkTexts(t, withSource(x))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
			if c.says != "" && (len(r.Findings) == 0 || r.Findings[0].Message != c.says) {
				t.Errorf("does not say %q: %+v", c.says, r.Findings)
			}
		})
	}
}

// smallRules are the lists for the small catalogue, with the audit's texts.
var smallRules = sync.OnceValue(func() *audit.RuleSet {
	set, err := audit.LoadRules(sharedtest.Catalogue())
	if err != nil {
		panic(err)
	}
	return &audit.RuleSet{Lists: audit.Lists{NotGeneric: []string{"TOPTION"}, Remarks: set.Remarks, Consequences: set.Consequences, MechanismWords: set.MechanismWords, LateModules: set.LateModules}}
})

// TestBootPowerIsTheCatalogues: the kernel's flags do not show what TUNABLE_*_FETCH reads at boot, nor
// that VIMAGE does not read vnet values there.
func TestBootPowerIsTheCatalogues(t *testing.T) {
	f := tree(t, "14.0", map[string]string{"/boot/loader.conf": "net.t.fetched=\"2\"\nnet.t.stack=\"2\"\n"})
	for name, x := range map[string]fact.Access{"net.t.fetched": {Runtime: true}, "net.t.stack": {Runtime: true, Boot: true}} {
		setLive(f, name, "2")
		for i := range f.Settings {
			if f.Settings[i].Name == name {
				f.Settings[i].Access = &x
			}
		}
	}
	r, err := audit.Run(audit.Input{Facts: f, Catalogue: smallCatalogue(t), Rules: smallRules(), Role: "web"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range r.Findings {
		got = append(got, summary(x))
	}
	if want := []string{"LR-MISPLACED:net.t.stack error move loader.conf"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestWhatBecomesOfOtherValues: the text says what the system does with invalid values.
func TestWhatBecomesOfOtherValues(t *testing.T) {
	for line, want := range map[string]string{
		"net.t.both=8":      "Invalid argument",
		"net.t.clamp=10":    "nearest value",
		"net.t.taken=2":     "without a check",
		"net.t.wrapped=-5":  "low bits",
		"net.t.unread=10":   "not known to the catalogue",
		"net.t.run=2m":      "invalid integer",
		"net.t.run=fast":    "invalid integer",
		"net.t.ancient=3":   "sysctl(8) reports an unknown oid",
		"net.t.both=100000": "low bits",
	} {
		f := tree(t, "14.3", map[string]string{"/etc/sysctl.conf": line})
		r, err := audit.Run(audit.Input{Facts: f, Catalogue: smallCatalogue(t), Rules: smallRules(), Role: "web"})
		if err != nil || len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Why, want) {
			t.Errorf("%s: want %q, have %+v, %v", line, want, r.Findings, err)
		}
	}
}

// TestCautionsFix: the fix in a record replaces the default "remove the line".
func TestCautionsFix(t *testing.T) {
	f := tree(t, "14.3", map[string]string{"/etc/sysctl.conf": "net.t.careful=8"})
	r, err := audit.Run(audit.Input{Facts: f, Catalogue: smallCatalogue(t), Rules: smallRules(), Role: "web"})
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Fix != "Set seven beside it." {
		t.Errorf("%+v, %v", r.Findings, err)
	}
}

// withSource adds a source to findings that have none because they are about the files alone.
func withSource(f audit.Finding) audit.Finding {
	if f.Kind == audit.Syntax || f.Kind == audit.Duplicate || f.Kind == audit.Coupled || f.Kind == audit.Unknown {
		f.Sources = append(f.Sources, "the files")
	}
	return f
}

func TestComplaintsOfTheSystem(t *testing.T) {
	f := tree(t, "14.3", map[string]string{"/etc/sysctl.conf": "net.t.run=6"})
	f.Complaints = []fact.Complaint{
		{Text: "net.t.run limit exceeded", About: "net.t.run"},
		{Text: "interrupt storm detected on irq16", About: "hw.intr_storm_threshold"},
	}
	r, err := audit.Run(audit.Input{Facts: f, Catalogue: smallCatalogue(t), Rules: smallRules()})
	if err != nil {
		t.Fatal(err)
	}
	if c := find(r, "LR-COMPLAINT", ""); len(c) != 2 || !slices.ContainsFunc(c, func(f audit.Finding) bool { return f.Name == "net.t.run" && f.Line == 1 }) {
		t.Errorf("%+v", c)
	}
}

// TestDeterministic: the same facts always give the same report.
func TestDeterministic(t *testing.T) {
	f := tree(t, "14.3", map[string]string{"/etc/sysctl.conf": "net.inet.ip.maxfragpackets=0\nnet.inet.ip.check_interface=1", "/etc/rc.conf": "gateway_enable=\"YES\"\nifconfig_vtnet0=\"up\""})
	first := ids(run(t, f, "firewall"))
	for range 5 {
		if again := ids(run(t, f, "firewall")); !slices.Equal(first, again) {
			t.Fatalf("%v, then %v", first, again)
		}
	}
	if len(first) < 3 {
		t.Errorf("only %v", first)
	}
}

func ids(r *audit.Report) []string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, f.ID)
	}
	return all
}
