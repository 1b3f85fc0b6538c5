// Package fleet holds what is stored about many hosts over time: the hosts with their
// audit findings, the changes between sweeps, and the sweeps. It is data only: other
// packages reach the hosts and store the data.
//
// Changes are stored, not scans: a sweep without changes adds only its own row.
package fleet

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/internal/audit"
	"linerate/internal/list"
	"linerate/internal/show"
)

// ByName begins the identifier of a host that is known only by name: it was never
// reached, or reports neither machine-id nor hostid.
const ByName = "name:"

// Host is the stored state of one host.
type Host struct {
	// ID identifies the host: a digest of machine-id(5) or kern.hostuuid, or ByName and a
	// name. A second host with the same machine-id (a clone) has "/" and its name appended.
	ID string `json:"id"`
	// Name is the name under which it was last reached; Aliases are other such names.
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	// Hostname is the name that it reports itself.
	Hostname string `json:"hostname,omitempty"`
	OS       string `json:"os,omitempty"`
	Release  string `json:"release,omitempty"`
	Role     string `json:"role,omitempty"`
	// FirstSeen is when it was first listed; LastSuccess is when it was last audited,
	// zero if never.
	FirstSeen   time.Time `json:"first_seen"`
	LastSuccess time.Time `json:"last_success,omitzero"`
	// UnreachableSince is the time of the first failure since the last success, and
	// Reason the last error; both are empty if the last attempt succeeded.
	UnreachableSince time.Time `json:"unreachable_since,omitzero"`
	Reason           string    `json:"reason,omitempty"`
	// Facts is a digest of what the host is and how it is configured, without counters;
	// Knowledge is a digest of the catalogue and rules of its last audit.
	Facts     string `json:"facts,omitempty"`
	Knowledge string `json:"knowledge,omitempty"`
	// Errors, Warnings and Infos count its findings; Set is the digest of the findings.
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
	Infos    int    `json:"infos"`
	Set      string `json:"set,omitempty"`
	// Record is the transaction of linerate apply in force on the host, NoRecord if
	// nothing was applied, "" if unknown. Unread says why the last sweep could not
	// compare the host with it; the known drift then stays as it was. Drifts counts the
	// differences from what was applied.
	Record string `json:"record,omitempty"`
	Unread string `json:"record_unread,omitempty"`
	Drifts int    `json:"drifts"`
	// Findings is filled in only for queries of a single host.
	Findings []Finding `json:"findings,omitempty"`
}

// Reached reports whether the host was ever audited.
func (h *Host) Reached() bool { return !h.LastSuccess.IsZero() }

// Applied describes what linerate applied on the host and its present state; "" if unknown.
// The receiver is a value because templates call it on one.
func (h Host) Applied() string {
	var line string
	switch {
	case h.Record == NoRecord:
		line = "nothing by linerate"
	case h.Record != "" && h.Drifts == 0:
		line = h.Record + ", nothing drifted"
	case h.Record != "":
		line = h.Record + ", " + show.Plural(h.Drifts, "drift")
	}
	if h.Unread != "" {
		line = strings.TrimPrefix(line+"; the last sweep could not compare it: "+h.Unread, "; ")
	}
	return line
}

// Finding is an audit finding, as far as a fleet stores it. Text is from when the
// finding first appeared: numbers in it may have changed since.
type Finding struct {
	ID       string         `json:"id"`
	Rule     string         `json:"rule"`
	Tunable  string         `json:"tunable"`
	Severity audit.Severity `json:"severity"`
	Text     string         `json:"text"`
	// Expected and Found are the applied and the present value, for drift.
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found,omitempty"`
	// Since is when it appeared, or the first audit that had it; zero if not recorded.
	Since time.Time `json:"since,omitzero"`
}

// DriftRule is the rule of findings that something on a host differs from what linerate
// apply set, by the record that apply leaves there.
const DriftRule = "LR-APPLIED"

// DriftWords describes DriftRule.
const DriftWords = "Something is not as linerate applied it, by the record that linerate apply keeps on the host"

// NoRecord is the Record of a host on which linerate applied nothing.
const NoRecord = "none"

// key identifies a finding on a host, including its severity and the values of drift, but
// not the numbers in its text.
func (f *Finding) key() string {
	key := f.ID + "\x00" + string(f.Severity)
	if f.Rule == DriftRule {
		key += "\x00" + f.Expected + "\x00" + f.Found
	}
	return key
}

