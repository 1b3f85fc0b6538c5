package study

import (
	"fmt"
	"regexp"
	"strings"

	"linerate/internal/setting"
	"linerate/internal/yamlfile"
)

// Setting is one thing a variant sets. Exactly one of its keys before value names what;
// the others complete it.
type Setting struct {
	Sysctl   string         `yaml:"sysctl,omitempty"`
	NFT      *Ruleset       `yaml:"nft,omitempty"`
	Firewall *Rules         `yaml:"firewall,omitempty"` // what a packet filter is to do, in each testbed's own way
	Route    string         `yaml:"route,omitempty"`    // PREFIX
	Routes   *setting.Table `yaml:"routes,omitempty"`
	// Hops are further routers behind the DUT's first.
	Hops int `yaml:"hops,omitempty"`
	// Forward is what forwards instead of the kernel's routing: "xdp" or "bridge".
	Forward string `yaml:"forward,omitempty"`
	// CPUs are what the work of the ingress is spread over.
	CPUs        int      `yaml:"cpus,omitempty"`
	PolicyRules int      `yaml:"policy_rules,omitempty"` // rules of policy routing that never match
	Link        string   `yaml:"link,omitempty"`         // a property or an offload of an interface
	NAPI        string   `yaml:"napi,omitempty"`         // how Linux polls an interface
	Command     []string `yaml:"command,omitempty"`      // run on the DUT, never through a shell
	// TCP is how the server treats the path to its clients.
	TCP        *setting.Path `yaml:"tcp,omitempty,flow"`
	NGINX      string        `yaml:"nginx,omitempty"`           // a directive of the web server
	Postfix    string        `yaml:"postfix,omitempty"`         // a parameter of the mail server
	FileSystem *Disk         `yaml:"filesystem,omitempty,flow"` // what the server's files, or its mail, are on
	Files      string        `yaml:"files,omitempty"`           // a configuration set: a directory next to the study, laid over the DUT's root
	RC         string        `yaml:"rc,omitempty"`              // a variable of rc.conf
	Loader     string        `yaml:"loader,omitempty"`          // a variable of loader.conf
	Image      string        `yaml:"image,omitempty"`           // booted once: a boot environment, a kernel, an entry of GRUB's
	PF         *Ruleset      `yaml:"pf,omitempty"`
	IPFW       *Ruleset      `yaml:"ipfw,omitempty"`
	Value      string        `yaml:"value,omitempty"`
	Undo       []string      `yaml:"undo,omitempty,flow"` // takes a command back
	Via        string        `yaml:"via,omitempty"`       // a route's next hop
	Socket     string        `yaml:"socket,omitempty"`    // an option of each accepted connection
	Device     string        `yaml:"device,omitempty"`    // "ingress" or "egress"; of a live host an interface
	Over       string        `yaml:"over,omitempty"`      // what joins hops: "vlan", "gre", "wireguard" …
	Scope      string        `yaml:"scope,omitempty"`     // "host" or nothing
}

// SysctlTo is a setting of a sysctl.
func SysctlTo(name, value string) Setting { return Setting{Sysctl: name, Value: value} }

// LinkTo is a setting of an interface's property or offload.
func LinkTo(device, name, value string) Setting {
	return Setting{Link: name, Device: device, Value: value}
}

// target is what a setting can set: one of its keys.
type target struct {
	key       string
	mechanism setting.Mechanism
	// name is the key's value where that is a string; given otherwise reports whether the
	// setting has the key.
	name  func(s *Setting) string
	given func(s *Setting) bool
	// set completes what the testbed is to set, beyond mechanism, name, value and device.
	set func(s *Setting, to *setting.Setting)
	// check refuses what is wrong with it, at the key's path.
	check func(s *Setting, path string) *yamlfile.Problem
	// names are what it sets by the names that evidence has; nil: prefix and the name with
	// the value, or the key with text.
	names  func(s *Setting) map[string]string
	prefix string
	text   func(s *Setting) string

	value             bool   // needs a value; others take none
	device, mayDevice bool   // needs a device; may have one
	machines          bool   // only testbeds of machines can set it
	boot              string // why it needs a boot of the DUT
}

