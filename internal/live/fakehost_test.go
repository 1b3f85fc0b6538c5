package live

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"linerate/internal/apply"
	"linerate/internal/knob"
	"linerate/internal/setting"
	"linerate/internal/study"
)

// fakeHost is a host that serves requests on a fake clock: it answers a study's scripts, keeps a journal
// with a switch, and writes an access log that is rotated at midnight.
type fakeHost struct {
	lock  sync.Mutex
	rand  *rand.Rand
	zone  *time.Location
	begun time.Time
	takes time.Duration // time to answer
	// Traffic: requests per second and their mean time, depending on whether the host has the setting under
	// study; a rate of 0 loses all requests.
	rate func(now time.Time, treated bool) float64
	mean func(now time.Time, treated bool) float64 // seconds
	// before is called with the name of each command that sample.sh or host.sh gets.
	before func(what string)

	value, own string // of the setting
	pending    *window
	history    []apply.Past
	count      int
	owner      string
	until      time.Time
	// The log: the current file and the previous one, each from an offset on.
	logs     [2]fakeLog
	written  time.Time
	midnight time.Time // the next rotation
	packets  float64
	// Lines written and read; how often lines were missed, and how often the log was rotated.
	wrote, read, missed, rotated int
	treated                      time.Duration // how long the host had the setting
	most                         int           // most transactions remembered
}

type window struct {
	id, digest string
	until      time.Time
}

type fakeLog struct {
	inode int
	from  int64
	text  []byte
}

func (l *fakeLog) size() int64 { return l.from + int64(len(l.text)) }

// drop forgets text that was read.
func (l *fakeLog) drop(to int64) {
	if n := to - l.from; n > 0 && n <= int64(len(l.text)) {
		l.text, l.from = bytes.Clone(l.text[n:]), to
	}
}

// fakeKey is the setting under study, and fakeValue the tried value.
var fakeKey = knob.Key{Mechanism: setting.Sysctl, Name: fin}

const fin, fakeValue = "net.ipv4.tcp_fin_timeout", "17"

func newFakeHost(zone *time.Location, seed uint64) *fakeHost {
	now := time.Now()
	return &fakeHost{midnight: midnightAfter(now, zone), rand: rand.New(rand.NewPCG(seed, 1)), zone: zone, begun: now, written: now, takes: 30 * time.Millisecond, value: "60", own: "60",
		logs: [2]fakeLog{{inode: 100}, {inode: 99}}, before: func(string) {},
		rate: func(time.Time, bool) float64 { return 2 }, mean: func(time.Time, bool) float64 { return 0.1 }}
}

func (h *fakeHost) Where() string { return "a host" }
func (h *fakeHost) Close() error  { return nil }

// live advances the host to now: requests, the log's rotation, the switch.
func (h *fakeHost) live() {
	now := time.Now()
	for h.written.Before(now) {
		step := h.written.Add(time.Second)
		if step.After(now) {
			step = now
		}
		if h.pending != nil && step.After(h.pending.until) && h.pending.until.After(h.written) {
			step = h.pending.until
		}
		if h.pending != nil && !step.Before(h.pending.until) {
			h.back("nobody confirmed in time")
		}
		if !step.Before(h.midnight) {
			h.logs = [2]fakeLog{{inode: h.logs[0].inode + 1}, h.logs[0]}
			h.rotated++
			h.midnight = midnightAfter(step, h.zone)
		}
		treated := h.value == fakeValue
		seconds := step.Sub(h.written).Seconds()
		if treated {
			h.treated += step.Sub(h.written)
		}
		for range h.poisson(h.rate(step, treated) * seconds) {
			h.wrote++
			took := h.mean(step, treated) * h.rand.ExpFloat64()
			h.logs[0].text = fmt.Appendf(h.logs[0].text, "198.18.0.9 - - [%s] \"GET /a HTTP/1.1\" 200 10 \"-\" \"-\" %.3f\n", step.In(h.zone).Format("02/Jan/2006:15:04:05 -0700"), took)
		}
		h.packets += 1000 * seconds
		h.written = step
	}
}

func midnightAfter(t time.Time, zone *time.Location) time.Time {
	year, month, day := t.In(zone).Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, zone)
}

func (h *fakeHost) poisson(mean float64) (n int) {
	for left := h.rand.ExpFloat64(); left < mean; left += h.rand.ExpFloat64() {
		n++
	}
	return n
}

// back reverts a pending change.
func (h *fakeHost) back(why string) {
	h.value = h.own
	h.history = append(h.history, apply.Past{ID: h.pending.id, Outcome: string(apply.Reverted), Digest: h.pending.digest, Why: why})
	h.most = max(h.most, len(h.history))
	h.pending = nil
}

// answer waits as long as the host takes to answer, and locks it.
func (h *fakeHost) answer(ctx context.Context, what string) (unlock func(), err error) {
	h.before(what)
	if err := pause(ctx, h.takes); err != nil {
		return func() {}, err
	}
	h.lock.Lock()
	h.live()
	return h.lock.Unlock, nil
}

