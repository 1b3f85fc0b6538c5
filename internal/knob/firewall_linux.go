package knob

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"linerate/internal/setting"
	"linerate/internal/show"
	"linerate/internal/testbed"
)

// firewall builds the packet filter that a study describes by its work: with
// nftables' netlink interface, or with the program that the study names.
func (t *Target) firewall(ctx context.Context, s setting.Setting) (string, error) {
	r := *s.Rules
	switch {
	case r.By == setting.ByIptablesLegacy || r.By == setting.ByIptablesNFT:
		return t.iptables(ctx, s)
	case r.By == setting.ByPF || r.By == setting.ByIPFW:
		return "", unavailable(s, "%s is FreeBSD's", r.By)
	case r.Optimise:
		return t.optimised(ctx, s)
	}
	return t.nft(ctx, &r)
}

// optimised lets nft(8) merge the rules before it loads them (nft -o).
func (t *Target) optimised(ctx context.Context, s setting.Setting) (string, error) {
	r := *s.Rules
	if r.SetElements > 0 || r.MapElements > 0 || r.Stateful {
		return "", unavailable(s, "only linear rules are merged")
	}
	start := time.Now()
	_, err := t.nftText(ctx, setting.Setting{Mechanism: setting.NFT, Rules: &setting.Rules{Text: NFTRules(r)}}, "-o")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("nft -o: %s, %s", s.Rules, show.Brief(time.Since(start))), nil
}

// iptables loads all rules at once with iptables-restore(8), and sets with ipset(8).
func (t *Target) iptables(ctx context.Context, s setting.Setting) (string, error) {
	r := *s.Rules
	if r.MapElements > 0 || r.Optimise {
		return "", unavailable(s, "%s has neither maps nor merging", r.By)
	}
	start := time.Now()
	for _, fam := range families {
		restore := r.By + "-restore"
		if fam.length == 16 {
			restore = "ip6" + restore[len("ip"):]
		}
		if r.SetElements > 0 {
			if err := t.feed(ctx, s, "ipset", ipset(fam, r.SetElements), "restore"); err != nil {
				return "", err
			}
		}
		if err := t.feed(ctx, s, restore, iptablesRules(fam, r)); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s for IPv4 and IPv6, %s", s.Rules, show.Brief(time.Since(start))), nil
}

// iptablesRules returns the rules of a family, in the language of iptables-restore(8).
func iptablesRules(fam family, r setting.Rules) string {
	var b strings.Builder
	policy := "ACCEPT"
	if r.Stateful {
		policy = "DROP"
	}
	fmt.Fprintf(&b, "*filter\n:FORWARD %s [0:0]\n", policy)
	for i := range r.Linear {
		fmt.Fprintf(&b, "-A FORWARD -s %s -j DROP\n", fam.never(i))
	}
	if r.SetElements > 0 {
		fmt.Fprintf(&b, "-A FORWARD -m set --match-set never%d src -j DROP\n", fam.length)
	}
	if r.Stateful {
		b.WriteString("-A FORWARD -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT\n-A FORWARD -m conntrack --ctstate NEW -j ACCEPT\n")
	}
	b.WriteString("COMMIT\n")
	return b.String()
}

// ipset returns the set of a family, in the language of ipset(8).
func ipset(fam family, size int) string {
	var b strings.Builder
	kind := "inet"
	if fam.length == 16 {
		kind = "inet6"
	}
	fmt.Fprintf(&b, "create never%d hash:ip family %s maxelem %d hashsize %d\n", fam.length, kind, size+1, max(1024, size/2))
	for i := range size {
		fmt.Fprintf(&b, "add never%d %s\n", fam.length, fam.never(i))
	}
	return b.String()
}

// feed runs a firewall's program with an input. A setting is unavailable if
// the program or its kernel support is missing.
func (t *Target) feed(ctx context.Context, s setting.Setting, program, input string, args ...string) error {
	path, err := exec.LookPath(program)
	if err != nil {
		return helped(unavailable(s, "%s(8) is not installed", program), "install "+firewallPackage(program))
	}
	said, err := execute(ctx, t.In, input, path, args...)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	first, _, _ := strings.Cut(said, "\n")
	return helped(unavailable(s, "%s failed (kernel support missing?): %v: %s", program, err, first), needsOf(s))
}

// firewallPackage returns the distribution package that contains a program.
func firewallPackage(program string) string {
	if strings.HasPrefix(program, "iptables") || strings.HasPrefix(program, "ip6tables") {
		return "iptables"
	}
	return program
}

// needsOf says what a ruleset needs of the kernel that is often not built in,
// by words in the ruleset or the program that loads it.
func needsOf(s setting.Setting) string {
	if s.Rules == nil {
		return ""
	}
	for _, n := range rulesNeed {
		if strings.Contains(s.Rules.Text, n.word) || n.word == s.Rules.By {
			return n.help
		}
	}
	return ""
}

var rulesNeed = []struct{ word, help string }{
	{"flowtable", testbed.Needs("nft_flow_offload", "CONFIG_NF_FLOW_TABLE and CONFIG_NFT_FLOW_OFFLOAD")},
	{"synproxy", testbed.Needs("nft_synproxy", "CONFIG_NFT_SYNPROXY")},
	{"ct state", testbed.Needs("nft_ct", "CONFIG_NFT_CT")},
	{"iptables-legacy", testbed.Needs("ip_tables", "CONFIG_IP_NF_IPTABLES")},
	{"iptables-nft", testbed.Needs("nft_compat", "CONFIG_NFT_COMPAT")},
}
