package study

import (
	"strconv"

	"linerate/internal/setting"
	"linerate/internal/setting/nginxconf"
	"linerate/internal/setting/postfixconf"
)

// mechanism is one way in which a variant sets something: all that a study knows of it.
type mechanism struct {
	key string // of the file
	// given reports whether a setting has it.
	given func(s Setting) bool
	// is what the testbed is to set; value and device are there already.
	is func(s Setting, to *setting.Setting)
	// valued: it needs a value. machines: only testbeds of machines have it.
	valued, machines bool
	// check refuses what is wrong with it, at its path; nil: nothing can be.
	check func(s Setting, path string) *Problem
}

// named is a mechanism of which the key has the name, as a sysctl's.
func named(key string, m setting.Mechanism, name func(s Setting) string) mechanism {
	return mechanism{key: key, valued: true, given: func(s Setting) bool { return name(s) != "" },
		is: func(s Setting, to *setting.Setting) { to.Mechanism, to.Name = m, name(s) }}
}

// counted is a mechanism of which the key has a number.
func counted(key string, m setting.Mechanism, most int, number func(s Setting) int) mechanism {
	return mechanism{key: key, given: func(s Setting) bool { return number(s) != 0 },
		is:    func(s Setting, to *setting.Setting) { to.Mechanism, to.Value = m, strconv.Itoa(number(s)) },
		check: func(s Setting, path string) *Problem { return Within(path, number(s), 1, most) }}
}

// ruled is a mechanism of which the key has a ruleset.
func ruled(key string, m setting.Mechanism, rules func(s Setting) *Ruleset) mechanism {
	return mechanism{key: key, given: func(s Setting) bool { return rules(s) != nil },
		is:    func(s Setting, to *setting.Setting) { to.Mechanism, to.Rules = m, rules(s).rules() },
		check: func(s Setting, path string) *Problem { return rules(s).check(path) }}
}

// bare is a mechanism without a value; ofMachines is one of machines alone.
func bare(m mechanism) mechanism       { m.valued = false; return m }
func ofMachines(m mechanism) mechanism { m.machines = true; return m }

// checked is a mechanism that can be wrong.
func checked(m mechanism, check func(s Setting, path string) *Problem) mechanism {
	m.check = check
	return m
}

// mechanisms are all, in the order of messages: a new one is one more here, and a key
// of Setting.
var mechanisms = []mechanism{
	named("sysctl", setting.Sysctl, func(s Setting) string { return s.Sysctl }),
	ruled("nft", setting.NFT, func(s Setting) *Ruleset { return s.NFT }),
	{key: "firewall", given: func(s Setting) bool { return s.Firewall != nil }, is: func(s Setting, to *setting.Setting) {
		f := *s.Firewall
		to.Mechanism = setting.Firewall
		to.Rules = &setting.Rules{Linear: f.Linear, SetElements: f.Table, MapElements: f.Map, Stateful: f.Stateful, By: f.By, Optimise: f.Optimise}
	}, check: func(s Setting, path string) *Problem { return s.Firewall.check(path) }},
	{key: "route", given: func(s Setting) bool { return s.Route != "" }, is: func(s Setting, to *setting.Setting) {
		to.Mechanism, to.Name, to.Value = setting.Route, s.Route, s.Via
	}, check: func(s Setting, path string) *Problem { return checkRoute(path, s.Route) }},
	{key: "routes", given: func(s Setting) bool { return s.Routes != nil }, is: func(s Setting, to *setting.Setting) {
		to.Mechanism, to.Table = setting.Routes, &setting.Table{Count: s.Routes.Count, Mix: s.Routes.Mix, Miss: s.Routes.Miss}
	}, check: func(s Setting, path string) *Problem { return s.Routes.check(path) }},
	{key: "hops", given: func(s Setting) bool { return s.Hops != 0 }, is: func(s Setting, to *setting.Setting) {
		to.Mechanism, to.Name, to.Value = setting.Hops, s.Over, strconv.Itoa(s.Hops)
	}, check: Setting.checkHops},
	checked(bare(named("forward", setting.Forward, func(s Setting) string { return s.Forward })), func(s Setting, path string) *Problem {
		return OneOf(path, s.Forward, setting.ForwardXDP, setting.ForwardBridge)
	}),
	counted("policy_rules", setting.PolicyRules, maxPolicyRules, func(s Setting) int { return s.PolicyRules }),
	counted("cpus", setting.CPUs, maxCPUs, func(s Setting) int { return s.CPUs }),
	named("link", setting.Link, func(s Setting) string { return s.Link }),
	named("napi", setting.NAPI, func(s Setting) string { return s.NAPI }),
	{key: "tcp", given: func(s Setting) bool { return s.TCP != nil }, is: func(s Setting, to *setting.Setting) {
		t := setting.Path(*s.TCP)
		to.Mechanism, to.Path = setting.TCP, &t
	}, check: func(s Setting, path string) *Problem { return s.TCP.check(path) }},
	checked(named("nginx", setting.NGINX, func(s Setting) string { return s.NGINX }), func(s Setting, path string) *Problem {
		return confProblem(path, nginxconf.Check(s.NGINX, s.Value))
	}),
	checked(named("postfix", setting.Postfix, func(s Setting) string { return s.Postfix }), func(s Setting, path string) *Problem {
		return confProblem(path, postfixconf.Check(s.Postfix, s.Value))
	}),
	{key: "filesystem", given: func(s Setting) bool { return s.FileSystem != nil }, is: func(s Setting, to *setting.Setting) {
		to.Mechanism, to.Disk = setting.FileSystem, s.FileSystem.Disk()
	}, check: func(s Setting, path string) *Problem { return s.FileSystem.check(path) }},
	{key: "command", given: func(s Setting) bool { return len(s.Command) > 0 }, is: func(s Setting, to *setting.Setting) {
		to.Mechanism, to.Argv, to.Undo = setting.Command, s.Command, s.Undo
	}},
	ofMachines(bare(named("files", setting.Files, func(s Setting) string { return s.Files }))),
	ofMachines(named("rc", setting.RC, func(s Setting) string { return s.RC })),
	ofMachines(named("loader", setting.Loader, func(s Setting) string { return s.Loader })),
	ofMachines(bare(named("image", setting.Image, func(s Setting) string { return s.Image }))),
	ofMachines(ruled("pf", setting.PF, func(s Setting) *Ruleset { return s.PF })),
	ofMachines(ruled("ipfw", setting.IPFW, func(s Setting) *Ruleset { return s.IPFW })),
}

// mechanisms are those that a setting names: one, of a setting that was checked.
func (s Setting) mechanisms() (given []mechanism) {
	for _, m := range mechanisms {
		if m.given(s) {
			given = append(given, m)
		}
	}
	return given
}

func mechanismKeys() (keys []string) {
	for _, m := range mechanisms {
		keys = append(keys, m.key)
	}
	return keys
}

// ofMachines reports whether only testbeds of machines can set it.
func (s Setting) ofMachines() bool {
	given := s.mechanisms()
	return len(given) > 0 && given[0].machines
}

// Setting returns what the testbed is to set.
func (s Setting) Setting() setting.Setting {
	out := setting.Setting{Value: s.Value, Device: s.Device}
	if given := s.mechanisms(); len(given) > 0 {
		given[0].is(s, &out)
	}
	return out
}
