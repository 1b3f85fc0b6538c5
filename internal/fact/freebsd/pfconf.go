package freebsd

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/lazy"
)

// ReadPF reads from a pf ruleset the limits, options, scrubbing, and the number and kind of its
// rules (contrib/pf and sbin/pfctl/parse.y).
func ReadPF(files fact.Files, path string, pf *fact.PF) []fact.Problem {
	return newPFReader(files, pf).read(path)
}

func newPFReader(files fact.Files, pf *fact.PF) *pfReader {
	return &pfReader{files: files, pf: pf, macros: map[string]string{}, seen: map[string]bool{}}
}

func (p *pfReader) read(path string) []fact.Problem {
	p.file(path)
	if p.unseen != nil && !p.known {
		p.problems = append(p.problems, *p.unseen) // not a pf.conf
	}
	return p.problems
}

type pfReader struct {
	files    fact.Files
	pf       *fact.PF
	macros   map[string]string
	seen     map[string]bool
	problems []fact.Problem
	part     int           // the latest section of the ruleset that has a statement
	unseen   *fact.Problem // the first statement with a redacted word
	known    bool          // some statement is valid
	on       []fact.Line   // the interfaces of rules
	free     bool          // order is not checked: require-order is off, or an anchor has inline rules
}

// parts numbers the sections of a ruleset, in order, by the first word of their statements
// (check_rulestate of sbin/pfctl/parse.y); options that it does not check are missing.
var parts = map[string]int{
	"set reassemble": 1, "set optimization": 1, "set loginterface": 1, "set block-policy": 1, "set fail-policy": 1, "set fingerprints": 1,
	"set debug": 1, "set limit": 1, "set timeout": 1, "ether": 2, "scrub": 3, "altq": 4, "queue": 4,
	"nat": 5, "rdr": 5, "binat": 5, "pass": 6, "block": 6, "match": 6, "antispoof": 6,
}

// order reports a statement that pfctl refuses because a later section of the ruleset has begun.
func (p *pfReader) order(s pfStatement, w []string) {
	part := parts[w[0]]
	if w[0] == "set" && len(w) > 2 {
		part = parts["set "+w[1]]
		p.free = p.free || w[1] == "require-order" && w[2] == "no"
	}
	p.free = p.free || strings.HasSuffix(w[0], "anchor") && hasAny(w, "{")
	if part == 0 || p.free {
		return
	}
	if part < p.part {
		p.free = true // pfctl has stopped here
		p.problems = append(p.problems, fact.Problem{File: s.file, Line: s.line, Text: s.text, Kind: fact.ProblemSyntax,
			Message: "out of order, so pfctl refuses the file: options, ethernet, normalization, queueing, translation, filtering"}) //nolint:misspell // the word of pf.conf(5)
	}
	p.part = max(p.part, part)
}

// pfStatement is one line of pf.conf with its continuations, split into words.
type pfStatement struct {
	file  string
	line  int
	text  string
	words []string
}

func (p *pfReader) file(path string) bool {
	if p.seen[path] || len(p.seen) >= maxFiles {
		return true
	}
	p.seen[path] = true
	text, err := p.files.Read(path)
	if err != nil {
		return false
	}
	p.pf.File = cmp.Or(p.pf.File, path)
	before := len(p.problems)
	lexer := pfLexer{text: text, line: 1, macros: p.macros}
	for range fact.MaxLines {
		s, ok := lexer.next()
		if !ok {
			break
		}
		s.file = path
		if lexer.open && !strings.Contains(text, hidden) {
			p.problems = append(p.problems, fact.Problem{File: path, Line: s.line, Text: s.text, Kind: fact.ProblemSyntax, Message: "the list that begins with { is not closed, so pfctl refuses the file"})
			break
		}
		p.statement(s)
	}
	if strings.Contains(text, "{{") || strings.Contains(text, "{%") { // a template: what pfctl will read is not known
		p.problems = p.problems[:before]
	}
	return true
}

