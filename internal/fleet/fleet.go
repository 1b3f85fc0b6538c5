// Package fleet is what is kept of many hosts over time: the hosts with what an audit
// found on each, the changes from one sweep to the next, and the sweeps. It is data:
// who reaches the hosts and where it is stored is others' business.
//
// Changes are kept, not scans: a sweep in which nothing happened adds nothing but its
// own line.
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
	"linerate/internal/show"
)

// ByName begins the identifier of a host that is known by its name alone: it was never
// reached, or tells neither machine-id nor hostid.
const ByName = "name:"

// Host is what is known of one host.
type Host struct {
	// ID tells hosts apart: a digest of machine-id(5) or kern.hostuuid, or ByName and a
	// name. A second host with the same machine-id (a clone) has "/" and its name after it.
	ID string `json:"id"`
	// Name is the one it was last reached by, Aliases the others.
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	// Hostname is what it calls itself.
	Hostname string `json:"hostname,omitempty"`
	OS       string `json:"os,omitempty"`
	Release  string `json:"release,omitempty"`
	Role     string `json:"role,omitempty"`
	// FirstSeen is when it was first named, LastSuccess when it was last audited: zero
	// where it never was.
	FirstSeen   time.Time `json:"first_seen"`
	LastSuccess time.Time `json:"last_success,omitzero"`
	// UnreachableSince is the first of the failures since the last success, Reason what
	// went wrong last; zero and "" of a host that was reached.
	UnreachableSince time.Time `json:"unreachable_since,omitzero"`
	Reason           string    `json:"reason,omitempty"`
	// Facts is a digest of what the host is and how it is set up, without its counters;
	// Knowledge one of the catalogue and the rules that it was audited by.
	Facts     string `json:"facts,omitempty"`
	Knowledge string `json:"knowledge,omitempty"`
	// Errors, Warnings and Infos count its findings, Set is their digest.
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
	Infos    int    `json:"infos"`
	Set      string `json:"set,omitempty"`
	// Record is the transaction of linerate apply in force there, NoRecord where nothing
	// was applied, "" while it is not known. Unread says why the last sweep could not
	// compare the host with it: what drifted is then as it was before. Drifts counts what
	// is not as it was applied.
	Record string `json:"record,omitempty"`
	Unread string `json:"record_unread,omitempty"`
	Drifts int    `json:"drifts"`
	// Findings are listed only where one host is asked for.
	Findings []Finding `json:"findings,omitempty"`
}

// Reached reports a host that was audited once.
func (h *Host) Reached() bool { return !h.LastSuccess.IsZero() }

// Applied says what linerate applied there and how it is now; "" where that is not known. A
// page asks a host that is no pointer.
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

// Finding is a finding of an audit, as far as a fleet keeps it. Text is as it was when
// the finding came: numbers in it may have changed since.
type Finding struct {
	ID       string         `json:"id"`
	Rule     string         `json:"rule"`
	Tunable  string         `json:"tunable"`
	Severity audit.Severity `json:"severity"`
	Text     string         `json:"text"`
	// Expected and Found are the values of drift: what was applied, and what is there.
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found,omitempty"`
	// Since is when it came, or was there at the first look; zero where that was not kept.
	Since time.Time `json:"since,omitzero"`
}

// DriftRule is the rule of findings that something on a host is not as linerate apply left
// it, by the record that apply keeps there.
const DriftRule = "LR-APPLIED"

// DriftWords say what DriftRule means.
const DriftWords = "Something is not as linerate applied it, by the record that linerate apply keeps on the host"

// NoRecord is the record of a host on which linerate applied nothing.
const NoRecord = "none"

// key tells findings of one host apart: how bad it is may change, and the values of drift;
// what it says in numbers does not matter.
func (f *Finding) key() string {
	key := f.ID + "\x00" + string(f.Severity)
	if f.Rule == DriftRule {
		key += "\x00" + f.Expected + "\x00" + f.Found
	}
	return key
}

// Kind is what happened.
type Kind string

