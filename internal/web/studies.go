package web

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/ledger"
	"linerate/internal/list"
	"linerate/internal/study"
	"linerate/internal/study/record"
	"linerate/internal/tunable/explain"
)

// perPage is the number of list entries per page.
const perPage = 100

// Studies is the JSON document of the list of studies.
type Studies struct {
	Document
	// Ledger is false if there is no ledger yet.
	Ledger bool `json:"ledger"`
	// Total is the number of studies in the ledger, Matching the number that match the request.
	Total    int            `json:"total"`
	Matching int            `json:"matching"`
	Page     int            `json:"page"` // from 1
	Pages    int            `json:"pages"`
	Studies  []ledger.Study `json:"studies"`
	// Query and Kind are the request's filters.
	Query string `json:"q"`
	Kind  string `json:"kind"`

	Kinds []string `json:"-"`
}

// studies lists the ledger's studies, newest first.
func (s *Server) studies(r *http.Request, l ledger.Reader) (*answer, error) {
	q := r.URL.Query()
	doc := Studies{Document: version1, Query: strings.TrimSpace(q.Get("q")), Kind: q.Get("kind"), Page: 1, Studies: []ledger.Study{}}
	if text := q.Get("page"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, refuse("page=%s: pages are counted from 1", text)
		}
		doc.Page = n
	}
	if l != nil {
		doc.Ledger = true
		all, err := l.Studies(r.Context(), ledger.Filter{})
		if err != nil {
			return nil, err
		}
		doc.take(all)
	}
	return &answer{title: "Studies", doc: doc}, nil
}

// take selects the studies of the requested page.
func (d *Studies) take(all []ledger.Study) {
	d.Total = len(all)
	for _, st := range all {
		d.Kinds = list.With(d.Kinds, st.Kind)
	}
	all = slices.DeleteFunc(all, func(st ledger.Study) bool {
		text := strings.ToLower(st.Name + "\n" + st.Question + "\n" + st.Answer + "\n" + st.Place)
		return d.Kind != "" && st.Kind != d.Kind || !strings.Contains(text, strings.ToLower(d.Query))
	})
	slices.Reverse(all)
	d.Matching, d.Pages = len(all), max(1, (len(all)+perPage-1)/perPage)
	from := min(len(all), (d.Page-1)*perPage)
	d.Studies = append(d.Studies, all[from:min(len(all), from+perPage)]...)
}

// Study is the JSON document of one study: linerate's own has results, an imported one only
// evidence.
type Study struct {
	Document
	Study    ledger.Study   `json:"study"`
	Results  *study.Results `json:"results,omitempty"`
	Evidence []ledger.Line  `json:"evidence"`

	Body     template.HTML      `json:"-"`
	Measured []explain.Evidence `json:"-"`
	Excluded int                `json:"-"` // verdicts with exclusions
}

// study serves a study's results.
func (s *Server) study(r *http.Request, l ledger.Reader) (_ *answer, err error) {
	id := r.PathValue("id")
	st, err := named(r.Context(), l, id)
	if err != nil {
		return nil, err
	}
	doc := Study{Document: version1, Study: *st}
	if doc.Evidence, err = ledger.Lines(r.Context(), l, ledger.Filter{Study: string(st.ID), Superseded: true}); err != nil {
		return nil, err
	}
	doc.Excluded = list.Count(doc.Evidence, func(e ledger.Line) bool { return e.Excluded != "" || e.Dropped > 0 })
	a := &answer{title: st.Name}
	if st.Kind != ledger.KindStudy { // it has only evidence
		doc.Measured = explain.Measured(ledger.Rows(doc.Evidence))
		a.doc = doc
		return a, nil
	}
	rep, err := s.reports.of(string(st.ID), func() (*record.Record, error) {
		return ledger.OpenRecord(context.WithoutCancel(r.Context()), l, st)
	})
	if err != nil {
		return nil, err
	}
	doc.Results, doc.Body = &rep.results, rep.body
	a.inline = strings.Contains(string(doc.Body), ` style="`)
	a.doc = doc
	return a, nil
}

// named returns the study with an ID or ID prefix.
func named(ctx context.Context, l ledger.Reader, id string) (*ledger.Study, error) {
	none := missing("the ledger has no study %s", id)
	if l == nil || len(id) < 8 || strings.Trim(id, "0123456789abcdef") != "" {
		return nil, none
	}
	all, err := l.Studies(ctx, ledger.Filter{Study: id, Superseded: true})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(st ledger.Study) bool { return !strings.HasPrefix(string(st.ID), id) })
	if len(all) != 1 {
		return nil, none
	}
	return &all[0], nil
}

// Earlier returns the URL of the previous page of the list, "" if there is none.
func (d Studies) Earlier() string { return d.at(d.Page - 1) }

// Later returns the URL of the page with older studies, "" if there is none.
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
