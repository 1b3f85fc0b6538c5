package ledger

import (
	"slices"
	"strings"
)

// ofServers lists the prefixes of settings of servers, their file systems and
// their paths to clients.
var ofServers = []string{"mount", "mkfs", "nginx", "postfix"}

// ofRoutes maps path settings to the catalogue's names for the same route attributes.
var ofRoutes = map[string][]string{
	"initcwnd": {"ip route ... initcwnd N"}, "initrwnd": {"ip route ... initrwnd N"}, "congestion": {"ip route ... congctl NAME"},
}

// relatedTo lists other names under which to look for evidence on a setting
// of linerate's own studies.
func relatedTo(name string) []string {
	switch {
	case name == "nft", name == "firewall":
		return []string{"nftables", "nft", "firewall"}
	case strings.HasPrefix(name, "link "), strings.HasPrefix(name, "napi "):
		_, short, _ := strings.Cut(name, " ")
		return []string{short, "ethtool:" + short}
	}
	kind, short, _ := strings.Cut(name, ":")
	switch {
	case kind == "tcp":
		return append([]string{short}, ofRoutes[short]...)
	case slices.Contains(ofServers, kind):
		return []string{short}
	}
	return nil
}
