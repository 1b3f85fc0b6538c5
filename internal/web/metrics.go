package web

import (
	"fmt"
	"net/http"
	"strings"

	"linerate/internal/fleet"
	"linerate/internal/ledger"
	"linerate/internal/list"
	"linerate/internal/queue"
)

// metrics answers in the text format of Prometheus.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	m := &metrics{}
	if err := s.measure(r, m); err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(m.b.String()))
}

// measure collects the metrics.
func (s *Server) measure(r *http.Request, m *metrics) error {
	l, err := s.reader(r.Context())
	if err != nil {
		return err
	}
	m.gauge("linerate_ledger_present", "1 where there is a ledger.", sample(btoi(l != nil)))
	if l != nil {
		all, err := l.Studies(r.Context(), ledger.Filter{})
		if err != nil {
			return err
		}
		head, _, err := l.Head(r.Context())
		if err != nil {
			return err
		}
		m.gauge("linerate_ledger_entries", "Entries of the ledger's chain.", sample(float64(head.Seq)))
		m.gauge("linerate_ledger_studies", "Studies in the ledger.", sample(float64(len(all))))
		if err := m.fleet(r, l.FleetReader()); err != nil {
			return err
		}
	}
	q, err := s.line(r)
	if err != nil {
		return err
	}
	if q != nil {
		now, err := queue.Look(r.Context(), q, false)
		if err != nil {
			return err
		}
		m.queue(now)
	}
	runs, err := s.live()
	if err != nil {
		return err
	}
	var done, total []value
	for _, p := range runs {
		labels := []string{"record", p.Name, "study", p.Study}
		done, total = append(done, sample(float64(p.Done), labels...)), append(total, sample(float64(p.Total), labels...))
	}
	m.gauge("linerate_studies_running", "Studies that run on this machine.", sample(float64(len(runs))))
	m.gauge("linerate_study_trials_done", "Trials of a running study that have ended.", done...)
	m.gauge("linerate_study_trials_total", "Trials that a running study has at most.", total...)
	return nil
}

// fleet writes what is known of a fleet, nothing where there is none.
func (m *metrics) fleet(r *http.Request, f ledger.FleetReader) error {
	st, err := f.Status(r.Context(), sweepsShown)
	if err != nil || st.Hosts == 0 {
		return err
	}
	rules, err := f.RuleCounts(r.Context(), "")
	m.b.WriteString(fleet.Textfile(st, rules))
	return err
}

// queue writes how a queue stands.
func (m *metrics) queue(now queue.Document) {
	blocks, running, by := 0, 0, beds(now.Testbeds)
	for _, s := range now.Studies {
		blocks, running = blocks+s.Blocks-s.Done-s.Running, running+s.Running
	}
	m.gauge("linerate_queue_studies", "Studies that wait or run in the queue.", sample(float64(len(now.Studies))))
	m.gauge("linerate_queue_blocks_waiting", "Blocks of them that wait for a testbed.", sample(float64(blocks)))
	m.gauge("linerate_queue_blocks_running", "Blocks of them that run.", sample(float64(running)))
	m.gauge("linerate_queue_paused", "1 where nothing begins.", sample(btoi(now.Paused != "")))
	states := list.Map([]string{queue.BedFree, queue.BedLeased, queue.BedQuarantined}, func(s string) value { return sample(float64(by[s]), "state", s) })
	m.gauge("linerate_testbeds", "Testbeds by state.", states...)
}

// metrics is a page of metrics being written.
type metrics struct{ b strings.Builder }

// value is a value with its labels.
type value struct {
	v      float64
	labels []string // name, value, name, value …
}

func sample(v float64, labels ...string) value { return value{v, labels} }

// gauge writes one metric; without values it is left out.
func (m *metrics) gauge(name, help string, values ...value) {
	if len(values) == 0 {
		return
	}
	fmt.Fprintf(&m.b, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
	for _, v := range values {
		m.b.WriteString(name)
		for i := 0; i+1 < len(v.labels); i += 2 {
			sep := ","
			if i == 0 {
				sep = "{"
			}
			fmt.Fprintf(&m.b, `%s%s="%s"`, sep, v.labels[i], labelText.Replace(v.labels[i+1]))
		}
		if len(v.labels) > 0 {
			m.b.WriteString("}")
		}
		fmt.Fprintf(&m.b, " %v\n", v.v)
	}
}

var labelText = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func btoi(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
