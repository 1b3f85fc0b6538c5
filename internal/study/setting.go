package study

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"linerate/internal/lazy"
	"linerate/internal/list"
	"linerate/internal/setting"
	"linerate/internal/yamlfile"
)

// Setting is one thing that a variant sets. Exactly one of the keys before value names
// it; the others complete it.
type Setting struct {
	Sysctl   string         `yaml:"sysctl,omitempty"`
	NFT      string         `yaml:"nft,omitempty"`      // a ruleset in nft's language, as pf and ipfw in theirs
	Firewall *setting.Rules `yaml:"firewall,omitempty"` // what a packet filter does, in each testbed's own language
	Route    string         `yaml:"route,omitempty"`    // PREFIX
	Routes   *setting.Table `yaml:"routes,omitempty"`
	// Hops is the number of further routers behind the DUT's first.
	Hops int `yaml:"hops,omitempty"`
	// Forward replaces the kernel's routing: "xdp" or "bridge".
	Forward string `yaml:"forward,omitempty"`
	// CPUs is the number of CPUs over which the work of the ingress is spread.
	CPUs        int      `yaml:"cpus,omitempty"`
	PolicyRules int      `yaml:"policy_rules,omitempty"` // policy routing rules that never match
	Link        string   `yaml:"link,omitempty"`         // a property or offload of an interface
	NAPI        string   `yaml:"napi,omitempty"`         // how Linux polls an interface
	Command     []string `yaml:"command,omitempty"`      // run on the DUT, never through a shell
	// TCP describes how the server treats the path to its clients.
	TCP        *setting.Path `yaml:"tcp,omitempty,flow"`
	NGINX      string        `yaml:"nginx,omitempty"`           // a directive of nginx
	Postfix    string        `yaml:"postfix,omitempty"`         // a parameter of Postfix
	FileSystem *Disk         `yaml:"filesystem,omitempty,flow"` // holds the server's files, or its mail
	Files      string        `yaml:"files,omitempty"`           // a configuration set: a directory next to the study, copied over the DUT's root
	RC         string        `yaml:"rc,omitempty"`              // a variable in rc.conf
	Loader     string        `yaml:"loader,omitempty"`          // a variable in loader.conf
	Image      string        `yaml:"image,omitempty"`           // booted once: a boot environment, a kernel, or a GRUB entry
	PF         string        `yaml:"pf,omitempty"`
	IPFW       string        `yaml:"ipfw,omitempty"`
	Value      string        `yaml:"value,omitempty"`
	Undo       []string      `yaml:"undo,omitempty,flow"` // the command that undoes command
	Via        string        `yaml:"via,omitempty"`       // a route's next hop
	Socket     string        `yaml:"socket,omitempty"`    // an option of each accepted connection
	Device     string        `yaml:"device,omitempty"`    // "ingress" or "egress"; on a live host, an interface
	Over       string        `yaml:"over,omitempty"`      // how hops are linked: "vlan", "gre", "wireguard" …
	Scope      string        `yaml:"scope,omitempty"`     // "host" or empty
}

// SysctlTo returns a setting of a sysctl.
func SysctlTo(name, value string) Setting { return Setting{Sysctl: name, Value: value} }

// LinkTo returns a setting of an interface's property or offload.
func LinkTo(device, name, value string) Setting {
	return Setting{Link: name, Device: device, Value: value}
}

// target is something a setting can set, named by one of its keys. If the field has the methods
// check or String, target needs no function for them.
type target struct {
	key       string
	mechanism setting.Mechanism
	// set fills in the fields of the testbed's setting other than mechanism, name, value and device.
	set func(s *Setting, to *setting.Setting)
	// check refuses invalid values, at the key's path.
	check func(s *Setting, path string) *yamlfile.Problem
	// names returns what it sets, named as in evidence. If it is nil: prefix and name with
	// the value, or (whole) the key with its own value.
	names  func(s *Setting) map[string]string
	prefix string
	whole  bool

	value             bool   // requires a value; others take none
	device, mayDevice bool   // requires a device; may have one
	machines          bool   // only testbeds of machines can set it
	boot              string // why it requires a boot of the DUT
}

