package setting

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestSettingsInWords: a report's reader tells variants apart by these words; what is not
// set is not told.
func TestSettingsInWords(t *testing.T) {
	for want, s := range map[string]Setting{
		"sysctl net.core.somaxconn=4096":                      {Mechanism: Sysctl, Name: "net.core.somaxconn", Value: "4096"},
		"link egress mtu=9000":                                {Mechanism: Link, Device: "egress", Name: "mtu", Value: "9000"},
		"napi ingress threaded=1":                             {Mechanism: NAPI, Device: "ingress", Name: "threaded", Value: "1"},
		"files tuned":                                         {Mechanism: Files, Name: "tuned"},
		"pf ruleset of 5 bytes":                               {Mechanism: PF, Rules: &Rules{Text: "block", Linear: 9}},
		"ipfw nothing":                                        {Mechanism: IPFW},
		"nft 100 linear rules, stateful tracking":             {Mechanism: NFT, Rules: &Rules{Linear: 100, Stateful: true}},
		"nft set of 7 elements, map of 8 elements":            {Mechanism: NFT, Rules: &Rules{SetElements: 7, MapElements: 8}},
		"firewall of 1 linear rules, merged, by iptables-nft": {Mechanism: Firewall, Rules: &Rules{Linear: 1, Optimise: true, By: ByIptablesNFT}},
		"1000 host routes":                                    {Mechanism: Routes, Table: &Table{Count: 1000, Mix: MixHosts}},
		"5 routes of a full table's prefix lengths, none of them matched": {Mechanism: Routes, Table: &Table{Count: 5, Mix: MixFull, Miss: true}},
		"one more router over veth":                                       {Mechanism: Hops, Value: "1"},
		"3 more routers over netkit":                                      {Mechanism: Hops, Value: "3", Name: "netkit"},
		"forwarding by xdp":                                               {Mechanism: Forward, Name: ForwardXDP},
		"ingress on 2 CPUs":                                               {Mechanism: CPUs, Value: "2"},
		"50 rules of policy routing":                                      {Mechanism: PolicyRules, Value: "50"},
		"tcp bbr, initial window 32, initial receive window 64, tls in the kernel": {Mechanism: TCP, Path: &Path{Congestion: "bbr", InitCwnd: 32, InitRwnd: 64, ULP: "tls"}},
		"tcp initial window 1":                         {Mechanism: TCP, Path: &Path{InitCwnd: 1}},
		"tcp initial receive window 1":                 {Mechanism: TCP, Path: &Path{InitRwnd: 1}},
		"ext4 made with ^has_journal, mounted noatime": {Mechanism: FileSystem, Disk: &Disk{Type: "ext4", Features: "^has_journal", Options: "noatime"}},
		`run ["ip" "a b"]`:                             {Mechanism: Command, Argv: []string{"ip", "a b"}},
	} {
		if got := s.String(); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
}

// TestDigestTellsSettingsApart: by their order and every field; the same settings have the
// same digest, after a trip through JSON too.
func TestDigestTellsSettingsApart(t *testing.T) {
	base := []Setting{{Mechanism: Sysctl, Name: "a", Value: "1"}, {Mechanism: NFT, Rules: &Rules{Linear: 1}}}
	seen := map[string]string{Digest(base): "the settings"}
	for what, s := range map[string][]Setting{
		"nothing": nil, "one of them": base[:1], "another value": {{Mechanism: Sysctl, Name: "a", Value: "2"}, base[1]}, "another order": {base[1], base[0]}, "other rules": {base[0], {Mechanism: NFT, Rules: &Rules{Linear: 2}}},
		"another mechanism": {{Mechanism: Loader, Name: "a", Value: "1"}, base[1]}, "another device": {{Mechanism: Sysctl, Name: "a", Value: "1", Device: "egress"}, base[1]},
	} {
		d := Digest(s)
		if other, ok := seen[d]; ok || len(d) != 64 {
			t.Errorf("%s has the digest of %s: %s", what, other, d)
		}
		seen[d] = what
	}
	data, err := json.Marshal(base)
	if err != nil {
		t.Fatal(err)
	}
	var back []Setting
	if err := json.Unmarshal(data, &back); err != nil || Digest(back) != Digest(base) {
		t.Errorf("after JSON: %v, %s", err, data)
	}
}

// TestMechanismsHaveOneName: a plan's list names each once, and pf's limits are told from others.
func TestMechanismsHaveOneName(t *testing.T) {
	list := HostMechanisms()
	sorted := slices.Sorted(slices.Values(list))
	if len(slices.Compact(sorted)) != len(list) || slices.Contains(list, Command) || slices.Contains(list, "") {
		t.Errorf("a plan's mechanisms: %q", list)
	}
	for name, want := range map[string]string{"pf.conf:limit.states": "states", "pf.conf:timeout.first": "", "states": ""} {
		if got, ok := OfPFLimit(name); got != want && ok || ok != (want != "") {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
	for value, want := range map[string]string{"yes": "1", "TRUE": "1", "1": "1", "no": "0", "False": "0", "off": "0", "0": "0"} {
		if _, to, ok := RCEffect("ipv6_gateway_enable", value); !ok || to != want {
			t.Errorf("%s: %q, %v", value, to, ok)
		}
	}
}