// The kinds of changes.
const (
	FirstSeen   Kind = "first-seen"  // the host was audited for the first time
	Came        Kind = "came"        // a finding that was not there before
	Went        Kind = "went"        // a finding that is there no more
	Drift       Kind = "drift"       // something is not as linerate applied it
	DriftEnded  Kind = "drift-ended" // it is again, or linerate applied something else
	Facts       Kind = "facts"       // what the host is, or how it is set up
	Unreachable Kind = "unreachable" // all tries failed
	Reachable   Kind = "reachable"   // reached again
	Gone        Kind = "gone"        // another machine has its name, or somebody forgot it
)

// Kinds lists the kinds of changes.
func Kinds() []Kind {
	return []Kind{FirstSeen, Came, Went, Drift, DriftEnded, Facts, Unreachable, Reachable, Gone}
}

// Cause is why there is a change.
type Cause string

// The causes. Only what the hosts did themselves is worth an alert.
const (
	ByHost      Cause = "host"      // the host changed
	ByBaseline  Cause = "baseline"  // it is the first look at the host
	ByCatalogue Cause = "catalogue" // the host is the same, the catalogue or its rules know more
)

// Change is one thing that happened to one host. Changes are never edited.
type Change struct {
	Seq      int64          `json:"seq"` // counts all changes
	Sweep    string         `json:"sweep"`
	Time     time.Time      `json:"time"`
	Host     string         `json:"host"` // its ID
	Name     string         `json:"name"` // the name it was reached by
	Kind     Kind           `json:"kind"`
	Cause    Cause          `json:"cause"`
	Finding  string         `json:"finding,omitempty"` // the finding's ID
	Rule     string         `json:"rule,omitempty"`
	Tunable  string         `json:"tunable,omitempty"`
	Severity audit.Severity `json:"severity,omitempty"`
	Text     string         `json:"text"`
	Expected string         `json:"expected,omitempty"` // of drift: what was applied
	Found    string         `json:"found,omitempty"`    // and what is there
}

// Alerts reports a change for the worse that the host made itself: a finding that came,
// drift, or a host that cannot be reached.
func (c *Change) Alerts() bool {
	return c.Cause == ByHost && (c.Kind == Came || c.Kind == Drift || c.Kind == Unreachable)
}

// Observation is what a sweep saw of one host.
type Observation struct {
	Name string // as the fleet's list has it
	Time time.Time
	// Failure says why it could not be reached; all below is then empty.
	Failure string

	ID        string // digest of machine-id or hostid, "" where the host tells none
	Hostname  string
	OS        string
	Release   string
	Role      string
	Facts     string
	Knowledge string
	Findings  []Finding
	// Record is Host.Record, and Unread why the host was not compared with it: Findings
	// then lack drift, and that known before goes on.
	Record, Unread string
}

// Sweep is one audit of a fleet.
type Sweep struct {
	ID    string    `json:"id"`
	Start time.Time `json:"start"`
	End   time.Time `json:"end,omitzero"` // zero: it runs, or was interrupted
	From  string    `json:"from"`         // the list of hosts
	// Hosts is how many it was to reach; Reached and Unreachable are how many it did
	// and did not.
	Hosts       int `json:"hosts"`
	Reached     int `json:"reached"`
	Unreachable int `json:"unreachable"`
	// Changes counts what it stored, Alerts those of them that are for the worse.
	Changes int `json:"changes"`
	Alerts  int `json:"alerts"`
	// Errors, Warnings and Infos are the findings that stood on all known hosts at
	// its end.
	Errors    int    `json:"errors"`
	Warnings  int    `json:"warnings"`
	Infos     int    `json:"infos"`
	Knowledge string `json:"knowledge"`
}

// Group is how hosts of one role and release fare.
type Group struct {
	Role        string `json:"role"`
	OS          string `json:"os"`
	Release     string `json:"release"`
	Hosts       int    `json:"hosts"`
	Unreachable int    `json:"unreachable"`
	Drifted     int    `json:"drifted"` // not as linerate applied it
	Errors      int    `json:"errors"`  // findings, like those below
	Warnings    int    `json:"warnings"`
	Infos       int    `json:"infos"`
}