// Kind is the kind of a change.
type Kind string

// The kinds of changes.
const (
	FirstSeen   Kind = "first-seen"  // the host was audited for the first time
	Came        Kind = "came"        // a new finding
	Went        Kind = "went"        // a finding that disappeared
	Drift       Kind = "drift"       // something differs from what linerate applied
	DriftEnded  Kind = "drift-ended" // it no longer differs, or linerate applied something else
	Facts       Kind = "facts"       // the host itself or its configuration changed
	Unreachable Kind = "unreachable" // all attempts failed
	Reachable   Kind = "reachable"   // reached again
	Gone        Kind = "gone"        // another machine has its name, or a user removed it
)

// Kinds lists the kinds of changes.
func Kinds() []Kind {
	return []Kind{FirstSeen, Came, Went, Drift, DriftEnded, Facts, Unreachable, Reachable, Gone}
}

// Cause is the cause of a change.
type Cause string

// The causes. Only changes by the hosts themselves justify an alert.
const (
	ByHost      Cause = "host"      // the host changed
	ByBaseline  Cause = "baseline"  // first audit of the host
	ByCatalogue Cause = "catalogue" // the host is unchanged, but the catalogue or its rules are newer
)

// Change is an event on one host. Changes are never modified.
type Change struct {
	Seq      int64          `json:"seq"` // numbers all changes
	Sweep    string         `json:"sweep"`
	Time     time.Time      `json:"time"`
	Host     string         `json:"host"` // the host's ID
	Name     string         `json:"name"` // under which it was reached
	Kind     Kind           `json:"kind"`
	Cause    Cause          `json:"cause"`
	Finding  string         `json:"finding,omitempty"` // the finding's ID
	Rule     string         `json:"rule,omitempty"`
	Tunable  string         `json:"tunable,omitempty"`
	Severity audit.Severity `json:"severity,omitempty"`
	Text     string         `json:"text"`
	Expected string         `json:"expected,omitempty"` // for drift: the value applied
	Found    string         `json:"found,omitempty"`    // and the value found
}

// Alerts reports whether the change is for the worse and made by the host itself: a new
// finding, drift, or an unreachable host.
func (c *Change) Alerts() bool {
	return c.Cause == ByHost && (c.Kind == Came || c.Kind == Drift || c.Kind == Unreachable)
}

// Observation is what a sweep observed on one host.
type Observation struct {
	Name string // in the fleet's list
	Time time.Time
	// Failure says why the host was not reached; the fields below are then empty.
	Failure string

	ID        string // digest of machine-id or hostid, "" if the host reports neither
	Hostname  string
	OS        string
	Release   string
	Role      string
	Facts     string
	Knowledge string
	Findings  []Finding
	// Record is as in Host, and Unread says why the host was not compared with it:
	// Findings then lack drift, and previously known drift persists.
	Record, Unread string
}

// Sweep is one audit of a fleet.
type Sweep struct {
	ID    string    `json:"id"`
	Start time.Time `json:"start"`
	End   time.Time `json:"end,omitzero"` // zero: running, or interrupted
	From  string    `json:"from"`         // the list of hosts
	// Hosts is the number of hosts to reach; Reached and Unreachable count the
	// results so far.
	Hosts       int `json:"hosts"`
	Reached     int `json:"reached"`
	Unreachable int `json:"unreachable"`
	// Changes counts the stored changes, Alerts those for the worse.
	Changes int `json:"changes"`
	Alerts  int `json:"alerts"`
	// Errors, Warnings and Infos count the findings on all known hosts at its end.
	Errors    int    `json:"errors"`
	Warnings  int    `json:"warnings"`
	Infos     int    `json:"infos"`
	Knowledge string `json:"knowledge"`
}

// Group sums up the hosts of one role and release.
type Group struct {
	Role        string `json:"role"`
	OS          string `json:"os"`
	Release     string `json:"release"`
	Hosts       int    `json:"hosts"`
	Unreachable int    `json:"unreachable"`
	Drifted     int    `json:"drifted"` // they differ from what linerate applied
	Errors      int    `json:"errors"`  // findings, like those below
	Warnings    int    `json:"warnings"`
	Infos       int    `json:"infos"`
}

