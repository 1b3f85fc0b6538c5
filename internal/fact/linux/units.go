package linux

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/list"
)

// unitDirs lists the directories of the host's own units; packaged ones below /usr/lib are not
// read.
var unitDirs = []string{"/etc/systemd/system", "/run/systemd/system"}

// Notes for lines of units that systemd ignores with a log message.
const (
	WrongSection = "systemd knows no such key in section " // the section's name follows
	BadLimit     = "systemd cannot read the value"
)

type unitLimit struct {
	key   string
	reads *regexp.Regexp
}

// unitLimits lists the limits of services that are read, in line order, with the values that
// systemd accepts (src/basic/rlimit-util.c, config_parse_tasks_max): numbers of files and processes
// take no suffix, sizes are in bytes or have one, and "unlimited" is valid only in limits.conf.
var unitLimits = []unitLimit{
	{"LimitNOFILE", regexp.MustCompile(`^(\d+|0x[\da-fA-F]+|infinity)(:(\d+|0x[\da-fA-F]+|infinity))?$`)},
	{"LimitNPROC", regexp.MustCompile(`^(\d+|0x[\da-fA-F]+|infinity)(:(\d+|0x[\da-fA-F]+|infinity))?$`)},
	{"LimitMEMLOCK", regexp.MustCompile(`^([\d.]+ ?[BKMGTPE]?|infinity)(:([\d.]+ ?[BKMGTPE]?|infinity))?$`)},
	{"CPUAffinity", regexp.MustCompile(`^[\d, -]+$|^numa$`)}, {"AllowedCPUs", regexp.MustCompile(`^[\d, -]+$`)},
	{"CPUQuota", regexp.MustCompile(`^[\d.]+%$`)}, {"OOMScoreAdjust", regexp.MustCompile(`^(-?\d{1,3}|-?1000)$`)},
	{"MemoryHigh", regexp.MustCompile(`^([\d.]+ ?[BKMGTPE]?|[\d.]+[%‰‱]|infinity)$`)}, {"MemoryMax", regexp.MustCompile(`^([\d.]+ ?[BKMGTPE]?|[\d.]+[%‰‱]|infinity)$`)},
	{"TasksMax", regexp.MustCompile(`^(\d+|0x[\da-fA-F]+|[\d.]+[%‰‱]|infinity)$`)},
}

// ReadUnits reads the limits in service units and their drop-ins in /etc and /run, and the defaults
// in system.conf. For each service it returns only the last value, and of soft and hard limits the
// hard one: systemd/<unit>/LimitNOFILE, systemd/system.conf/DefaultLimitNOFILE. Lines that systemd
// ignores come first, with a note.
func ReadUnits(files fact.Files) Config {
	var c Config
	conf := append([]string{"/etc/systemd/system.conf"}, dropIns(files, ".conf", "/etc/systemd/system.conf.d", "/run/systemd/system.conf.d")...)
	c.limits(files, "system.conf", "Manager", "Default", conf)
	seen := map[string]bool{}
	for _, dir := range unitDirs {
		names, _ := files.List(dir) // none if missing
		for _, n := range names {
			unit := strings.TrimSuffix(n, ".d")
			if !strings.HasSuffix(unit, ".service") || seen[unit] || len(seen) >= maxUnits {
				continue
			}
			seen[unit] = true
			own := list.Map(unitDirs, func(d string) string { return d + "/" + unit })
			paths := dropIns(files, ".conf", list.Map(own, func(p string) string { return p + ".d" })...)
			if first, _, ok := fact.FirstText(files, own...); ok { // /etc hides the same name in /run (systemd.unit(5))
				paths = append([]string{first}, paths...)
			}
			c.limits(files, unit, "Service", "", paths)
		}
	}
	return c
}

// maxUnits is the maximum number of services of one host.
const maxUnits = 4000

// limits adds the last line that sets each limit in these files, after those that systemd ignores.
func (c *Config) limits(files fact.Files, unit, section, prefix string, paths []string) {
	last := map[string]fact.Line{}
	for p, text := range fact.Texts(files, paths...) {
		for _, e := range ini(text) {
			i := slices.IndexFunc(unitLimits, func(l unitLimit) bool { return prefix+l.key == e.key })
			if i < 0 || strings.HasPrefix(e.section, "X-") { // sections that systemd leaves to other programs
				continue
			}
			l := fact.Line{File: p, Number: e.number, Text: e.text, Name: "systemd/" + unit + "/" + e.key, Value: e.value, Stage: fact.Field, Default: shipped(p)}
			switch {
			case e.section != section:
				l.Note = WrongSection + "[" + e.section + "]"
			case e.value == "":
				delete(last, e.key)
				continue
			case !l.Hidden() && (!unitLimits[i].reads.MatchString(e.value) || softAbove(e.value)):
				l.Note = BadLimit
			default:
				l.Value, l.Effective = e.value[strings.IndexByte(e.value, ':')+1:], true
				last[e.key] = l
				continue
			}
			c.addLine(l)
		}
	}
	for _, k := range unitLimits {
		c.addLine(last[prefix+k.key])
	}
}

// softAbove reports whether in "soft:hard" the soft limit is above the hard one.
func softAbove(value string) bool {
	soft, hard, both := strings.Cut(value, ":")
	s, bad := strconv.ParseUint(soft, 0, 64)
	h, worse := strconv.ParseUint(hard, 0, 64)
	return both && bad == nil && worse == nil && s > h
}

// addLine numbers and adds a line, unless it is empty or there are too many.
func (c *Config) addLine(l fact.Line) {
	if l.Name != "" && len(c.Lines) < fact.MaxLines {
		l.Order = len(c.Lines) + 1
		c.Lines = append(c.Lines, l)
	}
}
