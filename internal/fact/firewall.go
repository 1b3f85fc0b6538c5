package fact

import (
	"cmp"
	"strconv"
)

// Firewall is the packet filters of a host.
type Firewall struct {
	PF   *PF   `json:"pf,omitempty"`
	IPFW *IPFW `json:"ipfw,omitempty"`
	// IPF: IPFilter is switched on in rc.conf.
	IPF bool `json:"ipf,omitempty"`
	NFT *NFT `json:"nft,omitempty"`
}

// Limit is a number a firewall's configuration or kernel holds.
type Limit struct {
	// Name is the firewall's: states, src-nodes, frags, table-entries …
	Name  string `json:"name"`
	Value uint64 `json:"value"`
	// File and Line are set when a file sets it.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text,omitempty"`
	// Place is where an appliance's user finds it.
	Place string `json:"place,omitempty"`
}

// AsLine is the limit as a line of a firewall's file that sets a name.
func (l Limit) AsLine(name string) Line {
	return Line{File: l.File, Number: l.Line, Text: l.Text, Place: l.Place, Name: name, Value: strconv.FormatUint(l.Value, 10), Stage: Conf, Effective: true}
}

// PF is FreeBSD's pf.
type PF struct {
	// Configured is pf_enable in rc.conf; Enabled is the running state.
	Configured bool  `json:"configured"`
	Enabled    *bool `json:"enabled,omitempty"`
	// File is the ruleset read.
	File string `json:"file,omitempty"`
	// Rules counts filter rules (pass, block, match), after expansion of
	// lists where the running ruleset was read, as written otherwise.
	Rules int `json:"rules"`
	// Translations counts nat, rdr, binat rules, and nat-to/rdr-to in rules.
	Translations int `json:"translations"`
	// SourceTracking counts rules that keep source nodes (source-track,
	// max-src-*, sticky-address): those use the src-nodes limit and hash.
	SourceTracking int `json:"source_tracking_rules"`
	// FileLimits are of the file, Limits of the running pf.
	FileLimits []Limit `json:"file_limits,omitempty"`
	Limits     []Limit `json:"limits,omitempty"`
	Timeouts   []Limit `json:"timeouts,omitempty"`
	// Scrub are those rules that bound the size of segments.
	Scrub []Scrub `json:"scrub,omitempty"`
	// Outside are interfaces that the file translates on.
	Outside []string `json:"outside,omitempty"`
	// Options are the file's `set` lines other than limit and timeout.
	Options []Line `json:"options,omitempty"`
	// States is the current number of state entries.
	States *uint64 `json:"states,omitempty"`
}

// Scrub is one scrub rule of pf, or a scrub option of a match rule, with max-mss.
type Scrub struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Text   string `json:"text"`
	MaxMSS int    `json:"max_mss"`
}

// IPFW is FreeBSD's ipfw.
type IPFW struct {
	Configured bool  `json:"configured"` // firewall_enable in rc.conf
	Enabled    *bool `json:"enabled,omitempty"`
	// File is the script or rule file read.
	File string `json:"file,omitempty"`
	// Rules counts rules, without the built-in last one.
	Rules    int `json:"rules"`
	Stateful int `json:"stateful_rules"` // keep-state, limit, record-state …
	NAT      int `json:"nat_rules"`      // in-kernel nat (libalias) and natd divert
	Pipes    int `json:"pipes"`          // dummynet pipes and queues
	// NATLines are the lines that translate.
	NATLines []Line `json:"nat_lines,omitempty"`
}

// NFT is Linux's netfilter.
type NFT struct {
	// Tracking is whether connection tracking is loaded.
	Tracking *bool `json:"tracking,omitempty"`
	// Connections and Max are of conntrack.
	Connections *uint64 `json:"connections,omitempty"`
	Max         *uint64 `json:"max,omitempty"`
	// Rules counts rules in the files read.
	Rules int    `json:"rules"`
	File  string `json:"file,omitempty"`
	// Untracked is a line of notrack whose packets no rule accepts: all that name its port
	// want a state of connection tracking.
	Untracked *Line `json:"untracked,omitempty"`
}

// AddFile adds what the ruleset's file says to what the running pf said:
// counts of a running ruleset stand, for they are what packets meet.
func (p *PF) AddFile(file PF) {
	running := p.Enabled != nil && *p.Enabled && p.Rules > 0
	p.File, p.FileLimits, p.Outside, p.Options = file.File, file.FileLimits, file.Outside, file.Options
	p.Timeouts = append(p.Timeouts, file.Timeouts...)
	if len(file.Scrub) > 0 { // the file's have line numbers
		p.Scrub = file.Scrub
	}
	if !running {
		p.Rules, p.Translations, p.SourceTracking = file.Rules, file.Translations, file.SourceTracking
	}
}

// AddFile adds what the rules' file says to what the running ipfw said.
func (w *IPFW) AddFile(file IPFW) {
	running := w.Enabled != nil && w.Rules > 0
	w.File, w.NATLines = file.File, append(w.NATLines, file.NATLines...)
	w.Pipes = max(w.Pipes, file.Pipes)
	if running {
		w.NAT = max(w.NAT, file.NAT)
		return
	}
	w.Rules, w.Stateful, w.NAT = file.Rules, file.Stateful, file.NAT
}

// RereadFirewalls takes from rc.conf which of FreeBSD's firewalls it switches on.
func (f *Facts) RereadFirewalls() {
	fw := &f.Firewall
	if fw.PF != nil || f.RCYes("pf_enable") {
		pf := *cmp.Or(fw.PF, &PF{})
		pf.Configured = f.RCYes("pf_enable") || f.From.Alone && !f.Read("/etc/rc.conf")
		fw.PF = &pf
	}
	if fw.IPFW == nil && !f.RCYes("firewall_enable") {
		return
	}
	ipfw := *cmp.Or(fw.IPFW, &IPFW{})
	ipfw.Configured = f.RCYes("firewall_enable")
	fw.IPFW = &ipfw
}
