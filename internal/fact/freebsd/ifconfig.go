package freebsd

import (
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/lazy"
)

var (
	ifHead   = lazy.Regexp(`^([A-Za-z][A-Za-z0-9_.-]*): flags=[0-9a-f]+(?:<([^>]*)>)?(.*)$`)
	ifOption = lazy.Regexp(`^options=[0-9a-f]+(?:<([^>]*)>)?`)
	ifSpeed  = lazy.Regexp(`(\d+(?:\.\d+)?)(G?)[bB]ase`)
)

// ParseIfconfig parses `ifconfig -a`, with or without -v and -m.
func ParseIfconfig(text string) []fact.NIC {
	var nics []fact.NIC
	known := false // whether the lines belong to the last NIC
	for _, line := range fact.Lines(text) {
		if m := ifHead().FindStringSubmatch(line); m != nil {
			if len(nics) >= fact.MaxNICs {
				break
			}
			nics, known = append(nics, ifconfigHead(m)), true
			continue
		}
		known = known && (line == "" || isSpace(line[0]))
		if known {
			ifconfigDetail(&nics[len(nics)-1], strings.TrimSpace(line))
		}
	}
	return nics
}

func ifconfigHead(m []string) fact.NIC {
	n := fact.NIC{Name: m[1], Flags: flagList(m[2])}
	n.Driver, n.Kind = Driver(m[1])
	up := hasAny(n.Flags, "UP")
	n.Up = &up
	words := strings.Fields(m[3])
	for i := range words {
		if words[i] == "mtu" && i+1 < len(words) {
			n.MTU = fact.Int(words[i+1])
		}
	}
	return n
}

// flagList splits "A,B"; it never returns nil, because an empty list is known to be empty.
func flagList(s string) []string {
	if s == "" {
		return []string{}
	}
	return strings.Split(s, ",")
}

func ifconfigDetail(n *fact.NIC, line string) {
	if m := ifOption().FindStringSubmatch(line); m != nil {
		n.Options = flagList(m[1])
		return
	}
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "inet":
		n.IPv4++
	case "inet6":
		if !strings.HasPrefix(rest, "fe80:") {
			n.IPv6++
		}
	case "description:":
		n.Description = clip(rest, 200)
	case "media:":
		ifconfigMedia(n, rest)
	case "status:":
		n.Status = rest
	case "drivername:": // the name before renaming
		if n.Driver, n.Kind = Driver(strings.TrimSpace(rest)); n.Name != strings.TrimSpace(rest) && strings.Contains(n.Name, ".") && n.Kind == fact.KindEthernet {
			n.Kind = fact.KindVLAN
		}
	case "member:", "laggport:":
		n.Members = append(n.Members, firstWord(rest))
	case "vlan:":
		if _, parent, ok := strings.Cut(rest, "parent interface: "); ok && firstWord(parent) != "<none>" {
			n.Parent = firstWord(parent)
		}
		n.Kind = fact.KindVLAN
	case "tunnel":
		n.Kind = fact.KindTunnel
	case "carp:":
		n.CARP = true
	}
}

func firstWord(s string) string {
	w, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	return w
}

// ifconfigMedia parses "Ethernet autoselect (1000baseT <full-duplex,rxpause>)".
func ifconfigMedia(n *fact.NIC, media string) {
	active := media
	if _, inside, ok := strings.Cut(media, "("); ok {
		active = inside
	}
	if m := ifSpeed().FindStringSubmatch(active); m != nil {
		if mbit, err := strconv.ParseFloat(m[1], 64); err == nil && mbit < 1e6 {
			if m[2] == "G" {
				mbit *= 1000
			}
			n.SpeedBits = uint64(mbit * 1e6)
		}
	}
	switch {
	case strings.Contains(active, "full-duplex"):
		n.Duplex = "full"
	case strings.Contains(active, "half-duplex"):
		n.Duplex = "half"
	}
	if n.Duplex != "" {
		n.FlowControl = fact.FlowControl(strings.Contains(active, "rxpause"), strings.Contains(active, "txpause"))
	}
}
