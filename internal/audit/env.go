package audit

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"linerate/internal/calc"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/tunable"
)

// lineView is a line of a file as rules see it.
type lineView struct {
	Name  string  `expr:"name"`
	Value string  `expr:"value"`
	Num   float64 `expr:"num"`
	// Folded is the name with its unit replaced by N.
	Folded    string `expr:"folded"`
	File      string `expr:"file"`
	Mechanism string `expr:"mechanism"`
}

// nicView is a network interface as rules see it.
type nicView struct {
	Name     string `expr:"name"`
	Driver   string `expr:"driver"`
	Kind     string `expr:"kind"`
	RXQueues int    `expr:"rx_queues"`
	Speed    int    `expr:"speed"`
	MTU      int    `expr:"mtu"`
	// FlowControl is rx, tx, full, none or "".
	FlowControl string   `expr:"flow_control"`
	Members     []string `expr:"members"`
	// Ether: hardware, or a machine's stand-in for it.
	Ether bool `expr:"ether"`
	// Offload is "on" or "off" where it is known of the running interface or
	// said in rc.conf, else "default".
	Offload func(string) string `expr:"offload"`
	// Asked and Refused are true when rc.conf itself switches the option on
	// or off; Live when the running state of the options is known.
	Asked   func(string) bool `expr:"asked"`
	Refused func(string) bool `expr:"refused"`
	Live    bool              `expr:"live"`
	// Interrupts per second of its busiest queue, and how many of its
	// queues take any.
	BusiestRate float64 `expr:"busiest_rate"`
	BusyQueues  int     `expr:"busy_queues"`
	// Unpinned is how many of its interrupts run on no fixed CPU.
	Unpinned int `expr:"unpinned"`
}

// interruptView is an interrupt source as rules see it.
type interruptView struct {
	Name   string  `expr:"name"`
	Device string  `expr:"device"`
	Rate   float64 `expr:"rate"`
}

// env is what rules see: the catalogue's environment and what audits add.
func env(c *tunable.Catalogue, f *fact.Facts, role string, classes map[string][]string) tunable.Env {
	e := c.NewEnv(f, role)
	nics := make([]*nicView, 0, len(f.NICs))
	for i := range f.NICs {
		nics = append(nics, viewNIC(f, &f.NICs[i]))
	}
	irqs := make([]*interruptView, 0, len(f.Interrupts))
	for _, i := range f.Interrupts {
		irqs = append(irqs, &interruptView{i.Name, i.Device, i.Rate})
	}
	maps.Copy(e, tunable.Env{
		"tree": !f.Live(), "nics": nics, "interrupts": irqs,
		"nic": &nicView{}, "line": &lineView{}, "count": 0.0, "counter_name": "",
		"uptime":        f.UptimeSeconds,
		"counter":       func(name string) float64 { c, _ := f.Counter(name); return float64(c.Value) },
		"per_second":    func(name string) float64 { return perSecond(f, name) },
		"has_counter":   func(name string) bool { _, ok := f.Counter(name); return ok },
		"running":       func(name string) string { v, _ := f.LiveValue(name); return v },
		"rc_text":       func(name string) string { v, _ := f.RCValue(name); return v },
		"was_read":      f.Read,
		"complained":    func(word string) bool { return complained(f, word) },
		"details":       func(service, key string) []string { return details(f, service, key) },
		"of_class":      func(n *nicView, class string) bool { return slices.Contains(classes[class], n.Driver) },
		"class":         func(class string) bool { return hasDriver(f, classes[class]) },
		"harvest_off":   func(mask float64) []string { return harvest(f.Release, mask, false) },
		"harvest_stray": func(mask float64) []string { return harvest(f.Release, mask, true) },
		"bytes":         func(v any) string { return calc.Format(number(v), calc.Bytes) },
	})
	addFirewall(e, f)
	return e
}

// perSecond is a counter's mean rate since boot, 0 when not known.
func perSecond(f *fact.Facts, name string) float64 {
	c, _ := f.Counter(name)
	if c.PerSecond == 0 && f.UptimeSeconds > 0 {
		return float64(c.Value) / f.UptimeSeconds
	}
	return c.PerSecond
}

