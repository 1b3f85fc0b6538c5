package fact

import (
	"cmp"
	"strconv"
)

// Firewall holds the packet filters of a host.
type Firewall struct {
	PF   *PF   `json:"pf,omitempty"`
	IPFW *IPFW `json:"ipfw,omitempty"`
	// IPF means that IPFilter is enabled in rc.conf.
	IPF bool `json:"ipf,omitempty"`
	NFT *NFT `json:"nft,omitempty"`
}

// Limit is a number in a firewall's configuration or in the kernel.
type Limit struct {
	// Name is the firewall's name for it: states, src-nodes, frags, table-entries …
	Name  string `json:"name"`
	Value uint64 `json:"value"`
	// File and Line are set if a file sets it.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text,omitempty"`
	// Place is where an appliance's user finds it.
	Place string `json:"place,omitempty"`
}

// AsLine returns the limit as a line of a firewall's file that sets a name.
func (l Limit) AsLine(name string) Line {
	return Line{File: l.File, Number: l.Line, Text: l.Text, Place: l.Place, Name: name, Value: strconv.FormatUint(l.Value, 10), Stage: Conf, Effective: true}
}

// PF is FreeBSD's pf.
type PF struct {
	// Configured is pf_enable in rc.conf; Enabled is the running state.
	Configured bool  `json:"configured"`
	Enabled    *bool `json:"enabled,omitempty"`
	// File is the ruleset that was read.
	File string `json:"file,omitempty"`
	// Rules counts filter rules (pass, block, match): after expansion of lists if the running
	// ruleset was read, else as written.
	Rules int `json:"rules"`
	// Translations counts nat, rdr, binat rules, and nat-to/rdr-to in rules.
	Translations int `json:"translations"`
	// SourceTracking counts rules with source nodes (source-track, max-src-*, sticky-address):
	// those use the src-nodes limit and hash.
	SourceTracking int `json:"source_tracking_rules"`
	// FileLimits come from the file, Limits from the running pf.
	FileLimits []Limit `json:"file_limits,omitempty"`
	Limits     []Limit `json:"limits,omitempty"`
	Timeouts   []Limit `json:"timeouts,omitempty"`
	// Scrub lists the scrub rules that limit the segment size.
	Scrub []Scrub `json:"scrub,omitempty"`
	// Outside lists the interfaces on which the file translates.
	Outside []string `json:"outside,omitempty"`
	// Options are the file's `set` lines except limit and timeout.
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
	// File is the script or rule file that was read.
	File string `json:"file,omitempty"`
	// Rules counts rules, except the built-in last one.
	Rules    int `json:"rules"`
	Stateful int `json:"stateful_rules"` // keep-state, limit, record-state …
	NAT      int `json:"nat_rules"`      // in-kernel nat (libalias) and natd divert
	Pipes    int `json:"pipes"`          // dummynet pipes and queues
	// NATLines are the lines with translations.
	NATLines []Line `json:"nat_lines,omitempty"`
}

// NFT is Linux's netfilter.
type NFT struct {
	// Tracking reports whether connection tracking is loaded.
	Tracking *bool `json:"tracking,omitempty"`
	// Connections and Max are the number of conntrack entries and their limit.
	Connections *uint64 `json:"connections,omitempty"`
	Max         *uint64 `json:"max,omitempty"`
	// Rules counts the running rules, else those in files.
	Rules int    `json:"rules"`
	File  string `json:"file,omitempty"`
}

// AddFile merges the ruleset's file into the running state: counts of a running ruleset take
// precedence, because they apply to packets.
func (p *PF) AddFile(file PF) {
	running := p.Enabled != nil && *p.Enabled && p.Rules > 0
	p.File, p.FileLimits, p.Outside, p.Options = file.File, file.FileLimits, file.Outside, file.Options
	p.Timeouts = append(p.Timeouts, file.Timeouts...)
	if len(file.Scrub) > 0 { // those of the file have line numbers
		p.Scrub = file.Scrub
	}
	if !running {
		p.Rules, p.Translations, p.SourceTracking = file.Rules, file.Translations, file.SourceTracking
	}
}

// AddFile merges the rules' file into the running state of ipfw.
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

// RereadFirewalls sets which of FreeBSD's firewalls rc.conf enables.
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