// statement processes one statement by kind.
func (p *pfReader) statement(s pfStatement) {
	w := s.words
	if w[0] == "no" && len(w) > 1 || w[0] == "load" && len(w) > 1 {
		w = w[1:]
	}
	if len(w) >= 3 && w[1] == "=" {
		p.define(s, w[0], strings.Join(w[2:], " "))
		return
	}
	found := len(p.problems)
	for i := slices.Index(w, "on") + 1; i > 0 && i < len(w) && (w[i] == "{" || i == slices.Index(w, "on")+1 || hasAny(w[:i], "{") && !hasAny(w[:i], "}")); i++ {
		p.on = append(p.on, fact.Line{File: s.file, Number: s.line, Name: "pf-interface", Value: strings.TrimPrefix(w[i], "!"), Effective: true})
	}
	p.order(s, w)
	p.undefined(s)
	p.known = p.known || parts[w[0]] > 0 || len(w) > 2 && w[0] == "set" || w[0] == "table" || strings.HasSuffix(w[0], "anchor")
	switch w[0] {
	case "set":
		p.set(s, w[1:])
	case "include":
		if there, _ := p.files.List(path.Dir(w[min(1, len(w)-1)])); len(there) > 0 && !p.file(w[1]) {
			p.problems = append(p.problems, fact.Problem{File: s.file, Line: s.line, Text: s.text,
				Kind: fact.ProblemInclude, Message: w[1] + " is not there"})
		}
	case "scrub":
		p.scrub(s, w)
	case "nat", "rdr", "binat":
		p.pf.Translations++
		p.outside(w)
		p.sourceTracking(w)
	case "pass", "block", "match", "antispoof":
		p.rule(s, w)
	case "table", "anchor", "nat-anchor", "rdr-anchor", "binat-anchor", "scrub-anchor", "altq", "queue", "ether", "load", "no", "}", "{":
	default:
		p.strange(s)
	}
	if p.files != nil && found == len(p.problems) && pfGrammar().keywords[w[0]] {
		p.problems = pfGrammar().refuse(p.problems, fact.Line{File: s.file, Number: s.line}, s.words, "pf.conf(5) does not take '%s' here, or not with what follows: pfctl refuses the file")
	}
}

// define keeps a macro, and reports one that pfctl does not take as it is written.
func (p *pfReader) define(s pfStatement, name, value string) {
	says := ""
	for _, w := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" ,{}!()", r) }) {
		if _, known := p.macros[strings.TrimPrefix(w, "$")]; known && w[0] == '$' {
			says = "the value of '%s' has another macro within quotes, where pfctl does not replace it: it refuses the statements that use '%s'"
		}
	}
	if pfGrammar().keywords[name] {
		says = "'%s' is a word of pf.conf(5), and no name of a macro: pfctl refuses the file"
	}
	if says != "" && p.files != nil {
		p.problems = append(p.problems, fact.Problem{File: s.file, Line: s.line, Text: name, Kind: fact.ProblemSyntax, Message: says})
	}
	p.macros[name] = value
}

// labels lists the macros in labels and tags that pfctl sets itself.
var labels = strings.Fields("$if $srcaddr $dstaddr $srcport $dstport $proto $nr " + "$" + hidden)

// undefined reports the first macro of a statement that is not defined above it.
func (p *pfReader) undefined(s pfStatement) {
	_, any := p.macros[hidden]
	for _, w := range s.words {
		name, is := strings.CutPrefix(w, "$")
		name = macroName().FindString(name)
		if _, ok := p.macros[name]; is && !ok && !any && variable().MatchString(name) && !slices.Contains(labels, "$"+name) && p.files != nil {
			p.problems = append(p.problems, fact.Problem{File: s.file, Line: s.line, Text: s.text, Kind: fact.ProblemSyntax,
				Message: "macro '" + name + "' not defined, so pfctl refuses the file"})
			return
		}
	}
}