func complained(f *fact.Facts, word string) bool {
	return slices.ContainsFunc(f.Complaints, func(c fact.Complaint) bool {
		return strings.Contains(strings.ToLower(c.Text), strings.ToLower(word))
	})
}

// harvest lists what a harvest mask does on a release: sources that it
// switches off and the release's default has on; or, stray, those it names
// though it has no power over them.
func harvest(rel release.Release, mask float64, stray bool) []string {
	names := []string{}
	if mask < 0 || mask > math.MaxUint32 {
		return names
	}
	have, err := tunable.DecodeHarvest(rel, uint32(mask))
	if err != nil {
		return names
	}
	usual, err := tunable.DecodeHarvest(rel, tunable.HarvestDefault(rel))
	if err != nil {
		return names
	}
	for i, s := range have {
		if stray && s.On && s.Fixed || !stray && !s.On && !s.Fixed && usual[i].On {
			names = append(names, s.Name)
		}
	}
	return names
}

// details are the values of the settings of a service with this name.
func details(f *fact.Facts, service, key string) []string {
	found := []string{}
	for _, s := range f.Services {
		for _, d := range s.Details {
			if s.Name == service && d.Name == key {
				found = append(found, d.Value)
			}
		}
	}
	return found
}

func hasDriver(f *fact.Facts, drivers []string) bool {
	return slices.ContainsFunc(f.NICs, func(n fact.NIC) bool { return slices.Contains(drivers, n.Driver) })
}

func addFirewall(e tunable.Env, f *fact.Facts) {
	pf := f.Firewall.PF
	if pf == nil {
		pf = &fact.PF{}
	}
	value := e["value"].(func(string) float64)
	e["pf_limit"] = func(name string) float64 {
		if l, ok := limit(pf, name); ok {
			return float64(l.Value)
		}
		return value("pf.conf:limit." + name)
	}
	e["pf_limit_set"] = func(name string) bool {
		return slices.ContainsFunc(pf.FileLimits, func(l fact.Limit) bool { return l.Name == name })
	}
	e["pf_states"], e["pf_max_mss"], e["pf_file"] = 0.0, 0.0, pf.File != ""
	if pf.States != nil {
		e["pf_states"] = float64(*pf.States)
	}
	for _, s := range pf.Scrub {
		if s.MaxMSS > 0 && (e["pf_max_mss"] == 0.0 || float64(s.MaxMSS) < e["pf_max_mss"].(float64)) {
			e["pf_max_mss"] = float64(s.MaxMSS)
		}
	}
	e["conntrack"], e["conntrack_max"] = 0.0, 0.0
	if nft := f.Firewall.NFT; nft != nil && nft.Connections != nil && nft.Max != nil {
		e["conntrack"], e["conntrack_max"] = float64(*nft.Connections), float64(*nft.Max)
	}
	e["ipfw_rules"] = 0
	if fw := f.Firewall.IPFW; fw != nil {
		e["ipfw_rules"] = fw.Rules
	}
}

// limit is a limit of the running pf, or of its file.
func limit(pf *fact.PF, name string) (fact.Limit, bool) {
	for _, list := range [][]fact.Limit{pf.FileLimits, pf.Limits} {
		if i := slices.IndexFunc(list, func(l fact.Limit) bool { return l.Name == name }); i >= 0 {
			return list[i], true
		}
	}
	return fact.Limit{}, false
}

func viewNIC(f *fact.Facts, n *fact.NIC) *nicView {
	v := &nicView{
		Name: n.Name, Driver: n.Driver, Kind: n.Kind, RXQueues: n.RXQueues, Speed: int(min(n.SpeedBits, math.MaxInt64)),
		MTU: n.MTU, FlowControl: n.FlowControl, Members: n.Members,
		Ether: n.Kind == fact.KindEthernet || n.Kind == "",
	}
	v.Offload = func(option string) string { return offload(n, option) }
	v.Live = n.Options != nil
	v.Refused = func(option string) bool { return slices.Contains(n.ConfigFlags, "-"+strings.ToLower(option)) }
	v.Asked = func(option string) bool { return slices.Contains(n.ConfigFlags, strings.ToLower(option)) }
	for _, i := range f.Interrupts {
		if i.Device != n.Name || i.Queue == "" {
			continue
		}
		if i.Rate > 0 {
			v.BusyQueues++
		}
		if i.CPU == nil {
			v.Unpinned++
		}
		v.BusiestRate = max(v.BusiestRate, i.Rate)
	}
	return v
}

