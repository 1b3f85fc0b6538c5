package study

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/setting"
	"linerate/internal/testbed"
	"linerate/internal/yamlfile"
)

// ConnectionsMode is the mode of parts in which each connection draws its arm.
const ConnectionsMode testbed.Mode = "connections"

// Concurrent is the design of their studies: both arms are active at once.
const Concurrent = "concurrent"

// Connection describes a connection that a live host accepted, recorded when it ended. Times are in seconds.
type Connection struct {
	Client   uint32  // a hash of its address, particular to this study
	FirstRTT float64 // of the handshake, before any setting was applied; 0: not measured
	RTT      float64 // smoothed, when it ended; 0: not measured
	Duration float64
	Rate     float64 // delivery rate, in bits per second; 0: not measured
	Segments float64 // sent with data
	Again    float64 // of these, retransmitted
	Bytes    float64 // sent and acknowledged
	Request  float64 // mean time of its requests in the server's log; 0: not in the log
}

// Connections lists the connections of an arm that were opened in a window: columns of equal length.
type Connections struct {
	Share   float64 `json:"share"`  // of all connections, those that were treated
	Opened  int     `json:"opened"` // including the Open ones, which had not ended when the window was read
	Open    int     `json:"open"`
	Refused int     `json:"refused,omitempty"` // the kernel rejected a setting
	Lost    int     `json:"lost,omitempty"`    // they ended without being recorded
	Coin    uint32  `json:"coin,omitempty"`    // of flows: the seed from which their arms can be recomputed

	Client   []uint32  `json:"client"`
	FirstRTT []float64 `json:"first_rtt_seconds"`
	RTT      []float64 `json:"rtt_seconds"`
	Duration []float64 `json:"duration_seconds"`
	Rate     []float64 `json:"delivery_rate_bps"`
	Segments []float64 `json:"segments"`
	Again    []float64 `json:"segments_again"`
	Bytes    []float64 `json:"bytes_acked"`
	Request  []float64 `json:"request_seconds,omitempty"` // only in studies that read a log
}

// Add appends a connection.
func (c *Connections) Add(o Connection) {
	c.Client = append(c.Client, 0)
	for _, column := range c.columns() {
		*column = append(*column, 0)
	}
	c.Set(len(c.Client)-1, o)
}

// Set overwrites the connection at index i.
func (c *Connections) Set(i int, o Connection) {
	c.Client[i] = o.Client
	values := []float64{o.FirstRTT, o.RTT, o.Duration, o.Rate, o.Segments, o.Again, o.Bytes, o.Request}
	for j, column := range c.columns() {
		(*column)[i] = values[j]
	}
}

// columns returns the columns in the order of a Connection's fields.
func (c *Connections) columns() []*[]float64 {
	return []*[]float64{&c.FirstRTT, &c.RTT, &c.Duration, &c.Rate, &c.Segments, &c.Again, &c.Bytes, &c.Request}
}

// At returns the connection at row i.
func (c *Connections) At(i int) Connection {
	o := Connection{Client: c.Client[i]}
	for j, value := range []*float64{&o.FirstRTT, &o.RTT, &o.Duration, &o.Rate, &o.Segments, &o.Again, &o.Bytes, &o.Request} {
		if column := *c.columns()[j]; i < len(column) {
			*value = column[i]
		}
	}
	return o
}

// whole reports whether every column has a value for each connection; a record may come
// from anyone. Studies that read no server log have no column of requests.
func (c *Connections) whole() bool {
	return !slices.ContainsFunc(c.columns(), func(x *[]float64) bool {
		return len(*x) != len(c.Client) && (x != &c.Request || len(*x) > 0)
	}) &&
		c.Share >= 0 && c.Share <= 1
}

// The shares of treated connections, in each group of four windows: the lowest and the highest show
// whether the arms disturb each other. Ramp is the share of the first window, which does not count.
const (
	Ramp       = 0.05
	fewTreated = 0.1
	halfOfAll  = 0.5
	mostOfAll  = 0.9
)

