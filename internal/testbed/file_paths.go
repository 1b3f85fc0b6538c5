package testbed

import (
	"fmt"
	"linerate/internal/list"
	"path"
	"slices"
	"strings"
)

// Path is a way through the DUT.
type Path struct{ In, Out Wire }

// End is an interface of a host, by role.
type End struct{ Host, Interface string }

// String is HOST/INTERFACE.
func (e End) String() string { return e.Host + "/" + e.Interface }

// Start and Finish are a wire's ends.
func (w Wire) Start() End { return endOf(w.From) }

// Finish is where the wire ends.
func (w Wire) Finish() End { return endOf(w.To) }

func endOf(s string) End {
	host, device, _ := strings.Cut(s, "/")
	return End{host, device}
}

// Host is the host of a role; nil where the file has none.
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

// Paths are the ways through the DUT: the n-th wire from the generator with
// the n-th to the receiver. There is at least one.
func (f *File) Paths() []Path {
	in, out := f.between(Generator, DUT), f.between(DUT, Receiver)
	paths := make([]Path, min(len(in), len(out)))
	for i := range paths {
		paths[i] = Path{in[i], out[i]}
	}
	return paths
}

// Bypass is the wire from generator to receiver without a DUT; nil without.
func (f *File) Bypass() *Wire { return first(f.between(Generator, Receiver)) }

// untouchable are places of a host that no variant may change, with what is
// below them: who may log in and how, and linerate's own journal. Whatever names SSH in its
// path is one too.
var untouchable = []string{"/home", "/usr/home", "/etc/passwd", "/etc/master.passwd", "/etc/pwd.db", "/etc/spwd.db", "/etc/shadow", "/etc/gshadow",
	"/etc/group", "/etc/pam.d", "/etc/sudoers", "/etc/sudoers.d", "/usr/local/etc/sudoers", "/usr/local/etc/sudoers.d", "/usr/local/etc/doas.conf", "/etc/doas.conf",
	"/etc/nologin", "/run/nologin", "/var/run/nologin", "/etc/login.access", "/etc/security/access.conf", "/etc/hosts.allow", "/etc/hosts.deny",
	"/var/db/linerate", "/var/lib/linerate", "/proc", "/sys", "/dev"}

// rulesets are files in which the management interface may be named: to pass
// its packets is not to change it.
var rulesets = []string{"pf.conf", "ipfw.rules", "ipf.rules", "ipf.conf", "nftables.conf"}

// Forbidden says why a file of a variant may not be laid over what the DUT
// has at its path, or "". was is what is there; "" when nothing is. Lines that
// name the management interface or sshd must stay as they are.
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

// protected lists the lines that name the management interface or sshd.
func protected(management, text string) (lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") && Touches(management, []string{line}) != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// Touches says why words of a command or a line could change the management
// interface or sshd, or "".
func Touches(management string, words []string) string {
	parent, _, vlan := strings.Cut(management, ".") // eth0 of eth0.5, which goes down with it
	for _, w := range words {
		for _, part := range strings.FieldsFunc(w, func(r rune) bool { return !isNameRune(r) }) {
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

// ofSSH reports a name of a server of SSH, of its unit, package or files, or a knob of it: ssh.service,
// sshd_enable, openssh-server, .ssh.
func ofSSH(name string) bool {
	return strings.Contains(name, "ssh") || strings.HasPrefix(name, "dropbear")
}

// names reports whether a word is an interface's name, or contains it as a word:
// ifconfig_em0_ipv6, ipv4_addrs_em0, net.ipv4.conf.em0.forwarding, em0.100, but not em01.
func names(word, device string) bool {
	for at := 0; ; at++ {
		i := strings.Index(word[at:], device)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(device)
		if (at == 0 || !isAlnum(word[at-1])) && (end == len(word) || !isAlnum(word[end])) {
			return true
		}
	}
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// sysctlOf matches dev.em.0.… and hint.em.0.… of an interface.
func sysctlOf(word, device string) bool {
	unit := strings.TrimLeft(device, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
	driver := strings.TrimSuffix(device, unit)
	return unit != "" && (strings.HasPrefix(word, "dev."+driver+"."+unit+".") || strings.HasPrefix(word, "hint."+driver+"."+unit+"."))
}

func isNameRune(r rune) bool {
	return r == '_' || r == '.' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
