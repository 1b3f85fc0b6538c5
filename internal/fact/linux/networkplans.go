package linux

import (
	"cmp"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"linerate/internal/fact"
	"linerate/internal/fact/network"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// netplanKinds are the keys of netplan(5) that define interfaces, and their kinds.
var netplanKinds = []struct{ key, kind string }{{"ethernets", ""}, {"wifis", ""}, {"modems", ""}, {"virtual-ethernets", ""}, {"dummy-devices", "dummy"},
	{"bonds", network.Bond}, {"bridges", network.Bridge}, {"vlans", network.VLAN}, {"vrfs", network.VRF}, {"tunnels", network.Tunnel}}

// netplan reads netplan(5), whose files add to each other.
func (f *networkFiles) netplan() {
	for _, p := range f.paths {
		if path.Ext(p) != ".yaml" || path.Base(path.Dir(p)) != "netplan" {
			continue
		}
		doc, err := parser.ParseBytes([]byte(f.texts[p]), 0)
		if !plainYAML(f.texts[p]) || err != nil || len(doc.Docs) == 0 || strings.Contains(f.texts[p], "openvswitch:") {
			f.broken = true
			return
		}
		for _, k := range netplanKinds {
			for _, d := range mapping(doc.Docs[0].Body, "network", k.key) {
				i := f.Interface(d.key)
				i.Place, i.Kind, i.Declared = network.Place{File: p, Line: d.line}, k.kind, true
				for _, key := range mapping(d.value) {
					f.netplanKey(i, key, network.Place{File: p, Line: key.line})
				}
			}
		}
	}
	for _, i := range f.Interfaces {
		if i.DHCP.Name == "dhcp6" && i.NoRA && !slices.ContainsFunc(f.Routes, func(r network.Route) bool { return r.Default() && r.To.Addr().Is6() }) {
			f.Problem(i.DHCP.Place, "netplan-ra", "")
		}
	}
	for _, r := range f.Routes {
		i := f.Interface(r.Dev)
		if i.DHCP.Name == "dhcp4" && r.File != i.DHCP.File && r.Default() && r.Table == "" && r.Via.Is4() && !strings.Contains(f.texts[i.DHCP.File], "use-routes") {
			f.Problem(i.DHCP.Place, "netplan-merge", r.File)
			break
		}
	}
}

// items returns the members of a YAML sequence.
func items(n ast.Node) []ast.Node {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		return nil
	}
	return s.Values
}

// plain returns a scalar's text and place.
func plain(n ast.Node, file string) (string, network.Place) {
	at := network.Place{File: file, Line: n.GetToken().Position.Line}
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) == 1 { // an address with options
		return plain(m.Values[0].Key, file)
	} else if v, ok := n.(*ast.MappingValueNode); ok {
		return plain(v.Key, file)
	}
	return yamlKey{value: n}.text(), at
}

func (f *networkFiles) netplanKey(i *network.Interface, k yamlKey, at network.Place) {
	text := k.text()
	switch k.key {
	case "addresses":
		for _, n := range items(k.value) {
			address, at := plain(n, at.File)
			f.Address(i, address, at)
		}
	case "accept-ra":
		i.NoRA = onOff[strings.ToLower(text)] == "0"
	case "dhcp4", "dhcp6":
		switch onOff[strings.ToLower(text)] {
		case "1":
			i.Dynamic, i.DHCP = true, network.Name{Place: at, Name: k.key}
		case "0":
			if i.DHCP.Name == k.key { // of an earlier file
				i.Dynamic, i.DHCP = false, network.Name{}
			}
		}
	case "mtu":
		i.MTU, i.MTUPlace = fact.Int(text), at
	case "id":
		i.ID = fact.Int(text)
	case "link":
		i.Parent, f.Mentioned = text, append(f.Mentioned, network.Name{Place: at, Name: text, Strict: true})
	case "interfaces":
		for _, n := range items(k.value) {
			port, at := plain(n, at.File)
			f.Own(port, i.Name, at, true)
			f.Mentioned = append(f.Mentioned, network.Name{Place: at, Name: port, Strict: true})
		}
	case "local":
		i.Local, _ = netip.ParseAddr(text)
		i.LocalPlace = at
	case "mode":
		i.Overhead = network.Overheads[text]
	case "gateway4", "gateway6":
		f.gateway(network.Route{Place: at, Dev: i.Name}, "", text)
	case "routes":
		for _, n := range items(k.value) {
			f.netplanRoute(i, mapping(n), at.File)
		}
	case "routing-policy":
		for _, n := range items(k.value) {
			if t, is := key(mapping(n), "table"); is {
				f.Rules = append(f.Rules, network.Route{Place: network.Place{File: at.File, Line: t.line}, Table: t.text()})
			}
		}
	case "parameters":
		for _, o := range mapping(k.value) {
			i.SetBond(o.key, o.text(), network.Place{File: at.File, Line: o.line})
		}
	}
	f.Open[true] = f.Open[true] || i.Kind != network.VRF // router advertisements are accepted unless switched off
}

