package network

import (
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/filter"
	"linerate/internal/lazy"
)

// reaches matches what makes networks that files of interfaces do not tell, or adds translations.
var reaches = lazy.Regexp(`(?i)openvpn|wireguard|\bwg\d|\btun\d|tailscale|zerotier|strongswan|swanctl|ipsec|/frr|\bbird\b|quagga|docker|podman|libvirt|virbr|\blx[cd]\b|incus|\bcni\b|kubelet|miniupnp|\bp?ppo?e?_enable|mpd5?_enable|/ppp/peers|vm_enable|nspawn|qemu|\bxen|vmbr|cbsd|bastille|iocage`)

// fourParts matches an address of IPv4.
var fourParts = lazy.Regexp(`\d+\.\d+\.\d+\.\d+`)

// translates matches what translates addresses, in any language but pf's.
var translates = lazy.Regexp(`(?i)masquerade|\b[sd]nat\b|natd_enable|firewall_nat_enable`)

// Translations compares what a packet filter's file translates with the host's addresses and routes. An address, or
// an address of a network, that another of the host's texts names is somebody's.
func (h *Host) Translations(file string, set *filter.Ruleset, texts map[string]string) []fact.Problem {
	sources, targets, others := set.Sources, set.Redirect, ""
	if h == nil || set.Partial || len(sources)+len(targets) == 0 {
		return nil
	}
	for name, text := range texts {
		if name != file && name != "host" {
			others += name + "\n" + text + "\n"
		}
	}
	wan, lans := h.sides()
	if h.problems = nil; wan == nil || len(lans) == 0 || reaches().MatchString(others) || translates().MatchString(others) {
		return nil
	}
	add := func(r filter.Redirect, name, detail string, of ...netip.Prefix) {
		named := len(of) > 0 && slices.ContainsFunc(fourParts().FindAllString(others, -1), func(text string) bool {
			a, err := netip.ParseAddr(text)
			return err == nil && of[0].Contains(a)
		})
		if !r.Vague && !named {
			h.Problem(Place{file, r.Line}, name, detail)
		}
	}
	leaves := func(i *Interface, in string) bool {
		return slices.ContainsFunc(sources, func(r filter.Redirect) bool { return r.May(filter.Out, i.Name) && r.May(filter.In, in) })
	}
	for _, r := range sources {
		out, from := r.Only(filter.Out), lans[0].Addresses[0].Masked().String()
		of, err := netip.ParsePrefix(r.Only(filter.From))
		switch {
		case h.absent(r.To):
			add(r, "nat-address", r.To.String(), netip.PrefixFrom(r.To, 32))
		case len(lans) == 1 && out == lans[0].Name && wan.public() && r.May(filter.From, from) && !leaves(wan, lans[0].Name) && !slices.ContainsFunc(targets, func(t filter.Redirect) bool { return lans[0].near(t.To) }):
			add(r, "nat-inside", out)
		case out == wan.Name && err == nil && of.Addr().IsPrivate() && !h.knows(of) && slices.ContainsFunc(lans, func(i *Interface) bool {
			return !slices.ContainsFunc(sources, func(s filter.Redirect) bool {
				return s.May(filter.Out, out) && s.May(filter.From, i.Addresses[0].Masked().String())
			})
		}):
			add(r, "nat-source", of.Addr().String(), of)
		}
	}
	for _, r := range targets {
		in, to := r.Only(filter.In), r.Only(filter.To)
		own, _ := netip.ParseAddr(strings.TrimSuffix(to, "/32"))
		lan := slices.IndexFunc(lans, func(i *Interface) bool { return i.Name == in })
		switch {
		case (in == wan.Name && wan.near(own) || lan >= 0 && lans[lan].near(own)) && h.absent(own):
			add(r, "nat-address", to, netip.PrefixFrom(own, 32))
		case in == wan.Name && r.To.Is4() && r.To.IsPrivate() && !h.knows(netip.PrefixFrom(r.To, 32)):
			add(r, "nat-target", r.To.String(), netip.PrefixFrom(r.To, 32))
		case lan >= 0 && lans[lan].near(r.To) && h.absent(r.To) && r.May(filter.From, lans[lan].Addresses[0].Masked().String()) && !leaves(lans[lan], in):
			add(r, "nat-hairpin", in)
		}
	}
	return h.problems
}

// sides returns the interface that the default route leaves by, nil unless it is known, and those with private
// addresses alone; none if others have addresses too, or a route is not known.
func (h *Host) sides() (wan *Interface, lans []*Interface) {
	if slices.ContainsFunc(h.Routes, func(r Route) bool { return !r.To.IsValid() }) {
		return nil, nil
	}
	for _, i := range h.Interfaces {
		leads := i.Dynamic || slices.ContainsFunc(h.Routes, func(r Route) bool {
			return r.Default() && r.Table == "" && r.Via.Is4() && (r.Dev == i.Name || i.near(r.Via))
		})
		four := slices.ContainsFunc(i.Addresses, func(a Address) bool { return a.Addr().Is4() })
		switch {
		case leads && (wan != nil || i.Name[0] == '@'):
			return nil, nil
		case leads:
			wan = i
		case i.isLoopback() || !four:
		case i.Kind == Tunnel || slices.ContainsFunc(i.Addresses, func(a Address) bool { return !a.Addr().Is4() || !a.Addr().IsPrivate() || a.Bits() > 30 }):
			return nil, nil
		default:
			lans = append(lans, i)
		}
	}
	return wan, lans
}

// public reports whether an interface leads to the internet, as far as its addresses tell.
func (i *Interface) public() bool {
	return i.Dynamic || slices.ContainsFunc(i.Addresses, func(a Address) bool { return a.Addr().Is4() && !a.Addr().IsPrivate() })
}

// near reports whether an address is in a network of the interface.
func (i *Interface) near(a netip.Addr) bool {
	return slices.ContainsFunc(i.Addresses, func(o Address) bool { return o.Contains(a) })
}

// Far reports whether a gateway is in no network of the interface that leads to it.
func (h *Host) Far(dev string, gate netip.Addr) bool {
	if h == nil || h.find(dev) == nil || h.find(dev).Dynamic || h.find(dev).Kind == Tunnel || h.find(dev).near(gate) {
		return false
	}
	return slices.ContainsFunc(h.find(dev).Addresses, func(a Address) bool { return a.Addr().BitLen() == gate.BitLen() && a.Bits() < gate.BitLen() })
}

// absent reports whether an address is in a network of the host and not the host's own.
func (h *Host) absent(a netip.Addr) bool {
	return slices.ContainsFunc(h.Interfaces, func(i *Interface) bool { return i.near(a) }) && !slices.ContainsFunc(h.Interfaces, func(i *Interface) bool {
		return slices.ContainsFunc(i.Addresses, func(o Address) bool { return o.Addr() == a })
	})
}

// knows reports whether an interface or a route other than the default one has a part of a network.
func (h *Host) knows(p netip.Prefix) bool {
	return slices.ContainsFunc(h.Routes, func(r Route) bool { return r.To.IsValid() && !r.Default() && r.To.Overlaps(p) }) ||
		slices.ContainsFunc(h.Interfaces, func(i *Interface) bool {
			return slices.ContainsFunc(i.Addresses, func(a Address) bool { return a.Overlaps(p) })
		})
}