// targets lists all targets, in the order in which messages name their keys.
var targets = []target{
	{key: "sysctl", mechanism: setting.Sysctl, names: sysctlNames, value: true},
	{key: "nft", mechanism: setting.NFT, set: func(s *Setting, to *setting.Setting) { text(s.NFT, to) },
		names: func(s *Setting) map[string]string {
			return map[string]string{"nft": fmt.Sprintf("%d bytes of rules", len(s.NFT))}
		}},
	{key: "firewall", mechanism: setting.Firewall, whole: true, check: checkFirewall,
		set: func(s *Setting, to *setting.Setting) { to.Rules = s.Firewall }},
	{key: "route", mechanism: setting.Route, whole: true, mayDevice: true, check: checkRoute,
		set: func(s *Setting, to *setting.Setting) { to.Value = s.Via }},
	{key: "routes", mechanism: setting.Routes, whole: true, check: checkRoutes,
		set: func(s *Setting, to *setting.Setting) { to.Table = s.Routes }},
	{key: "hops", mechanism: setting.Hops, whole: true, check: checkHops,
		set: func(s *Setting, to *setting.Setting) { to.Name = s.Over }},
	{key: "forward", mechanism: setting.Forward, whole: true,
		check: func(s *Setting, path string) *yamlfile.Problem {
			return yamlfile.OneOf(path, s.Forward, setting.ForwardXDP, setting.ForwardBridge)
		}},
	{key: "cpus", mechanism: setting.CPUs, whole: true,
		check: func(s *Setting, path string) *yamlfile.Problem { return yamlfile.Within(path, s.CPUs, 1, maxCPUs) }},
	{key: "policy_rules", mechanism: setting.PolicyRules, whole: true,
		check: func(s *Setting, path string) *yamlfile.Problem {
			return yamlfile.Within(path, s.PolicyRules, 1, maxPolicyRules)
		}},
	{key: "link", mechanism: setting.Link, prefix: "link ", value: true, device: true},
	{key: "napi", mechanism: setting.NAPI, prefix: "napi ", value: true, device: true,
		check: func(s *Setting, path string) *yamlfile.Problem {
			return yamlfile.OneOf(path, s.NAPI, setting.NAPINames...)
		}},
	{key: "command", mechanism: setting.Command, whole: true, check: checkCommand,
		set: func(s *Setting, to *setting.Setting) { to.Argv, to.Undo = s.Command, s.Undo }},
	{key: "tcp", mechanism: setting.TCP, names: tcpNames, check: checkTCP,
		set: func(s *Setting, to *setting.Setting) { to.Path = s.TCP }},
	{key: "nginx", mechanism: setting.NGINX, prefix: "nginx:", value: true, check: func(s *Setting, path string) *yamlfile.Problem {
		return wrongLine(path, setting.CheckNGINX(s.NGINX, s.Value))
	}},
	{key: "postfix", mechanism: setting.Postfix, prefix: "postfix:", value: true, check: func(s *Setting, path string) *yamlfile.Problem {
		return wrongLine(path, setting.CheckPostfix(s.Postfix, s.Value))
	}},
	{key: "filesystem", mechanism: setting.FileSystem, names: func(s *Setting) map[string]string { return s.FileSystem.names() },
		set: func(s *Setting, to *setting.Setting) { d, _ := s.FileSystem.parse(); to.Disk = &d }}, // a parsed study has a valid one
	{key: "socket", mechanism: setting.Socket, prefix: "socket ", value: true},
	{key: "files", mechanism: setting.Files, machines: true},
	{key: "rc", mechanism: setting.RC, value: true, machines: true},
	{key: "loader", mechanism: setting.Loader, value: true, machines: true, boot: "a loader variable is read by a boot"},
	{key: "image", mechanism: setting.Image, machines: true, boot: "an image is booted"},
	{key: "pf", mechanism: setting.PF, machines: true, set: func(s *Setting, to *setting.Setting) { text(s.PF, to) }},
	{key: "ipfw", mechanism: setting.IPFW, machines: true, set: func(s *Setting, to *setting.Setting) { text(s.IPFW, to) }},
}

// text makes a ruleset of a text, which is no name.
func text(rules string, to *setting.Setting) { to.Name, to.Rules = "", &setting.Rules{Text: rules} }

// fields maps a setting's keys to the indexes of its fields.
var fields = func() map[string]int {
	out, of := map[string]int{}, reflect.TypeFor[Setting]()
	for i := range of.NumField() {
		out[yamlKey(of.Field(i))] = i
	}
	return out
}()

// field returns the key's field in a setting.
func (t *target) field(s *Setting) reflect.Value {
	return reflect.ValueOf(s).Elem().Field(fields[t.key])
}

func (t *target) in(s *Setting) bool { return !t.field(s).IsZero() }

// name returns the key's value if it is a string.
func (t *target) name(s *Setting) string {
	if f := t.field(s); f.Kind() == reflect.String {
		return f.String()
	}
	return ""
}

// target returns what the setting sets; nil if no key is set.
func (s *Setting) target() *target {
	for i := range targets {
		if targets[i].in(s) {
			return &targets[i]
		}
	}
	return nil
}