// targets are all of them, in the order in which messages name their keys.
var targets = []target{
	{key: "sysctl", mechanism: setting.Sysctl, name: func(s *Setting) string { return s.Sysctl }, names: sysctlNames, value: true},
	{key: "nft", mechanism: setting.NFT, given: func(s *Setting) bool { return s.NFT != nil }, text: func(s *Setting) string { return s.NFT.String() },
		set:   func(s *Setting, to *setting.Setting) { to.Rules = s.NFT.rules() },
		check: func(s *Setting, path string) *yamlfile.Problem { return s.NFT.check(path) }},
	{key: "firewall", mechanism: setting.Firewall, given: func(s *Setting) bool { return s.Firewall != nil }, text: func(s *Setting) string { return s.Firewall.rules().String() },
		set:   func(s *Setting, to *setting.Setting) { to.Rules = s.Firewall.rules() },
		check: func(s *Setting, path string) *yamlfile.Problem { return s.Firewall.check(path) }},
	{key: "route", mechanism: setting.Route, name: func(s *Setting) string { return s.Route }, text: func(s *Setting) string { return s.Route }, mayDevice: true,
		set: func(s *Setting, to *setting.Setting) { to.Value = s.Via }, check: checkRoute},
	{key: "routes", mechanism: setting.Routes, given: func(s *Setting) bool { return s.Routes != nil }, text: func(s *Setting) string { return s.Routes.String() },
		set: func(s *Setting, to *setting.Setting) { to.Table = s.Routes }, check: checkRoutes},
	{key: "hops", mechanism: setting.Hops, given: func(s *Setting) bool { return s.Hops != 0 },
		text:  func(s *Setting) string { return strings.TrimSpace(fmt.Sprint(s.Hops, " ", s.Over)) },
		set:   func(s *Setting, to *setting.Setting) { to.Name, to.Value = s.Over, fmt.Sprint(s.Hops) },
		check: checkHops},
	{key: "forward", mechanism: setting.Forward, name: func(s *Setting) string { return s.Forward }, text: func(s *Setting) string { return s.Forward },
		check: func(s *Setting, path string) *yamlfile.Problem {
			return yamlfile.OneOf(path, s.Forward, setting.ForwardXDP, setting.ForwardBridge)
		}},
	{key: "cpus", mechanism: setting.CPUs, given: func(s *Setting) bool { return s.CPUs != 0 }, text: func(s *Setting) string { return fmt.Sprint(s.CPUs) },
		set:   func(s *Setting, to *setting.Setting) { to.Value = fmt.Sprint(s.CPUs) },
		check: func(s *Setting, path string) *yamlfile.Problem { return yamlfile.Within(path, s.CPUs, 1, maxCPUs) }},
	{key: "policy_rules", mechanism: setting.PolicyRules, given: func(s *Setting) bool { return s.PolicyRules != 0 }, text: func(s *Setting) string { return fmt.Sprint(s.PolicyRules) },
		set: func(s *Setting, to *setting.Setting) { to.Value = fmt.Sprint(s.PolicyRules) },
		check: func(s *Setting, path string) *yamlfile.Problem {
			return yamlfile.Within(path, s.PolicyRules, 1, maxPolicyRules)
		}},
	{key: "link", mechanism: setting.Link, name: func(s *Setting) string { return s.Link }, prefix: "link ", value: true, device: true},
	{key: "napi", mechanism: setting.NAPI, name: func(s *Setting) string { return s.NAPI }, prefix: "napi ", value: true, device: true,
		check: func(s *Setting, path string) *yamlfile.Problem {
			return yamlfile.OneOf(path, s.NAPI, setting.NAPINames...)
		}},
	{key: "command", mechanism: setting.Command, given: func(s *Setting) bool { return s.Command != nil }, text: func(s *Setting) string { return fmt.Sprint(s.Command) },
		set: func(s *Setting, to *setting.Setting) { to.Argv, to.Undo = s.Command, s.Undo }, check: checkCommand},
	{key: "tcp", mechanism: setting.TCP, given: func(s *Setting) bool { return s.TCP != nil }, names: tcpNames,
		set: func(s *Setting, to *setting.Setting) { to.Path = s.TCP }, check: checkTCP},
	{key: "nginx", mechanism: setting.NGINX, name: func(s *Setting) string { return s.NGINX }, prefix: "nginx:", value: true, check: checkNGINX},
	{key: "postfix", mechanism: setting.Postfix, name: func(s *Setting) string { return s.Postfix }, prefix: "postfix:", value: true, check: checkPostfix},
	{key: "filesystem", mechanism: setting.FileSystem, given: func(s *Setting) bool { return s.FileSystem != nil }, names: func(s *Setting) map[string]string { return s.FileSystem.names() },
		set:   func(s *Setting, to *setting.Setting) { d, _ := s.FileSystem.parse(); to.Disk = &d }, // a study that was read has a valid one
		check: func(s *Setting, path string) *yamlfile.Problem { return s.FileSystem.check(path) }},
	{key: "socket", mechanism: setting.Socket, name: func(s *Setting) string { return s.Socket }, prefix: "socket ", value: true},
	{key: "files", mechanism: setting.Files, name: func(s *Setting) string { return s.Files }, machines: true},
	{key: "rc", mechanism: setting.RC, name: func(s *Setting) string { return s.RC }, value: true, machines: true},
	{key: "loader", mechanism: setting.Loader, name: func(s *Setting) string { return s.Loader }, value: true, machines: true, boot: "a loader variable is read by a boot"},
	{key: "image", mechanism: setting.Image, name: func(s *Setting) string { return s.Image }, machines: true, boot: "an image is booted"},
	{key: "pf", mechanism: setting.PF, given: func(s *Setting) bool { return s.PF != nil }, machines: true,
		set:   func(s *Setting, to *setting.Setting) { to.Rules = s.PF.rules() },
		check: func(s *Setting, path string) *yamlfile.Problem { return s.PF.check(path) }},
	{key: "ipfw", mechanism: setting.IPFW, given: func(s *Setting) bool { return s.IPFW != nil }, machines: true,
		set:   func(s *Setting, to *setting.Setting) { to.Rules = s.IPFW.rules() },
		check: func(s *Setting, path string) *yamlfile.Problem { return s.IPFW.check(path) }},
}

