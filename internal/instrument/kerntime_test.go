package instrument

import (
	"errors"
	"strings"
	"testing"
	"time"

	"linerate/internal/hint"
)

type fixed struct{ KernelClock }

func TestTheBestWayThatCanBeHad(t *testing.T) {
	none := func() (KernelClock, error) {
		return nil, hint.With(errors.New("not supported by this machine"), "try bare metal")
	}
	some := func() (KernelClock, error) { return fixed{}, nil }
	unasked := func() (KernelClock, error) {
		t.Error("what is not needed was opened")
		return nil, nil
	}
	for _, c := range []struct {
		name, want string
		ways       []way
		found      bool
		lacks      string // a part of why not
		fails      bool
		interrupts bool
	}{
		{"the first", "", []way{{ByCycles, false, some}, {ByTracepoints, true, unasked}}, true, "", false, false},
		{"the next", "", []way{{ByCycles, false, none}, {ByTracepoints, true, some}}, true, "cycles: not supported by this machine (try bare metal)", false, false},
		{"none", "", []way{{ByCycles, false, none}, {ByTracepoints, true, none}}, false, "cycles: not supported by this machine (try bare metal); no tracepoints: not", false, false},
		{"the one that a study began with", ByTracepoints, []way{{ByCycles, false, unasked}, {ByTracepoints, true, some}}, true, "", false, false},
		{"which is gone", ByCycles, []way{{ByCycles, false, none}, {ByTracepoints, true, unasked}}, false, "cycles: not supported", false, false},
		{"ticks, where there is better", ByTicks, []way{{ByCycles, false, unasked}}, false, "", false, false},
		{"a later linerate's", "entrails", []way{{ByCycles, false, unasked}}, false, "", true, false},
		{"one that tells interrupts", "", []way{{ByCycles, false, unasked}, {ByTracepoints, true, some}}, true, "cycles: they do not tell interrupts", false, true},
		{"none that tells them", "", []way{{ByCycles, false, unasked}, {ByTracepoints, true, none}}, false, "other work; no tracepoints: not supported", false, true},
	} {
		s, lacks, err := choose(c.ways, c.want, c.interrupts)
		if (s != nil) != c.found || (err != nil) != c.fails || !strings.Contains(lacks.Error(), c.lacks) || (c.lacks == "") != (len(lacks) == 0) {
			t.Errorf("%s: found %v, lacks %q, error %v", c.name, s != nil, lacks, err)
		}
	}
}

// fake is a counter of a test.
type fake struct {
	Reading
	err    error
	closed bool
}

func (c *fake) Read() (Reading, error) { return c.Reading, c.err }
func (c *fake) Close() error           { c.closed = true; return nil }

// machine has CPUs that come and go.
type machine struct {
	online []int
	cpus   map[int]*fake
}

func (m *machine) cycles() *cycles {
	return &cycles{event: "cycles", online: func() ([]int, error) { return m.online, nil }, rates: map[int]float64{0: 2, 1: 4}, cpus: map[int]*counted{},
		open: func(cpu int) (counter, error) {
			if m.cpus[cpu] == nil {
				return nil, errGone
			}
			return m.cpus[cpu], nil
		}}
}

// reads checks what a source has come to.
func reads(t *testing.T, c *cycles, want time.Duration) {
	t.Helper()
	got, err := c.Read()
	if err != nil || got != (KernelTime{All: want}) {
		t.Errorf("%+v, %v; want %d", got, err, want)
	}
}

func TestCyclesOfCPUs(t *testing.T) {
	a, b := &fake{Reading: Reading{Value: 900, Enabled: 9, Running: 9}}, &fake{}
	m := &machine{online: []int{0, 1}, cpus: map[int]*fake{0: a, 1: b}}
	c := m.cycles()
	reads(t, c, 0) // what was before does not count
	a.Reading, b.Reading = Reading{Value: 1000, Enabled: 109, Running: 109}, Reading{Value: 400, Enabled: 100, Running: 100}
	reads(t, c, 100/2+400/4)
	// CPU 0 shared its counter: a third of the time alone.
	a.Reading, b.Reading = Reading{Value: 1100, Enabled: 409, Running: 209}, Reading{Value: 400, Enabled: 400, Running: 400}
	reads(t, c, 150+300/2)
	// CPU 1 goes, with what it counted last.
	m.online, b.Reading = []int{0}, Reading{Value: 800, Enabled: 450, Running: 450}
	a.Enabled, a.Running = 500, 300
	reads(t, c, 300+400/4)
	if !b.closed {
		t.Error("the counter of a CPU that is gone stays open")
	}
	// It comes back, and counts from then on; so does one that nobody has seen before.
	m.cpus[1], m.cpus[2], m.online = &fake{Reading: Reading{Value: 7, Enabled: 1, Running: 1}}, &fake{}, []int{0, 1, 2, 3}
	a.Enabled, a.Running = 600, 400
	reads(t, c, 400)
	m.cpus[1].Reading, m.cpus[2].Reading = Reading{Value: 47, Enabled: 100, Running: 100}, Reading{Value: 30, Enabled: 100, Running: 100}
	a.Enabled, a.Running = 700, 500
	reads(t, c, 400+40/4+30/3) // a late one has the others' mean rate
	// CPU 0 went and came back between two readings: its counter stands.
	stood := a
	m.cpus[0] = &fake{}
	m.cpus[1].Enabled, m.cpus[1].Running, m.cpus[2].Enabled, m.cpus[2].Running = 200, 200, 200, 200
	reads(t, c, 420)
	if !stood.closed || c.cpus[0].counter != m.cpus[0] {
		t.Error("the counter of a CPU that came back is not opened anew")
	}
	if err := c.Close(); err != nil || !m.cpus[0].closed || !m.cpus[1].closed || !m.cpus[2].closed {
		t.Errorf("not all closed: %v", err)
	}
}

func TestACounterWithoutATurn(t *testing.T) {
	a := &fake{}
	m := &machine{online: []int{0}, cpus: map[int]*fake{0: a}}
	c := m.cycles()
	reads(t, c, 0)
	a.Reading = Reading{Value: 0, Enabled: 100, Running: 0}
	if _, err := c.Read(); err == nil {
		t.Error("a counter that never ran was taken for a kernel that did nothing")
	}
	// Its next turn stands for the whole time since.
	a.Reading = Reading{Value: 100, Enabled: 400, Running: 100}
	reads(t, c, 4*100/2)
}

func TestCountersThatRunOn(t *testing.T) {
	for _, c := range []struct {
		name                  string
		counted, passed, idle time.Duration
		want                  bool
	}{
		{"stops with the CPU", 100, 1000, 900, false},
		{"the loop of an idle CPU wakes often", 180, 1000, 900, false},
		{"of a busy machine", 800, 1000, 200, false},
		{"polls on a busy machine", 1000, 1000, 200, true},
		{"polls", 1000, 1000, 900, true},
		{"polls a while, then halts", 400, 1000, 900, true},
		{"never idle: nobody knows", 1000, 1000, 0, false},
	} {
		if got := runsOn(c.counted*time.Millisecond, c.passed*time.Millisecond, c.idle*time.Millisecond); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
