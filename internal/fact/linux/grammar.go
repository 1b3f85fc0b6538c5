package linux

import (
	"cmp"
	"regexp"
	"strings"
	"sync"

	"linerate/internal/fact"
	"linerate/internal/fact/texts"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// clauses are the rows of grammar.txt: by context and word, what comes behind the word; and whole statements that are refused.
type clauses struct {
	behind map[string]map[string]pattern
	lacks  map[string][]lack
}

type (
	pattern = func() *regexp.Regexp
	lack    struct {
		is, unless pattern
		says       string
		needs      func() string // a word of every match
	}
)

var grammar = sync.OnceValue(func() clauses {
	all, parts, template := clauses{map[string]map[string]pattern{}, map[string][]lack{}}, map[string]string{}, ""
	compiled := func(s string) pattern {
		return sync.OnceValue(func() *regexp.Regexp { return longest(filled(s, parts)) })
	}
	for _, row := range list.Rows(texts.Read("linux/grammar.txt")) {
		switch last := row[len(row)-1]; row[0] {
		case "template":
			template = row[1]
		case "type":
			parts[row[1]] = strings.ReplaceAll(template, "%", last)
		case "part":
			parts[row[1]] = last
		case "lacks", "lacks-ipt":
			row = append(row, "", "")
			all.lacks[row[0]] = append(all.lacks[row[0]], lack{compiled(row[1]), compiled(cmp.Or(row[2], `\z.`)), row[3], fact.Word(row[1])})
		default:
			p := compiled("^(?:" + last + ")")
			for _, context := range strings.Fields(row[0]) {
				if all.behind[context] == nil {
					all.behind[context] = map[string]pattern{}
				}
				for _, word := range strings.Fields(row[1]) {
					all.behind[context][word] = p
				}
			}
		}
	}
	return all
})

func longest(s string) *regexp.Regexp {
	re := regexp.MustCompile(s)
	re.Longest()
	return re
}

var hole = lazy.Regexp(`~\w+~`)

// filled puts parts where their names stand.
func filled(s string, parts map[string]string) string {
	return hole().ReplaceAllStringFunc(s, func(name string) string { return "(?:" + filled(parts[strings.Trim(name, "~")], parts) + ")" })
}

// refuses returns the words of a statement's tokens, a blank behind each, that the contexts do not have; "" if nothing is certain.
// What stands behind a word may be the name of a further context.
func (g clauses) refuses(tokens string, contexts ...string) string {
	for rest := tokens; rest != ""; {
		word, behind, _ := strings.Cut(rest, " ")
		end := []int(nil)
		for _, c := range contexts {
			of := g.behind[c][word]
			if of == nil {
				of = g.behind[c]["*"]
			}
			if of != nil {
				end = of().FindStringIndex(behind)
			}
			if end != nil || of != nil && strings.Contains(c, "/") { // a set's type decides
				break
			}
		}
		if end == nil {
			return strings.Join(strings.Fields(rest)[:min(4, strings.Count(rest, " "))], " ")
		}
		for _, c := range contexts[:min(2, len(contexts))] {
			if named := c + "-" + strings.ToLower(strings.TrimSpace(behind[:end[1]])); g.behind[named] != nil {
				contexts = append(contexts, named)
			}
		}
		rest = behind[end[1]:]
	}
	return ""
}

// whole returns why a statement is refused as such, or the statement; "" if it is not.
func (g clauses) whole(kind, text string) string {
	for _, l := range g.lacks[kind] {
		if strings.Contains(text, l.needs()) && l.is().MatchString(text) && !l.unless().MatchString(text) {
			return cmp.Or(l.says, strings.Trim(text[strings.Index(text, " : ")+1:], ": "))
		}
	}
	return ""
}
