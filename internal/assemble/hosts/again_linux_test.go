package hosts

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"linerate/internal/assemble/ledgers"
	"linerate/internal/audit"
	"linerate/internal/capture"
	"linerate/internal/fleet"
	"linerate/internal/ledger"
)

// parts are a capture's files by name; order is theirs in it.
type parts struct {
	order []string
	files map[string]string
}

// captureOf is a capture of this machine.
func captureOf(t *testing.T) parts {
	var bundle bytes.Buffer
	if err := capture.Run(t.Context(), "-", &bundle, io.Discard); err != nil {
		t.Fatal(err)
	}
	gz, err := gzip.NewReader(&bundle)
	if err != nil {
		t.Fatal(err)
	}
	p := parts{files: map[string]string{}}
	for tr := tar.NewReader(gz); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return p
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		p.order, p.files[h.Name] = append(p.order, h.Name), string(data)
	}
}

// with are the parts with some of them replaced or added.
func (p parts) with(changed map[string]string) []byte {
	var out bytes.Buffer
	tw := tar.NewWriter(&out)
	put := func(name, text string) {
		_ = tw.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text)), Typeflag: tar.TypeReg})
		_, _ = io.WriteString(tw, text)
	}
	for _, name := range p.order {
		text, ok := changed[name]
		if !ok {
			text = p.files[name]
		}
		put(name, text)
	}
	for name, text := range changed {
		if p.files[name] == "" {
			put(name, text)
		}
	}
	_ = tw.Close()
	return out.Bytes()
}

var wholeNumber = regexp.MustCompile(`\b[0-9]+\b`)

// moved is the capture with counters that went on as r has it: most a little, some far,
// some from nought.
func (p parts) moved(r *rand.Rand, far bool) map[string]string {
	grow := func(n string) string {
		v, err := strconv.ParseUint(n, 10, 62)
		switch x := r.IntN(100); {
		case err != nil:
			return n
		case far && x < 3:
			return fmt.Sprint(v + r.Uint64N(1<<40))
		case v > 0:
			return fmt.Sprint(v + r.Uint64N(v/50+2))
		}
		return n
	}
	out := map[string]string{}
	for _, name := range p.order {
		text := p.files[name]
		switch strings.TrimPrefix(name, "./") {
		case "files/proc/uptime":
			out[name] = fmt.Sprintf("%d.25 9.00\n", 1000+r.IntN(10_000_000))
		case "files/proc/net/snmp", "files/proc/net/netstat", "files/proc/net/snmp6", "out/tc-qdisc":
			out[name] = wholeNumber.ReplaceAllStringFunc(text, grow)
		case "files/proc/meminfo":
			out[name] = strings.ReplaceAll(text, "MemFree:  ", "MemFree: 1")
		case "trees/sys":
			lines := strings.SplitAfter(text, "\n")
			for i, l := range lines {
				if path, value, ok := strings.Cut(l, "\t"); ok && strings.Contains(path, "/statistics/") {
					lines[i] = path + "\t" + wholeNumber.ReplaceAllStringFunc(value, grow)
				}
			}
			out[name] = strings.Join(lines, "")
		case "manifest.tsv":
			out[name] = regexp.MustCompile(`(?m)^taken\t.*$`).ReplaceAllString(text, fmt.Sprintf("taken\t2026-01-%02dT00:00:00Z", 1+r.IntN(28)))
		}
	}
	return out
}