// Shares returns the share treated in each of a study's windows, in an order drawn for each four.
func Shares(seed uint64, windows int) []float64 {
	rng := rand.New(rand.NewPCG(seed, NameHash("shares")))
	var out []float64
	for len(out) < windows {
		four := []float64{fewTreated, halfOfAll, halfOfAll, mostOfAll}
		rng.Shuffle(len(four), func(i, j int) { four[i], four[j] = four[j], four[i] })
		out = append(out, four...)
	}
	return out[:windows]
}

// Defaults of a study by connection.
const (
	connectionWindow  = 30
	connectionWindows = 20
)

func fillConnections(p *Part, said func(key string) bool) {
	if p.Live == nil {
		p.Live = &Terms{}
	}
	Unless(said, "window", &p.Live.Window, connectionWindow)
	Unless(said, "harm_percent", &p.Live.HarmPercent, defaultHarm)
	p.Seconds = p.Live.Window
}

// checkConnections refuses invalid terms, and settings that cannot apply to a single connection.
func checkConnections(s *Spec, t *Terms, path string) *yamlfile.Problem {
	if bad := cmp.Or(yamlfile.Within(path+".window", t.Window, leastWindow, 3600), yamlfile.Within(path+".harm_percent", t.HarmPercent, 1, 1000)); bad != nil {
		return bad
	}
	switch {
	case len(t.Watch) == 0:
		return yamlfile.Wrong(path+".watch", "nothing is watched").Advise("say what is to get better: watch: [duration]")
	case t.BurnIn != 0 || t.Pilot != 0 || t.Better != "" || t.MaxShare != 0 || t.PlanPercent != 0 || t.Imbalance != 0:
		return yamlfile.Wrong(path, "arms that are up at once have window, watch, service and harm_percent alone")
	case len(s.Variants) != 2:
		return yamlfile.Wrong("variants", "%d variants: a connection draws one of two arms", len(s.Variants))
	case s.Testbed.Host != "":
		return yamlfile.Wrong("testbed.host", "connections draw their arm on the machine that linerate runs on").Advise("run it there, and leave host out")
	}
	for _, w := range t.Watch {
		if _, ok := connectionMetric(w); !ok {
			return yamlfile.Wrong(path+".watch", "metric %s is not measured by connection", w).Advise("known: %s", strings.Join(connectionSources(), ", "))
		}
		if log := LogOf(w); log != "" && (!strings.HasPrefix(log, "/") || strings.ContainsAny(log, ",?") || log != cmp.Or(t.ServerLog(), log)) {
			return yamlfile.Wrong(path+".watch", "metric %s: connections are joined with one log, all of its lines", w).Advise("give its whole path: log:/var/log/nginx/access.log")
		}
	}
	for i, v := range s.Variants {
		for j, set := range v.Settings {
			at := fmt.Sprintf("variants[%d].settings[%d]", i, j)
			if v.Name == s.Control {
				return yamlfile.Wrong(at, "the control of a study by connection is as the host is")
			}
			if !set.Is(setting.Sysctl) && !set.Is(setting.Socket) {
				return yamlfile.Wrong(at, "a connection cannot have this for itself")
			}
			o, err := setting.SocketOptionNamed(set.Setting().Name)
			if err == nil {
				_, err = o.Parse(set.Value)
			}
			if err != nil {
				return yamlfile.Wrong(at, "%v", err).Advise("%s", hint.Of(err))
			}
		}
	}
	return nil
}

// ServerLog returns the path of the log that a study by connection reads; "" if it reads none.
func (t *Terms) ServerLog() string {
	for _, w := range t.Watch {
		if log := LogOf(w); log != "" {
			return log
		}
	}
	return ""
}

