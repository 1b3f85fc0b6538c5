package testbed

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"linerate/internal/lazy"
	"linerate/internal/yamlfile"
)

// Limits beyond which a typing error is more likely than intent.
const (
	maxWires    = 32
	maxWords    = 64
	maxServices = 32
)

var (
	nameRE = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	// interfaceRE accepts interface names that are valid on both systems, and
	// cannot be an option or a path.
	interfaceRE = lazy.Regexp(`^[A-Za-z0-9_][A-Za-z0-9._@:-]{0,31}$`)
)

func (f *File) check() *yamlfile.Problem {
	for _, check := range []func() *yamlfile.Problem{f.checkHosts, f.checkWires, f.checkCommands, f.checkTraffic} {
		if p := check(); p != nil {
			return p
		}
	}
	return nil
}

func (f *File) checkHosts() *yamlfile.Problem {
	if f.Name != "" && !nameRE().MatchString(f.Name) {
		return yamlfile.Wrong("name", "name %q is not a name: letters, digits, dots and dashes", f.Name)
	}
	if f.Hosts.Generator == nil {
		return yamlfile.Wrong("hosts", "the testbed has no generator").Advise("add generator: {ssh: ssh://root@HOST}, or generator: {} for this machine")
	}
	for _, role := range []string{DUT, Generator, Receiver} {
		if h := f.Host(role); h != nil {
			if p := h.check("hosts." + role); p != nil {
				return p
			}
		}
	}
	d := f.Hosts.DUT
	switch {
	case d == nil:
		return nil
	case d.SSH == "":
		return yamlfile.Wrong("hosts.dut", "the DUT cannot be this machine: it is changed, loaded and rebooted").
			Advise("give ssh: ssh://root@HOST, or leave dut out if nothing of it is to be set")
	case d.Management == "":
		return yamlfile.Wrong("hosts.dut", "the DUT's management interface is not named").
			Advise("add management: INTERFACE, the one that SSH comes by: it is never touched")
	case d.Namespace != "":
		return yamlfile.Wrong("hosts.dut.namespace", "the DUT is a whole machine, not a namespace of one")
	}
	return nil
}

func (h *Host) check(path string) *yamlfile.Problem {
	u, err := url.Parse(h.SSH)
	switch {
	case h.SSH != "" && (err != nil || u.Scheme != "ssh" || u.Hostname() == "" || strings.Trim(u.Path, "/") != ""):
		return yamlfile.Wrong(path+".ssh", "%.80q is not a host over SSH", h.SSH).Advise("write ssh://user@host or ssh://user@host:port")
	case !slices.Contains([]string{"", "sudo", "doas"}, h.Become):
		return yamlfile.Wrong(path+".become", "unknown way to become root %q", h.Become).Advise("known: sudo, doas (without a password), or none when the login is root's")
	case h.Management != "" && !interfaceRE().MatchString(h.Management):
		return yamlfile.Wrong(path+".management", "%.40q is not the name of an interface", h.Management)
	case h.Namespace != "" && !nameRE().MatchString(h.Namespace):
		return yamlfile.Wrong(path+".namespace", "%.40q is not the name of a namespace", h.Namespace)
	}
	for _, c := range h.CPUs {
		if c < 0 || c > 8191 {
			return yamlfile.Wrong(path+".cpus", "cpus: %d is no CPU", c)
		}
	}
	return nil
}

func (f *File) checkWires() *yamlfile.Problem {
	if len(f.Wires) > maxWires {
		return yamlfile.Wrong("wires", "%d wires are more than %d", len(f.Wires), maxWires)
	}
	used := map[string]bool{}
	for i, w := range f.Wires {
		path := fmt.Sprintf("wires[%d]", i)
		for key, e := range map[string]string{"from": w.From, "to": w.To} {
			if p := f.checkEnd(path+"."+key, e); p != nil {
				return p
			}
			if used[e] {
				return yamlfile.Wrong(path+"."+key, "two wires end at %s", e)
			}
			used[e] = true
		}
		if p := w.check(path); p != nil {
			return p
		}
	}
	in, out := len(f.between(Generator, DUT)), len(f.between(DUT, Receiver))
	switch {
	case in == 0 || out == 0:
		return yamlfile.Wrong("wires", "no way leads from the generator through the DUT to the receiver").
			Advise("give two wires: {from: generator/IF, to: dut/IF} and {from: dut/IF, to: receiver/IF}")
	case in != out:
		return yamlfile.Wrong("wires", "%d wires lead to the DUT and %d from it", in, out).
			Advise("the first to it and the first from it are a way, the second to it and the second from it another: give as many of each")
	}
	return nil
}

