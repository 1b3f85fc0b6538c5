package netbenches

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/ledger"
)

// Assignment is one line of a configuration set, by the catalogue's name.
type Assignment struct {
	Name  string
	Value string
	File  string // path in the tree
	Line  int
	rank  int // later files win
}

// ParseSettings reads a file of a configuration set by its name; files that
// hold no settings yield none.
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

// rank orders the files that set the same variable: defaults first.
func rank(file string) int {
	switch base := path.Base(file); {
	case path.Base(path.Dir(file)) == "defaults" || base == "vendor.conf":
		return 0
	case strings.HasSuffix(base, ".local"), strings.HasSuffix(base, ".misc"):
		return 2
	}
	return 1
}

// assignments reads name=value lines as the three files' own readers do: quotes are
// optional, # begins a comment outside quotes. of says which settings one is.
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

// kernelSettings are those of a line of loader.conf, device.hints or sysctl.conf: one.
func kernelSettings(s Assignment) []Assignment {
	s.Name = AnyUnit(s.Name)
	return []Assignment{s}
}

// unquote takes quotes and a trailing comment off.
func unquote(v string) string {
	v = strings.TrimSpace(v)
	if v == "" {
		return ""
	}
	if q := v[0]; q == '"' || q == '\'' {
		if end := strings.IndexByte(v[1:], q); end >= 0 {
			return v[1 : 1+end]
		}
		return strings.Trim(v, `"'`)
	}
	if i := strings.IndexByte(v, '#'); i >= 0 {
		v = v[:i]
	}
	return strings.TrimSpace(v)
}

// rcSettings turns one rc.conf variable into settings: most are one, an
// ifconfig_ line is one for each flag.
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

var flagWord = regexp.MustCompile(`^-?(tso[46]?|lro|[rt]xcsum6?|vlanhw[a-z]+|vlanmtu|polling|toe[46]?|netmap|promisc|jumbobuf|nomap|rxtls|txtls(?:rtlmt)?|link[0-2]|wol(?:_[a-z]+)?|inet6)$`)

// interfaceFlags reads the flags of an ifconfig_ line; addresses are not
// settings.
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
		case flagWord.MatchString(w):
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

// testPort notes the driver of a port in the benchmarking network.
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

// rules makes a ruleset one setting: how many lines decide, and a digest of
// them without comments, so that two sets can be told apart.
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

// Config is one configuration set: what a variant of the DUT sets.
type Config struct {
	settings map[string]Assignment
}

// systemDirs are the folders at the top of a set; where they lie directly
// below configs there is one set without a name.
var systemDirs = []string{"boot", "etc", "usr", "var", "data", "root", "cfg", "conf", "tmp"}

// configSet splits a path into its set's folder and the path in the set.
func configSet(p string) (set, inside string) {
	parts := strings.Split(p, "/")
	at := slices.IndexFunc(parts, func(s string) bool { return s == "configs" || s == "config" })
	end := at + 1
	if end < len(parts)-1 && !slices.Contains(systemDirs, parts[end]) {
		end++
	}
	return path.Join(parts[:end]...), path.Join(parts[end:]...)
}

// endpoints are hosts of a set that are not the device under test.
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

// Driver is the driver of the ports that carry test traffic: the interfaces
// that have an address of the benchmarking network 198.18.0.0/15.
func (c *Config) Driver() string { return c.settings[driverKey].Value }

// driverKey cannot be the name of a setting.
const driverKey = "\x00driver"

// sameSetting says that two values of a setting, "" for none, are one.
func sameSetting(n *names, name, a, b string) bool {
	if a == b {
		return true
	}
	d, ok := n.Defaults[name]
	return ok && (a == "" && b == d || b == "" && a == d)
}

// Diff lists what b sets otherwise than a, by tunable. What identifies a host
// or keeps it alive is left out, and so is everything where a set is not known.
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