// strange reports the first statement that pfctl does not know.
func (p *pfReader) strange(s pfStatement) {
	problem := fact.Problem{File: s.file, Line: s.line, Text: s.text, Kind: fact.ProblemSyntax, Message: noStatement}
	switch {
	case p.files == nil:
	case strings.Contains(strings.Join(s.words[:min(2, len(s.words))], " "), hidden):
		p.unseen = cmp.Or(p.unseen, &problem)
	case !slices.ContainsFunc(p.problems, func(o fact.Problem) bool { return o.Message == noStatement }):
		p.problems = append(p.problems, problem)
	}
}

// pfSettings lists the options that a file sets besides limits and timeouts.
var pfSettings = strings.Fields("skip reassemble optimization ruleset-optimization loginterface block-policy fail-policy require-order fingerprints state-policy debug syncookies hostid state-defaults keepcounters")

// hidden replaces a redacted word.
const hidden = "REDACTED"

// noStatement is the message for a line that is not pf.conf syntax.
const noStatement = "no statement of pf.conf(5): pfctl stops there"

// countPFRule counts one filter rule of a running ruleset (pfctl -sr).
func countPFRule(pf *fact.PF, line string) {
	macros := map[string]string{}
	lexer := pfLexer{text: line, line: 1, macros: macros}
	if s, ok := lexer.next(); ok && s.words[0] != "include" { // a running ruleset has no include
		(&pfReader{pf: pf, macros: macros}).statement(s)
	}
}

func (p *pfReader) rule(s pfStatement, w []string) {
	p.pf.Rules++
	if hasAny(w, "nat-to", "rdr-to", "binat-to", "af-to") {
		p.pf.Translations++
	}
	if hasAny(w, "nat-to") {
		p.outside(w)
	}
	p.sourceTracking(w)
	if i := slices.Index(w, "scrub"); i > 0 {
		p.scrub(s, w[i:])
	}
}

// outside records the interface on which a rule translates.
func (p *pfReader) outside(w []string) {
	if at := slices.Index(w, "on"); w[0] != "rdr" && at > 0 && at+1 < len(w) && !slices.Contains(p.pf.Outside, w[at+1]) && len(p.pf.Outside) < fact.MaxNICs {
		p.pf.Outside = append(p.pf.Outside, w[at+1])
	}
}

func (p *pfReader) sourceTracking(w []string) {
	if hasAny(w, "source-track", "max-src-nodes", "max-src-states", "max-src-conn", "max-src-conn-rate", "sticky-address") {
		p.pf.SourceTracking++
	}
}

// scrub parses a scrub rule or the options of `match … scrub (…)`.
func (p *pfReader) scrub(s pfStatement, w []string) {
	if i := slices.Index(w, "max-mss"); i >= 0 && i+1 < len(w) && fact.Int(w[i+1]) > 0 {
		p.pf.Scrub = append(p.pf.Scrub, fact.Scrub{File: s.file, Line: s.line, Text: s.text, MaxMSS: fact.Int(w[i+1])})
	}
}

// set parses one `set` option.
func (p *pfReader) set(s pfStatement, w []string) {
	if len(w) < 2 {
		return
	}
	switch w[0] {
	case "limit":
		p.pf.FileLimits = append(p.pf.FileLimits, pairs(s, w[1:])...)
	case "timeout":
		p.pf.Timeouts = append(p.pf.Timeouts, pairs(s, w[1:])...)
	case "skip":
		w = slices.DeleteFunc(slices.Clone(w), func(n string) bool { return n == "on" || n == "{" || n == "}" })
		fallthrough
	default:
		if !slices.Contains(pfSettings, w[0]) {
			p.strange(s)
		}
		p.pf.Options = append(p.pf.Options, fact.Line{File: s.file, Number: s.line, Text: s.text, Name: w[0],
			Value: strings.Join(w[1:], " "), Stage: fact.Conf, Order: len(p.pf.Options) + 1, Effective: true})
	}
}

