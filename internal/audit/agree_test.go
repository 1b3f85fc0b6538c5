package audit

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/fact/factexpr"
	"linerate/internal/role"
	"linerate/internal/tunable"
)

// samples are the calls with which the environments' functions are compared.
var samples = map[string][]string{
	"field": {`field("system/maximumstates")`}, "field_is": {`field_is("sqm/queue/enabled", "1")`},
	"at_least": {"at_least(14, 0)"}, "div": {"div(7, 2)"},
	"is_set": {`is_set("net.inet.ip.forwarding")`, `is_set("gateway_enable")`}, "rc": {`rc("gateway_enable")`}, "rc_text": {`rc_text("gateway_enable")`}, "reaches": {`reaches("198.18.0.1")`},
	"within": {`within("198.18.0.9/27", "198.18.0.30")`}, "running": {`running("net.inet.ip.forwarding")`, `running("net.ipv4.ip_forward")`}, "module": {`module("nf_conntrack")`, `module("pf")`},
	"service": {`service("docker")`}, "listens": {"listens(443)"}, "mounted": {`mounted("zfs")`}, "details": {`details("nginx", "listen")`},
	"counter": {`counter("ip.forwarded")`}, "has_counter": {`has_counter("ip.forwarded")`},
	"complained": {`complained("limit")`}, "was_read": {`was_read("/etc")`}, "driver": {`driver("ix")`}, "enabled": {`enabled("LRO")`}, "lro_of": {`lro_of("vmx")`},
	"has_nic": {`has_nic("pfsync")`}, "any_set": {`any_set("gateway_*")`}, "unreadable": {`unreadable("/etc/pf.conf")`}, "pf_limit_set": {`pf_limit_set("states")`},
	"listens_udp": {"listens_udp(443)"}, "serves": {`serves("nginx", 443)`, `serves("docker", 1)`}, "sum_of": {`sum_of("ip.*")`}, "often": {`often("ip.*")`},
	"nics": {"map(nics, .name)", "map(nics, .ether)"}, "interrupts": {"map(interrupts, .rate)"},
}

func runs(name, live string) fact.Tunable {
	return fact.Tunable{Name: name, Namespace: fact.Kernel, Live: &live}
}

// hosts are those on which all environments must agree.
func hosts() map[string]*fact.Facts {
	yes, no, n := true, false, uint64(70)
	gateway := []fact.Line{{File: "/etc/rc.conf", Number: 1, Name: "gateway_enable", Value: "YES", Stage: fact.RCConf, Effective: true}}
	all := map[string]*fact.Facts{
		"nothing": {},
		"configured, not running": {OS: fact.FreeBSD, Settings: []fact.Tunable{runs("net.inet.ip.forwarding", "0")},
			Firewall: fact.Firewall{PF: &fact.PF{Configured: true, Enabled: &no, Translations: 2}, IPFW: &fact.IPFW{Enabled: &yes}},
			Modules:  []fact.Module{{Name: "pf", Loaded: &no}}},
		"FreeBSD tree": {OS: fact.FreeBSD, Firewall: fact.Firewall{PF: &fact.PF{Configured: true, FileLimits: []fact.Limit{{Name: "states", Value: 1}}}},
			NICs: []fact.NIC{{Name: "ix0", Driver: "ix", SpeedBits: 1e10, Options: []string{"LRO"}, IPv4: 1}, {Name: "bridge0", Kind: fact.KindBridge, Members: []string{"ix0"}}}},
		"Linux router": {OS: fact.Linux, Settings: []fact.Tunable{runs("net.ipv4.conf.eth0.forwarding", "1"), runs("net.ipv4.ip_forward", "0")},
			Firewall: fact.Firewall{NFT: &fact.NFT{Rules: 3, Connections: &n, Max: &n}}, Memory: fact.Memory{Physical: 1 << 34, PageSize: 4096},
			Counters: []fact.Counter{{Name: "ip.forwarded", Value: 9}}, UptimeSeconds: 3},
		"Linux, IPv6 only": {OS: fact.Linux, Settings: []fact.Tunable{runs("net.ipv4.ip_forward", "0"), runs("net.ipv6.conf.all.forwarding", "1")}},
		"container host": {OS: fact.Linux, Services: []fact.Service{{Name: "docker", Enabled: &yes}, {Name: "nginx", Enabled: &yes}},
			Modules: []fact.Module{{Name: "br_netfilter", Loaded: &yes}, {Name: "nf_conntrack", Loaded: &yes}}, Listeners: []fact.Listener{{Port: 443}}},
	}
	all["configured, not running"].AddLines(gateway)
	all["FreeBSD tree"].AddLines(gateway)
	for _, f := range all {
		f.Normalise()
	}
	return all
}

