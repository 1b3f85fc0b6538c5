package netbenches

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"linerate/internal/lazy"
	"linerate/internal/ledger"
)

// Assignment is one setting of a configuration set, under its catalogue name.
type Assignment struct {
	Name  string
	Value string
	File  string // path in the tree
	Line  int
	rank  int // later files override
}

// ParseSettings parses a file of a configuration set according to its name.
// Files without settings yield none.
func ParseSettings(file string, data []byte) []Assignment {
	base := path.Base(file)
	var s []Assignment
	switch {
	case strings.HasPrefix(base, "loader.conf"), strings.HasPrefix(base, "device.hints"):
		s = assignments(data, kernelSettings)
	case base == "sysctl.conf" || strings.HasPrefix(base, "sysctl.conf."):
		s = assignments(data, kernelSettings)
	case strings.HasPrefix(base, "rc.conf"), base == "vendor.conf":
		s = assignments(data, rcSettings)
	case isRules(base):
		s = rules(base, data)
	}
	for i := range s {
		s[i].File, s[i].rank = file, rank(file)
	}
	return s
}

// rank orders the files that may set the same variable, defaults first.
func rank(file string) int {
	switch base := path.Base(file); {
	case path.Base(path.Dir(file)) == "defaults" || base == "vendor.conf":
		return 0
	case strings.HasSuffix(base, ".local"), strings.HasSuffix(base, ".misc"):
		return 2
	}
	return 1
}

// assignments parses name=value lines of the configuration files: quotes are optional,
// # begins a comment outside quotes. of returns the settings that a line makes.
func assignments(data []byte, of func(Assignment) []Assignment) []Assignment {
	var out []Assignment
	line := 0
	for l := range bytes.Lines(data) {
		line++
		name, value, ok := strings.Cut(strings.TrimSpace(string(l)), "=")
		name = strings.TrimSpace(name)
		if !ok || strings.HasPrefix(name, "#") || name == "" || strings.ContainsAny(name, " \t") {
			continue
		}
		out = append(out, of(Assignment{Name: name, Value: unquote(value), Line: line})...)
	}
	return out
}

// kernelSettings returns the one setting of a line in loader.conf, device.hints or sysctl.conf.
func kernelSettings(s Assignment) []Assignment {
	s.Name = AnyUnit(s.Name)
	return []Assignment{s}
}

// valueText matches a value in quotes, after an unclosed one, or up to a comment.
var valueText = lazy.Regexp(`^\s*(?:"([^"]*)"|'([^']*)'|["'](.*)|([^#]*))`)

// unquote removes quotes and a trailing comment.
func unquote(v string) string {
	m := valueText().FindStringSubmatch(v)
	return m[1] + m[2] + strings.Trim(m[3], `"'`) + strings.TrimSpace(m[4])
}

// rcSettings returns the settings of an rc.conf variable: usually one, but
// one per flag of an ifconfig_ line.
func rcSettings(s Assignment) []Assignment {
	if ports, ok := strings.CutPrefix(s.Name, "ifconfig_"); ok {
		return append(interfaceFlags(s), testPort(s, strings.TrimSuffix(ports, "_ipv6"))...)
	}
	if strings.HasPrefix(s.Name, "create_args_") || strings.HasPrefix(s.Name, "cloned_") {
		return []Assignment{s}
	}
	n := loadNames()
	truth := slices.Contains(n.Truth, s.Name)
	s.Name = n.tunable(s.Name)
	switch strings.ToUpper(s.Value) {
	case "YES", "TRUE", "ON":
		s.Value = pick(truth, "1", "YES")
	case "NO", "FALSE", "OFF":
		s.Value = pick(truth, "0", "NO")
	}
	return []Assignment{s}
}

func pick(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}

var flagWord = lazy.Regexp(`^-?(tso[46]?|lro|[rt]xcsum6?|vlanhw[a-z]+|vlanmtu|polling|toe[46]?|netmap|promisc|jumbobuf|nomap|rxtls|txtls(?:rtlmt)?|link[0-2]|wol(?:_[a-z]+)?|inet6)$`)

// interfaceFlags returns the flags in an ifconfig_ line; addresses do not
// count as settings.
func interfaceFlags(s Assignment) []Assignment {
	var out []Assignment
	words := strings.Fields(s.Value)
	for i, w := range words {
		f, next := s, ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case w == "inet6":
			continue
		case flagWord().MatchString(w):
			f.Name, f.Value = "ifconfig:"+strings.TrimPrefix(w, "-"), pick(w[0] == '-', "off", "on")
		case (w == "mtu" || w == "media" || w == "mediaopt" || w == "fib" || w == "-mediaopt") && next != "":
			f.Name, f.Value = "ifconfig:"+w, next
		default:
			continue
		}
		out = append(out, f)
	}
	return out
}

