// Package knob is the only package that knows how settings are read and
// written, by mechanism; what a setting means is in the catalogue.
package knob

import (
	"fmt"
	"net/netip"
	"strings"

	"linerate/internal/setting"
)

// never returns the i-th address that no workload uses, in 240.0.0.0/4 (reserved).
func never(i int) netip.Addr {
	n := 0xf0000001 + uint32(i)
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}

// never6 does the same in 2001:db8::/32 (documentation).
func never6(i int) netip.Addr {
	n := uint32(i) + 1
	return netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 12: byte(n >> 24), 13: byte(n >> 16), 14: byte(n >> 8), 15: byte(n)})
}

// neverOf are the addresses of the two families; a packet walks the rules of its family.
var neverOf = []func(int) netip.Addr{never, never6}

// NFTRules returns a ruleset in the language of nft(8), a table for each family.
func NFTRules(r setting.Rules) string {
	if r.Text != "" {
		return r.Text
	}
	var b strings.Builder
	for i, address := range neverOf {
		ip, kind := []string{"ip", "ip6"}[i], []string{"ipv4_addr", "ipv6_addr"}[i]
		policy, tail := "accept", ""
		if r.Stateful {
			policy, tail = "drop", "ct state established,related accept\nct state new accept\n"
		}
		fmt.Fprintf(&b, "table %s linerate {\n%s%schain forward { type filter hook forward priority 0; policy %s;\n", ip,
			elements("set never", kind, "", r.SetElements, address), elements("map never-map", kind+" : verdict", " : drop", r.MapElements, address), policy)
		for i := range r.Linear {
			fmt.Fprintf(&b, "%s saddr %s drop\n", ip, address(i))
		}
		if r.SetElements > 0 {
			fmt.Fprintf(&b, "%s saddr @never drop\n", ip)
		}
		if r.MapElements > 0 {
			fmt.Fprintf(&b, "%s saddr vmap @never-map\n", ip)
		}
		b.WriteString(tail + "}\n}\n")
	}
	return b.String()
}

// elements returns nft's definition of a set or map of n addresses, "" for none.
func elements(what, kind, verdict string, n int, address func(int) netip.Addr) string {
	all := make([]string, n)
	for i := range all {
		all[i] = address(i).String() + verdict
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s { type %s; elements = { %s } }\n", what, kind, strings.Join(all, ", "))
}

// PFRules returns a ruleset in the language of pf.conf(5). Rules that never
// match are for incoming packets, so that each packet traverses them once: pf
// skips them for outgoing packets, and for those of the other family.
func PFRules(r setting.Rules) string {
	var b strings.Builder
	if r.Text != "" {
		return r.Text
	}
	if r.SetElements > 0 {
		fmt.Fprintf(&b, "set limit table-entries %d\ntable <never> persist\n", max(200_000, 4*r.SetElements))
	}
	if r.Stateful {
		b.WriteString("block drop all\n")
	}
	for _, address := range neverOf {
		for i := range r.Linear {
			fmt.Fprintf(&b, "block drop in quick from %s to any\n", address(i))
		}
	}
	if r.SetElements > 0 {
		b.WriteString("block drop in quick from <never> to any\n")
	}
	if r.Stateful {
		b.WriteString("pass all keep state\n")
	} else {
		b.WriteString("pass all no state\n")
	}
	return b.String()
}

// PFTable returns the addresses in a ruleset's table, "" if there are none.
func PFTable(r setting.Rules) string {
	var b strings.Builder
	for _, address := range neverOf {
		for i := range r.SetElements {
			fmt.Fprintln(&b, address(i))
		}
	}
	return b.String()
}

// IPFWRules returns a ruleset in the language of ipfw(8). A forwarded packet
// is checked when it arrives, by the rules of its family; the first rule
// passes outgoing packets. Rules may share a number.
func IPFWRules(r setting.Rules) string {
	if r.Text != "" {
		return r.Text
	}
	var b strings.Builder
	if r.SetElements > 0 {
		b.WriteString("table never create type addr\n")
		for _, address := range neverOf {
			for i := range r.SetElements {
				fmt.Fprintf(&b, "table never add %s\n", address(i))
			}
		}
	}
	b.WriteString("add 1 allow ip from any to any out\n")
	if r.Linear > 0 {
		b.WriteString("add 2 skipto 200 ip6 from any to any\n")
		for i := range r.Linear {
			fmt.Fprintf(&b, "add 100 deny ip from %s to any\n", never(i))
		}
		b.WriteString("add 101 skipto 300 ip4 from any to any\n")
		for i := range r.Linear {
			fmt.Fprintf(&b, "add 200 deny ip from %s to any\n", never6(i))
		}
	}
	if r.SetElements > 0 {
		b.WriteString("add 300 deny ip from table(never) to any\n")
	}
	if r.Stateful {
		b.WriteString("add 400 check-state\nadd 401 allow ip from any to any keep-state\n")
	} else {
		b.WriteString("add 402 allow ip from any to any\n")
	}
	return b.String()
}

// reason returns the kernel's message for an error of a tool.
func reason(err error) string {
	_, why, found := strings.Cut(err.Error(), "exit status ")
	if !found {
		return err.Error()
	}
	if _, after, ok := strings.Cut(why, ": "); ok {
		return after
	}
	return err.Error()
}

// wasAndIs parses the output of FreeBSD's sysctl(8) after writing a variable:
// "net.isr.dispatch: direct -> deferred". Unreadable variables have none.
func wasAndIs(said string) (was, is string, ok bool) {
	_, values, ok := strings.Cut(said, ": ")
	if !ok {
		return "", "", false
	}
	was, is, ok = strings.Cut(values, " -> ")
	return folded(was), folded(is), ok
}