// TestEnvironmentsAgree: a name that roles, records and rules share has the same value in all of
// them, on every host.
func TestEnvironmentsAgree(t *testing.T) {
	ofRoles, ofRecords := factexpr.NewLanguage[factexpr.Host](), factexpr.NewLanguage[tunable.Names]()
	c, set := &tunable.Catalogue{}, &RuleSet{}
	for name, f := range hosts() {
		host, env := factexpr.Of(f), c.NewEnv(f, "")
		rules := ruleNames(env, f, &set.Lists)
		for _, code := range shared(t) {
			want, err := ofRoles.Value(code, &host)
			if err != nil {
				t.Fatal(err)
			}
			record, err := ofRecords.Value(code, env.Names)
			if err != nil || !reflect.DeepEqual(record, want) {
				t.Errorf("%s: %s is %v for roles, but %v for records (%v)", name, code, want, record, err)
			}
			rule, err := language().Value(code, rules.about("1"))
			if err != nil || !reflect.DeepEqual(rule, want) {
				t.Errorf("%s: %s is %v for roles, but %v for rules (%v)", name, code, want, rule, err)
			}
		}
	}
}

// shared returns expressions over every name of a host's facts.
func shared(t *testing.T) []string {
	t.Helper()
	var codes []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[factexpr.Host]()) {
		name := f.Tag.Get("expr")
		switch calls, ok := samples[name]; {
		case ok:
			codes = append(codes, calls...)
		case f.Type.Kind() == reflect.Func:
			t.Errorf("no sample for the function %s", name)
		case name != "":
			codes = append(codes, name)
		}
	}
	return codes
}

// TestRoleSeesWhatRulesSee: a host whose gateway is disabled is no gateway for roles, records and
// rules alike.
func TestRoleSeesWhatRulesSee(t *testing.T) {
	f := hosts()["configured, not running"]
	g, err := role.Of(f)
	if err != nil {
		t.Fatal(err)
	}
	rules := ruleNames((&tunable.Catalogue{}).NewEnv(f, g.Role), f, &Lists{})
	if g.Role != "endpoint" || rules.Forwarding || rules.PF || rules.IPFW {
		t.Errorf("role %s, forwarding %v, pf %v, ipfw %v", g.Role, rules.Forwarding, rules.PF, rules.IPFW)
	}
}

// TestNamesAreDocumented: every name that expressions can use is in the reference.
func TestNamesAreDocumented(t *testing.T) {
	var docs strings.Builder
	for _, file := range []string{"catalogue.md", "audit.md"} {
		text, err := os.ReadFile("../../docs/reference/" + file)
		if err != nil {
			t.Fatal(err)
		}
		docs.Write(text)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[names]()) {
		name := f.Tag.Get("expr")
		if name != "" && !strings.Contains(docs.String(), "`"+name+"`") && !strings.Contains(docs.String(), "`"+name+"(") {
			t.Errorf("%s is in neither docs/reference/catalogue.md nor audit.md", name)
		}
	}
	if n := reflect.TypeFor[*names]().NumMethod(); n > 0 {
		t.Errorf("names has %d methods: expressions could call them", n)
	}
}
