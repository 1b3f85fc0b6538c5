package testbed

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/list"
)

// Path is a way through the DUT.
type Path struct{ In, Out Wire }

// End is an interface of a host, by role.
type End struct{ Host, Interface string }

// String returns HOST/INTERFACE.
func (e End) String() string { return e.Host + "/" + e.Interface }

// Start returns where the wire starts.
func (w Wire) Start() End { return endOf(w.From) }

// Finish returns where the wire ends.
func (w Wire) Finish() End { return endOf(w.To) }

func endOf(s string) End {
	host, device, _ := strings.Cut(s, "/")
	return End{host, device}
}

// Host returns the host of a role; nil if the file has none.
func (f *File) Host(role string) *Host {
	return map[string]*Host{DUT: f.Hosts.DUT, Generator: f.Hosts.Generator, Receiver: f.Hosts.Receiver}[role]
}

func (f *File) between(from, to string) []Wire {
	return list.Filter(f.Wires, func(w Wire) bool { return w.Start().Host == from && w.Finish().Host == to })
}

func first(list []Wire) *Wire {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

// Paths returns the ways through the DUT: the n-th wire from the generator
// with the n-th to the receiver. There is at least one.
func (f *File) Paths() []Path {
	in, out := f.between(Generator, DUT), f.between(DUT, Receiver)
	paths := make([]Path, min(len(in), len(out)))
	for i := range paths {
		paths[i] = Path{in[i], out[i]}
	}
	return paths
}

// Bypass returns the wire from generator to receiver; nil if there is none.
func (f *File) Bypass() *Wire { return first(f.between(Generator, Receiver)) }

// untouchable lists paths that no variant may change, including everything below them: who
// may log in and how, and linerate's own journal. So is every path that contains the name
// of an SSH server.
var untouchable = []string{"/home", "/usr/home", "/etc/passwd", "/etc/master.passwd", "/etc/pwd.db", "/etc/spwd.db", "/etc/shadow", "/etc/gshadow",
	"/etc/group", "/etc/pam.d", "/etc/sudoers", "/etc/sudoers.d", "/usr/local/etc/sudoers", "/usr/local/etc/sudoers.d", "/usr/local/etc/doas.conf", "/etc/doas.conf",
	"/etc/nologin", "/run/nologin", "/var/run/nologin", "/etc/login.access", "/etc/security/access.conf", "/etc/hosts.allow", "/etc/hosts.deny",
	"/var/db/linerate", "/var/lib/linerate", "/proc", "/sys", "/dev"}

// rulesets are files that may name the management interface: passing its
// packets does not change it.
var rulesets = []string{"pf.conf", "ipfw.rules", "ipf.rules", "ipf.conf", "nftables.conf"}

// Forbidden returns why a variant's file must not replace the DUT's file at
// its path, or "". was is the present content; "" if there is none. Lines that
// name the management interface or sshd must not change.
func Forbidden(management, file, was, now string) string {
	clean := path.Clean(file)
	if clean != file || !path.IsAbs(file) || strings.ContainsAny(file, " \t\n\r\x00'\"\\$`*?[") {
		return fmt.Sprintf("%.80q is not a plain absolute path", file)
	}
	if slices.ContainsFunc(strings.Split(clean, "/"), ofSSH) || slices.ContainsFunc(untouchable, func(u string) bool { return clean == u || strings.HasPrefix(clean, u+"/") }) {
		return file + " holds the way into the host, or out of this"
	}
	if slices.Contains(rulesets, path.Base(file)) {
		return ""
	}
	before, after := protected(management, was), protected(management, now)
	for _, l := range before {
		if !slices.Contains(after, l) {
			return fmt.Sprintf("%s has the line %q of the way into the host, and the variant's has not", file, l)
		}
	}
	for _, l := range after {
		if !slices.Contains(before, l) {
			return fmt.Sprintf("%s would get the line %q, which touches the way into the host", file, l)
		}
	}
	return ""
}

// protected returns the lines that name the management interface or sshd.
func protected(management, text string) (lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") && Touches(management, []string{line}) != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// namePart matches what may be a name in a word.
var namePart = regexp.MustCompile(`[\w.-]+`)

// Touches returns why a command or line could change the management interface
// or sshd, or "".
func Touches(management string, words []string) string {
	parent, _, vlan := strings.Cut(management, ".") // eth0 of eth0.5, which goes down with its parent
	for _, w := range words {
		for _, part := range namePart.FindAllString(w, -1) {
			switch {
			case ofSSH(part):
				return fmt.Sprintf("%q touches sshd, by which the host is reached", w)
			case management != "" && (names(part, management) || vlan && names(part, parent) || sysctlOf(part, management)):
				return fmt.Sprintf("%q touches %s, by which the host is reached", w, management)
			}
		}
	}
	return ""
}

// ofSSH reports whether a name is of an SSH server, its unit, package, files or settings:
// ssh.service, sshd_enable, openssh-server, .ssh.
func ofSSH(name string) bool {
	return strings.Contains(name, "ssh") || strings.HasPrefix(name, "dropbear")
}

// names reports whether a word is an interface's name, or contains it as a separate part:
// ifconfig_em0_ipv6, ipv4_addrs_em0, net.ipv4.conf.em0.forwarding, em0.100, but not em01.
func names(word, device string) bool {
	return regexp.MustCompile(`(?:^|[^A-Za-z0-9])` + regexp.QuoteMeta(device) + `(?:[^A-Za-z0-9]|$)`).MatchString(word)
}

// sysctlOf reports whether a word is dev.em.0.… or hint.em.0.… of an interface.
func sysctlOf(word, device string) bool {
	unit := strings.TrimLeft(device, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
	driver := strings.TrimSuffix(device, unit)
	return unit != "" && (strings.HasPrefix(word, "dev."+driver+"."+unit+".") || strings.HasPrefix(word, "hint."+driver+"."+unit+"."))
}
