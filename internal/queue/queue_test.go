package queue_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"linerate/internal/hint"
	"linerate/internal/queue"
	"linerate/internal/stats"
	"linerate/internal/store/storetest"
	"linerate/internal/study"
)

// TestLabels: what River can call a queue, and nothing else.
func TestLabels(t *testing.T) {
	for name, ok := range map[string]bool{
		"pair": true, "lab1": true, "a-b_c": true, "0": true, strings.Repeat("n", 40): true, strings.Repeat("n", 41): false,
		"": false, "A": false, "a b": false, "-a": false, "a-": false, "a--b": false, "a_-b": false, "ä": false, "a\n": false, "a.b": false, "a/b": false, "*": false,
	} {
		if err := queue.CheckLabel(name); (err == nil) != ok || err != nil && (!hint.IsUsage(err) || hint.Of(err) == "") {
			t.Errorf("label %q: %v", name, err)
		}
	}
}

func TestWhatATestbedDoes(t *testing.T) {
	for want, b := range map[string]queue.Testbed{
		"free":                    {State: queue.BedFree, Study: "s", Block: 3},
		"quarantined: no link":    {State: queue.BedQuarantined, Why: "no link"},
		"quarantined":             {State: queue.BedQuarantined},
		"waits":                   {State: queue.BedLeased},
		"block 3 of s":            {State: queue.BedLeased, Study: "s", Block: 3, Why: "old"},
		"takes s into the ledger": {State: queue.BedLeased, Study: "s"},
	} {
		if got := b.Does(); got != want {
			t.Errorf("%+v: %q, want %q", b, got, want)
		}
	}
	for s, ended := range map[queue.State]bool{queue.Open: false, queue.Finishing: false, queue.Done: true, queue.Cancelled: true, queue.Failed: true} {
		if s.Ended() != ended {
			t.Errorf("%s has ended: %v", s, s.Ended())
		}
	}
	held := &queue.NotAvailable{Err: queue.ErrHeld, Holder: "host:1"}
	if held.Error() != "another worker uses the testbed: host:1" || !errors.Is(held, queue.ErrHeld) {
		t.Errorf("%v", held)
	}
	if q := (&queue.NotAvailable{Err: queue.ErrQuarantined, Holder: "x", Why: "no link"}); q.Error() != "the testbed is in quarantine: no link" || errors.Is(q, queue.ErrHeld) {
		t.Errorf("%v", q)
	}
}

const small = `name: small
question: Does b cost more than a?
seed: 7
interleave: false
variants: [{name: a}, {name: b, settings: [{sysctl: net.ipv4.ip_early_demux, value: 0}]}]
parts:
  - {name: cost, mode: cost, blocks: 6, seconds: 0.2}
metrics: [{metric: forwarding_rate_pps, part: cost, primary: true}]
`

// TestRecordIsTheSame from the same material, in whatever order testbeds and their answers came; it
// names what each testbed was, and has its host's facts by their digest.
func TestRecordIsTheSame(t *testing.T) {
	spec, err := study.Parse("s1", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	trials := storetest.Trials(queue.Job{Spec: spec, Seed: 7, Unit: study.Unit{Part: "cost", Blocks: []int{1, 2, 3, 4, 5, 6}}}, 700)
	for i := range trials {
		trials[i].Testbed = []string{"bed1", "bed2"}[trials[i].Block%2]
	}
	bed := func(name string) queue.BedRecord {
		return queue.BedRecord{Testbed: name, Environment: study.Environment{OS: "linux", CPU: "cpu of " + name, Facts: []study.FactsRef{{File: "theirs"}}}, Facts: []byte(`{"version":1,"hostname":"` + name + "\"}\n")}
	}
	bare := bed("bed3")
	bare.Facts = nil
	var first []queue.File
	for i, beds := range [][]queue.BedRecord{{bed("bed1"), bed("bed2"), bare}, {bare, bed("bed2"), bed("bed1")}} {
		files, err := queue.MakeRecord(spec, 7, []byte(small), beds, trials)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = files
			continue
		}
		if !slices.EqualFunc(files, first, func(a, b queue.File) bool { return a.Name == b.Name && bytes.Equal(a.Data, b.Data) }) {
			t.Error("another order of testbeds makes another record")
		}
	}
	r, err := queue.ReadRecord(first, "s1")
	if err != nil {
		t.Fatal(err)
	}
	if w := r.Warnings(r.Results()); len(w) > 0 || len(r.Facts) != 2 || len(r.Environment.Beds) != 3 || r.Results().Verdicts[0].Verdict != stats.Worse {
		t.Errorf("%d facts, %d testbeds, warnings %q", len(r.Facts), len(r.Environment.Beds), w)
	}
	alone, err := queue.MakeRecord(spec, 7, []byte(small), []queue.BedRecord{bed("bed1")}, trials)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = queue.ReadRecord(alone, "s1"); err != nil || len(r.Environment.Beds) != 0 || r.Environment.CPU != "cpu of bed1" {
		t.Errorf("of one testbed: %+v, %v", r.Environment, err)
	}
	// What was changed on the way does not read as whole.
	for i, f := range first {
		if f.Name == "facts.json" {
			changed := slices.Clone(first)
			changed[i].Data = append(bytes.Clone(f.Data), ' ')
			if r, err := queue.ReadRecord(changed, "s1"); err == nil && len(r.Warnings(r.Results())) == 0 {
				t.Error("facts that were changed read as the study's own")
			}
		}
	}
}

// broken is a queue of which one question fails.
type broken struct {
	queue.Reader
	fails string
}

var errBroken = errors.New("broken")

func (b broken) on(what string) error {
	if b.fails == what {
		return errBroken
	}
	return nil
}

func (b broken) Braked(context.Context) (string, error) { return "rest", b.on("brake") }
func (b broken) Studies(context.Context, bool) ([]queue.Study, error) {
	return []queue.Study{{ID: "s", EstimateSeconds: 90}}, b.on("studies")
}
func (b broken) Testbeds(context.Context) ([]queue.Testbed, error) {
	return []queue.Testbed{{Name: "b", SilentSeconds: 1.5}}, b.on("testbeds")
}
func (b broken) Place() string { return "here" }

// TestLook is whole, or an error.
func TestLook(t *testing.T) {
	doc, err := queue.Look(t.Context(), broken{}, true)
	if err != nil || doc.Paused != "rest" || doc.Studies[0].EstimateSeconds != 90 || doc.Testbeds[0].SilentSeconds != 1.5 || doc.Queue != "here" {
		t.Errorf("%+v, %v", doc, err)
	}
	for _, what := range []string{"brake", "studies", "testbeds"} {
		if _, err := queue.Look(t.Context(), broken{fails: what}, true); !errors.Is(err, errBroken) {
			t.Errorf("%s fails: %v", what, err)
		}
	}
	if _, writes := queue.ReadOnly(broken{}).(interface{ on(string) error }); writes {
		t.Error("a queue to be read shows more than that")
	}
}
