package web

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"linerate/internal/audit"
	"linerate/internal/fleet"
	"linerate/internal/ledger"
)

// Fleet is the JSON document of a whole fleet.
type Fleet struct {
	Document
	Ledger bool `json:"ledger"`
	fleet.Status
	Rules []fleet.RuleTotal `json:"rules"`
}

// sweepsShown is the number of sweeps on the fleet's page: a year of nights.
const sweepsShown = 366

// fleet serves the state of a fleet.
func (s *Server) fleet(r *http.Request, f ledger.Reader) (_ *answer, err error) {
	doc := Fleet{Document: version1, Rules: []fleet.RuleTotal{}}
	if f != nil {
		doc.Ledger = true
		if doc.Status, err = f.Status(r.Context(), sweepsShown); err != nil {
			return nil, err
		}
		counts, err := f.RuleCounts(r.Context(), "")
		if err != nil {
			return nil, err
		}
		doc.Rules = fleet.Total(counts)
	}
	return &answer{title: "Fleet", doc: doc, refresh: 300}, nil
}

// RoleNames returns the fleet's roles, by decreasing number of hosts.
func (d Fleet) RoleNames() []string {
	hosts, names := map[string]int{}, []string{}
	for _, g := range d.Groups {
		if hosts[g.Role] == 0 {
			names = append(names, g.Role)
		}
		hosts[g.Role] += g.Hosts
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(hosts[b], hosts[a]) })
	return names
}

// Recent returns the newest sweeps.
func (d Fleet) Recent() []fleet.Sweep { return d.Sweeps[:min(len(d.Sweeps), 8)] }

// Hosts is the JSON document of a list of hosts.
type Hosts struct {
	Document
	Hosts []fleet.Host `json:"hosts"`
	// Next is the URL of the next page, "" on the last.
	Next   string           `json:"next,omitempty"`
	Filter fleet.HostFilter `json:"-"`
}

// hosts lists hosts by name.
func (s *Server) hosts(r *http.Request, f ledger.Reader) (_ *answer, err error) {
	q := r.URL.Query()
	doc := Hosts{Document: version1, Hosts: []fleet.Host{}, Filter: fleet.HostFilter{
		Rule: q.Get("rule"), Tunable: q.Get("tunable"), Role: q.Get("role"), OS: q.Get("os"), Release: q.Get("release"), Text: q.Get("q"), After: q.Get("after"), Limit: perPage + 1,
	}}
	switch v := q.Get("unreachable"); v {
	case "", "1":
		doc.Filter.Unreachable = v == "1"
	default:
		return nil, refuse("unreachable=%s: 1, or left away", v)
	}
	if f != nil {
		if doc.Hosts, err = f.Hosts(r.Context(), doc.Filter); err != nil {
			return nil, err
		}
	}
	if len(doc.Hosts) > perPage {
		doc.Hosts = doc.Hosts[:perPage]
		q.Set("after", doc.Hosts[perPage-1].Name)
		doc.Next = "?" + q.Encode()
	}
	return &answer{title: "Hosts", doc: doc}, nil
}

// Host is the JSON document of one host.
type Host struct {
	Document
	Host    fleet.Host     `json:"host"`
	Changes []fleet.Change `json:"changes"` // the newest
	// More is the URL of older changes, "" if there are none.
	More string `json:"more,omitempty"`
}

// historyShown is the number of changes on a page.
const historyShown = 50

// host serves one host with its findings and its history.
func (s *Server) host(r *http.Request, f ledger.Reader) (_ *answer, err error) {
	name := r.PathValue("id")
	none := missing("the fleet has no host %s", name)
	if f == nil {
		return nil, none
	}
	doc := Host{Document: version1}
	doc.Host, err = f.Host(r.Context(), name)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, none
	}
	if err != nil {
		return nil, err
	}
	doc.Changes, err = f.Changes(r.Context(), fleet.ChangeFilter{Hosts: []string{doc.Host.ID}, Limit: historyShown + 1})
	if len(doc.Changes) > historyShown {
		doc.Changes = doc.Changes[:historyShown]
		doc.More = changesAt(url.Values{"host": {doc.Host.ID}}, doc.Changes)
	}
	return &answer{title: doc.Host.Name, doc: doc}, err
}