func examinerOf(t *testing.T, s Sweep) *examiner {
	e, err := s.examiner()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// whole is a full audit as it is stored, numbers in texts left out.
func whole(t *testing.T, e *examiner, target *fleet.Target, data []byte) (seen, outcome string) {
	t.Helper()
	o, err := e.examine(t.Context(), target, data)
	if err != nil || o.Same {
		t.Fatalf("%+v, %v", o, err)
	}
	return o.Seen, fmt.Sprint(o.ID, o.Hostname, o.OS, o.Release, o.Role, o.Facts, o.Knowledge, fleet.SetDigest(o.Findings))
}

// TestSameSeenSameAudit: captures with one digest have one outcome, however their counters
// differ; counters that matter, files, roles, suppressions and a catalogue of another
// version each make another digest.
func TestSameSeenSameAudit(t *testing.T) {
	base := captureOf(t)
	sound := examinerOf(t, Sweep{Version: "1"})
	r := rand.New(rand.NewPCG(7, 11))
	outcomes, of := map[string]string{}, map[string]int{}
	check := func(e *examiner, target *fleet.Target, data []byte) string {
		t.Helper()
		seen, outcome := whole(t, e, target, data)
		if was, ok := outcomes[seen]; seen == "" || ok && was != outcome {
			t.Errorf("digest %q stands for\n%s\nand %s", seen, was, outcome)
		}
		outcomes[seen] = outcome
		of[seen]++
		return seen
	}
	router, guessed := &fleet.Target{Name: "h", Source: "x.tar", Role: "router"}, &fleet.Target{Name: "h", Source: "x.tar"}
	first := check(sound, router, base.with(nil))
	for i := range 16 {
		check(sound, router, base.with(base.moved(r, i%2 == 1)))
		check(sound, guessed, base.with(base.moved(r, i%2 == 1)))
	}
	again := 0
	for _, n := range of {
		again += n - 1
	}
	if again < 10 || len(of) < 4 {
		t.Errorf("%d captures had the digest of another, %d digests: the test shows nothing", again, len(of))
	}
	file := "./files/etc/sysctl.d/60-test.conf"
	manifest := slices.DeleteFunc(slices.Clone(base.order), func(n string) bool { return !strings.HasSuffix(n, "manifest.tsv") })[0]
	listed := base.files[manifest] + "file\t/etc/sysctl.d/60-test.conf\tread\t\n"
	for what, changed := range map[string]map[string]string{
		"a file":     {file: "net.ipv4.tcp_tw_recycle=1\n", manifest: listed},
		"its value":  {file: "net.ipv4.tcp_tw_recycle=0\n", manifest: listed},
		"a setting":  {treeOf(base): strings.Replace(base.files[treeOf(base)], "/proc/sys/net/core/somaxconn\t", "/proc/sys/net/core/somaxconn\t1", 1)},
		"a listener": {"./files/proc/net/tcp": base.files["./files/proc/net/tcp"] + "   9: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1\n"},
	} {
		if got := check(sound, router, base.with(changed)); got == first {
			t.Errorf("%s changed, the digest did not", what)
		}
	}
	if other, _ := whole(t, examinerOf(t, Sweep{Version: "2"}), router, base.with(nil)); other == first {
		t.Error("another version of the program has the digest of this one")
	}
	yesterday, err := audit.ParseSuppressions([]byte("suppressions:\n  - {id: \"LR-*\", reason: test, expires: 2026-03-04}\n"))
	if err != nil {
		t.Fatal(err)
	}
	lapsed := examinerOf(t, Sweep{Version: "1", Suppressions: yesterday})
	lapsed.in.Today = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	one := check(lapsed, router, base.with(nil))
	lapsed.in.Today = lapsed.in.Today.Add(48 * time.Hour)
	if check(lapsed, router, base.with(nil)) == one {
		t.Error("a suppression expired, the digest did not change")
	}
}

func treeOf(p parts) string {
	return p.order[slices.IndexFunc(p.order, func(n string) bool { return strings.HasSuffix(n, "trees/proc-sys") })]
}

// forgetful is a store that knows no digest, so that all is audited.
type forgetful struct{ ledger.FleetStore }

func (forgetful) Seen(context.Context) (map[string]string, error) { return map[string]string{}, nil }

// TestSecondSweep: what a second sweep stores, which audits only what changed, is what one
// stores that audits everything.
func TestSecondSweep(t *testing.T) {
	base := captureOf(t)
	dir := t.TempDir()
	machine := regexp.MustCompile(`(?m)^machine\t.*$`)
	night := func(n int) {
		for i := range 8 {
			r := rand.New(rand.NewPCG(uint64(n), uint64(i)))
			changed := base.moved(r, i == 5)
			for _, name := range base.order {
				if strings.HasSuffix(name, "manifest.tsv") {
					changed[name] = machine.ReplaceAllString(cmp.Or(changed[name], base.files[name]), fmt.Sprintf("machine\t%032x", i+1))
				}
			}
			if n == 2 && i == 3 {
				changed[treeOf(base)] = strings.Replace(base.files[treeOf(base)], "/proc/sys/net/core/somaxconn\t", "/proc/sys/net/core/somaxconn\t1", 1)
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("h%02d.tar", i)), base.with(changed), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	stores := map[string]func(ledger.FleetStore) ledger.FleetStore{
		"all": func(s ledger.FleetStore) ledger.FleetStore { return forgetful{s} }, "changed": func(s ledger.FleetStore) ledger.FleetStore { return s },
	}
	files := map[string]string{"all": filepath.Join(t.TempDir(), "l.db"), "changed": filepath.Join(t.TempDir(), "l.db")}
	stored := map[string]string{}
	for n, version := range []string{"1", "1", "2"} { // the third has another catalogue
		night(n + 1)
		for name, wrap := range stores {
			err := ledgers.With(t.Context(), files[name], func(s ledger.Store) error {
				targets, err := Bundles(dir)
				if err != nil {
					return err
				}
				job := Sweep{ID: fmt.Sprint(n), From: "test", Targets: targets, Version: version, Store: wrap(s.Fleet())}
				job.Parallel = 2
				w, err := job.Run(t.Context())
				if err == nil && (w.Reached != 8 || n > 0 && w.Changes > 40) {
					t.Errorf("%s: %+v", name, w)
				}
				stored[name] = dump(t, s.Fleet())
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if stored["all"] != stored["changed"] {
			t.Errorf("night %d: audited whole\n%s\nonly what changed\n%s", n+1, stored["all"], stored["changed"])
		}
	}
}

// dump is what is stored of a fleet, times and texts left out: of a finding that stays the text is the
// one that it came with, in whatever order hosts were done.
func dump(t *testing.T, s ledger.FleetStore) string {
	t.Helper()
	var out []string
	hosts, err := s.Hosts(t.Context(), fleet.HostFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hosts {
		if h, err = s.Host(t.Context(), h.Name); err != nil {
			t.Fatal(err)
		}
		h.FirstSeen, h.LastSuccess = time.Time{}, time.Time{}
		for i := range h.Findings {
			h.Findings[i].Since = time.Time{}
		}
		out = append(out, fmt.Sprintf("%+v", h))
	}
	changes, err := s.Changes(t.Context(), fleet.ChangeFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range changes {
		c.Time, c.Seq = time.Time{}, 0
		lines = append(lines, fmt.Sprintf("%+v", c))
	}
	slices.Sort(lines)
	counts, err := s.RuleCounts(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(append(append(out, lines...), fmt.Sprintf("%+v", counts)), "\n")
}