// pairs parses `name number` pairs, with or without braces.
func pairs(s pfStatement, w []string) []fact.Limit {
	var limits []fact.Limit
	for i := 0; i+1 < len(w); i++ {
		n, err := strconv.ParseUint(w[i+1], 10, 64) // out of range gives the maximum
		if err != nil && !errors.Is(err, strconv.ErrRange) || w[i] == "{" {
			continue
		}
		limits = append(limits, fact.Limit{Name: w[i], Value: n, File: s.file, Line: s.line, Text: s.text})
		i++
	}
	return limits
}

// pfLexer splits pf.conf into statements. A newline ends one, except after a backslash and inside a
// list in braces; the braces of an anchor contain rules.
type pfLexer struct {
	text      string
	pos, line int
	macros    map[string]string
	// open means that the text ended within a list.
	open bool
	// budget limits the expansion of macros.
	budget int
}

// pfToken matches a token of pf.conf: an end of line, the blank at a continued one, a separator, a
// comment, quoted text, a table with blanks around its name, a symbol, or a word.
var pfToken = lazy.Regexp(`^(?:<[ \t]*[A-Za-z_][\w.-]*[ \t]*>|\n|\\[ \t\r]*\n|[ \t\r\v\f,]|#[^\n]*|"[^"]*"?|'[^']*'?|[{}()=]|[^ \t\n\r\v\f,#"'{}()=][^ \t\n\r\v\f,#"{}()=]*)`)

func (l *pfLexer) next() (pfStatement, bool) {
	var s pfStatement
	depth := 0
	for l.pos < len(l.text) {
		at, line, word := l.pos, l.line, pfToken().FindString(l.text[l.pos:])
		l.pos += len(word)
		l.line += strings.Count(word, "\n")
		switch {
		case word == "\n":
			if len(s.words) > 0 && depth == 0 {
				return s, true
			}
		case isSpace(word[0]), word[0] == ',', word[0] == '#', word[0] == '\\' && strings.HasSuffix(word, "\n"):
		default:
			if len(s.words) == 0 {
				s.line, s.text = line, l.lineAt(at)
			}
			switch word[0] {
			case '"', '\'': // whose braces are of a macro's value
				if word = strings.Trim(word, word[:1]); word == "{" || word == "}" {
					s.words = append(s.words, word)
					continue
				}
			case '<':
				word = strings.Join(strings.Fields(word), "")
			}
			if depth = l.braces(&s, word, depth); depth < 0 {
				return s, true
			}
		}
	}
	l.open = depth > 0
	return s, len(s.words) > 0
}

// braces adds a word to a statement and returns the nesting depth of its lists; -1 means that the
// statement ends here, because an anchor's body begins or ends.
func (l *pfLexer) braces(s *pfStatement, word string, depth int) int {
	switch word {
	case "{":
		if len(s.words) > 0 && strings.HasSuffix(s.words[0], "anchor") {
			return -1
		}
		depth++
	case "}":
		if depth == 0 {
			if len(s.words) > 0 {
				return -1
			}
			return 0 // the end of an anchor's body
		}
		depth--
	}
	if len(s.words) < 4096 {
		s.words = append(s.words, l.expand(word)...)
	}
	return depth
}

var macroName = lazy.Regexp(`^\w*`)

// expand replaces a macro's name by its words.
func (l *pfLexer) expand(word string) []string {
	before, name, ok := strings.Cut(word, "$")
	if !ok || before != "" && before != "!" {
		return []string{word}
	}
	n := len(macroName().FindString(name))
	value, ok := l.macros[name[:n]]
	if l.budget += len(value); !ok || value == "" || l.budget > maxValue {
		return []string{word}
	}
	return strings.FieldsFunc(before+value+name[n:], func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' })
}

func (l *pfLexer) lineAt(pos int) string {
	begin := strings.LastIndexByte(l.text[:pos], '\n') + 1
	return strings.TrimSuffix(firstWhole(l.text[begin:]), "\r")
}

func hasAny(words []string, any ...string) bool {
	return slices.ContainsFunc(any, func(a string) bool { return slices.Contains(words, a) })
}
