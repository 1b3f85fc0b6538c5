package freebsd

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/texts"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

var (
	// placed matches a line of rc.conf in the text for "host", and its place.
	placed = lazy.Regexp(`^(/\S+):(\d+) (.*)`)
	isYes  = lazy.Regexp(`=(?i:yes|true|on|1)$`)
	// executed matches what makes rc.conf a program, whose settings its lines do not tell.
	executed = lazy.Regexp(`(?m)^[ \t]*(?:\.|source|for|case|if|while|eval)[ \t]|\{\{`)
	needFile = lazy.Regexp(`^/etc/(?:exports|fstab|pf\.conf|sysctl\.conf|hosts\.allow|rtadvd\.conf|dhclient\.conf|syslog\.conf|inetd\.conf|login\.conf|devfs\.rules|ntp\.conf|resolv\.conf|ppp/ppp\.conf)$|^/boot/loader\.conf|^/usr/local/etc/(?:dhcpd\.conf|wireguard/\w+\.conf)$`)
)

// needProblems compares lines of rc.conf and other files by needs.txt.
func needProblems(files map[string]string) (problems []fact.Problem) {
	if executed().MatchString(files["/etc/rc.conf"] + "\n" + files["/etc/rc.conf.local"]) {
		return nil
	}
	var all []fact.Line
	for l := range strings.Lines(files["host"]) {
		line := fact.Line{Text: strings.TrimSpace(l)}
		if m := placed().FindStringSubmatch(line.Text); m != nil {
			line = fact.Line{File: m[1], Number: fact.Int(m[2]), Text: isYes().ReplaceAllString(strings.Join(strings.Fields(m[3]), " "), "=YES")}
		}
		all = append(all, line)
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		whole := files[file]
		if file == "/etc/pf.conf" {
			whole = withoutMacros(whole)
		}
		for i, l := range fact.Lines(whole) {
			if l, _, _ = strings.Cut(l, " #"); needFile().MatchString(file) && strings.TrimSpace(l) != "" && l[0] != '#' {
				all = append(all, fact.Line{File: file, Number: i + 1, Text: file + " " + strings.Join(strings.Fields(l), " ")})
			}
		}
	}
	text := strings.Join(list.Map(all, func(l fact.Line) string { return l.Text }), "\n")
	for _, row := range list.Rows(texts.Read("freebsd/needs.txt")) {
		pattern := strings.TrimPrefix(row[1], "*")
		if row[1][0] != '*' && !strings.Contains(text, fact.Word(pattern)()) {
			continue // most hosts have few of the lines; compiling all rows would take a twelfth of an audit
		}
		expr := regexp.MustCompile(pattern)
		for _, l := range all {
			if l.File == "" || (l.Text[0] == '/') != strings.HasPrefix(row[1], "^/") {
				continue
			}
			if says := wrong(row, expr, l.Text, text); says != "" { // of two lines the later one
				problems = slices.DeleteFunc(problems, func(p fact.Problem) bool { return p.Message == row[0] && p.Detail == says })
				problems = append(problems, fact.Problem{File: l.File, Line: l.Number, Kind: fact.ProblemSlip, Message: row[0], Detail: says})
			}
		}
	}
	return problems
}

// pfMacro matches the definition of a macro, and pfUse its use.
var (
	pfMacro = lazy.Regexp(`(?m)^[ \t]*(\w+)[ \t]*=[ \t]*(?:"([^"\n\\]*)"|([\w.:/-]+))[ \t]*(?:#.*)?$`)
	pfUse   = lazy.Regexp(`\$\w+`)
)

// withoutMacros puts the values of a pf.conf's macros in their place; those of several definitions stay.
func withoutMacros(text string) string {
	values := map[string]string{}
	for _, m := range pfMacro().FindAllStringSubmatch(text, 256) {
		if _, twice := values["$"+m[1]]; twice || len(m[2]) > 256 {
			m[2], m[3] = "$"+m[1], ""
		}
		values["$"+m[1]] = m[2] + m[3]
	}
	for range 3 { // of others
		if len(text) < 1<<18 {
			text = pfUse().ReplaceAllStringFunc(text, func(name string) string { return cmp.Or(values[name], name) })
		}
	}
	return text
}

// wrong says what a row of needs.txt finds wrong with a line among the host's, "" if nothing is.
func wrong(row []string, expr *regexp.Regexp, line, text string) string {
	tries := []string{line}
	if name, value, ok := strings.Cut(line, "="); ok && row[1][0] == '*' {
		tries = list.Map(strings.Fields(value), func(w string) string { return name + "=" + w })
	}
	for _, try := range tries {
		m := append(expr.FindStringSubmatch(try), "", "", "", "")
		if m[0] == "" || strings.ContainsAny(strings.Join(m, ""), "$`") || strings.Contains(line, hidden) {
			continue
		}
		matches := func(pattern string) bool {
			quoted := strings.NewReplacer(`\1`, regexp.QuoteMeta(m[1]), `\2`, regexp.QuoteMeta(m[2]), `\3`, regexp.QuoteMeta(m[3]))
			return regexp.MustCompile("(?m)" + quoted.Replace(pattern)).MatchString(text)
		}
		if (row[2] == "-" || matches(row[2])) && (row[3] == "-" || !matches(row[3])) {
			return strings.NewReplacer(`\1`, m[1], `\2`, m[2], `\3`, m[3]).Replace(row[4])
		}
	}
	return ""
}
