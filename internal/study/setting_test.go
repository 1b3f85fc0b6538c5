package study_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"linerate/internal/hint"
	"linerate/internal/setting"
	"linerate/internal/study"
)

// parse reads a study whose second variant has one setting.
func parse(set, rest string) (study.Setting, error) {
	s, err := study.Parse("s.yaml", []byte(fmt.Sprintf("name: x\nquestion: q\nvariants: [{name: a}, {name: b, settings: [%s]}]\n%s", set, rest)))
	if err != nil {
		return study.Setting{}, err
	}
	return s.Variants[1].Settings[0], nil
}

const (
	onMachines = "testbed: {kind: ssh, file: lab.yaml}\n"
	booted     = onMachines + "reset: reboot\n"
)

// TestSettingsOfEveryWay: every form of setting in a file gives the expected testbed setting and
// evidence names, and is unchanged when written and read again.
func TestSettingsOfEveryWay(t *testing.T) {
	for _, c := range []struct {
		set, rest string
		want      setting.Setting
		names     map[string]string
	}{
		{"{sysctl: net.x, value: 5}", "", setting.Setting{Mechanism: setting.Sysctl, Name: "net.x", Value: "5"}, map[string]string{"net.x": "5"}},
		{"{sysctl: net/ipv4/conf/sink12/rp_filter, value: 0}", "", setting.Setting{Mechanism: setting.Sysctl, Name: "net/ipv4/conf/sink12/rp_filter", Value: "0"}, map[string]string{"net.ipv4.conf.IF.rp_filter": "0"}},
		{"{sysctl: net.ipv4.conf.sinker.rp_filter, value: 0}", "", setting.Setting{Mechanism: setting.Sysctl, Name: "net.ipv4.conf.sinker.rp_filter", Value: "0"}, map[string]string{"net.ipv4.conf.sinker.rp_filter": "0"}},
		{"firewall: {linear: 7, stateful: true}", "", setting.Setting{Mechanism: setting.Firewall, Rules: &setting.Rules{Linear: 7, Stateful: true}}, map[string]string{"firewall": "7 linear rules, stateful tracking"}},
		{"firewall: {linear: 3, table: 9, map: 4, stateful: true, by: nft, optimise: true}", "", setting.Setting{Mechanism: setting.Firewall, Rules: &setting.Rules{Linear: 3, SetElements: 9, MapElements: 4, Stateful: true, By: "nft", Optimise: true}}, nil},
		{"{route: 240.0.0.0/8, via: egress, device: egress}", "", setting.Setting{Mechanism: setting.Route, Name: "240.0.0.0/8", Value: "egress", Device: "egress"}, map[string]string{"route": "240.0.0.0/8"}},
		{"routes: {count: 500, mix: full, miss: true}", "", setting.Setting{Mechanism: setting.Routes, Table: &setting.Table{Count: 500, Mix: "full", Miss: true}}, nil},
		{"{hops: 3, over: vxlan}", "", setting.Setting{Mechanism: setting.Hops, Name: "vxlan", Value: "3"}, map[string]string{"hops": "3 vxlan"}},
		{"hops: 16", "", setting.Setting{Mechanism: setting.Hops, Value: "16"}, map[string]string{"hops": "16"}},
		{"forward: xdp", "", setting.Setting{Mechanism: setting.Forward, Name: "xdp"}, map[string]string{"forward": "xdp"}},
		{"cpus: 2", "", setting.Setting{Mechanism: setting.CPUs, Value: "2"}, map[string]string{"cpus": "2"}},
		{"policy_rules: 40", "", setting.Setting{Mechanism: setting.PolicyRules, Value: "40"}, map[string]string{"policy_rules": "40"}},
		{"{link: gro, device: ingress, value: off}", "", setting.Setting{Mechanism: setting.Link, Name: "gro", Device: "ingress", Value: "off"}, map[string]string{"link gro": "off"}},
		{"command: [ip, link]", "", setting.Setting{Mechanism: setting.Command, Argv: []string{"ip", "link"}}, map[string]string{"command": "[ip link]"}},
		{"{command: [a], undo: [b, c]}", onMachines, setting.Setting{Mechanism: setting.Command, Argv: []string{"a"}, Undo: []string{"b", "c"}}, map[string]string{"command": "[a]"}},
		{"tcp: {initcwnd: 30, initrwnd: 1000, congestion: bbr, ulp: tls}", "", setting.Setting{Mechanism: setting.TCP, Path: &setting.Path{InitCwnd: 30, InitRwnd: 1000, Congestion: "bbr", ULP: "tls"}},
			map[string]string{"tcp:initcwnd": "30", "tcp:initrwnd": "1000", "tcp:congestion": "bbr", "tcp:ulp": "tls"}},
		{"filesystem: {type: xfs, options: 'noatime,logbsize=256k,defaults', size: 1GiB}", "", setting.Setting{Mechanism: setting.FileSystem, Disk: &setting.Disk{Type: "xfs", Options: "noatime,logbsize=256k,defaults", Size: 1 << 30}},
			map[string]string{"filesystem": "xfs", "filesystem size": "1GiB", "mount:noatime": "on", "mount:logbsize": "256k"}},
		{"filesystem: {type: ext4, features: '^has_journal,dir_index'}", "", setting.Setting{Mechanism: setting.FileSystem, Disk: &setting.Disk{Type: "ext4", Features: "^has_journal,dir_index", Size: setting.DefaultDiskSize}},
			map[string]string{"mkfs:has_journal": "off", "mkfs:dir_index": "on"}},
		{"files: sets/x", onMachines, setting.Setting{Mechanism: setting.Files, Name: "sets/x"}, nil},
		{"{rc: pf_enable, value: YES}", onMachines, setting.Setting{Mechanism: setting.RC, Name: "pf_enable", Value: "YES"}, map[string]string{"pf_enable": "YES"}},
		{"{loader: hw.ix.rxd, value: 2048}", booted, setting.Setting{Mechanism: setting.Loader, Name: "hw.ix.rxd", Value: "2048"}, map[string]string{"hw.ix.rxd": "2048"}},
		{"image: kernel.old", booted, setting.Setting{Mechanism: setting.Image, Name: "kernel.old"}, nil},
		{"pf: {table: 5}", onMachines, setting.Setting{}, nil}, // refused below: only firewall has it
		{"pf: pass all", onMachines, setting.Setting{Mechanism: setting.PF, Rules: &setting.Rules{Text: "pass all"}}, nil},
		{"ipfw: 'add 100 count ip from any to any'", onMachines, setting.Setting{Mechanism: setting.IPFW, Rules: &setting.Rules{Text: "add 100 count ip from any to any"}}, nil},
	} {
		got, err := parse(c.set, c.rest)
		if c.want.Mechanism == "" {
			if err == nil {
				t.Errorf("%s is accepted", c.set)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.set, err)
			continue
		}
		if to := got.Setting(); !reflect.DeepEqual(to, c.want) {
			t.Errorf("%s sets %+v, want %+v", c.set, to, c.want)
		}
		if names := got.Names(); c.names != nil && !reflect.DeepEqual(names, c.names) || len(names) == 0 {
			t.Errorf("%s has the evidence names %v, want %v", c.set, names, c.names)
		}
	}
}

