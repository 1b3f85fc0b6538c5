package linux

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"

	"linerate/internal/fact"
	"linerate/internal/fact/texts"
	"linerate/internal/list"
)

// iptablesWord is a row of iptables.txt: the words of its columns, and the second as it is.
type iptablesWord struct {
	one, two, three []string
	value           string
}

// iptablesWords are the rows of iptables.txt by their first column's words.
var iptablesWords = sync.OnceValue(func() map[string]*iptablesWord {
	all := map[string]*iptablesWord{}
	for _, row := range list.Rows(texts.Read("linux/iptables.txt")) {
		c := append(row, "", "", "")
		for _, name := range strings.Fields(row[0]) {
			all[name] = &iptablesWord{strings.Fields(c[1]), strings.Fields(c[2]), strings.Fields(c[3]), c[2]}
		}
	}
	return all
})

// template matches files that another program fills in.
var template = regexp.MustCompile(`\{[{%]|\$\{|<%`)

// iptablesRefused returns the first line that iptables-restore, of family "4" or "6", refuses, and why;
// 0 if there is none. With whole the file declares all chains.
func iptablesRefused(text, family string, whole bool) (at int, why string) {
	table, known, lines := "", map[string]bool{}, fact.Lines(text)
	for i, line := range lines {
		words := quotedFields(line)
		switch {
		case len(words) == 0 || line[0] == '#' || strings.Contains(line, hidden) || strings.Contains(line, `\"`) || words[0] == "":
		case template.MatchString(line):
			return 0, ""
		case words[0][0] == '*':
			if table != "" {
				return i + 1, "COMMIT is missing above"
			}
			if table = words[0][1:]; iptablesWords()["*"+table] == nil {
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
			if slices.Contains(iptablesWords()["*"+table].one, name) && len(words) > 1 && !slices.Contains([]string{"ACCEPT", "DROP", "-"}, words[1]) {
				return i + 1, "a policy is ACCEPT or DROP"
			}
		case slices.Contains([]string{"-A", "-I", "--append", "--insert"}, words[0]) && len(words) > 1:
			r := iptablesLine{table: table, chain: words[1], family: family, known: known, whole: whole, seen: map[string]string{}}
			r.base = slices.Contains(iptablesWords()["*"+table].one, r.chain)
			if why := r.refused(words[2:]); why != "" {
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

// iptablesLine is a rule that is checked.
type iptablesLine struct {
	table, chain, family string
	known                map[string]bool   // the chains so far
	seen                 map[string]string // the options so far
	base, whole          bool
	with                 []string // values of -p, -m and -j so far
}

// short are iptables' own options by their long names.
var short = map[string]string{"--protocol": "-p", "--source": "-s", "--destination": "-d", "--in-interface": "-i", "--out-interface": "-o", "--jump": "-j", "--match": "-m"}

func (r *iptablesLine) refused(words []string) string {
	if r.whole && !r.base && !r.known[r.chain] {
		return r.chain + " is no chain of the table " + r.table
	}
	for not := false; len(words) > 0; not = words[0] == "!" {
		if words[0] == "!" && len(words) > 1 {
			words = words[1:]
			not = true
		}
		w, n := words[0], 1
		if long := short[w]; long != "" {
			w = long
		}
		of := iptablesWords()[w]
		switch {
		case !strings.HasPrefix(w, "-"):
			return "the word " + w + " belongs to no option"
		case of == nil: // how many values it has is not known
			n = max(0, slices.IndexFunc(append(words[1:len(words):len(words)], "-"), func(v string) bool { return strings.HasPrefix(v, "!") || strings.HasPrefix(v, "-") }))
		case of.value == "-" || of.value == "2":
			n = strings.Count(of.value, "2") * 2
		}
		if len(words) <= n {
			return w + " lacks a value"
		}
		values := words[1 : n+1]
		if of != nil {
			if why := r.option(w, strings.Join(values, " "), of, not); why != "" {
				return why
			}
		}
		if words = words[n+1:]; len(words) == 0 {
			break
		}
	}
	return r.end()
}

// option checks an option, which may be negated.
func (r *iptablesLine) option(w, v string, of *iptablesWord, not bool) string {
	_, again := r.seen[w]
	r.seen[w] = v
	list := strings.Split(v, ",")
	if module := iptablesWords()[v]; w == "-m" {
		if r.with = append(r.with, v); module == nil {
			return "there is no match " + v
		}
		of = module
	}
	switch {
	case again && len(w) == 2 && w != "-m":
		return w + " stands twice"
	case w[1] == '-' && !slices.ContainsFunc(r.with, func(v string) bool { return slices.Contains(of.one, v) }):
		return w + " needs " + of.one[0] + " in front of it"
	case len(of.value) > 1 && w != "-m" && !regexp.MustCompile(`^(?:`+of.value+`)$`).MatchString(v), strings.HasSuffix(w, "port") && r.ports(list), strings.HasSuffix(w, "ports") && w != "--to-ports" && r.ports(list),
		(w == "-s" || w == "-d") && (not && len(list) > 1 || slices.ContainsFunc(list, r.foreign)):
		return w + " " + v + " is not valid"
	case strings.HasSuffix(w, "ports") && len(list)+strings.Count(v, ":") > 15:
		return w + " has more than 15 ports (a range counts as two)"
	case len(w) == 2 && r.base && slices.Contains(of.one, r.chain):
		return strings.TrimPrefix(w+" "+v, "-m ") + " is not possible in " + r.chain
	case w == "-p" || w == "-j":
		r.with = append(r.with, strings.ToLower(v), v)
	}
	return ""
}

// ports reports whether ports or their ranges are not valid.
func (r *iptablesLine) ports(all []string) bool {
	many := slices.Contains(r.with, "multiport")
	return len(all) > 1 && !many || slices.ContainsFunc(all, func(p string) bool {
		low, high, both := strings.Cut(p, ":")
		from, to := fact.Int(low), fact.Int(high)
		return many && (p == "" || both && high == "") || max(from, to) > 65535 || to > 0 && from > to || strings.Count(p, ":") > 1 || strings.Trim(p, "0123456789-") == "" && strings.Contains(p, "-")
	})
}

// dotted matches what is meant as an address, a network or a range of IPv4.
var dotted = regexp.MustCompile(`^(?:[0-9]+\.){3}[0-9]+(?:/[0-9]+|-[0-9.]+)?$`)

// foreign reports whether an address is none of the family.
func (r *iptablesLine) foreign(a string) bool {
	_, one := netip.ParseAddr(a)
	_, net := netip.ParsePrefix(a)
	return a == "!" || r.family == "4" && strings.Contains(a, ":") || dotted.MatchString(a) && (r.family == "6" || one != nil && net != nil)
}

// end checks a rule's target, and what it needs of the whole rule.
func (r *iptablesLine) end() string {
	name, proto, reply, to := r.seen["-j"], strings.ToLower(r.seen["-p"]), r.seen["--reject-with"], r.seen["--to-destination"]+r.seen["--to-source"]
	for _, m := range r.with {
		if of := iptablesWords()[m]; of != nil && m != name && len(of.two) > 0 && !slices.Contains(of.two, proto) {
			return "-m " + m + " needs -p " + of.two[0]
		}
	}
	of := iptablesWords()[name]
	switch {
	case name == "" || r.known[name]:
	case of == nil && r.whole:
		return name + " is neither a target nor a chain of the table " + r.table
	case of == nil:
	case len(of.one) > 0 && !slices.Contains(of.one, r.table):
		return name + " is not possible in the table " + r.table
	case r.base && len(of.two) > 0 && !slices.Contains(of.two, r.chain):
		return name + " is not possible in " + r.chain
	case len(of.three) > 0 && !slices.Contains(of.three, proto), reply == "tcp-reset" && proto != "tcp" && proto != "6", proto == "" && (r.seen["--to-ports"] != "" || strings.Count(to, ":") == 1):
		return name + " needs -p tcp or another protocol with ports"
	case strings.HasPrefix(reply, map[string]string{"4": "icmp6-", "6": "icmp-"}[r.family]):
		return "--reject-with " + reply + " is of the other family"
	}
	return ""
}