func key(all []yamlKey, name string) (yamlKey, bool) {
	return list.Find(all, func(k yamlKey) bool { return k.key == name })
}

func (f *networkFiles) netplanRoute(i *network.Interface, keys []yamlKey, file string) {
	value := func(name string) string {
		k, _ := key(keys, name)
		return k.text()
	}
	if len(keys) == 0 {
		return
	}
	via, is := key(keys, "via")
	if !is {
		via = keys[0]
	}
	r := network.Route{Place: network.Place{File: file, Line: via.line}, Dev: i.Name, Table: value("table"), Metric: value("metric"), OnLink: onOff[value("on-link")] == "1" || value("scope") == "link"}
	f.gateway(r, value("to"), value("via"))
}

// keyfiles reads NetworkManager's connections; see nm-settings-keyfile(5).
func (f *networkFiles) keyfiles() {
	const dir = "/etc/NetworkManager/system-connections"
	f.Watched = true // NetworkManager sets miimon=100
	ids, files, seen := map[string]string{}, map[string][]entry{}, map[string]bool{}
	for _, p := range f.paths {
		if path.Dir(p) != dir {
			continue
		}
		files[p] = ini(f.texts[p])
		for _, key := range []string{"uuid", "id", "interface-name"} {
			ids[valueIn(files[p], "connection", key)] = valueIn(files[p], "connection", "interface-name")
		}
	}
	for _, p := range f.paths {
		if files[p] == nil || valueIn(files[p], "connection", "autoconnect") == "false" {
			continue
		}
		name := cmp.Or(valueIn(files[p], "connection", "interface-name"), "@"+p)
		f.keyfile(p, files[p], name, ids, seen[name])
		seen[name] = true
	}
}

// valueIn returns the value of a key, "" without it.
func valueIn(entries []entry, section, key string) string {
	e, _ := list.Find(entries, func(e entry) bool { return e.section == section && e.key == key })
	return e.value
}

// keyfile reads one connection; again means that another one is for the same interface.
func (f *networkFiles) keyfile(p string, entries []entry, name string, ids map[string]string, again bool) {
	kind := strings.TrimPrefix(strings.TrimPrefix(valueIn(entries, "connection", "type"), "802-3-"), "ethernet")
	i := f.create(name, kind, network.Place{File: p, Line: 1})
	for _, e := range entries {
		at, six := network.Place{File: p, Line: e.number}, e.section == "ipv6"
		switch e.section + "." + e.key {
		case "connection.master", "connection.controller":
			master := cmp.Or(ids[e.value], e.value)
			f.Own(name, master, at, true)
			f.Mentioned = append(f.Mentioned, network.Name{Place: at, Name: master, Strict: true})
		case "vlan.parent":
			i.Parent = cmp.Or(ids[e.value], e.value)
		case "vlan.id":
			i.ID = fact.Int(e.value)
		case "ethernet.mtu", "802-3-ethernet.mtu", "ip-tunnel.mtu", "wireguard.mtu":
			i.MTU, i.MTUPlace = fact.Int(e.value), at
		case "ip-tunnel.local":
			i.Local, _ = netip.ParseAddr(e.value)
			i.Kind, i.LocalPlace = network.Tunnel, at
		case "ipv4.method", "ipv6.method":
			i.Dynamic = i.Dynamic || !six && (e.value == "auto" || e.value == "shared")
			f.Open[true] = f.Open[true] || six && e.value != "manual"
		default:
			if e.section == "bond" || e.section == "bridge" {
				i.SetBond(e.key, e.value, at)
			} else if six || e.section == "ipv4" {
				of := network.Route{Place: at, Dev: name, Table: valueIn(entries, e.section, "route-table"), Metric: valueIn(entries, e.section, "route-metric")}
				f.keyfileAddress(i, e, of, again)
			}
		}
	}
}