func (t *target) in(s *Setting) bool {
	if t.name != nil {
		return t.name(s) != ""
	}
	return t.given(s)
}

// target is what the setting sets; nil where no key says.
func (s *Setting) target() *target {
	for i := range targets {
		if targets[i].in(s) {
			return &targets[i]
		}
	}
	return nil
}

// Setting returns what the testbed is to set.
func (s Setting) Setting() setting.Setting {
	out := setting.Setting{Value: s.Value, Device: s.Device}
	t := s.target()
	if t == nil {
		return out
	}
	out.Mechanism = t.mechanism
	if t.name != nil {
		out.Name = t.name(&s)
	}
	if t.set != nil {
		t.set(&s, &out)
	}
	return out
}

// Is reports whether a mechanism sets it.
func (s Setting) Is(m setting.Mechanism) bool {
	t := s.target()
	return t != nil && t.mechanism == m
}

// Names are what it sets, by the names that evidence has, with the values. Nothing that
// a variant sets may be left out: what was changed with it would be taken for
// changed alone.
func (s Setting) Names() map[string]string {
	switch t := s.target(); {
	case t == nil:
		return nil
	case t.names != nil:
		return t.names(&s)
	case t.text != nil:
		return map[string]string{t.key: t.text(&s)}
	case t.value:
		return map[string]string{t.prefix + t.name(&s): s.Value}
	default:
		set := s.Setting()
		return map[string]string{string(set.Mechanism): set.String()}
	}
}

var bedPort = regexp.MustCompile(`\.(dut|gen|sink|rcv)[0-9]+\.`)

// sysctlNames is the sysctl as the catalogue writes it, with dots, and IF for a port of
// the testbed.
func sysctlNames(s *Setting) map[string]string {
	return map[string]string{bedPort.ReplaceAllString(strings.ReplaceAll(s.Sysctl, "/", "."), ".IF."): s.Value}
}

func (s Setting) check(path string) *yamlfile.Problem {
	if p := s.checkKeys(path); p != nil {
		return p
	}
	t := s.target()
	switch {
	case s.Scope != "" && s.Scope != ScopeHost:
		return yamlfile.Wrong(path+".scope", "unknown scope %q", s.Scope).Advise("known: host (global to the kernel), or none")
	case t.value && s.Value == "":
		return yamlfile.Wrong(path, "the setting has no value").Advise("add a line, value: …")
	case !t.value && s.Value != "":
		return yamlfile.Wrong(path+".value", "this kind of setting takes no value")
	case t.device, t.mayDevice && s.Device != "":
		if !deviceRE.MatchString(s.Device) {
			return yamlfile.OneOf(path+".device", s.Device, ends...)
		}
	case s.Device != "":
		return yamlfile.Wrong(path+".device", "only link, napi and route settings have a device")
	}
	if t.check == nil {
		return nil
	}
	return t.check(&s, path+"."+t.key)
}

// checkKeys refuses keys of several targets, or of none.
func (s Setting) checkKeys(path string) *yamlfile.Problem {
	var known, named []string
	for i := range targets {
		known = append(known, targets[i].key)
		if targets[i].in(&s) {
			named = append(named, targets[i].key)
		}
	}
	for _, c := range []struct {
		given      bool
		key, whose string
	}{{s.Undo != nil && s.Command == nil, "undo", "command"}, {s.Via != "" && s.Route == "", "via", "route"}, {s.Over != "" && s.Hops == 0, "over", "hops"}} {
		if c.given {
			return yamlfile.Wrong(path+"."+c.key, "only %s settings have %s", c.whose, c.key)
		}
	}
	if len(named) != 1 {
		return yamlfile.Wrong(path, "a setting has exactly one of %s; this one has %d", strings.Join(known, ", "), len(named)).
			Advise("begin each setting with a dash of its own, and one of these")
	}
	return nil
}
