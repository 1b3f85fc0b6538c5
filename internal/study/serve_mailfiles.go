package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"linerate/internal/calc"
	"linerate/internal/hint"
	"linerate/internal/load/request"
	"linerate/internal/setting"
	"linerate/internal/stats"
	"linerate/internal/yamlfile"
)

// SMTP is a workload of messages to a mail server (mode serve).
type SMTP struct {
	Messages []string `yaml:"messages,flow"` // sizes; each is sent as often as it is listed
	Accounts int      `yaml:"accounts"`
	Rate     float64  `yaml:"rate"` // messages per second of each arm's open loop; 0: a closed loop
	Arrivals string   `yaml:"arrivals"`
	// Burst is the number of messages in a turn of a closed loop; 0: as many
	// as fit in its time.
	Burst      int     `yaml:"burst"`
	Sessions   int     `yaml:"sessions"`    // concurrent; in an open loop the maximum
	PerSession int     `yaml:"per_session"` // messages after which a session ends; 0: unlimited
	Clients    int     `yaml:"clients"`
	Timeout    float64 `yaml:"timeout"` // seconds
}

// Files is a workload of transactions on many small files (mode serve), like PostMark's: each
// transaction reads or appends to one file, and creates or deletes one.
type Files struct {
	Count       int     `yaml:"count"`
	Size        string  `yaml:"size"` // range for new files: "500B-10kB"
	Directories int     `yaml:"directories"`
	Fsync       bool    `yaml:"fsync"` // after each write
	Lanes       int     `yaml:"lanes"` // concurrent transactions
	Burst       int     `yaml:"burst"` // transactions in a turn of a closed loop; 0: as many as fit in its time
	Rate        float64 `yaml:"rate"`  // transactions per second of each arm's open loop; 0: a closed loop
	Arrivals    string  `yaml:"arrivals"`
	Timeout     float64 `yaml:"timeout"` // seconds
}

// Sizes returns the sizes of the messages in bytes, in the order listed.
func (m *SMTP) Sizes() ([]int, error) {
	return sizesOf("a message", m.Messages, maxMessage, "write messages: [1kB, 10kB]")
}

// sizesOf parses sizes in bytes.
func sizesOf(what string, texts []string, most int, advice string) ([]int, error) {
	var out []int
	for _, text := range texts {
		v, err := calc.Parse(text, calc.Bytes)
		if err != nil || !(v >= 0 && v <= float64(most)) {
			return nil, hint.With(fmt.Errorf("%s of %q is not within 0 and %d bytes", what, text, most), "%s", advice)
		}
		out = append(out, int(math.Round(v)))
	}
	return out, nil
}

// Range returns the smallest and the largest size of a new file, in bytes.
func (f *Files) Range() (least, most int, err error) {
	lo, hi, err := calc.ParseRange(f.Size, calc.Bytes)
	if err != nil || lo < 0 || hi > maxFile {
		return 0, 0, hint.With(fmt.Errorf("files of %q are not within 0 and %d bytes", f.Size, maxFile), "write size: 500B-10kB")
	}
	return int(lo), int(hi), nil
}

// Limits of these workloads.
const (
	maxMessage  = 10 << 20
	maxFile     = 64 << 20
	maxFiles    = 200_000
	maxLanes    = 64
	maxSessions = 1000
	maxBurst    = 100_000
)

func (m *SMTP) check(path string) *yamlfile.Problem {
	sizes, err := m.Sizes()
	switch {
	case err != nil:
		return yamlfile.Wrong(path+".messages", "%v", err).Advise("%s", hint.Of(err))
	case len(sizes) == 0 || len(sizes) > 1000:
		return yamlfile.Wrong(path+".messages", "%d sizes: from 1 to 1000", len(sizes))
	}
	return cmp.Or(checkLoop(path, m.Arrivals, m.Rate, m.Timeout), checkBurst(path, m.Burst, m.Rate), yamlfile.Within(path+".accounts", m.Accounts, 1, setting.MaxMailAccounts),
		yamlfile.Within(path+".sessions", m.Sessions, 1, maxSessions), yamlfile.Within(path+".per_session", m.PerSession, 0, maxBurst), yamlfile.Within(path+".clients", m.Clients, 1, maxClients))
}

func (f *Files) check(path string) *yamlfile.Problem {
	if _, _, err := f.Range(); err != nil {
		return yamlfile.Wrong(path+".size", "%v", err).Advise("%s", hint.Of(err))
	}
	return cmp.Or(checkLoop(path, f.Arrivals, f.Rate, f.Timeout), checkBurst(path, f.Burst, f.Rate), yamlfile.Within(path+".count", f.Count, 1, maxFiles),
		yamlfile.Within(path+".directories", f.Directories, 0, f.Count), yamlfile.Within(path+".lanes", f.Lanes, 1, min(maxLanes, f.Count)))
}

func checkBurst(path string, n int, rate float64) *yamlfile.Problem {
	if n > 0 && rate > 0 {
		return yamlfile.Wrong(path+".burst", "burst: %d cannot be combined with a rate", n).Advise("a burst is a closed loop's: leave out rate")
	}
	return yamlfile.Within(path+".burst", n, 0, maxBurst)
}