// TestSettingsThatAreWrong: each mistake is reported in its line, by its key, with a hint.
func TestSettingsThatAreWrong(t *testing.T) {
	for _, c := range []struct{ set, rest, want, hint string }{
		{"nft: {linear: 1}", "", "nft takes no keys", "write one value"},
		{"firewall: {linear: 100001}", "", "linear: 100001 is not within 0 and 100000", ""},
		{"firewall: {linear: -1}", "", "linear: -1 is not within", ""},
		{"firewall: {optimise: true}", "", "the firewall does nothing", "give linear"},
		{"firewall: {table: 4, optimise: true}", "", "no linear rules to merge", "linear: N"},
		{"firewall: {map: 1048577}", "", "map: 1048577 is not within", ""},
		{"firewall: {table: 1048577}", "", "table: 1048577 is not within", ""},
		{"firewall: {linear: 100001}", "", "linear: 100001 is not within", ""},
		{"firewall: {linear: 1, by: npf}", "", `by: unknown "npf"`, "pf"},
		{"route: 10.0.0.0/8", "", "the route has no next hop", "via: ADDRESS"},
		{"{route: 10.0.0.0, via: egress}", "", `route "10.0.0.0" is not a prefix`, "240.0.0.0/8"},
		{"routes: {count: 0}", "", "count: 0 is not within 1 and 1048576", ""},
		{"routes: {count: 5, mix: half}", "", `mix: unknown "half"`, "full"},
		{"hops: 17", "", "hops: 17 is not within 1 and 16", ""},
		{"{hops: 2, over: ppp}", "", `over: unknown "ppp"`, "ipip"},
		{"forward: dpdk", "", `forward: unknown "dpdk"`, "xdp"},
		{"cpus: 1025", "", "cpus: 1025 is not within 1 and 1024", ""},
		{"policy_rules: 10001", "", "policy_rules: 10001 is not within 1 and 10000", ""},
		{"tcp: {}", "", "the setting sets nothing", "initcwnd"},
		{"tcp: {initcwnd: 1001}", "", "initcwnd: 1001 is not within 0 and 1000", ""},
		{"tcp: {initcwnd: -1}", "", "initcwnd: -1 is not within", ""},
		{"tcp: {initrwnd: 1001}", "", "initrwnd: 1001 is not within", ""},
		{"tcp: {ulp: quic}", "", `ulp: unknown "quic"`, "tls"},
		{"tcp: {congestion: '-x'}", "", `congestion "-x" is not the name`, ""},
		{"tcp: {ulp: tls, congestion: 'bbr; reboot'}", "", `congestion "bbr; reboot" is not the name`, ""},
		{"filesystem: {type: ext5}", "", "ext5", ""},
		{"filesystem: {type: ext4, size: many}", "", "many", ""},
		{"filesystem: {type: ext4, size: 1e30}", "", "of type ext4 of 4611686018427387904 bytes", ""},
		{"filesystem: {type: ext4, size: 9GiB}", "", "9663676416 bytes: from 16777216 to 8589934592", ""},
		{"{nginx: worker_proceses, value: 4}", "", "worker_proceses", ""},
		{"{postfix: no such, value: 4}", "", "no such", ""},
		{"{sysctl: net.x}", "", "the setting has no value", "value: …"},
		{"{forward: xdp, value: 1}", "", "takes no value", ""},
		{"{sysctl: net.x, value: 1, device: ingress}", "", "only link, napi and route settings have a device", ""},
		{"{link: gro, value: on}", "", `device: unknown ""`, "ingress"},
		{"{sysctl: net.x, value: 1, scope: global}", "", `unknown scope "global"`, "host"},
		{"{sysctl: net.x, value: 1, hops: 2}", "", "this one has 2", "its own dash"},
		{"{value: 1}", "", "this one has 0", ""},
		{"{sysctl: net.x, value: 1, via: egress}", "", "only route settings have via", ""},
		{"files: sets/x", "", "need a testbed of machines", "kind: ssh"},
		{"{command: [a], undo: [b]}", "", "need a testbed of machines", "kind: ssh"},
		{"{loader: hw.ix.rxd, value: 2048}", onMachines, "a loader variable is read by a boot", "reset: reboot"},
		{"image: kernel.old", onMachines, "an image is booted", "reset: reboot"},
		{"{sysctl: net.x, value: 1, scope: host}", onMachines, "no setting of it is global to another", ""},
	} {
		_, err := parse(c.set, c.rest)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(hint.Of(err), c.hint) || !strings.HasPrefix(err.Error(), "s.yaml:3: ") {
			t.Errorf("%s: %v, hint %q; want %q, %q", c.set, err, hint.Of(err), c.want, c.hint)
		}
	}
}
