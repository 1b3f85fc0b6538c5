package plan

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/lazy"
	"linerate/internal/setting"
)

// families lists the address families of tables in nft(8).
var families = []string{"ip", "ip6", "inet", "arp", "bridge", "netdev"}

// identifier matches names of tables and chains of nft(8), and of interfaces.
var identifier = lazy.Regexp(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// checkNetwork checks mechanisms intended for hand-written plans: a route, a chain's policy, a
// link's state. None of them survives a reboot.
func (s Step) checkNetwork(os string) error {
	state := s.Mechanism == setting.Link && s.Name == "state"
	if s.Mechanism != setting.Route && s.Mechanism != setting.NFT && !state {
		return nil
	}
	if os != "linux" {
		return hint.With(fmt.Errorf("on %s linerate cannot restore it exactly", os), "set it by hand, from the console")
	}
	if s.Where.File != "" {
		return errors.New("it exists on the running host only; no file that linerate writes can make it permanent")
	}
	switch {
	case state && s.Value != "up" && s.Value != "down":
		return fmt.Errorf("a link is up or down, never %q", clip(s.Value))
	case s.Mechanism == setting.NFT:
		return s.checkPolicy()
	case s.Mechanism == setting.Route:
		return s.checkRoute()
	}
	return nil
}

func (s Step) checkPolicy() error {
	words := strings.Split(s.Name, "/")
	if len(words) != 3 || !slices.Contains(families, words[0]) || !identifier().MatchString(words[1]) || !identifier().MatchString(words[2]) {
		return hint.With(fmt.Errorf("%q is not a chain", clip(s.Name)), "want FAMILY/TABLE/CHAIN, such as inet/filter/input")
	}
	if s.Value != "accept" && s.Value != "drop" {
		return fmt.Errorf("a chain's policy is accept or drop, never %q", clip(s.Value))
	}
	return nil
}

// checkRoute accepts only known words of routes, because they become arguments of ip(8).
func (s Step) checkRoute() error {
	p, err := netip.ParsePrefix(s.Name)
	if err != nil || p.Masked() != p || p.String() != s.Name {
		return hint.With(fmt.Errorf("%q is not a prefix", clip(s.Name)), "such as 198.18.0.0/15; the default route is 0.0.0.0/0 or ::/0")
	}
	if s.Value == "absent" {
		return nil
	}
	noRoute := hint.With(fmt.Errorf("%q is not a route", clip(s.Value)), `want "absent", or ip-route(8)'s words, such as "via 198.18.0.1 dev eth0"`)
	words := strings.Fields(s.Value)
	if len(words) == 0 {
		return noRoute
	}
	for len(words) > 0 {
		if words[0] == "onlink" {
			words = words[1:]
			continue
		}
		if len(words) < 2 || !slices.Contains([]string{"via", "dev", "proto", "metric", "src", "scope", "mtu", "pref"}, words[0]) || !word(words[1]) || words[1] == "" {
			return noRoute
		}
		words = words[2:]
	}
	return nil
}