// Rule is the JSON document of one rule.
type Rule struct {
	Document
	Rule     string         `json:"rule"`
	Severity audit.Severity `json:"severity"` // the highest
	// Says is the rule's message, with an ellipsis for what depends on the host.
	Says  string            `json:"says,omitempty"`
	Hosts int               `json:"hosts"`
	Of    int               `json:"of"` // number of hosts in the fleet
	Where []fleet.RuleCount `json:"where"`
	// First are its first hosts by name, Changes its newest changes.
	First   []fleet.Host   `json:"first_hosts"`
	Changes []fleet.Change `json:"changes"`
	More    string         `json:"more,omitempty"` // older changes
}

// rule serves the hosts with a finding of a rule.
func (s *Server) rule(r *http.Request, f ledger.Reader) (_ *answer, err error) {
	id := r.PathValue("id")
	doc := Rule{Document: version1, Rule: id, Says: s.Says(id)}
	if f == nil {
		return nil, missing("there is no ledger yet")
	}
	if doc.Where, err = f.RuleCounts(r.Context(), id); err != nil {
		return nil, err
	}
	if doc.Changes, err = f.Changes(r.Context(), fleet.ChangeFilter{Rule: id, Limit: historyShown + 1}); err != nil {
		return nil, err
	}
	if doc.Says == "" && len(doc.Where) == 0 && len(doc.Changes) == 0 {
		return nil, missing("no rule %s ever found anything in the fleet", id)
	}
	for _, l := range fleet.Total(doc.Where) {
		doc.Severity, doc.Hosts = l.Severity, l.Hosts
	}
	if len(doc.Changes) > historyShown {
		doc.Changes = doc.Changes[:historyShown]
		doc.More = changesAt(url.Values{"rule": {id}}, doc.Changes)
	}
	st, err := f.Status(r.Context(), 0)
	if err != nil {
		return nil, err
	}
	doc.Of = st.Hosts
	doc.First, err = f.Hosts(r.Context(), fleet.HostFilter{Rule: id, Limit: historyShown})
	return &answer{title: id, doc: doc}, err
}

// Changes is the JSON document of a list of changes.
type Changes struct {
	Document
	Changes []fleet.Change     `json:"changes"`
	Next    string             `json:"next,omitempty"` // URL of older ones
	Filter  fleet.ChangeFilter `json:"-"`
	Since   string             `json:"-"`
}

// changes lists changes, newest first.
func (s *Server) changes(r *http.Request, f ledger.Reader) (_ *answer, err error) {
	q := r.URL.Query()
	doc := Changes{Document: version1, Changes: []fleet.Change{}, Since: q.Get("since")}
	doc.Filter = fleet.ChangeFilter{Rule: q.Get("rule"), Kind: fleet.Kind(q.Get("kind")), Cause: fleet.Cause(q.Get("cause")), Limit: perPage + 1}
	if h := q.Get("host"); h != "" {
		doc.Filter.Hosts = []string{h}
	}
	if k := doc.Filter.Kind; k != "" && !slices.Contains(fleet.Kinds(), k) {
		return nil, refuse("kind=%s: one of %v", k, fleet.Kinds())
	}
	if doc.Since != "" {
		d, err := time.ParseDuration(doc.Since)
		if err != nil || d <= 0 {
			return nil, refuse("since=%s: a time as 24h", doc.Since)
		}
		doc.Filter.Since = s.Now().Add(-d)
	}
	if before := q.Get("before"); before != "" {
		n, err := strconv.ParseInt(before, 10, 64)
		if err != nil || n < 1 {
			return nil, refuse("before=%s: the number of a change", before)
		}
		doc.Filter.Before = n
	}
	if f != nil {
		if doc.Changes, err = f.Changes(r.Context(), doc.Filter); err != nil {
			return nil, err
		}
	}
	if len(doc.Changes) > perPage {
		doc.Changes = doc.Changes[:perPage]
		doc.Next = changesAt(q, doc.Changes)
	}
	return &answer{title: "Changes", doc: doc}, nil
}

// changesAt returns the URL of the changes before those shown.
func changesAt(q url.Values, shown []fleet.Change) string {
	q.Set("before", strconv.FormatInt(shown[len(shown)-1].Seq, 10))
	return "/fleet/changes?" + q.Encode()
}

// KindNames returns the kinds of changes, for a selection list.
func (Changes) KindNames() []fleet.Kind { return fleet.Kinds() }

// Host returns the host of the changes, "" for all.
func (d Changes) Host() string {
	if len(d.Filter.Hosts) == 1 {
		return d.Filter.Hosts[0]
	}
	return ""
}
