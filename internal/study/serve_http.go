package study

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"linerate/internal/calc"
	"linerate/internal/hint"
	"linerate/internal/load/request"
	"linerate/internal/setting"
	"linerate/internal/testbed"
	"linerate/internal/yamlfile"
)

// HTTP is a workload of requests to a web server (mode serve).
type HTTP struct {
	// Objects are the sizes of the requested bodies, such as "24kB" or
	// "350kB"; each is requested as often as it is listed.
	Objects []string `yaml:"objects,flow"`
	// Rate is the rate of an open loop, in requests per second per arm; 0
	// means a closed loop of Connections.
	Rate        float64 `yaml:"rate"`
	Arrivals    string  `yaml:"arrivals"`    // in an open loop: "poisson" or "constant"
	Connections int     `yaml:"connections"` // concurrent; in an open loop the maximum
	Clients     int     `yaml:"clients"`     // number of source addresses, used in rotation
	Keepalive   bool    `yaml:"keepalive"`   // false: a new connection for every request
	TLS         bool    `yaml:"tls"`
	Version     int     `yaml:"http"`    // 1 for HTTP/1.1, or 2 (with tls)
	Timeout     float64 `yaml:"timeout"` // seconds after which an answer counts as failed
	Proxy       bool    `yaml:"proxy"`   // the server fetches all objects from an origin, over the link
}

// Asks holds the requests to servers: exactly one of these.
type Asks struct {
	HTTP  *HTTP  `yaml:"http,omitempty"`
	SMTP  *SMTP  `yaml:"smtp,omitempty"`
	Files *Files `yaml:"files,omitempty"`
}

// Asking overrides how the clients of one variant connect, while they request
// the same objects at the same rate.
type Asking struct {
	Keepalive *bool `yaml:"keepalive,omitempty"`
	TLS       *bool `yaml:"tls,omitempty"`
	Version   *int  `yaml:"http,omitempty"`
}

// AskedOf returns the part with the requests of the variant's clients.
func AskedOf(p Part, v Variant) Part {
	by := v.HTTP
	if by == nil || p.HTTP == nil {
		return p
	}
	h := *p.HTTP
	instead(&h.Keepalive, by.Keepalive)
	instead(&h.TLS, by.TLS)
	instead(&h.Version, by.Version)
	p.HTTP = &h
	return p
}

func instead[T any](value, by *T) {
	if by != nil {
		*value = *by
	}
}

// Link describes the path between clients and server, in each direction (testbed.Link).
type Link struct {
	Delay  string `yaml:"delay,omitempty"`  // one way: "40ms"
	Jitter string `yaml:"jitter,omitempty"` // plus or minus, around Delay: "2ms"
	Loss   string `yaml:"loss,omitempty"`   // "0.5%"
	Rate   string `yaml:"rate,omitempty"`   // "20Mbps"
}

// Limits of a workload of requests.
const (
	maxClients     = 4096
	maxConnections = 20_000
	leastTimeout   = 1e-3
	maxTimeout     = 60.0
	maxRequestRate = 1e6
	maxLinkDelay   = 10 * time.Second
)

// Parse parses the link; nil is a plain wire.
func (l *Link) Parse() (out testbed.Link, err error) {
	if l == nil {
		return out, nil
	}
	if out.Delay, err = duration("delay", l.Delay); err != nil {
		return out, err
	}
	if out.Jitter, err = duration("jitter", l.Jitter); err != nil {
		return out, err
	}
	if out.Jitter > out.Delay {
		return out, fmt.Errorf("a jitter of %v is more than the delay of %v", out.Jitter, out.Delay)
	}
	if l.Loss != "" {
		v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(l.Loss, "%")), 64)
		if err != nil || !strings.HasSuffix(l.Loss, "%") || !(v >= 0 && v < 100) {
			return out, hint.With(fmt.Errorf("a loss of %q is not a share of packets", l.Loss), "write it in per cent: loss: 0.5%%")
		}
		out.Loss = v / 100
	}
	if l.Rate != "" {
		v, err := calc.Parse(l.Rate, calc.BitsPerSecond)
		if err != nil || !(v >= 1e4 && v <= 1e11) {
			return out, hint.With(fmt.Errorf("a rate of %q is not within 10 kb/s and 100 Gb/s", l.Rate), "write rate: 20Mb/s")
		}
		out.Rate = v
	}
	return out, nil
}

func duration(key, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxLinkDelay {
		return 0, hint.With(fmt.Errorf("a %s of %q is not within 0 and %v", key, text, maxLinkDelay), "write %s: 40ms; it is one way", key)
	}
	return d, nil
}

// Sizes returns the sizes of the objects in bytes, in the order listed.
func (h *HTTP) Sizes() ([]int, error) {
	return sizesOf("an object", h.Objects, setting.MaxObject, "write objects: [24kB, 350kB]")
}

// LinkOf returns the link of a part: its own, or the study's.
func LinkOf(s *Spec, p Part) *Link {
	if own := p.Link; own != nil {
		return own
	}
	return s.Link
}

