package study

// metricWords are what a metric of servers is called where its requests are
// messages or transactions: by kind of workload (Requests.Kind), then metric.
var metricWords = map[string]map[string]struct{ label, unit string }{
	"smtp": {
		RequestRate:   {"rate of messages taken", "messages/s"},
		SettledRate:   {"rate of messages delivered", "messages/s"},
		RequestErrors: {"share of messages not taken", ""},
	},
	"files": {
		RequestRate:   {"rate of transactions", "transactions/s"},
		SettledRate:   {"rate of transactions on the disk", "transactions/s"},
		RequestErrors: {"share of transactions failed", ""},
	},
}

// In is the metric in the words of a kind of workload.
func (m Metric) In(kind string) Metric {
	if w, ok := metricWords[kind][m.Name]; ok {
		m.Label, m.Unit = w.label, w.unit
	}
	return m
}

// kind is the workload's, as Requests has it.
func (s Spec) kind() string {
	switch {
	case s.Workload.SMTP != nil:
		return "smtp"
	case s.Workload.Files != nil:
		return "files"
	}
	return ""
}

// Kind is the workload of requests that the trials had, "" where words are the
// same: only mail has a queue, and of the web nothing settles.
func (r Results) Kind() string {
	kind := ""
	for _, t := range r.Trials {
		if _, ok := t.Metrics[QueuePeak]; ok {
			return "smtp"
		}
		if _, ok := t.Metrics[SettledRate]; ok {
			kind = "files"
		}
	}
	return kind
}

// Metric finds a metric in the words of the study's workload.
func (r Results) Metric(name string) (Metric, bool) {
	m, ok := MetricNamed(name)
	return m.In(r.Kind()), ok
}