func (f *networkFiles) keyfileAddress(i *network.Interface, e entry, of network.Route, again bool) {
	words := strings.FieldsFunc(e.value, func(r rune) bool { return r == ',' || r == ';' || r == ' ' })
	numbered := strings.TrimRight(e.key, "0123456789")
	switch {
	case len(words) == 0:
	case numbered == "address" || e.key == "addresses":
		if f.Address(i, words[0], of.Place) {
			i.Addresses[len(i.Addresses)-1].Shared = again
		}
		if len(words) > 1 && !strings.Contains(words[1], "/") {
			f.gateway(of, "", words[1])
		}
	case e.key == "gateway":
		f.gateway(of, "", words[0])
	case numbered == "route" && len(words) > 1:
		f.gateway(of, words[0], words[1])
	}
}

// ifupdown2 matches what only Cumulus' ifupdown2 reads, which takes more options.
var ifupdown2 = lazy.Regexp(`(?m)^iface[ \t]+vmbr|^[ \t]+(?:bridge-vlan-aware|address-virtual|clagd-|vxlan-|vrf[ \t])`)

// ifupdown reads interfaces(5).
func (f *networkFiles) ifupdown() {
	f.Once = true
	method, two := "", slices.ContainsFunc(f.paths, func(p string) bool {
		return strings.HasPrefix(p, "/etc/pve/") || ifupdown2().MatchString(f.texts[p])
	})
	for _, p := range f.paths {
		if p != "/etc/network/interfaces" && path.Dir(p) != "/etc/network/interfaces.d" {
			continue
		}
		var i *network.Interface
		var netmask, address string
		routes := len(f.Routes)
		var at network.Place
		end := func() {
			if address != "" {
				f.Address(i, address+network.Length(address, netmask), at)
			}
			netmask, address, routes = "", "", len(f.Routes)
		}
		for n, raw := range fact.Lines(f.texts[p]) {
			w := strings.Fields(raw)
			if len(w) < 2 || w[0][0] == '#' {
				continue
			}
			here := network.Place{File: p, Line: n + 1}
			switch key := strings.ReplaceAll(w[0], "_", "-"); {
			case key == "iface":
				end()
				i, method = f.stanza(w, here), w[len(w)-1]
			case slices.Contains([]string{"auto", "mapping", "source", "source-directory", "template", "no-auto-down"}, key) || strings.HasPrefix(key, "allow-"):
				end()
				i = nil
			case i == nil:
			case key == "mtu" && method == "dhcp" && !two:
				f.Problem(here, "ifup-dhcp-mtu", "")
			case key == "address":
				address, at = w[1], here
			case key == "netmask":
				netmask = w[1]
			case key == "gateway":
				f.gateway(network.Route{Place: here, Dev: i.Name}, "", w[1])
			case key == "metric":
				for r := range f.Routes[routes:] {
					f.Routes[routes+r].Metric = w[1]
				}
			default:
				f.stanzaKey(i, key, w[1:], here)
			}
		}
		end()
	}
}

// stanza begins what a file says of an interface: iface NAME FAMILY METHOD.
func (f *networkFiles) stanza(w []string, at network.Place) *network.Interface {
	name, _, alias := strings.Cut(w[1], ":")
	i := f.Interface(name)
	if !i.Declared && !alias {
		i.Place, i.Declared = at, true
	}
	if parent, id, dotted := strings.Cut(name, "."); dotted && strings.Trim(id, "0123456789") == "" {
		i.Kind, i.Parent, i.ID = network.VLAN, parent, fact.Int(id)
	}
	if bytes, is := network.Overheads[strings.TrimRight(name, "0123456789")]; is {
		i.Kind, i.Overhead = network.Tunnel, bytes
	}
	if len(w) > 3 {
		i.Dynamic = i.Dynamic || slices.Contains([]string{"dhcp", "ppp", "wvdial", "auto", "bootp", "tunnel", "6to4", "v4tunnel"}, w[3])
	}
	f.Open[true] = true // router advertisements
	return i
}

