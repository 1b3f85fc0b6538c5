package freebsd

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"linerate/internal/fact"
	"linerate/internal/fact/network"
	"linerate/internal/fact/texts"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// grammar is one format of grammar.txt.
type grammar struct {
	keywords map[string]bool
	names    string // each between blanks
	caseless bool   // the names
	number   *regexp.Regexp
	form     *regexp.Regexp
	lacks    *regexp.Regexp // statements that lack or contradict something
	because  [][2]string    // the expressions of lacks, and what is wrong with their statements
}

var (
	pfGrammar, ipfwGrammar                   = grammarOf("pf"), grammarOf("ipfw")
	rcGrammar, ifconfigGrammar, routeGrammar = grammarOf("rc"), grammarOf("ifconfig"), grammarOf("route")
)

// grammarOf compiles a format's grammar when it is first needed.
func grammarOf(format string) func() grammar {
	return sync.OnceValue(func() grammar {
		const never = `\z\A.`
		g, parts, forms, lacks := grammar{keywords: map[string]bool{}}, []string{"'", `['"]`}, []string{}, []string{never}
		g.number = regexp.MustCompile(never)
		for _, row := range list.Table(texts.Read("freebsd/grammar.txt"), format) {
			switch filled := strings.NewReplacer(parts...).Replace(row[len(row)-1]); row[0] {
			case "words":
				for _, w := range strings.Fields(row[1]) {
					g.keywords[w] = true
				}
			case "listed", "caseless":
				g.names, g.caseless = " "+row[2]+" ", row[0] == "caseless"
				g.number = regexp.MustCompile("^(?:" + row[1] + ")$")
			case "part":
				parts = append(parts, "~"+row[1]+"~", "(?:"+filled+")")
			case "lacks":
				lacks, g.because = append(lacks, filled), append(g.because, [2]string{filled, strings.Join(row[1:len(row)-1], "")})
			default:
				forms = append(forms, filled)
			}
		}
		g.lacks = regexp.MustCompile("^(?:" + strings.Join(lacks, "|") + ")")
		g.form = regexp.MustCompile("^(?:" + strings.Join(forms, "|") + ")")
		g.form.Longest()
		return g
	})
}

// lists reports whether a word is one of the format's names or numbers, or several between commas.
func (g grammar) lists(word string) bool {
	if g.caseless {
		word = strings.ToLower(word)
	}
	for piece := range strings.SplitSeq(strings.TrimSuffix(word, ","), ",") {
		if !strings.Contains(g.names, " "+piece+" ") && !g.number.MatchString(piece) {
			return false
		}
	}
	return true
}

var marks = strings.Fields("! { } ( ) -> - = >")

// pieces separates the characters that are words of every format.
var pieces = strings.NewReplacer("!", " ! ", "{", " { ", "}", " } ", "(", " ( ", ")", " ) ", "->", " -> ", "=", " = ")

// stop returns the index of the first word of a statement that its format does not have there, -1 if
// there is none or a word is not known, and what is wrong with a complete statement, if that is known.
func (g grammar) stop(words []string) (int, string) {
	var text strings.Builder
	begins := make([]int, len(words))
	for i, w := range words {
		begins[i], w = text.Len(), strings.Trim(w, `"'`)
		if strings.ContainsAny(w, "$`") || strings.Contains(w, hidden) || strings.Contains(w, "{{") {
			return -1, ""
		}
		if strings.ContainsAny(w, " \t") || w == "" {
			w = "TEXT"
		}
		for _, piece := range strings.Fields(pieces.Replace(w)) {
			switch {
			case g.keywords[piece] || slices.Contains(marks, piece):
			case g.lists(piece):
				piece = `"` + piece
			default:
				piece = "'" + piece
			}
			text.WriteString(piece + " ")
		}
	}
	end := len(g.form.FindString(text.String()))
	for i := range words {
		if last := i == len(words)-1; last && end < text.Len() || !last && end < begins[i+1] {
			return i, ""
		}
	}
	if g.lacks.MatchString(text.String()) {
		i := slices.IndexFunc(g.because, func(b [2]string) bool { return regexp.MustCompile("^(?:" + b[0] + ")").MatchString(text.String()) })
		return 0, g.because[i][1]
	}
	return -1, ""
}

// refuse adds the problem of a statement that its format does not have. Its text is the word, its
// message has %s for it.
func (g grammar) refuse(problems []fact.Problem, at fact.Line, words []string, says string) []fact.Problem {
	if i, because := g.stop(words); i >= 0 {
		if before, _, ok := strings.Cut(says, "does not take"); ok && because != "" {
			says = before + "does not take this: " + because
		}
		problems = append(problems, fact.Problem{File: at.File, Line: at.Number, Text: clip(words[i], 60), Kind: fact.ProblemSyntax, Message: says})
	}
	return problems
}

// Refused reads rc.conf and the packet filters' files, whose texts are not redacted, for mistakes. A
// problem's text is a word that is wrong, where its message has %s for it. host is what rows of slips.txt for the file "host" see, model the network of rc.conf.
func Refused(files fact.Files, pf, ipfw string) (refused []fact.Problem, host string, model *network.Host) {
	p := newPFReader(files, &fact.PF{})
	lines, known := ReadRC(files).Lines, &fact.Facts{}
	for _, l := range lines {
		if l.Name == "pf_flags" { // pfctl -D
			for _, m := range defined().FindAllStringSubmatch(l.Value, 64) {
				p.macros[m[1]] = ""
			}
			if strings.Contains(l.Value, hidden) {
				p.macros[hidden] = "" // any macro
			}
		}
	}
	refused = append(p.read(pf), ReadIPFW(files, ipfw, &fact.IPFW{})...)
	AddRCInterfaces(known, Config{Lines: lines})
	slips, model := addressSlips(lines, known.NICs)
	refused = append(refused, slips...)
	host = hostText(model)
	for _, l := range slices.Concat(lines, p.on) {
		refused = RefusedValue(refused, l)
		if l.Effective && !l.Default {
			host += fmt.Sprintf("%s:%d %s=%s\n", l.File, l.Number, l.Name, strings.Join(strings.Fields(l.Value), " "))
		}
	}
	return refused, host, model
}

// RefusedValue adds the problem of a line of rc.conf whose value its grammar does not have, as Refused does.
func RefusedValue(problems []fact.Problem, l fact.Line) []fact.Problem {
	switch words := strings.Fields(l.Value); {
	case !l.Effective || l.Default || len(words) == 0 || strings.ContainsAny(l.Value, `"'\\`):
	case ifconfigLine().MatchString(l.Name):
		return ifconfigGrammar().refuse(problems, l, words, "ifconfig(8) does not take '%s' here, or not with what follows")
	case strings.HasPrefix(l.Name, "route_") || strings.HasPrefix(l.Name, "ipv6_route_"):
		return routeGrammar().refuse(problems, l, words, "route(8) does not take '%s' here, or not with what follows")
	case rcGrammar().keywords[l.Name]:
		return rcGrammar().refuse(problems, l, slices.Insert(words, 0, l.Name), "rc.conf(5) does not take "+l.Name+" as it is written here")
	}
	return problems
}

// defined matches a macro that pfctl(8) gets by -D.
var defined = lazy.Regexp(`-D[ \t]*["']?(\w+)=`)

// ifconfigLine matches the variables whose values are arguments of ifconfig(8).
var ifconfigLine = lazy.Regexp(`^(?:ifconfig|create_args)_[A-Za-z0-9]+(?:_[0-9]+)?(?:_ipv6|_alias[0-9]+|_aliases)?$`)