func (h *fakeHost) Run(ctx context.Context, script string, args []string, _ []byte) ([]byte, error) {
	unlock, err := h.answer(ctx, args[0])
	defer unlock()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	switch args[0] {
	case "look":
		up := now.Sub(h.begun).Seconds()
		return fmt.Appendf(nil, "clock %d\nowner %s\nboot b\nuptime %.2f\nhz 100\ncpu %.0f 0 0 %.0f 0 0 0 0\ncore\nrunning 1\nmemory 100\navailable 50\ndev eth0 0 %.0f 0 0 0 0 0 0 0 0 0 0 0\nend\n",
			now.Unix(), h.owner, up, 10*up, 90*up, h.packets), nil
	case "piece":
		return h.piece(args), nil
	case "lock":
		if args[3] == "again" && h.owner == "" {
			return []byte("lost\n"), nil
		}
		if h.owner != "" && h.owner != args[1] && now.Before(h.until) {
			return fmt.Appendf(nil, "held %s 9\n\n", h.owner), nil
		}
		seconds, err := strconv.Atoi(args[2])
		h.owner, h.until = args[1], now.Add(time.Duration(seconds)*time.Second)
		return []byte("taken\n"), err
	case "unlock":
		if h.owner == args[1] {
			h.owner = ""
		}
	case "forget":
		for _, id := range args[1:] {
			for i, past := range h.history {
				if past.ID == id {
					h.history = append(h.history[:i:i], h.history[i+1:]...)
					break
				}
			}
		}
	}
	return nil, nil
}

// piece is the log command of sample.sh: the log's text from an offset on.
func (h *fakeHost) piece(args []string) []byte {
	at, _ := strconv.ParseInt(args[3], 10, 64)
	now, old := &h.logs[0], &h.logs[1]
	if args[2] == "0" {
		h.read = h.wrote
		return fmt.Appendf(nil, "piece %d %d 0\n", now.inode, now.size())
	}
	if args[2] != strconv.Itoa(now.inode) {
		if args[2] == strconv.Itoa(old.inode) && old.size() > at {
			old.drop(at)
			h.read += bytes.Count(old.text, []byte{'\n'})
			return append(fmt.Appendf(nil, "piece %d 0 %d\n", now.inode, len(old.text)), old.text...)
		}
		at = 0
	}
	now.drop(at)
	if h.read += bytes.Count(now.text, []byte{'\n'}); h.read != h.wrote {
		h.missed++
	}
	return append(fmt.Appendf(nil, "piece %d %d %d\n", now.inode, now.size(), len(now.text)), now.text...)
}

// fakeMachine is the host as package apply sees it.
type fakeMachine struct {
	apply.Machine
	*fakeHost
}

func (m fakeMachine) Where() string { return m.fakeHost.Where() }

func (m fakeMachine) Hello(context.Context) (apply.Identity, error) {
	return apply.Identity{OS: "linux"}, nil
}

func (m fakeMachine) Look(ctx context.Context, keys []knob.Key, _ []string) (apply.Snapshot, error) {
	unlock, err := m.answer(ctx, "values")
	defer unlock()
	now := apply.Snapshot{Values: map[knob.Key]string{}}
	for _, k := range keys {
		if k == fakeKey {
			now.Values[k] = m.value
		}
	}
	return now, err
}

func (m fakeMachine) Status(ctx context.Context) (apply.Status, error) {
	unlock, err := m.answer(ctx, "status")
	defer unlock()
	st := apply.Status{Identity: apply.Identity{OS: "linux"}, State: "idle", History: append([]apply.Past{}, m.history...)}
	if m.pending != nil {
		st.State, st.ID, st.Digest = "pending", m.pending.id, m.pending.digest
	}
	if m.owner != "" {
		st.Live = &apply.LiveStudy{Owner: m.owner}
	}
	return st, err
}

func (m fakeMachine) Apply(ctx context.Context, t apply.Transaction) (string, map[knob.Key]string, error) {
	unlock, err := m.answer(ctx, "apply")
	defer unlock()
	if err != nil || m.pending != nil {
		return "", nil, fmt.Errorf("pending: %v, %w", m.pending, err)
	}
	m.count++
	m.pending = &window{id: fmt.Sprintf("%06d-0", m.count), digest: t.Plan.Digest, until: time.Now().Add(t.Window)}
	after := map[knob.Key]string{}
	for _, a := range t.Set {
		m.value, after[a.Key] = a.Value, a.Value
	}
	return m.pending.id, after, nil
}

func (m fakeMachine) Revert(ctx context.Context, id, why string) (string, error) {
	unlock, err := m.answer(ctx, "revert")
	defer unlock()
	if err != nil {
		return "", err
	}
	if m.pending == nil {
		return "", fmt.Errorf("%s is not pending", id)
	}
	if m.pending.id != id { // the agent has nothing to do then
		return "", nil
	}
	m.back(why)
	return id, nil
}

// study returns a study of the fake host's setting.
func (h *fakeHost) study(o Options) Options {
	o.Conn, o.Machine = h, fakeMachine{fakeHost: h}
	o.Treatments = []Treatment{{Name: "it", Values: []apply.Assignment{{Key: fakeKey, Value: fakeValue}}}}
	o.Plan.Treatments = []string{"it"}
	if o.Sink == nil {
		o.Sink = func(Window) error { return nil }
	}
	return o
}

// felt holds the tests' metrics by unique names.
var felt sync.Map

func init() {
	sources["felt"] = func(o *Options, rest string) (study.Watched, Source, error) {
		w, err := o.watched("what a test feels")
		read, _ := felt.Load(rest)
		return w, &feltSource{read: read.(func() (float64, error))}, err
	}
}

type feltSource struct {
	readings
	read func() (float64, error)
}

func (s *feltSource) Tick(context.Context, Sample) (float64, error) {
	v, err := s.read()
	s.add(v)
	return v, err
}
