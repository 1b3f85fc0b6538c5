package forward

import (
	"fmt"
	"slices"

	"linerate/internal/show"
	"linerate/internal/study"
)

// spreadTable tells how many CPUs a card's hash would make of its queues.
func spreadTable(r study.Results) []study.Table {
	t := study.Table{Header: []string{"flows", "frames"},
		Note: "computed, not measured: how many CPUs' worth a card with so many receive queues and a CPU for each would be, by its busiest queue; Toeplitz hash of addresses and ports with the key of Microsoft's verification suite, 128 entries to queues. A card hashes UDP ports only if configured to; by addresses alone these flows would be one. Consecutive ports, as these are, spread more evenly than those of a real network. A flow stays on one CPU: an elephant flow uses one CPU"}
	var queues, flows []int
	for _, s := range r.Spread {
		if !slices.Contains(queues, s.Queues) {
			queues = append(queues, s.Queues)
			t.Header = append(t.Header, fmt.Sprintf("%d queues", s.Queues))
		}
		if !slices.Contains(flows, s.Flows) {
			flows = append(flows, s.Flows)
		}
	}
	slices.Sort(flows)
	for _, n := range flows {
		even, elephant := []string{show.Grouped(float64(n), 0), "alike"}, []string{"", "half of one flow"}
		for _, q := range queues {
			i := slices.IndexFunc(r.Spread, func(s study.Spread) bool { return s.Flows == n && s.Queues == q })
			even, elephant = append(even, show.Digits(r.Spread[i].Even)), append(elephant, show.Digits(r.Spread[i].Elephant))
		}
		if t.Rows = append(t.Rows, even); n > 1 {
			t.Rows = append(t.Rows, elephant)
		}
	}
	return t.Any()
}

// printSpread prints it.
func printSpread(p *show.Page, r study.Results) {
	for _, t := range spreadTable(r) {
		right := slices.Repeat([]bool{true}, len(t.Header))
		right[1] = false
		printTable(p, "how many CPUs a card's queues would be worth (computed by the Toeplitz hash, not measured)", t.Header, right, t.Rows)
	}
}
