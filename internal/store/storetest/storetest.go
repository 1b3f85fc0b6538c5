// Package storetest provides test data for ledgers and queues.
package storetest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"linerate/internal/ledger"
	"linerate/internal/queue"
	"linerate/internal/stats"
	"linerate/internal/study"
)

var day = time.Date(2026, 3, 4, 5, 6, 7, 890_000_000, time.UTC)

// Sample returns a study with two variants of three trials each, identified by name.
func Sample(name string) *ledger.Batch {
	id := ledger.IDOf("study", name)
	env := ledger.Environment{
		ID: ledger.IDOf("environment", "apu2"), OS: "FreeBSD", Release: "11.1-RELEASE-p1", Hardware: "AMD_GX-412TC_4Cores",
		CPU: "AMD GX-412TC", Cores: 4, NIC: "Intel i210AT", Driver: "igb",
	}
	b := &ledger.Batch{Kind: "study", Ref: string(id), Time: day, Environments: []ledger.Environment{env}}
	b.Studies = []ledger.Study{{ID: id, Kind: "netbenches", Name: name, Place: "apu2/" + name, Design: "independent", Metric: "overload_forwarding_rate_pps"}}
	raw := []byte("raw bytes of " + name)
	sum := sha256.Sum256(raw)
	sha := hex.EncodeToString(sum[:])
	b.Blobs = []ledger.Blob{{SHA256: sha, Size: int64(len(raw)), Encoding: "raw", Data: raw}}
	b.Sources = []ledger.Source{{ID: id.Part("log"), Study: id, Path: "log", SHA256: sha, Size: int64(len(raw)), Role: "receiver"}}
	arms := map[string][]ledger.ID{}
	for v, variant := range []string{"default", "tuned"} {
		for i := range 3 {
			t := ledger.Trial{
				ID: id.Part(variant, fmt.Sprint(i)), Study: id, Environment: env.ID, Variant: variant, Workload: "IPv4 UDP 64 B",
				Block: i + 1, Valid: true, Metrics: map[string]float64{"overload_forwarding_rate_pps": 700_000 + float64(50_000*v+1000*i)},
				Sources: []ledger.Ref{{SHA256: sha, Path: "log", Role: "receiver", First: 1, Last: 1}},
			}
			arms[variant] = append(arms[variant], t.ID)
			b.Trials = append(b.Trials, t)
		}
	}
	var samples []stats.Arm
	for n, variant := range []string{"default", "tuned"} {
		a := stats.Arm{Name: variant}
		for _, t := range b.Trials[3*n : 3*n+3] {
			a.Values = append(a.Values, t.Metrics["overload_forwarding_rate_pps"])
		}
		samples = append(samples, a)
	}
	c := stats.CompareSamples(samples[0], samples[1:], stats.Options{Better: stats.HigherIsBetter, NoPlan: true})[0]
	v := ledger.FromComparison(&c)
	v.ID, v.Study, v.Environment, v.Metric, v.Primary = id.Part("verdict"), id, env.ID, "overload_forwarding_rate_pps", true
	v.Unit, v.Better, v.Workload = "pps", stats.HigherIsBetter, "IPv4 UDP 64 B"
	v.Changes = []ledger.Change{{Tunable: "dev.igb.N.fc", Related: []string{"flow_control"}, Before: "", After: "0"}}
	v.ControlTrials, v.VariantTrials = arms["default"], arms["tuned"]
	b.Verdicts = []ledger.Verdict{v}
	return b
}

// Trials returns the trials that a job asks for, from a testbed of a given cost.
func Trials(j queue.Job, cost float64) (own []study.Trial) {
	for {
		slot, ok := study.NextOf(j.Spec, j.Seed, j.Unit.Blocks, append(slices.Clone(j.Before), own...), nil)
		if !ok {
			return own
		}
		part, _ := j.Spec.Part(slot.Part)
		ns := cost * (1 + 0.001*float64(slot.Block))
		if slot.Variant == "b" {
			ns *= 2
		}
		own = append(own, study.Trial{Part: slot.Part, Variant: slot.Variant, Block: slot.Block, Order: slot.Order, Mode: part.Mode, Retry: slot.Retry,
			Start: time.Date(2026, 1, 1, 0, slot.Block, slot.Order, 0, time.UTC), Seconds: 1, Valid: true, Reasons: []study.Refusal{},
			Metrics: map[string]float64{"forwarding_rate_pps": 1e9 / ns, "overload_forwarding_rate_pps": 1e9 / ns}})
	}
}