// Status sums up a whole fleet.
type Status struct {
	Hosts       int `json:"hosts"`
	Unreachable int `json:"unreachable"`
	Never       int `json:"never_reached"` // of the unreachable
	// Applied counts hosts on which linerate applied something, Drifted those that differ
	// from it, Unread those that the last sweep could not compare with their record.
	Applied  int `json:"applied"`
	Drifted  int `json:"drifted"`
	Unread   int `json:"records_unread"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"`
	// Groups are the groups, largest first; Sweeps the last ones, newest first.
	Groups []Group `json:"groups"`
	Sweeps []Sweep `json:"sweeps"`
}

// RuleCount counts the hosts of a role and release with findings of a rule; a host
// counts once, with its worst finding of the rule.
type RuleCount struct {
	Rule     string         `json:"rule"`
	Severity audit.Severity `json:"severity"`
	Role     string         `json:"role"`
	OS       string         `json:"os"`
	Release  string         `json:"release"`
	Hosts    int            `json:"hosts"`
}

// RuleTotal is a rule with the number of hosts that have findings of it.
type RuleTotal struct {
	Rule     string         `json:"rule"`
	Severity audit.Severity `json:"severity"` // the worst
	Hosts    int            `json:"hosts"`
	// Roles counts the hosts by role.
	Roles map[string]int `json:"roles"`
}

// Total sums over roles and releases; the worst and most frequent rules come first.
func Total(counts []RuleCount) []RuleTotal {
	at, out := map[string]int{}, []RuleTotal{}
	for _, c := range counts {
		i, ok := at[c.Rule]
		if !ok {
			i = len(out)
			at[c.Rule], out = i, append(out, RuleTotal{Rule: c.Rule, Severity: c.Severity, Roles: map[string]int{}})
		}
		r := &out[i]
		r.Hosts += c.Hosts
		r.Roles[c.Role] += c.Hosts
		if c.Severity.AtLeast(r.Severity) {
			r.Severity = c.Severity
		}
	}
	worse := audit.Severities()
	list.Sort(out, func(a, b RuleTotal) int {
		return cmp.Or(cmp.Compare(slices.Index(worse, b.Severity), slices.Index(worse, a.Severity)), cmp.Compare(b.Hosts, a.Hosts), cmp.Compare(a.Rule, b.Rule))
	})
	return out
}

// TunableCount is a RuleCount for findings on one tunable.
type TunableCount struct {
	Tunable string `json:"tunable"` // named as in the findings
	RuleCount
}

// ChangeFilter selects changes; zero fields match all.
type ChangeFilter struct {
	Since  time.Time
	Hosts  []string // identifiers
	Rule   string
	Kind   Kind
	Cause  Cause
	Before int64 // Seq of the last change on the previous page
	Limit  int   // 0: all
}

// NoRole selects hosts whose role is unknown.
const NoRole = "none"

// HostFilter selects hosts; zero fields match all.
type HostFilter struct {
	Rule        string // has findings of the rule
	Tunable     string // has findings on the tunable (of Rule, if that is set)
	Role        string // NoRole: hosts without one
	OS, Release string
	Unreachable bool
	Text        string // substring of the name or host name, case-insensitive
	After       string // names after this one: the next page
	Limit       int    // 0: all
}

// SetDigest returns the digest of a set of findings; order and the numbers in
// texts do not affect it.
func SetDigest(findings []Finding) string {
	keys := list.Map(findings, func(f Finding) string { return f.key() })
	slices.Sort(keys)
	return Digest(slices.Compact(keys)...)
}

// Digest returns a digest of texts that is short enough to store ten thousand times, and
// long enough to avoid collisions: 96 bits of SHA-256.
func Digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// Worst returns the severity of each rule's worst finding.
func Worst(findings []Finding) map[string]audit.Severity {
	worst := map[string]audit.Severity{}
	for _, f := range findings {
		if have, ok := worst[f.Rule]; !ok || f.Severity.AtLeast(have) {
			worst[f.Rule] = f.Severity
		}
	}
	return worst
}

// SortGroups sorts groups, largest first.
func SortGroups(groups []Group) {
	list.Sort(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Hosts, a.Hosts), strings.Compare(a.Role, b.Role), strings.Compare(a.OS, b.OS), strings.Compare(a.Release, b.Release))
	})
}
