package study

// The metrics of a live host, as results name them.
const (
	CPUPerPacket     = "cpu_ns_per_packet"
	CPUPerRequest    = "cpu_ns_per_request"
	SoftirqPerPacket = "softirq_ns_per_packet"
	LogP50           = "log_p50_ns"
	LogP95           = "log_p95_ns"
	LogP99           = "log_p99_ns"
	LogErrors        = "log_error_ratio"
	LogRate          = "log_requests_per_second"
	Retransmits      = "retransmit_ratio"
	RoundTrip        = "round_trip_ns"
	DeliveryRate     = "delivery_rate_bps"
	DropsPerPacket   = "drops_per_packet"
	ProbeLatency     = "probe_latency_ns"
	// WatchedLower and WatchedHigher are values of the user's own: of a command, or a
	// query.
	WatchedLower  = "watched_value"
	WatchedHigher = "watched_value_higher"
)

// Watched is a metric with where it comes from.
type Watched struct {
	Metric string `json:"metric" yaml:"metric"`
	Source string `json:"source" yaml:"source"` // as the user wrote it
	How    string `json:"how,omitempty" yaml:"-"`
}

// Window is what was seen of one window.
type Window struct {
	Pair   int     `json:"pair"`
	Half   int     `json:"half"`
	Of     string  `json:"of"`
	Ramp   bool    `json:"ramp,omitempty"` // a short first exposure: it does not count
	BurnIn float64 `json:"burn_in_seconds"`
	Switch float64 `json:"switch_seconds"` // that the switch itself took
	// Series are the values of every check, by metric, and At when they were taken, in
	// seconds from the window's begin; null where there was nothing to measure.
	At     []float64             `json:"at_seconds"`
	Series map[string][]*float64 `json:"series"`
	// Value is each metric over the window without its burn-in.
	Value map[string]float64 `json:"value"`
	// Traffic is what the host handled in it, a second; Counted what was counted
	// of each metric.
	Traffic float64            `json:"traffic_per_second"`
	Counted map[string]float64 `json:"counted,omitempty"`
	// KernelTime is how the kernel's CPU time was counted:
	// tracepoints (the kernel's), ticks (/proc/stat, kern.cp_time); "" where it was not
	// asked for, and of records before there was more than ticks.
	KernelTime string `json:"kernel_time,omitempty"`
	// Drops are the packets that were dropped, a second, by place.
	Drops map[string]float64 `json:"drops_per_second,omitempty"`
	// Nearest is how near each guardrail came, by name.
	Nearest map[string]Nearest `json:"guardrails,omitempty"`
	Trip    *Trip              `json:"trip,omitempty"`
	// Disturbed says what else happened to the host meanwhile.
	Disturbed []Disturbance `json:"disturbed,omitempty"`
	Notes     []string      `json:"notes,omitempty"` // what could not be read
}

// Disturbance is something that makes a window no measurement of its treatment.
type Disturbance struct {
	Gate string `json:"gate"`
	Text string `json:"text"`
}

// The gates of windows.
const (
	GateKey     = "changed"   // somebody else changed what is studied
	GateReload  = "reload"    // the watched service was started anew
	GateBoot    = "boot"      // the machine booted
	GateClock   = "clock"     // the host's clock was set
	GateTraffic = "traffic"   // the halves of a pair handled different amounts
	GateNothing = "nothing"   // there was nothing to measure
	GateRead    = "unread"    // too many checks had no answer
	GateGuard   = "guardrail" // it was ended
)