func (f *networkFiles) stanzaKey(i *network.Interface, key string, words []string, at network.Place) {
	switch key {
	case "mtu":
		i.MTU, i.MTUPlace = fact.Int(words[0]), at
	case "vlan-raw-device":
		i.Kind, i.Parent = network.VLAN, words[0]
		i.ID = fact.Int(strings.TrimPrefix(i.Name[strings.LastIndexByte(i.Name, '.')+1:], "vlan"))
	case "vlan-id":
		i.ID = fact.Int(words[0])
	case "bond-master":
		f.Interface(words[0]).Kind = network.Bond
		f.Own(i.Name, words[0], at, false)
	case "bond-slaves", "bridge-ports":
		i.Kind = map[bool]string{true: network.Bond, false: network.Bridge}[key == "bond-slaves"]
		for _, w := range words {
			if w == "none" || w == "all" || w == "regex" || w == "glob" || strings.ContainsAny(w, "*[") {
				break
			}
			f.Own(w, i.Name, at, false)
		}
	case "vrf", "vrf-table":
		i.Kind = network.VRF
		f.Open[false] = true
	case "pointopoint", "address-virtual", "local":
		f.Open[false] = true
	case "up", "post-up", "pre-up":
		f.Elsewhere = f.Elsewhere || slices.Contains(words, "route") || slices.Contains(words, "rule")
	default:
		if kind, option, _ := strings.Cut(key, "-"); kind == network.Bond || kind == network.Bridge && i.Kind != network.Bond {
			i.Kind = kind
			i.SetBond(option, strings.Join(words, " "), at)
		}
	}
}

// ifcfg reads the files of Red Hat's network-scripts, which NetworkManager reads up to RHEL 9.
func (f *networkFiles) ifcfg() {
	for _, p := range f.paths {
		name, is := strings.CutPrefix(p, "/etc/sysconfig/network-scripts/ifcfg-")
		if !is || strings.Contains(name, ":") {
			continue
		}
		values := map[string]entry{}
		for _, e := range ini(f.texts[p]) {
			e.value = strings.Trim(e.value, `"' `)
			values[e.key] = e
		}
		if strings.EqualFold(values["ONBOOT"].value, "no") || name == "lo" {
			continue
		}
		f.ifcfgFile(p, cmp.Or(values["DEVICE"].value, name), values)
	}
}

func (f *networkFiles) ifcfgFile(p, name string, values map[string]entry) {
	value := func(key string) string { return values[key].value }
	place := func(key string) network.Place { return network.Place{File: p, Line: max(1, values[key].number)} }
	i := f.Interface(name)
	i.Place, i.Declared, i.MTU, i.MTUPlace = place("DEVICE"), true, fact.Int(value("MTU")), place("MTU")
	i.Dynamic = !slices.Contains([]string{"", "none", "static"}, strings.ToLower(value("BOOTPROTO")))
	f.Open[true] = f.Open[true] || value("IPV6INIT") != "no"
	for _, n := range []string{"", "0", "1", "2", "3"} {
		if address := value("IPADDR" + n); address != "" {
			f.Address(i, address+network.Length(address, cmp.Or(value("PREFIX"+n), value("NETMASK"+n))), place("IPADDR"+n))
		}
	}
	if gateway := value("GATEWAY"); gateway != "" && value("DEFROUTE") != "no" {
		f.gateway(network.Route{Place: place("GATEWAY"), Dev: name, Metric: value("IPV4_ROUTE_METRIC")}, "", gateway)
	}
	if parent, id, dotted := strings.Cut(name, "."); value("VLAN") == "yes" || value("TYPE") == "Vlan" {
		i.Kind, i.Parent, i.ID = network.VLAN, cmp.Or(value("PHYSDEV"), parent), fact.Int(cmp.Or(value("VLAN_ID"), id))
		if !dotted && value("PHYSDEV") == "" {
			i.Parent = ""
		}
	}
	for _, option := range strings.Fields(value("BONDING_OPTS")) {
		key, v, _ := strings.Cut(option, "=")
		i.Kind = network.Bond
		i.SetBond(key, v, place("BONDING_OPTS"))
	}
	for key, kind := range map[string]string{"MASTER": network.Bond, "BRIDGE": network.Bridge} {
		if master := value(key); master != "" {
			f.Own(name, master, place(key), false)
			f.Interface(master).Kind = kind
		}
	}
}
