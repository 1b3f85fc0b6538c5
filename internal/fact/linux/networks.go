package linux

import (
	"cmp"
	"maps"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/filter"
	"linerate/internal/fact/network"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// NetworkProblems finds what the files of each program that configures interfaces say against each
// other. texts are a host's files by path.
func NetworkProblems(texts map[string]string) (all []fact.Problem) {
	// Files in name order, whatever their directory: networkd and netplan read them so.
	paths := slices.SortedFunc(maps.Keys(texts), func(a, b string) int { return strings.Compare(path.Base(a)+a, path.Base(b)+b) })
	others := slices.ContainsFunc(paths, func(p string) bool { return addsAddresses().MatchString(p) || runsIP().MatchString(texts[p]) })
	watched := slices.ContainsFunc(paths, func(p string) bool {
		return strings.HasPrefix(p, "/etc/modprobe.d/") && watchesBonds().MatchString(texts[p])
	})
	made, places, joint := map[string]bool{}, map[string]network.Place{}, network.New()
	for _, read := range []func(*networkFiles){(*networkFiles).networkd, (*networkFiles).netplan, (*networkFiles).ifupdown, (*networkFiles).keyfiles, (*networkFiles).ifcfg} {
		f := networkFiles{Host: network.New(), texts: texts, paths: paths}
		f.Open[true], f.Open[false], f.Elsewhere = others, others, others || slices.ContainsFunc(paths, func(p string) bool { return setsMTU().MatchString(texts[p]) })
		f.Watched = watched
		read(&f)
		if !f.broken {
			f.twoPrograms(places)
			all = append(all, f.Problems()...)
		}
		for _, i := range f.Interfaces {
			made[i.Name] = true
		}
		joint.Interfaces, joint.Routes = append(joint.Interfaces, f.Interfaces...), append(joint.Routes, f.Routes...)
		others = others || f.broken
	}
	if !others {
		all = append(all, unmade(texts, made)...)
		all = append(all, translated(joint, texts)...)
	}
	return all
}

// translated judges what the packet filters' files translate.
func translated(h *network.Host, texts map[string]string) (all []fact.Problem) {
	for _, f := range filterFiles {
		text, set := texts[f.path], (*filter.Ruleset)(nil)
		switch {
		case text == "" || len(text) > 1<<20 || f.family == "6":
			continue
		case f.family == "":
			set = nftFilter(text)
		default:
			set = iptablesFilter(text, f.family)
		}
		all = append(all, h.Translations(f.path, set, texts)...)
	}
	return all
}

// twoPrograms finds interfaces that a program before this one configures too, by their places, if one of them is
// netplan: whether networkd and NetworkManager run is a rule's to know (LR-LINUX-TWO-MANAGERS).
func (f *networkFiles) twoPrograms(places map[string]network.Place) {
	for _, i := range f.Interfaces {
		at := cmp.Or(append(list.Map(i.Addresses, func(a network.Address) network.Place { return a.Place }), i.DHCP.Place, i.Place)...)
		switch other, twice := places[i.Name]; {
		case len(i.Addresses) == 0 && !i.Dynamic || strings.ContainsAny(i.Name, "@*?[") || i.Name == "lo" || !strings.HasPrefix(at.File, "/etc/"):
		case twice && strings.Contains(at.File+other.File, "/netplan/"):
			f.Problem(at, "net-two-programs", other.File)
		default:
			places[i.Name] = at
		}
	}
}

var (
	// virtual matches names that programs give to interfaces that they create: their kind and number, or a VLAN's parent and number.
	virtual = lazy.Regexp(`^(bond|br|vmbr|vlan|vrf|dummy|team|\w+\.)\d+$`)
	// namings match the interfaces that files of other programs name.
	namings = map[string]*regexp.Regexp{
		"nft":        regexp.MustCompile(`(?m)^[^#\n]*?\b[io]if(?:name)?[ \t]+(?:!=[ \t]*)?["{ \t]*([\w.-]+)`),
		"iptables":   regexp.MustCompile(`(?m)^-A[^\n]*?[ \t]-[io][ \t]+([\w.-]+)`),
		"keepalived": regexp.MustCompile(`(?m)^[ \t]*interface[ \t]+([\w.-]+)`),
		"radvd":      regexp.MustCompile(`(?m)^[ \t]*interface[ \t]+([\w.-]+)`),
		"dnsmasq":    regexp.MustCompile(`(?m)^[ \t]*interface=([\w.-]+)`),
	}
	// makers matches files of programs that create bridges and other interfaces, makes commands that do.
	makes  = lazy.Regexp(`\bbrctl[ \t]+addbr\b|\bvconfig[ \t]+add\b|\bl(?:ink)?[ \t]+add\b`)
	makers = lazy.Regexp(`^/etc/(?:docker|libvirt|cni|kubernetes|rancher|lxc|lxd|incus|openvswitch|pve|wireguard|systemd/nspawn)`)
)

// unmade finds names of bonds, bridges and VLANs that nothing creates, where others of the kind are made.
func unmade(texts map[string]string, made map[string]bool) (all []fact.Problem) {
	kinds := map[string]bool{}
	for name := range made {
		if m := virtual().FindStringSubmatch(name); m != nil {
			kinds[m[1]] = true
		}
	}
	for _, p := range slices.Sorted(maps.Keys(texts)) {
		text := texts[p]
		if makers().MatchString(p) || makes().MatchString(text) {
			return nil
		}
		for program, names := range namings {
			if !strings.Contains(p, program) {
				continue
			}
			for _, at := range names.FindAllStringSubmatchIndex(text, 1<<10) {
				name := text[at[2]:at[3]]
				if m := virtual().FindStringSubmatch(name); m != nil && kinds[m[1]] && !made[name] {
					all = append(all, fact.Problem{File: p, Line: 1 + strings.Count(text[:at[2]], "\n"), Kind: fact.ProblemSlip, Message: "net-unmade", Detail: name})
					break
				}
			}
		}
	}
	return all
}

var (
	// watchesBonds matches the module's parameter that is every bond's default.
	watchesBonds = lazy.Regexp(`(?m)^[ \t]*options[ \t]+bonding[^#\n]*\b(?:miimon|arp_interval)=[1-9]`)
	// addsAddresses matches files of programs that add addresses, routes and rules.
	addsAddresses = lazy.Regexp(`^/etc/(?:wireguard|openvpn|keepalived|frr|bird|swanctl|ppp/peers)/|^/etc/sysconfig/network-scripts/(?:route|rule)6?-|^/etc/ipsec\.conf`)
	// runsIP matches commands that add addresses, routes or rules, setsMTU those that set an MTU.
	runsIP  = lazy.Regexp(`(?m)(?:^|[ \t/=;&])ip[ \t]+(?:-\S+[ \t]+)*(?:ro?u?t?e?|ru(?:le?)?|ad?d?r?e?s?s?)[ \t]`)
	setsMTU = lazy.Regexp(`(?m)(?:^|[ \t/=;&])ip[ \t]+(?:-\S+[ \t]+)*l(?:i?n?k?)[ \t].*\bmtu[ \t]|\bifconfig[ \t].*\bmtu[ \t]|/sys/class/net/\S+/mtu\b`)
)

// networkFiles is a model of what one program's files say.
type networkFiles struct {
	*network.Host
	texts  map[string]string
	paths  []string
	broken bool // a file cannot be read
}

// create makes an interface of a kind that a program names.
func (f *networkFiles) create(name, kind string, at network.Place) *network.Interface {
	i := f.Interface(name)
	i.Place, i.Kind, i.Declared = at, kind, true
	if bytes, is := network.Overheads[kind]; is {
		i.Kind, i.Overhead = network.Tunnel, bytes
	}
	return i
}

// gateway adds a route; a destination that cannot be read may be any.
func (f *networkFiles) gateway(r network.Route, to, via string) {
	var err error
	if r.Via, err = netip.ParseAddr(via); err != nil {
		if via != "" {
			return // a name such as _dhcp4
		}
	}
	switch {
	case to == "default" || to == "" || to == "0.0.0.0/0" || to == "::/0":
		r.To = netip.PrefixFrom(map[bool]netip.Addr{true: netip.IPv6Unspecified(), false: netip.IPv4Unspecified()}[r.Via.Is6()], 0)
	case !strings.Contains(to, "/"):
		if a, err := netip.ParseAddr(to); err == nil {
			r.To = netip.PrefixFrom(a, a.BitLen())
		}
	default:
		r.To, _ = netip.ParsePrefix(to)
	}
	f.Routes = append(f.Routes, r)
}

var no = []string{"no", "false", "off", "0", ""}

// networkd reads systemd.netdev(5) and systemd.network(5).
func (f *networkFiles) networkd() {
	var before []string
	for _, p := range f.paths {
		dir := path.Dir(p)
		if dir != networkDirs[0] && dir != networkDirs[1] && dir != networkDirs[2] {
			continue
		}
		switch entries := ini(f.texts[p]); path.Ext(p) {
		case ".netdev":
			f.netdev(p, entries)
		case ".network":
			before = f.networkFile(p, entries, before)
		case ".link":
			f.Elsewhere = f.Elsewhere || slices.ContainsFunc(entries, func(e entry) bool { return e.key == "MTUBytes" })
		}
	}
	for _, i := range f.Interfaces {
		if kinds := []string{network.VLAN, "macvlan", "ipvlan", "macvtap", "ipvtap", network.Tunnel}; slices.Contains(kinds, i.Kind) && i.Declared && i.Parent == "" {
			f.Problem(i.Place, "networkd-child", "")
		}
	}
}

func (f *networkFiles) netdev(p string, entries []entry) {
	name := valueIn(entries, "NetDev", "Name")
	if !validName(name) {
		return
	}
	i := f.create(name, valueIn(entries, "NetDev", "Kind"), network.Place{File: p, Line: 1})
	if slices.Contains([]string{"wireguard", "geneve", "fou"}, valueIn(entries, "NetDev", "Kind")) { // need no other interface
		i.Parent = "none"
	}
	for _, e := range entries {
		at := network.Place{File: p, Line: e.number}
		switch e.section + "." + e.key {
		case "NetDev.Name":
			i.Place = at
		case "NetDev.MTUBytes":
			i.MTU, i.MTUPlace = fact.Int(e.value), at
		case "VLAN.Id":
			i.ID = fact.Int(e.value)
		case "Tunnel.Independent", "VXLAN.Independent":
			i.Parent = map[bool]string{true: "", false: "none"}[slices.Contains(no, strings.ToLower(e.value))]
		case "Tunnel.Local", "VXLAN.Local":
			i.Local, _ = netip.ParseAddr(e.value)
			i.LocalPlace = at
		}
		if e.section == "Bond" || e.section == "Bridge" {
			i.SetBond(e.key, e.value, at)
		}
	}
}

// networkFile reads a .network file. before are the names and patterns that earlier files match.
func (f *networkFiles) networkFile(p string, entries []entry, before []string) []string {
	var names []string
	others, at := false, network.Place{File: p, Line: 1}
	for _, e := range entries {
		if e.section == "Match" && e.key == "Name" {
			names, at.Line = append(names, strings.Fields(e.value)...), e.number
			continue
		}
		others = others || e.section == "Match" || e.key == "Unmanaged" && !slices.Contains(no, e.value)
	}
	plain := len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return strings.ContainsAny(n, "*?[!") })
	if plain && !others {
		hidden := !slices.ContainsFunc(names, func(n string) bool {
			return !slices.ContainsFunc(before, func(b string) bool { ok, _ := path.Match(b, n); return ok })
		})
		if hidden {
			f.Problem(at, "network-order", "")
			return before
		}
	}
	matched := names
	if !plain {
		names, others = []string{"@" + p}, others || slices.ContainsFunc(names, func(n string) bool { return n[0] == '!' })
	}
	for _, n := range names {
		i := f.Interface(n)
		i.Declared = true
		f.networkEntries(i, p, entries, len(names) > 1)
	}
	if others {
		return before
	}
	return append(before, matched...)
}