// PerConnection returns the study that answers a question by drawing an arm for each connection.
func (q Question) PerConnection(d *Design) (Spec, error) {
	s := Spec{Name: "prove", Testbed: Testbed{Kind: KindLive}, Design: Concurrent, Control: "as-is", Seed: &d.Seed,
		Question: strings.TrimSuffix(q.Text(), ", under its own traffic?") + ", connection by connection?"}
	treated := Variant{Name: "setting"}
	for _, set := range q.Settings {
		o, err := setting.SocketOptionNamed(set.Setting().Name)
		if err != nil {
			return s, err
		}
		if strings.Contains(o.Name, ".") {
			treated.Settings = append(treated.Settings, SysctlTo(o.Name, set.Value))
		} else {
			treated.Settings = append(treated.Settings, Setting{Socket: o.Name, Value: set.Value})
		}
	}
	s.Variants = []Variant{{Name: "as-is", Summary: "connections as the host makes them"}, treated}
	t := Terms{Window: d.Terms.Window, Watch: d.Terms.Watch, Service: d.Terms.Service, HarmPercent: d.Terms.HarmPercent}
	p := Part{Name: livePart, Mode: ConnectionsMode, Live: &t, Blocks: connectionWindows}
	if d.Time > 0 {
		p.Blocks = int(d.Time.Seconds() / t.Window)
		if t.Window == 0 {
			p.Blocks = int(d.Time.Seconds() / connectionWindow)
		}
	}
	if p.Blocks < leastFours {
		return s, hint.With(hint.Usagef("%d windows cannot decide: at least %d are needed", p.Blocks, leastFours), "give it more time, or shorter windows")
	}
	s.Parts = []Part{p}
	for i, w := range t.Watch {
		m, ok := connectionMetric(w)
		if !ok {
			return s, hint.With(hint.Usagef("metric %s is not measured by connection", w), "known: %s", strings.Join(connectionSources(), ", "))
		}
		g := Goal{Metric: m.Name, Part: livePart, Primary: i == 0}
		if m.Share {
			g.MarginPoints = d.Margin / 100
		} else {
			g.MarginPercent = d.Margin
		}
		s.Metrics = append(s.Metrics, g)
	}
	s, bad := Complete(s, func(path string) bool {
		return path == "parts[0].blocks" || strings.HasPrefix(path, "metrics[") || path == "parts[0].live.window" && t.Window > 0 || path == "parts[0].live.harm_percent"
	})
	if bad != nil {
		return s, d.named(bad).Usage()
	}
	return s, nil
}

// leastFours is the least number of windows: each group of shares twice.
const leastFours = 8

// The gates of windows by connection, in addition to the guardrail's.
const (
	GateRefused = "refused" // the kernel did not accept the setting for every treated connection
	GateLost    = "lost"    // one connection in a hundred or more ended without being recorded
)

// ConnectionTrial returns the trial that the study's record keeps for an arm of
// a window. Windows of the ramp do not count.
func ConnectionTrial(s Spec, w Window, variant string, c Connections) Trial {
	part := s.Parts[0]
	w.Of, w.Value = variant, map[string]float64{}
	for _, m := range connectionMetrics {
		if v := m.of(c); len(v) > 0 && part.yields(m.Metric) {
			w.Value[m.Name] = m.summary(v)
		}
	}
	if len(c.Client) == 0 {
		w.Disturbed = append(w.Disturbed, Disturbance{GateNothing, "no connection was opened and ended"})
	}
	if c.Refused > 0 && variant != s.Control {
		w.Disturbed = append(w.Disturbed, Disturbance{GateRefused, fmt.Sprintf("the kernel refused it for %d of %d connections", c.Refused, c.Opened)})
	}
	if 100*c.Lost > c.Opened {
		w.Disturbed = append(w.Disturbed, Disturbance{GateLost, fmt.Sprintf("%d of %d connections ended unseen", c.Lost, c.Opened)})
	}
	t := Trial{Part: part.Name, Variant: variant, Block: w.Pair, Order: 1 + slices.Index(s.Arms(), variant), Mode: part.Mode, Seconds: part.Seconds,
		Observed: &Observation{Window: &w, Connections: &c}}
	t.Metrics, t.Reasons = Judge(part, s.Gates, *t.Observed)
	t.Valid = len(t.Reasons) == 0
	return t
}