// The default workloads.
var (
	defaultHTTP = HTTP{Objects: []string{"24kB"}, Arrivals: string(request.Poisson), Connections: 64, Clients: 10, Keepalive: true, Version: 1, Timeout: 5}
	defaultSMTP = SMTP{Messages: []string{"4kB"}, Accounts: 1000, Arrivals: string(request.Poisson), Sessions: 20, PerSession: 1, Clients: 10, Timeout: 20}
	defaultFile = Files{Count: 1000, Size: "500B-10kB", Lanes: 1, Arrivals: string(request.Poisson), Timeout: 20}
)

// fillRequests fills in the study's workload of requests.
func fillRequests(s *Spec, said func(string) bool) {
	w := &s.Workload.Asks
	if w.HTTP != nil {
		fillFrom(said, "workload.http.", &w.HTTP, &defaultHTTP)
	}
	if w.SMTP != nil {
		fillFrom(said, "workload.smtp.", &w.SMTP, &defaultSMTP)
	}
	if w.Files != nil {
		fillFrom(said, "workload.files.", &w.Files, &defaultFile)
	}
}

func fillAsked(s *Spec, place int, said func(string) bool) {
	w, p, path := s.Workload.Asks, &s.Parts[place].Asks, PartPath(place)
	fillFrom(said, path+".http.", &p.HTTP, w.HTTP)
	fillFrom(said, path+".smtp.", &p.SMTP, w.SMTP)
	fillFrom(said, path+".files.", &p.Files, w.Files)
}

// Requests holds what all workloads of mode serve have in common.
type Requests struct {
	Kind    string  // "http", "smtp" or "files"
	Rate    float64 // of each arm's open loop; 0: a closed loop
	Targets int     // number of targets in the mix
	Clients int     // number of source addresses
	Origin  bool    // a second server behind the first
	Burst   int     // in a closed loop: requests per turn; 0: turns of fixed time
}

// filesTargets is the number of pairs of operations that a transaction can consist of.
const filesTargets = 4

// forms lists the keys of the workloads that are set.
func (a Asks) forms() (keys []string) {
	if a.HTTP != nil {
		keys = append(keys, "http")
	}
	if a.SMTP != nil {
		keys = append(keys, "smtp")
	}
	if a.Files != nil {
		keys = append(keys, "files")
	}
	return keys
}

// RequestsOf returns the requests of a part of mode serve.
func RequestsOf(p Part) Requests {
	switch {
	case p.SMTP != nil:
		return Requests{Kind: "smtp", Rate: p.SMTP.Rate, Targets: len(p.SMTP.Messages), Clients: p.SMTP.Clients, Burst: p.SMTP.Burst}
	case p.Files != nil:
		return Requests{Kind: "files", Rate: p.Files.Rate, Targets: filesTargets, Clients: 1, Burst: p.Files.Burst}
	case p.HTTP != nil:
		return Requests{Kind: "http", Rate: p.HTTP.Rate, Targets: len(p.HTTP.Objects), Clients: p.HTTP.Clients, Origin: p.HTTP.Proxy}
	}
	return Requests{Kind: "http"}
}

// checkForms requires one form of requests per study, the same in all parts.
func checkForms(s *Spec, path string, p Part) *yamlfile.Problem {
	of := s.Workload.forms()
	for _, form := range p.forms() {
		if !slices.Contains(of, form) {
			return yamlfile.Wrong(path+"."+form, "the part's workload is not the study's").Advise("give the study workload: {%s: …}", form)
		}
	}
	switch {
	case len(of) > 1:
		return yamlfile.Wrong("workload", "a study has one of http, smtp and files; this one has %d", len(of))
	case p.HTTP != nil:
		return p.HTTP.check(path + ".http")
	case p.SMTP != nil:
		return p.SMTP.check(path + ".smtp")
	}
	return p.Files.check(path + ".files")
}

// Mail is what a mail server's own log says about a trial.
type Mail struct {
	Taken     uint64 `json:"taken"`
	Delivered uint64 `json:"delivered"`
	Deferred  uint64 `json:"deferred"` // deliveries that were deferred
	Bounced   uint64 `json:"bounced"`
}

// Burst is the time that a turn with a fixed number of requests took.
type Burst struct {
	Answered uint64  `json:"answered"`
	Seconds  float64 `json:"seconds"`        // until the last answer
	Settle   float64 `json:"settle_seconds"` // from then until the server had no work left
}

// burstRate returns the rate of an arm's bursts in requests/s: the interquartile mean of the
// logarithms, so that a disk that stalls once has no influence. It is NaN if there are none.
func burstRate(all []Burst, settled bool) float64 {
	var x []float64
	for _, b := range all {
		took := b.Seconds
		if settled {
			took += b.Settle
		}
		if b.Answered > 0 && took > 0 {
			x = append(x, math.Log(float64(b.Answered)/took))
		}
	}
	mean, _ := stats.TrimmedMean(x, Trim)
	return math.Exp(mean)
}

// settledMetrics adds the metrics of what a server does after its last answer.
func settledMetrics(m map[string]float64, v *Served) {
	if v.SettledRate > 0 {
		m[SettledRate] = v.SettledRate
	}
	if r := burstRate(v.Bursts, false); !math.IsNaN(r) {
		m[RequestRate] = r
	}
	if slices.ContainsFunc(v.Bursts, func(b Burst) bool { return b.Settle > 0 }) {
		m[SettledRate] = burstRate(v.Bursts, true)
	}
	if v.Queue != nil {
		m[QueuePeak] = float64(v.Queue.Peak)
	}
}