func (f *networkFiles) networkEntries(i *network.Interface, p string, entries []entry, shared bool) {
	accepts := true
	for n, e := range entries {
		at := network.Place{File: p, Line: e.number}
		section := func(key string) string {
			o, _ := list.Find(entries, func(o entry) bool { return o.of == e.of && o.key == key })
			return o.value
		}
		first := n == 0 || entries[n-1].of != e.of
		switch e.section + "." + e.key {
		case "Link.MTUBytes":
			i.MTU, i.MTUPlace = fact.Int(e.value), at
		case "Network.Address", "Address.Address":
			if f.Address(i, e.value, at) {
				a := &i.Addresses[len(i.Addresses)-1]
				a.Shared = shared || section("Peer") != "" || section("Scope") == "host"
			}
		case "Network.DHCP":
			if !slices.Contains(no, e.value) {
				i.Dynamic, i.DHCP = true, network.Name{Place: at, Name: e.key}
			}
		case "Network.IPv6AcceptRA":
			accepts = !slices.Contains(no, e.value)
		case "Network.VLAN", "Network.MACVLAN", "Network.IPVLAN", "Network.MACVTAP", "Network.IPVTAP", "Network.Tunnel", "Network.VXLAN":
			for _, name := range strings.Fields(e.value) {
				f.Interface(name).Parent = i.Name
				f.Mentioned = append(f.Mentioned, network.Name{Place: at, Name: name, Strict: true})
			}
		case "Network.Bond", "Network.Bridge", "Network.VRF":
			f.Own(i.Name, e.value, at, e.key == "Bond")
			if master := f.Interface(e.value); master.Kind == "" {
				master.Kind = strings.ToLower(e.key)
			}
			f.Mentioned = append(f.Mentioned, network.Name{Place: at, Name: e.value, Strict: e.key == "Bond"})
		case "Network.Gateway":
			f.gateway(network.Route{Place: at, Dev: i.Name}, "", e.value)
		}
		switch {
		case e.section == "Route" && first:
			f.gateway(network.Route{Place: at, Dev: i.Name, Table: section("Table"), Metric: section("Metric"), OnLink: !slices.Contains(no, section("GatewayOnLink")) || section("Scope") == "link"}, section("Destination"), section("Gateway"))
		case e.section == "RoutingPolicyRule" && e.key == "Table":
			f.Rules = append(f.Rules, network.Route{Place: at, Table: e.value})
		}
	}
	f.Open[true] = f.Open[true] || accepts
}
