package web_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"time"

	"linerate/internal/sharedtest"

	"linerate/internal/audit"
	"linerate/internal/fleet"
	"linerate/internal/ledger"
)

// madeUp is a simulated fleet.
type madeUp struct {
	Hosts int
	// Days is the number of nightly sweeps. The first and the last sweep see every host; those
	// in between only the hosts that changed, since for others they store nothing.
	Days int
	// Changing is the share of hosts that change in a night; 0 is 2 %.
	Changing float64
	Seed     uint64
	// End is when the last sweep ended.
	End time.Time
}

// kinds of hosts: role, system, release, share.
var kinds = []struct {
	role, os, release string
	share             int
}{
	{"web", "linux", "6.12", 30}, {"web", "linux", "6.1", 18}, {"storage", "linux", "6.1", 10}, {"storage", "freebsd", "14.3", 7}, {"firewall", "freebsd", "14.3", 8},
	{"firewall", "freebsd", "13.5", 5}, {"router", "freebsd", "14.3", 5}, {"router", "linux", "6.12", 4}, {"mail", "linux", "5.15", 6}, {"cdn", "freebsd", "15.0", 4}, {"", "linux", "5.15", 3},
}

// host is a host with its current state.
type host struct {
	kind   int
	state  map[int]bool // findings, by rule's number
	facts  int
	silent bool
}

// made returns a simulated fleet.
type made struct {
	madeUp
	rules []*audit.Rule
	rng   *rand.Rand
	hosts []host
}

// Fill writes the fleet into a store, and returns the number of its changes. told, unless nil, is
// called after each sweep.
func (f madeUp) Fill(ctx context.Context, s ledger.FleetStore, told func(day int)) (changes int, err error) {
	rules, err := audit.LoadRules(sharedtest.Catalogue())
	if err != nil {
		return 0, err
	}
	if f.Changing == 0 {
		f.Changing = 0.02
	}
	m := &made{madeUp: f, rules: rules.Rules(), rng: rand.New(rand.NewPCG(f.Seed, 26)), hosts: make([]host, f.Hosts)}
	for i := range m.hosts {
		m.hosts[i] = m.host(i)
	}
	for day := range f.Days {
		n, err := m.night(ctx, s, day)
		if err != nil {
			return changes, fmt.Errorf("sweep of day %d: %w", day+1, err)
		}
		changes += n
		if told != nil {
			told(day)
		}
	}
	return changes, nil
}

// host creates the n-th host.
func (m *made) host(n int) host {
	h := host{state: map[int]bool{}}
	at := n % 100
	for at >= kinds[h.kind].share {
		at -= kinds[h.kind].share
		h.kind++
	}
	for range 6 + m.rng.IntN(10) {
		h.state[m.some(h)] = true
	}
	return h
}

// some returns a rule for the host's system; some rules are more frequent than others.
func (m *made) some(h host) int {
	for {
		n := min(m.rng.IntN(len(m.rules)), m.rng.IntN(len(m.rules)))
		if os := m.rules[n].OS; os == "" || os == kinds[h.kind].os {
			return n
		}
	}
}

// batch is the number of hosts that are observed in one transaction.
const batch = 200

func (m *made) night(ctx context.Context, s ledger.FleetStore, day int) (changes int, err error) {
	start := m.End.AddDate(0, 0, day-m.Days+1).Add(-3 * time.Minute)
	id := fmt.Sprintf("night-%04d", day)
	if _, err := s.BeginSweep(ctx, fleet.Sweep{ID: id, Start: start, From: "hosts.txt", Hosts: m.madeUp.Hosts, Knowledge: "made up"}); err != nil {
		return 0, err
	}
	var seen []fleet.Observation
	flush := func() error {
		c, err := s.Observe(ctx, id, seen...)
		changes, seen = changes+len(c), seen[:0]
		return err
	}
	for i := range m.hosts {
		changed := day > 0 && m.rng.Float64() < m.Changing
		if changed {
			m.change(&m.hosts[i])
		}
		if !changed && day > 0 && day < m.Days-1 {
			continue
		}
		if seen = append(seen, m.observe(i, start.Add(time.Duration(i)*time.Millisecond))); len(seen) == batch {
			if err := flush(); err != nil {
				return changes, err
			}
		}
	}
	if err := flush(); err != nil {
		return changes, err
	}
	_, err = s.EndSweep(ctx, id, start.Add(3*time.Minute))
	return changes, err
}

// change changes something about the host: mostly findings that come and go.
func (m *made) change(h *host) {
	switch n := m.rng.IntN(20); {
	case n == 0:
		h.silent = !h.silent
	case n < 3:
		h.facts++
	case n == 3:
		h.state[len(m.rules)] = true // somebody undid what apply did
	default:
		h.silent = false
		n := m.some(*h)
		h.state[n] = !h.state[n]
		for i := range len(m.rules) + 1 { // what stands is mended sooner or later
			if h.state[i] && m.rng.IntN(12) == 0 {
				delete(h.state, i)
			}
		}
	}
}

// backlog lists tunables that drift, by system.
var backlog = map[string]string{"linux": "net.core.somaxconn", "freebsd": "kern.ipc.soacceptqueue"}

// filled is what an audit would have filled in.
var filled = regexp.MustCompile(`\$\{[^}]*\}`)

func (m *made) observe(n int, at time.Time) fleet.Observation {
	h, k := &m.hosts[n], kinds[m.hosts[n].kind]
	o := fleet.Observation{Name: fmt.Sprintf("%s%05d.example.org", k.role, n), Time: at}
	if k.role == "" {
		o.Name = fmt.Sprintf("host%05d.example.org", n)
	}
	if h.silent {
		o.Failure = "ssh: connect to host port 22: Connection timed out"
		return o
	}
	o.ID = fmt.Sprintf("%016x%08x", uint64(n)*0x9e3779b97f4a7c15, n)
	o.Hostname, o.OS, o.Release, o.Role = o.Name, k.os, k.release, k.role
	o.Record = "000001-0f3c6a0d2f7c"
	o.Facts, o.Knowledge = fmt.Sprintf("facts-%d-%d", n, h.facts), "made up"
	for i, r := range m.rules {
		if !h.state[i] {
			continue
		}
		name, id := "", r.ID
		if len(r.Names) > 0 {
			name, id = r.Names[0], r.ID+":"+r.Names[0]
		}
		o.Findings = append(o.Findings, fleet.Finding{ID: id, Rule: r.ID, Tunable: name, Severity: r.Severity, Text: filled.ReplaceAllString(r.Message, "…")})
	}
	if h.state[len(m.rules)] {
		o.Findings = append(o.Findings, fleet.DriftFinding("sysctl "+backlog[k.os], backlog[k.os], "4096", "128", o.Record))
	}
	return o
}
