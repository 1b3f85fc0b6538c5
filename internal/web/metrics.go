package web

import (
	"net/http"

	"linerate/internal/fleet"
	"linerate/internal/ledger"
	"linerate/internal/queue"
)

// metrics answers in the text format of Prometheus.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	var m fleet.Gauges
	if err := s.measure(r, &m); err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(m.String()))
}

// measure collects the metrics.
func (s *Server) measure(r *http.Request, m *fleet.Gauges) error {
	l, err := s.reader(r.Context())
	if err != nil {
		return err
	}
	m.One("linerate_ledger_present", "1 where there is a ledger.", bit(l != nil))
	if l != nil {
		if err := ofLedger(r, m, l); err != nil {
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
		ofQueue(m, now)
	}
	runs, err := s.live()
	if err != nil {
		return err
	}
	m.One("linerate_studies_running", "Studies that run on this machine.", len(runs))
	if len(runs) == 0 {
		return nil
	}
	m.Family("linerate_study_trials_done", "Trials of a running study that have ended.")
	for _, p := range runs {
		m.Put("linerate_study_trials_done", p.Done, "record", p.Name, "study", p.Study)
	}
	m.Family("linerate_study_trials_total", "Trials that a running study has at most.")
	for _, p := range runs {
		m.Put("linerate_study_trials_total", p.Total, "record", p.Name, "study", p.Study)
	}
	return nil
}

// ofLedger adds what is known of studies and of a fleet, where there is one.
func ofLedger(r *http.Request, m *fleet.Gauges, l ledger.Reader) error {
	all, err := l.Studies(r.Context(), ledger.Filter{})
	if err != nil {
		return err
	}
	head, _, err := l.Head(r.Context())
	if err != nil {
		return err
	}
	m.One("linerate_ledger_entries", "Entries of the ledger's chain.", head.Seq)
	m.One("linerate_ledger_studies", "Studies in the ledger.", len(all))
	st, err := l.Status(r.Context(), sweepsShown)
	if err != nil || st.Hosts == 0 {
		return err
	}
	rules, err := l.RuleCounts(r.Context(), "")
	m.WriteString(fleet.Textfile(st, rules))
	return err
}

// ofQueue adds how a queue stands.
func ofQueue(m *fleet.Gauges, now queue.Document) {
	blocks, running, by := 0, 0, map[string]int{}
	for _, s := range now.Studies {
		blocks, running = blocks+s.Blocks-s.Done-s.Running, running+s.Running
	}
	for _, b := range now.Testbeds {
		by[b.State]++
	}
	m.One("linerate_queue_studies", "Studies that wait or run in the queue.", len(now.Studies))
	m.One("linerate_queue_blocks_waiting", "Blocks of them that wait for a testbed.", blocks)
	m.One("linerate_queue_blocks_running", "Blocks of them that run.", running)
	m.One("linerate_queue_paused", "1 where nothing begins.", bit(now.Paused != ""))
	m.Family("linerate_testbeds", "Testbeds by state.")
	for _, state := range []string{queue.BedFree, queue.BedLeased, queue.BedQuarantined} {
		m.Put("linerate_testbeds", by[state], "state", state)
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