// offload is the state of an interface's option, as far as it is known.
func offload(n *fact.NIC, option string) string {
	if n.Options != nil {
		on := slices.ContainsFunc(n.Options, func(o string) bool { return strings.EqualFold(o, option) })
		return map[bool]string{true: "on", false: "off"}[on]
	}
	state := "default"
	for _, flag := range n.ConfigFlags {
		name, off := strings.CutPrefix(strings.ToLower(flag), "-")
		if name != strings.ToLower(option) && !(name == "tso" && strings.HasPrefix(strings.ToLower(option), "tso")) {
			continue
		}
		state = map[bool]string{true: "off", false: "on"}[off]
	}
	return state
}

// blankEnv fixes the names and types that rules are checked against.
var blankEnv = sync.OnceValue(func() map[string]any {
	e := map[string]any(env(&tunable.Catalogue{}, &fact.Facts{}, "", nil))
	for name := range calc.Functions() {
		delete(e, name)
	}
	return e
})

var compileOptions = sync.OnceValue(func() []expr.Option {
	return append(calc.Options(), expr.Env(blankEnv()))
})

// programs keeps what was compiled: rules are few and used for every host.
var programs sync.Map // string → *vm.Program

func compile(code string) (*vm.Program, error) {
	if p, ok := programs.Load(code); ok {
		return p.(*vm.Program), nil
	}
	p, err := expr.Compile(code, compileOptions()...)
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", code, err)
	}
	programs.Store(code, p)
	return p, nil
}

func eval(code string, e tunable.Env) (any, error) {
	p, err := compile(code)
	if err != nil {
		return nil, err
	}
	v, err := expr.Run(p, map[string]any(e))
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", code, err)
	}
	return v, nil
}

// holds runs a condition; "" always holds.
func holds(code string, e tunable.Env) (bool, error) {
	if code == "" {
		return true, nil
	}
	v, err := eval(code, e)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("expression %q: want true or false, have %v", code, v)
	}
	return b, nil
}

// fill replaces every ${expression} of a text by its value.
func fill(text string, e tunable.Env) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return strings.TrimSpace(b.String()), nil
		}
		code, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", fmt.Errorf("text %q: ${ without }", text)
		}
		v, err := eval(code, e)
		if err != nil {
			return "", err
		}
		b.WriteString(show(v))
		text = after
	}
}

// number is any number of an expression as a float.
func number(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case int:
		return float64(v)
	}
	return 0
}

// show writes a value of an expression for people.
func show(v any) string {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return strconv.FormatInt(int64(v), 10)
		}
		return strconv.FormatFloat(v, 'g', 4, 64)
	case []string:
		return strings.Join(v, ", ")
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = show(x)
		}
		return strings.Join(parts, ", ")
	}
	return fmt.Sprint(v)
}

// CheckExpressions compiles every expression of the rules, those in texts
// too.
func (s *RuleSet) CheckExpressions() error {
	var errs []error
	for _, r := range s.rules {
		for _, code := range []string{r.When, r.Worse} {
			if code == "" {
				continue
			}
			if _, err := compile(code); err != nil {
				errs = append(errs, fmt.Errorf("%s: %s: %w", r.file, r.ID, err))
			}
		}
		for _, text := range []string{r.Name, r.Message, r.Why, r.Fix} {
			for _, part := range strings.Split(text, "${")[1:] {
				code, _, closed := strings.Cut(part, "}")
				if !closed {
					errs = append(errs, fmt.Errorf("%s: %s: ${ without }", r.file, r.ID))
					continue
				}
				if _, err := compile(code); err != nil {
					errs = append(errs, fmt.Errorf("%s: %s: %w", r.file, r.ID, err))
				}
			}
		}
	}
	return errors.Join(errs...)
}