// testPort records the driver of a port in the benchmarking network.
func testPort(s Assignment, port string) []Assignment {
	if !strings.Contains(s.Value, "198.18.") && !strings.Contains(s.Value, "198.19.") && !strings.Contains(s.Value, "2001:2:") {
		return nil
	}
	driver := strings.TrimRight(port, "0123456789")
	if driver == "" || strings.ContainsAny(driver, "._") || slices.Contains([]string{"vlan", "lagg", "bridge", "gif", "gre"}, driver) {
		return nil
	}
	s.Name, s.Value = driverKey, driver
	return []Assignment{s}
}

func isRules(base string) bool {
	switch path.Ext(base) {
	case ".rules":
		return true
	case ".conf":
		return strings.HasPrefix(base, "pf") || strings.HasPrefix(base, "ipfw") || strings.HasPrefix(base, "ipf")
	}
	return false
}

// rules turns a ruleset into a setting that identifies it (its number of lines and
// their digest, without comments), and one setting for each option set in pf.conf.
func rules(base string, data []byte) []Assignment {
	var kept []string
	for l := range bytes.Lines(data) {
		line := string(l)
		if i := strings.IndexByte(line, '#'); i >= 0 {
			line = line[:i]
		}
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			kept = append(kept, line)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	sum := sha256.Sum256([]byte(strings.Join(kept, "\n")))
	out := []Assignment{{Name: base, Line: 1, Value: fmt.Sprintf("%d lines (%s)", len(kept), hex.EncodeToString(sum[:4]))}}
	for i, l := range kept {
		if opt, ok := strings.CutPrefix(l, "set "); ok && strings.HasPrefix(base, "pf") {
			if name, value, ok := cutLast(opt, " "); ok && !strings.HasPrefix(opt, "skip") {
				out = append(out, Assignment{Name: "pf.conf set " + name, Value: value, Line: i + 1})
			}
		}
	}
	return out
}

// Config is a configuration set: the settings of a variant of the DUT.
type Config struct {
	settings map[string]Assignment
}

// systemDirs are folders at the top of a configuration set. If they are
// directly below configs, that is a single set without a name.
var systemDirs = []string{"boot", "etc", "usr", "var", "data", "root", "cfg", "conf", "tmp"}

// configSet splits a path into the folder of its set and the path within the set.
func configSet(p string) (set, inside string) {
	parts := strings.Split(p, "/")
	at := slices.IndexFunc(parts, func(s string) bool { return s == "configs" || s == "config" })
	end := at + 1
	if end < len(parts)-1 && !slices.Contains(systemDirs, parts[end]) {
		end++
	}
	return path.Join(parts[:end]...), path.Join(parts[end:]...)
}

// endpoints are hosts of a set other than the device under test.
var endpoints = []string{"refendpoint", "ref", "refendpoints", "endpoint", "REF"}

func (c *Config) add(inside string, settings []Assignment) {
	if first, _, _ := strings.Cut(inside, "/"); slices.Contains(endpoints, first) {
		return
	}
	if c.settings == nil {
		c.settings = map[string]Assignment{}
	}
	for _, s := range settings {
		old, ok := c.settings[s.Name]
		if !ok || s.rank > old.rank || s.rank == old.rank && (s.File != old.File || s.Value != old.Value) {
			c.settings[s.Name] = s
		}
	}
}

// Driver returns the driver of the ports for test traffic: the interfaces
// with an address in the benchmarking network 198.18.0.0/15.
func (c *Config) Driver() string { return c.settings[driverKey].Value }

// driverKey cannot clash with the name of a setting.
const driverKey = "\x00driver"

// sameSetting reports whether two values are equivalent; "" means the default.
func sameSetting(n *names, name, a, b string) bool {
	if a == b {
		return true
	}
	d, ok := n.Defaults[name]
	return ok && (a == "" && b == d || b == "" && a == d)
}

// Diff lists the tunables that b sets differently from a. It omits settings that
// identify a host or keep it reachable, and returns nothing if a set is unknown.
func Diff(a, b *Config) []ledger.Change {
	out := []ledger.Change{}
	if a == nil || b == nil || a == b {
		return out
	}
	n := loadNames()
	all := maps.Clone(a.settings)
	maps.Copy(all, b.settings)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		x, y := a.settings[k], b.settings[k]
		if sameSetting(n, k, x.Value, y.Value) || k == driverKey || n.ignored(k) {
			continue
		}
		out = append(out, ledger.Change{Tunable: k, Related: n.related(k), Before: x.Value, After: y.Value, File: fmt.Sprintf("%s:%d", all[k].File, all[k].Line)})
	}
	return out
}
