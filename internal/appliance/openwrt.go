package appliance

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/redact"
)

// option is one value of a UCI file.
type option struct {
	file, kind, section, name, value string
	// index counts sections of its kind in the file, from 0.
	index int
	line  int
}

// place returns the option's name in uci(1).
func (o option) place() string { return o.part() + "." + o.name }

// part returns the name of the option's section in uci(1).
func (o option) part() string {
	if o.section != "" {
		return fmt.Sprintf("uci %s.%s", path.Base(o.file), o.section)
	}
	return fmt.Sprintf("uci %s.@%s[%d]", path.Base(o.file), o.kind, o.index)
}

// parseUCI parses a UCI file: config, option and list, with quoted or unquoted words.
func parseUCI(f File) []option {
	var all []option
	var now option
	count := map[string]int{}
	for i, raw := range strings.SplitN(f.Text, "\n", maxLines) {
		s, _, _ := strings.Cut(strings.TrimSpace(raw), "\t#")
		if s == "" || s[0] == '#' {
			continue
		}
		w := words(strings.ReplaceAll(s, "\t", " "))
		switch {
		case w[0] == "config" && len(w) > 1:
			now = option{file: f.Path, kind: w[1], index: count[w[1]]}
			if len(w) > 2 && w[2] != redact.Mark {
				now.section = w[2]
			}
			count[w[1]]++
		case (w[0] == "option" || w[0] == "list") && len(w) > 2 && now.kind != "" && len(all) < maxItems:
			o := now
			o.name, o.value, o.line = w[1], w[2], i+1
			all = append(all, o)
		}
	}
	return all
}

// readOpenWrt parses OpenWrt's files below /etc/config.
func readOpenWrt(p *Product, files []File) Config {
	u := &openwrt{p: p}
	for _, f := range files {
		for _, o := range parseUCI(f) {
			u.option(o)
		}
	}
	return u.c
}

// openwrt is the state of parsing.
type openwrt struct {
	p *Product
	c Config
	// at is the index of the current device section, with its name and MTU.
	at   int
	name string
	mtu  int
}

// sets returns the option as a line that sets something.
func (o option) sets(stage fact.Stage, name, place string) fact.Line {
	return fact.Line{File: o.file, Number: o.line, Text: "option " + o.name + " '" + o.value + "'", Name: name, Value: o.value, Stage: stage, Effective: true, Place: place}
}

// uciSysctls maps firewall options to the sysctl that each sets.
var uciSysctls = map[string]string{"tcp_syncookies": "net.ipv4.tcp_syncookies", "tcp_ecn": "net.ipv4.tcp_ecn", "tcp_window_scaling": "net.ipv4.tcp_window_scaling"}

func (u *openwrt) option(o option) {
	where := path.Base(o.file)
	key := where + "/" + o.kind + "/" + o.name
	if place, ok := u.p.Fields[key]; ok {
		u.c.Lines = append(u.c.Lines, o.sets(fact.Field, key, place+" ("+o.place()+")"))
	}
	switch {
	case where == "sqm" && o.kind == "queue":
		u.sqm(o)
	case key == "system/system/hostname":
		u.c.Hostname = o.value
	case where == "firewall" && o.kind == "defaults" && uciSysctls[o.name] != "":
		u.c.Lines = append(u.c.Lines, o.sets(fact.Sysctl, uciSysctls[o.name], o.place()))
	case where == "network" && o.kind == "interface" && (o.name == "device" || o.name == "ifname"):
		for _, n := range strings.Fields(o.value) {
			if !strings.HasPrefix(n, "@") && !strings.HasPrefix(n, "br-") {
				u.nic(o, n)
			}
		}
	case where == "network" && o.kind == "device" && o.name == "ports":
		u.nic(o, o.value)
	case where == "network" && o.kind == "device" && (o.name == "name" || o.name == "mtu"):
		u.device(o)
	case where == "irqbalance" && o.name == "enabled" && o.value == "1":
		yes := true
		u.c.Services = append(u.c.Services, fact.Service{Name: "irqbalance", Enabled: &yes})
	}
}

// device reads a device's name and MTU, in either order.
func (u *openwrt) device(o option) {
	if u.at != o.index {
		u.at, u.name, u.mtu = o.index, "", 0
	}
	if o.name == "name" {
		u.name = o.value
		u.nic(o, o.value)
	} else {
		u.mtu, _ = strconv.Atoi(o.value)
	}
	for i := range u.c.NICs {
		if u.c.NICs[i].Name == u.name && u.mtu > 0 {
			u.c.NICs[i].MTU = u.mtu
		}
	}
}

func (u *openwrt) nic(o option, name string) {
	kind := fact.KindEthernet
	switch {
	case strings.HasPrefix(name, "br"):
		kind = fact.KindBridge
	case strings.ContainsAny(name, ".@"):
		kind = fact.KindVLAN
	case strings.HasPrefix(name, "lo"):
		kind = fact.KindLoopback
	case strings.HasPrefix(name, "wg"), strings.HasPrefix(name, "tun"), strings.HasPrefix(name, "ppp"):
		kind = fact.KindTunnel
	}
	known := slices.ContainsFunc(u.c.NICs, func(n fact.NIC) bool { return n.Name == name })
	if !known && len(u.c.NICs) < maxItems {
		u.c.NICs = append(u.c.NICs, fact.NIC{Name: name, Kind: kind, Configured: []fact.Line{o.sets(fact.Field, o.name, o.place())}})
	}
}