func (f *File) checkEnd(path, end string) *yamlfile.Problem {
	role, device, ok := strings.Cut(end, "/")
	if !ok || !interfaceRE().MatchString(device) {
		return yamlfile.Wrong(path, "%.60q is not an interface of a host", end).Advise("write HOST/INTERFACE, for instance dut/ix0")
	}
	if p := yamlfile.OneOf(path, role, DUT, Generator, Receiver); p != nil {
		return p
	}
	h := f.Host(role)
	if h != nil && h.Management == device {
		return yamlfile.Wrong(path, "%s is the management interface of %s, and no traffic may pass it", device, role)
	}
	return nil
}

func (w Wire) check(path string) *yamlfile.Problem {
	from, _, _ := strings.Cut(w.From, "/")
	to, _, _ := strings.Cut(w.To, "/")
	if from == to || from == Receiver || to == Generator {
		return yamlfile.Wrong(path, "a wire leads from %s to %s", from, to).Advise("wires follow the traffic: generator to dut, dut to receiver, or generator to receiver without a DUT; a study says directions: both, the wires need not")
	}
	for key, a := range map[string]string{"from_ipv4": w.FromIPv4, "from_ipv6": w.FromIPv6, "to_ipv4": w.ToIPv4, "to_ipv6": w.ToIPv6} {
		if a == "" {
			continue
		}
		p, err := netip.ParsePrefix(a)
		if err != nil || p.Addr().Is4() != strings.HasSuffix(key, "4") {
			return yamlfile.Wrong(path+"."+key, "%.60q is not an address with its prefix", a).Advise("for instance 198.18.0.1/16")
		}
	}
	return nil
}

func (f *File) checkCommands() *yamlfile.Problem {
	if p := words("power", f.Power); p != nil {
		return p
	}
	if len(f.Services) > maxServices {
		return yamlfile.Wrong("services", "%d services are more than %d", len(f.Services), maxServices)
	}
	for i, s := range f.Services {
		path := fmt.Sprintf("services[%d]", i)
		if p := words(path, s); p != nil || len(s) == 0 {
			return cmp.Or(p, yamlfile.Wrong(path, "the command is empty"))
		}
		if f.Hosts.DUT != nil {
			if why := Touches(f.Hosts.DUT.Management, s); why != "" {
				return yamlfile.Wrong(path, "%s", why)
			}
		}
	}
	r := f.Reboot
	switch {
	case time.Duration(r.Wait) < 5*time.Second || time.Duration(r.Wait) > 2*time.Hour:
		return yamlfile.Wrong("reboot.wait", "wait: %s is not within 5s and 2h", time.Duration(r.Wait))
	case r.Attempts < 1 || r.Attempts > 10:
		return yamlfile.Wrong("reboot.attempts", "attempts: %d is not within 1 and 10", r.Attempts)
	case f.Window != 0 && (time.Duration(f.Window) < 10*time.Second || time.Duration(f.Window) > 24*time.Hour):
		return yamlfile.Wrong("window", "window: %s is not within 10s and 24h", time.Duration(f.Window))
	case time.Duration(r.Rest) < 0 || time.Duration(r.Rest) > 10*time.Minute:
		return yamlfile.Wrong("reboot.rest", "rest: %s is not within 0s and 10m", time.Duration(r.Rest))
	}
	return words("reboot.online", r.Online)
}

func (f *File) checkTraffic() *yamlfile.Problem {
	t := f.Traffic
	if p := yamlfile.OneOf("traffic.tool", t.Tool, ToolLinerate, ToolPktGen); p != nil {
		return p
	}
	if t.Tool == ToolLinerate && len(t.Generate)+len(t.Receive) > 0 {
		return yamlfile.Wrong("traffic", "generate and receive belong to tool: pkt-gen")
	}
	return cmp.Or(words("traffic.generate", t.Generate), words("traffic.receive", t.Receive))
}

// words checks a command.
func words(path string, argv []string) *yamlfile.Problem {
	if len(argv) > maxWords {
		return yamlfile.Wrong(path, "a command of %d words is longer than %d", len(argv), maxWords)
	}
	for _, a := range argv {
		if a == "" || len(a) > 4096 || strings.ContainsAny(a, "\x00\n\r") {
			return yamlfile.Wrong(path, "word %.40q of the command is empty, too long, or no line of text", a)
		}
	}
	return nil
}