// Setting returns the setting for the testbed.
func (s Setting) Setting() setting.Setting {
	out := setting.Setting{Value: s.Value, Device: s.Device}
	t := s.target()
	if t == nil {
		return out
	}
	out.Mechanism, out.Name = t.mechanism, t.name(&s)
	if n, is := t.field(&s).Interface().(int); is {
		out.Value = fmt.Sprint(n)
	}
	if t.set != nil {
		t.set(&s, &out)
	}
	return out
}

// Is reports whether the setting uses a mechanism.
func (s Setting) Is(m setting.Mechanism) bool {
	t := s.target()
	return t != nil && t.mechanism == m
}

// Names returns what it sets, named as in evidence, with the values. It must cover
// everything that a variant sets: otherwise evidence would attribute the effect to the
// other changes alone.
func (s Setting) Names() map[string]string {
	switch t := s.target(); {
	case t == nil:
		return nil
	case t.names != nil:
		return t.names(&s)
	case t.whole:
		return map[string]string{t.key: strings.TrimSpace(fmt.Sprint(t.field(&s).Interface(), " ", s.Over))}
	case t.value:
		return map[string]string{t.prefix + t.name(&s): s.Value}
	default:
		set := s.Setting()
		return map[string]string{string(set.Mechanism): set.String()}
	}
}

var bedPort = lazy.Regexp(`\.(dut|gen|sink|rcv)[0-9]+\.`)

// sysctlNames returns the sysctl named as in the catalogue: with dots, and IF for a
// port of the testbed.
func sysctlNames(s *Setting) map[string]string {
	return map[string]string{bedPort().ReplaceAllString(strings.ReplaceAll(s.Sysctl, "/", "."), ".IF."): s.Value}
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
		if !deviceRE().MatchString(s.Device) {
			return yamlfile.OneOf(path+".device", s.Device, ends...)
		}
	case s.Device != "":
		return yamlfile.Wrong(path+".device", "only link, napi and route settings have a device")
	}
	path += "." + t.key
	if t.check != nil {
		return t.check(&s, path)
	}
	if field, own := t.field(&s).Interface().(interface {
		check(string) *yamlfile.Problem
	}); own {
		return field.check(path)
	}
	return nil
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
			Advise("begin each setting with its own dash, and one of these")
	}
	return nil
}

// ScopeHost marks a setting that is global to the kernel: it changes more
// than the testbed, and needs the operator's consent.
const ScopeHost = "host"

// ends are the devices of a DUT, by role. A live host uses its real device names.
var ends = []string{"ingress", "egress"}

// deviceRE is an interface's name (dev_valid_name of net/core/dev.c; ifconfig(8)).
var deviceRE = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9_.@-]{0,14}$`)

// checkPlace refuses settings that the study's testbed does not support.
func (s *Spec) checkPlace() *yamlfile.Problem {
	for i, v := range s.Variants {
		for j, set := range v.Settings {
			path := fmt.Sprintf("variants[%d].settings[%d]", i, j)
			t := set.target()
			switch {
			case !s.OnMachines() && (t.machines || len(set.Undo) > 0):
				return yamlfile.Wrong(path, "files, rc, loader, image, pf, ipfw and undo need a testbed of machines").Advise("give the study testbed: {kind: ssh, file: lab.yaml}")
			case s.OnMachines() && t.boot != "" && s.Reset != ResetReboot:
				return yamlfile.Wrong(path+"."+t.key, "%s", t.boot).Advise("give the study reset: reboot")
			case s.OnMachines() && set.Scope != "":
				return yamlfile.Wrong(path+".scope", "a machine is the DUT's whole: no setting of it is global to another")
			}
		}
	}
	return nil
}

// Apply returns the variant's settings for the testbed, in order.
func (v Variant) Apply() []setting.Setting {
	return list.Map(v.Settings, func(s Setting) setting.Setting { return s.Setting() })
}

// ApplyLocal returns the settings confined to the testbed, in order.
func (v Variant) ApplyLocal() []setting.Setting { return v.apply("") }

// ApplyGlobal returns the settings that are global to the kernel, in order.
func (v Variant) ApplyGlobal() []setting.Setting { return v.apply(ScopeHost) }

func (v Variant) apply(scope string) (out []setting.Setting) {
	for _, s := range v.Settings {
		if s.Scope == scope {
			out = append(out, s.Setting())
		}
	}
	return out
}

// HostScope returns the settings that are declared global to the kernel.
func (v Variant) HostScope() []Setting {
	return list.Filter(v.Settings, func(s Setting) bool { return s.Scope == ScopeHost })
}

// Local returns the study without the variants that have settings global to the kernel.
func (s Spec) Local() Spec {
	s.Variants = slices.DeleteFunc(slices.Clone(s.Variants), func(v Variant) bool { return len(v.HostScope()) > 0 })
	return s
}
