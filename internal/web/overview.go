package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"linerate/internal/ledger"
	"linerate/internal/queue"
)

// Overview is the JSON document of the front page.
type Overview struct {
	Document
	Ledger   bool `json:"ledger"`
	Studies  int  `json:"studies"`
	Running  int  `json:"running"`
	Tunables int  `json:"tunables"`
	// Measured are tunables that the ledger has verdicts about.
	Measured int `json:"measured"`
	// Hosts, Unreachable, Errors and Warnings are the fleet's.
	Hosts       int `json:"hosts"`
	Unreachable int `json:"unreachable"`
	Errors      int `json:"errors"`
	Warnings    int `json:"warnings"`
	// Applied are hosts on which linerate applied something, Drifted those that are not as it
	// left them.
	Applied int `json:"applied"`
	Drifted int `json:"drifted"`
	// Queued are studies that wait or run in the queue; Testbeds are all, Quarantined those
	// out of use.
	Queued      int            `json:"queued"`
	Testbeds    int            `json:"testbeds"`
	Quarantined int            `json:"quarantined"`
	Newest      []ledger.Study `json:"newest"`
	Runs        []Progress     `json:"runs"`
}

// onFront is how many studies the front page names.
const onFront = 8

// overview is the front page.
func (s *Server) overview(r *http.Request) (*answer, error) {
	doc := Overview{Document: version1, Newest: []ledger.Study{}, Runs: []Progress{}}
	l, err := s.reader(r.Context())
	if err != nil {
		return nil, err
	}
	if s.Catalogue != nil {
		doc.Tunables = len(s.Catalogue.Catalogue().Records)
	}
	if l != nil {
		doc.Ledger = true
		all, err := l.Studies(r.Context(), ledger.Filter{})
		if err != nil {
			return nil, err
		}
		measured, err := l.Tunables(r.Context())
		if err != nil {
			return nil, err
		}
		if err := doc.ofFleet(r.Context(), l.FleetReader()); err != nil {
			return nil, err
		}
		slices.Reverse(all)
		doc.Studies, doc.Measured = len(all), len(measured)
		doc.Newest = append(doc.Newest, all[:min(len(all), onFront)]...)
	}
	q, err := s.line(r)
	if err != nil {
		return nil, err
	}
	if q != nil {
		now, err := queue.Look(r.Context(), q, false)
		if err != nil {
			return nil, err
		}
		doc.Queued, doc.Testbeds, doc.Quarantined = len(now.Studies), len(now.Testbeds), beds(now.Testbeds)[queue.BedQuarantined]
	}
	if doc.Runs, err = s.live(); err != nil {
		return nil, err
	}
	doc.Running = len(doc.Runs)
	return &answer{title: "Overview", doc: doc, refresh: 60}, nil
}

// ofFleet fills in how the fleet fares.
func (d *Overview) ofFleet(ctx context.Context, f ledger.FleetReader) error {
	st, err := f.Status(ctx, 0)
	if err != nil || st.Hosts == 0 {
		return err
	}
	d.Hosts, d.Unreachable, d.Errors, d.Warnings = st.Hosts, st.Unreachable, st.Errors, st.Warnings
	d.Applied, d.Drifted = st.Applied, st.Drifted
	return nil
}

// beds counts testbeds by their state.
func beds(all []queue.TestbedState) map[string]int {
	n := map[string]int{}
	for _, b := range all {
		n[b.State]++
	}
	return n
}

// Earlier and Later are the neighbouring pages of the list, "" where there is none.
func (d Studies) Earlier() string { return d.at(d.Page - 1) }

// Later is the page of older studies.
func (d Studies) Later() string { return d.at(d.Page + 1) }

func (d Studies) at(n int) string {
	if n < 1 || n > d.Pages {
		return ""
	}
	q := url.Values{}
	for name, value := range map[string]string{"q": d.Query, "kind": d.Kind} {
		if value != "" {
			q.Set(name, value)
		}
	}
	q.Set("page", strconv.Itoa(n))
	return "/studies?" + q.Encode()
}