// checkAsking checks the variants' overrides of a part's requests.
func checkAsking(s *Spec, p Part) *yamlfile.Problem {
	for i, v := range s.Variants {
		if v.HTTP == nil {
			continue
		}
		if p.HTTP == nil {
			return yamlfile.Wrong(fmt.Sprintf("variants[%d].http", i), "the study's clients speak no HTTP")
		}
		if bad := AskedOf(p, v).HTTP.check(fmt.Sprintf("variants[%d].http", i)); bad != nil {
			return bad
		}
	}
	return nil
}

func (h *HTTP) check(path string) *yamlfile.Problem {
	sizes, err := h.Sizes()
	switch {
	case err != nil:
		return yamlfile.Wrong(path+".objects", "%v", err).Advise("%s", hint.Of(err))
	case len(sizes) == 0 || len(sizes) > 1000:
		return yamlfile.Wrong(path+".objects", "%d objects: from 1 to 1000", len(sizes))
	case h.Version == 2 && !h.TLS:
		return yamlfile.Wrong(path+".http", "HTTP/2 needs TLS").Advise("add tls: true")
	}
	return cmp.Or(checkLoop(path, h.Arrivals, h.Rate, h.Timeout), yamlfile.Within(path+".connections", h.Connections, 1, maxConnections),
		yamlfile.Within(path+".clients", h.Clients, 1, maxClients), yamlfile.Within(path+".http", h.Version, 1, 2))
}

// checkLoop checks the keys common to all workloads of requests.
func checkLoop(path, arrivals string, rate, timeout float64) *yamlfile.Problem {
	return cmp.Or(yamlfile.OneOf(path+".arrivals", arrivals, string(request.Poisson), string(request.Constant)),
		yamlfile.Within(path+".rate", rate, 0, maxRequestRate), yamlfile.Within(path+".timeout", timeout, leastTimeout, maxTimeout))
}

// Served is the outcome of a part's requests to one arm's server.
type Served struct {
	request.Result
	Turns int `json:"turns"` // of each arm, or 1
	// Within is the share of all requests answered within the given number of ms.
	Within map[string]float64 `json:"within_ms"`
	// Tenths counts answers by response time in tenths of a second; the last
	// bin counts all longer ones.
	Tenths []uint64 `json:"tenths"`
	// ServerCPU is the CPU time of all the server's processes, in seconds,
	// for Asked requests, which include those before the measurement.
	ServerCPU float64           `json:"server_cpu_seconds"`
	Asked     uint64            `json:"asked"`
	Link      testbed.LinkStats `json:"link"`
	RoundTrip float64           `json:"round_trip_seconds"` // configured for the link
	Log       *ServerLog        `json:"log,omitempty"`
	Queue     *request.Queue    `json:"queue,omitempty"` // only for mail
	Bursts    []Burst           `json:"bursts,omitempty"`
	Mail      *Mail             `json:"mail,omitempty"`
}

// ServerLog is what the server's access log says about the same requests.
type ServerLog struct {
	Lines  uint64   `json:"lines"`
	Within float64  `json:"within_100ms"` // share of the lines
	Tenths []uint64 `json:"tenths"`
	P50    int64    `json:"p50_ns"`
	P99    int64    `json:"p99_ns"`
}

// TenthsUpTo is the number of bins of a tenth of a second: the guide's figure
// goes to six seconds.
const TenthsUpTo = 60

// Condense fills in Result and what is derived from the account.
func (v *Served) Condense(a *request.Account, m request.Meter) {
	v.Result = a.Result(m)
	v.Within = map[string]float64{}
	for _, ms := range []int{50, 100, 200, 500, 1000} {
		v.Within[strconv.Itoa(ms)] = a.Within(time.Duration(ms) * time.Millisecond)
	}
	v.Tenths = a.Bins(100*time.Millisecond, TenthsUpTo)
	v.Asked = m.Early + v.Requests
	v.Queue = m.Queue
}

func measureServed(m map[string]float64, o Observation) {
	v := o.Served
	if v == nil || v.Requests == 0 {
		return
	}
	m[RequestErrors] = float64(v.Failed+v.Unsent) / float64(v.Requests+v.Unsent)
	m[RequestRate], m[RequestBits] = v.Result.RequestRate, 8*v.BodyRate
	if v.Latency != nil || v.Answered == 0 { // else no response time is known
		m[Within100ms] = v.Within["100"]
	}
	if q := v.Latency; q != nil {
		m[RequestMean], m[RequestP50], m[RequestP90] = q.Mean, float64(q.P50), float64(q.P90)
		if len(v.lag(false))+len(v.lateLink(false)) == 0 { // else clients and link contribute too much to the latency
			m[RequestP99] = float64(q.P99)
		}
	}
	if v.Asked > 0 && v.ServerCPU > 0 {
		m[ServerCPU] = 1e9 * v.ServerCPU / float64(v.Asked)
		if bits := 8 * float64(v.BodyBytes) / float64(v.Requests); bits > 0 {
			m[ServerCPUPerGigabit] = m[ServerCPU] / bits
		}
	}
	if v.Asked > 0 && v.Link.Bytes > 0 {
		m[LinkBytes] = float64(v.Link.Bytes) / float64(v.Asked)
	}
	settledMetrics(m, v)
	if l := v.Log; l != nil && l.Lines > 0 {
		m[LogWithin100ms] = l.Within
		if l.P50 > 0 {
			m[ServerLogP50] = float64(l.P50)
		}
	}
}
