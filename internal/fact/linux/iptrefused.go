package linux

import (
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// template matches files that another program fills in.
var template = lazy.Regexp(`\{[{%]|\$\{|<%|__\w+__|<[A-Za-z]\w*>|@\w+@|%\w+%`)

// iptablesRefused returns the first line that iptables-restore, of family "4" or "6", refuses, and why;
// 0 if there is none. With whole the file declares all chains.
func iptablesRefused(text, family string, whole bool) (at int, why string) {
	table, known, lines, base := "", map[string]bool{}, fact.Lines(text), pattern(nil)
	for i, line := range lines {
		words := quotedFields(line)
		switch {
		case len(words) == 0 || line[0] == '#' || strings.Contains(line, hidden) || strings.Contains(line, `\"`) || words[0] == "":
		case template().MatchString(line):
			return 0, ""
		case words[0][0] == '*':
			if table != "" {
				return i + 1, "COMMIT is missing above"
			}
			if table, base = words[0][1:], grammar().behind["ipt-table"][words[0]]; base == nil {
				return i + 1, "there is no table " + table
			}
			clear(known)
		case words[0] == "COMMIT":
			table = ""
		case table == "":
			return i + 1, "no table is open (*filter)"
		case words[0] == "-N" && len(words) > 1, words[0][0] == ':':
			name := strings.TrimPrefix(words[strings.Count(words[0], "-N")], ":")
			if known[name] = true; len(name) > 28 {
				return i + 1, "a chain's name has 28 characters at most"
			}
			if base().MatchString(name) && len(words) > 1 && !slices.Contains([]string{"ACCEPT", "DROP", "-"}, words[1]) {
				return i + 1, "a policy is ACCEPT or DROP"
			}
		case slices.Contains([]string{"-A", "-I", "--append", "--insert"}, words[0]) && len(words) > 1:
			if why := refusedRule(table, words[1], family, words[2:], base().MatchString(words[1]), known, whole); why != "" {
				return i + 1, why
			}
		case !strings.ContainsAny(line[:1], "-[ \t"):
			return i + 1, words[0] + " begins no line"
		}
	}
	if table != "" {
		return len(lines), "COMMIT is missing"
	}
	return 0, ""
}

var ranges = lazy.Regexp(`ports? (?:\S+,)?(\d+):(\d+)[, ]`) // of ports

// refusedRule returns why a rule is refused, "" if it is not.
func refusedRule(table, chain, family string, words []string, base bool, known map[string]bool, whole bool) string {
	tokens := strings.Join(list.Map(words, func(w string) string { return strings.ReplaceAll(w, " ", "_") }), " ") + " "
	if whole && !base && !known[chain] {
		return chain + " is no chain of the table " + table
	}
	if bad := grammar().refuses(tokens, "ipt", "ipt"+family); bad != "" {
		return "'" + bad + "' is not valid here, or not behind what stands in front of it"
	}
	chain = map[bool]string{true: chain, false: "-"}[base]
	if why := grammar().whole("lacks-ipt", table+" "+chain+" : "+tokens); why != "" {
		return why
	}
	for _, r := range ranges().FindAllStringSubmatch(tokens, -1) {
		if fact.Int(r[1]) > fact.Int(r[2]) {
			return "the range " + r[1] + ":" + r[2] + " is not valid"
		}
	}
	if at := slices.IndexFunc(words, func(w string) bool { return w == "-j" || w == "-g" || w == "--jump" || w == "--goto" }); whole && at >= 0 && at+1 < len(words) {
		if name := words[at+1]; !known[name] && grammar().behind["ipt-target"][name] == nil {
			return name + " is neither a target nor a chain of the table " + table
		}
	}
	return ""
}
