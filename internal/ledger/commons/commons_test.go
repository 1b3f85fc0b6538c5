package commons

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"linerate/internal/fact"
	"linerate/internal/study"
	"linerate/internal/study/record"
)

const spec = `name: prove
question: Does net.ipv4.tcp_sack=0 help on ssh://ann@www1.example.net, under its own traffic?
seed: %d
testbed: {kind: live, host: "ssh://ann@www1.example.net", become: sudo}
variants: [{name: as-is}, {name: setting, settings: [{sysctl: net.ipv4.tcp_sack, value: "0"}]}]
parts: [{name: live, blocks: 16, live: {window: 60, service: annsshop, watch: ["log:/var/log/nginx/shop.example.net.log#p95"]}}]
metrics: [{metric: log_p95_ns, part: live, primary: true, margin_percent: 3}]
`

// private returns the record of a live study on a host with names, addresses and a path.
func private(t *testing.T, seed uint64) *record.Record {
	t.Helper()
	text := fmt.Sprintf(spec, seed)
	s, err := study.Parse("x", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	var lines bytes.Buffer
	for i, slot := range study.PlanOf(s, s.Parts[0]).Schedule(seed) {
		v := 1e7 * (1 + 0.02*r.NormFloat64())
		variant := map[string]string{study.Control: "as-is", study.Sham: study.AA}[slot.Arm]
		if variant == "" {
			variant, v = slot.Arm, 0.8*v
		}
		w := &study.Window{Pair: slot.Pair, Half: slot.Half, Of: slot.Of, Traffic: 1000, Value: map[string]float64{study.LogP95: v},
			Notes: []string{"/var/log/nginx/shop.example.net.log of 203.0.113.7 grows; www1 is slow"}}
		tr := study.Trial{Part: "live", Variant: variant, Block: slot.Pair, Order: slot.Half, Start: time.Unix(int64(60*i), 0).UTC(), Seconds: 60, Mode: study.SwitchbackMode, Observed: &study.Observation{Window: w}}
		tr.Metrics, tr.Reasons = study.Judge(s.Parts[0], s.Gates, *tr.Observed)
		tr.Valid = len(tr.Reasons) == 0
		if err := json.NewEncoder(&lines).Encode(tr); err != nil {
			t.Fatal(err)
		}
	}
	facts, err := json.Marshal(fact.Facts{Version: fact.Version, OS: "Linux", Hostname: "www1", MachineID: "0123456789abcdef", NICs: []fact.NIC{{Name: "eth0", Driver: "igc", Kind: fact.KindEthernet}}})
	if err != nil {
		t.Fatal(err)
	}
	files := record.Memory{record.SpecFile: []byte(text), record.TrialsFile: lines.Bytes(), "facts.json": facts}
	env := study.Environment{OS: "linux", Hostname: "www1", Command: []string{"linerate", "prove", "ssh://ann@www1.example.net"}, CPU: "some CPU", CPUs: 4,
		Facts: []study.FactsRef{{File: "facts.json", SHA256: digest(facts)}}}
	if err := withResults(files, env); err != nil {
		t.Fatal(err)
	}
	out, err := record.Read(files, "private")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// public returns a commons with one study, and its files.
func public(t *testing.T) (dir string, files record.Memory) {
	t.Helper()
	files, err := Public(private(t, 3))
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := Write(dir, "one", files); err != nil {
		t.Fatal(err)
	}
	return dir, files
}

// TestPublic: a published study has no name, address or path of its host, and is accepted.
func TestPublic(t *testing.T) {
	dir, files := public(t)
	for name, data := range files {
		if found := regexp.MustCompile(`(?i)www1|ann@|annsshop|example\.net|203\.0\.113|/var/log|sudo|0123456789abcdef`).Find(data); found != nil {
			t.Errorf("%s reveals %q", name, found)
		}
	}
	again, err := Public(private(t, 4))
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, "two", again); err != nil {
		t.Fatal(err)
	}
	all, err := Read(os.DirFS(dir))
	if err != nil || len(all) != 2 || all[0].Why != nil || all[1].Why != nil {
		t.Errorf("%+v, %v", all, err)
	}
	r, err := record.Read(files, "one")
	if err != nil || len(r.Facts) != 1 || r.Facts[0].NICs[0].Driver != "igc" || r.Facts[0].MachineID == "" {
		t.Errorf("facts that matter: %+v, %v", r.Facts, err)
	}
}

// refused reads an invalid commons, and returns the reason for the refusal.
func refused(t *testing.T, dir string) string {
	t.Helper()
	all, err := Read(os.DirFS(dir))
	if err != nil {
		return err.Error()
	}
	for _, s := range all {
		if s.Why != nil {
			return s.Why.Error()
		}
	}
	return ""
}

// TestRefused: modified submissions are refused with a reason, whether or not the chain was recomputed.
func TestRefused(t *testing.T) {
	_, good := public(t)
	r := rand.New(rand.NewPCG(1, 1))
	tried, reasons := 0, map[string]int{}
	try := func(what string, rehash bool, change func(f record.Memory)) {
		t.Helper()
		files := maps.Clone(good)
		change(files)
		dir := t.TempDir()
		first := good
		if rehash {
			first = files
		}
		if err := Write(dir, "one", first); err != nil {
			reasons[err.Error()]++ // a submission that lacks a file cannot even be added
			tried++
			return
		}
		for name := range good {
			if data, is := files[name]; is {
				if err := os.WriteFile(filepath.Join(dir, "one", name), data, 0o644); err != nil {
					t.Fatal(err)
				}
			} else if err := os.Remove(filepath.Join(dir, "one", name)); err != nil {
				t.Fatal(err)
			}
		}
		why := refused(t, dir)
		if tried++; why == "" {
			t.Errorf("%s is accepted", what)
		}
		reasons[why]++
	}
	lines := strings.SplitAfter(strings.TrimSpace(string(good[record.TrialsFile])), "\n")
	trials := func(change func(at int, tr *study.Trial) bool) func(record.Memory) {
		return func(f record.Memory) {
			var out bytes.Buffer
			for i, l := range lines {
				var tr study.Trial
				if err := json.Unmarshal([]byte(l), &tr); err != nil {
					t.Fatal(err)
				}
				if change(i, &tr) {
					_ = json.NewEncoder(&out).Encode(tr)
				}
			}
			f[record.TrialsFile] = out.Bytes()
		}
	}
	for name := range good {
		for range 30 { // single bytes, with the original chain
			try("a byte of "+name, false, func(f record.Memory) {
				data := bytes.Clone(f[name])
				data[r.IntN(len(data))] ^= 1
				f[name] = data
			})
		}
		try("cut "+name, false, func(f record.Memory) { f[name] = f[name][:len(f[name])/2] })
		try("without "+name, false, func(f record.Memory) { delete(f, name) })
	}
	for i := range lines {
		only := func(change func(tr *study.Trial)) func(record.Memory) {
			return trials(func(at int, tr *study.Trial) bool {
				if at == i {
					change(tr)
				}
				return true
			})
		}
		try(fmt.Sprintf("trial %d left out", i), true, trials(func(at int, _ *study.Trial) bool { return at != i }))
		try(fmt.Sprintf("metric of trial %d", i), true, only(func(tr *study.Trial) { tr.Metrics[study.LogP95] *= 1.01 }))
		try(fmt.Sprintf("trial %d, metric and what was seen", i), true, only(func(tr *study.Trial) {
			tr.Metrics[study.LogP95] *= 1.01
			tr.Observed.Window.Value[study.LogP95] = tr.Metrics[study.LogP95]
		}))
		try(fmt.Sprintf("trial %d not valid", i), true, only(func(tr *study.Trial) { tr.Valid = false }))
		try(fmt.Sprintf("trial %d refused by no gate", i), true, only(func(tr *study.Trial) {
			tr.Valid, tr.Reasons = false, []study.Refusal{{Gate: study.GateTraffic, Text: "x"}}
		}))
		try(fmt.Sprintf("trial %d without raw data", i), true, only(func(tr *study.Trial) { tr.Observed = nil }))
	}
	try("without A/A", true, trials(func(_ int, tr *study.Trial) bool { return tr.Observed.Window.Of != study.Sham }))
	try("a line cut", true, func(f record.Memory) { f[record.TrialsFile] = f[record.TrialsFile][:len(f[record.TrialsFile])-9] })
	for _, word := range [][2]string{{`"verdict":"better"`, `"verdict":"worse"`}, {`"effect_percent":-`, `"effect_percent":-1`}, {`"p_holm":0.`, `"p_holm":0.0`}, {`"seed":3`, `"seed":4`}} {
		try(word[1], true, func(f record.Memory) {
			changed := bytes.Replace(f[record.ResultsFile], []byte(word[0]), []byte(word[1]), 1)
			if bytes.Equal(changed, f[record.ResultsFile]) {
				t.Errorf("%s is not in the results", word[0])
			}
			f[record.ResultsFile] = changed
		})
	}
	if tried < 200 || len(reasons) < 8 {
		t.Errorf("%d submissions, reasons %v", tried, reasons)
	}
	dir := t.TempDir()
	for _, name := range []string{"one", "two"} {
		if err := Write(dir, name, good); err != nil {
			t.Fatal(err)
		}
	}
	if why := refused(t, dir); why != "repeats a measurement of one" {
		t.Errorf("a duplicate: %q", why)
	}
	chain, err := os.ReadFile(filepath.Join(dir, ChainFile))
	if err != nil {
		t.Fatal(err)
	}
	_, last, _ := strings.Cut(string(chain), "\n")
	if err := os.WriteFile(filepath.Join(dir, ChainFile), []byte(last), 0o644); err != nil {
		t.Fatal(err)
	}
	if why := refused(t, dir); !strings.Contains(why, "broken at line 1") {
		t.Errorf("a chain without its beginning: %q", why)
	}
}