// Status is how a fleet fares as a whole.
type Status struct {
	Hosts       int `json:"hosts"`
	Unreachable int `json:"unreachable"`
	Never       int `json:"never_reached"` // of the unreachable
	// Applied are hosts on which linerate applied something, Drifted those that are not as
	// it left them; Unread those that the last sweep could not compare with its record.
	Applied  int `json:"applied"`
	Drifted  int `json:"drifted"`
	Unread   int `json:"records_unread"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"`
	// Groups are its parts, largest first; Sweeps the last ones, newest first.
	Groups []Group `json:"groups"`
	Sweeps []Sweep `json:"sweeps"`
}

// RuleCount is on how many hosts of a role and release a rule finds something; a host
// counts once, with its worst finding of the rule.
type RuleCount struct {
	Rule     string         `json:"rule"`
	Severity audit.Severity `json:"severity"`
	Role     string         `json:"role"`
	OS       string         `json:"os"`
	Release  string         `json:"release"`
	Hosts    int            `json:"hosts"`
}

// RuleTotal is a rule with the hosts on which it finds something.
type RuleTotal struct {
	Rule     string         `json:"rule"`
	Severity audit.Severity `json:"severity"` // the worst
	Hosts    int            `json:"hosts"`
	// Roles are the hosts by role.
	Roles map[string]int `json:"roles"`
}

// Total adds up roles and releases: the worst rule first, then that of most hosts.
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
	slices.SortStableFunc(out, func(a, b RuleTotal) int {
		return cmp.Or(cmp.Compare(slices.Index(worse, b.Severity), slices.Index(worse, a.Severity)), cmp.Compare(b.Hosts, a.Hosts), cmp.Compare(a.Rule, b.Rule))
	})
	return out
}

// TunableCount is RuleCount of the findings about one tunable.
type TunableCount struct {
	Tunable string `json:"tunable"` // as the findings have it
	RuleCount
}

// ChangeFilter narrows changes; zero fields admit all.
type ChangeFilter struct {
	Since  time.Time
	Hosts  []string // identifiers
	Rule   string
	Kind   Kind
	Cause  Cause
	Before int64 // the Seq of the last change had: what follows is the next page
	Limit  int   // 0: all
}

// NoRole stands for the hosts whose role is not known, where hosts are asked for.
const NoRole = "none"

// HostFilter narrows hosts; zero fields admit all.
type HostFilter struct {
	Rule        string // that has findings of the rule
	Tunable     string // that has findings about the tunable, of the rule if there is one
	Role        string // NoRole: those without one
	OS, Release string
	Unreachable bool
	Text        string // part of the name or host name, without case
	After       string // only names behind it: the next page
	Limit       int    // 0: all
}

// SetDigest is the digest of a set of findings: equal for the same findings in any
// order, whatever numbers stand in their texts.
func SetDigest(findings []Finding) string {
	keys := make([]string, len(findings))
	for i := range findings {
		keys[i] = findings[i].key()
	}
	slices.Sort(keys)
	return Digest(slices.Compact(keys)...)
}

// Digest of texts is short enough to be kept ten thousand times, and long enough not to meet
// itself: 96 bits of a SHA-256.
func Digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// Worst is how bad the worst finding of each rule is.
func Worst(findings []Finding) map[string]audit.Severity {
	worst := map[string]audit.Severity{}
	for _, f := range findings {
		if have, ok := worst[f.Rule]; !ok || f.Severity.AtLeast(have) {
			worst[f.Rule] = f.Severity
		}
	}
	return worst
}

// SortGroups puts the largest groups first.
func SortGroups(groups []Group) {
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Hosts, a.Hosts), strings.Compare(a.Role, b.Role), strings.Compare(a.OS, b.OS), strings.Compare(a.Release, b.Release))
	})
}
