package vocabulary

import (
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"linerate/internal/yamlfile"
)

// statement is a key with its value, or the beginning of a section, which has no key.
type statement struct {
	line                int
	section, key, value string
}

// forms are the ways in which files are written.
var forms = map[string]func(f format, text string) []statement{"ini": ini, "words": words, "blocks": blocks, "yaml": yaml}

// ini reads [SECTION] and KEY=VALUE, where a line that ends with \ continues.
func ini(_ format, text string) (all []statement) {
	section, joined, first := "", "", 0
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" && joined == "" || line != "" && (line[0] == '#' || line[0] == ';') {
			continue
		}
		if joined == "" {
			first = i + 1
		}
		joined += line
		if more, ok := strings.CutSuffix(joined, `\`); ok {
			joined = more + " "
			continue
		}
		key, value, isKey := strings.Cut(joined, "=")
		if strings.HasPrefix(joined, "[") && strings.HasSuffix(joined, "]") {
			section = joined[1 : len(joined)-1]
			all = append(all, statement{first, section, "", ""})
		} else if isKey {
			all = append(all, statement{first, section, strings.TrimSpace(key), strings.TrimSpace(value)})
		}
		joined = ""
	}
	return all
}

// worded matches a line of words: its key, and its value up to a comment.
var worded = regexp.MustCompile(`^[ \t]*([^\s=:#]+)(?:[ \t]*=[ \t]*|:[ \t]*|[ \t]+|$)((?:"[^"\n]*"|[^#"\n])*)`)

// words reads lines of a key and its values, where a key that names a section begins it.
func words(f format, text string) (all []statement) {
	section := "."
	for i, line := range strings.Split(text, "\n") {
		m := worded.FindStringSubmatch(line)
		if m == nil || strings.ContainsRune(f.flags["comments"], rune(m[1][0])) {
			continue
		}
		key, value := m[1], strings.Trim(strings.TrimSpace(m[2]), `"`)
		_, begins := f.section[f.folded(key)]
		if _, within := f.section[section][f.folded(key)]; begins && !within {
			section = f.folded(key)
			continue
		}
		all = append(all, statement{i + 1, section, key, value})
	}
	return all
}

// token matches a quoted word, a word, the end of a statement or of a line, or a comment.
var token = regexp.MustCompile(`#[^\n]*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\$\{\w+\}|[{};\n]|(?:[^\s{};"'#$\\]|\\.|\$\w*|\$\{\w+\})[^\s{};"']*`)

// foreign matches templates and programs in other languages, whose braces are their own.
var foreign = regexp.MustCompile(`\{\{|\{%|<%|_by_lua_block|\bperl_set\b`)

// blocks reads KEY VALUE …; and NAME … { }. The end of a line ends a statement if the format says so. Text in an
// unknown block is passed over.
func blocks(f format, text string) (all []statement) {
	above, words, line, begun := []string{f.flags["top"]}, []string{}, 1, 1
	_, byLine := f.flags["lines"]
	section := func() string {
		last := above[len(above)-1]
		if _, ok := f.section[above[min(1, len(above)-1)]+"/"+last]; ok && len(above) > 2 {
			return above[1] + "/" + last
		}
		return last
	}
	end := func() {
		if len(words) > 0 {
			all = append(all, statement{begun, section(), words[0], strings.Join(words[1:], " ")})
		}
		words = nil
	}
	for _, t := range token.FindAllString(text, -1) {
		switch {
		case t == "{":
			name := strings.Join(words[:min(1, len(words))], "")
			end()
			above = append(above, name)
		case t == "}":
			end()
			if len(above) == 1 && !foreign.MatchString(text) {
				return append(all, statement{line, "", "", "}"})
			}
			above = above[:max(1, len(above)-1)]
		case t == ";" || t == "\n" && byLine:
			end()
		case t != "\n" && t[0] != '#':
			if len(words) == 0 {
				begun = line
			}
			words = append(words, strings.Trim(t, `"'`))
		}
		line += strings.Count(t, "\n")
	}
	if len(above) > 1 && !foreign.MatchString(text) {
		all = append(all, statement{strings.Count(strings.TrimRight(text, "\n"), "\n") + 1, "", "", "{"})
	}
	return all
}

// yaml reads mappings, of JSON too; a section is the keys above, joined by /.
func yaml(_ format, text string) (all []statement) {
	if yamlfile.CheckShape("", yamlfile.Kind{}, []byte(text)) != nil {
		return nil
	}
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return nil
	}
	var walk func(n ast.Node, section string)
	walk = func(n ast.Node, section string) {
		switch n := n.(type) {
		case *ast.MappingNode:
			for _, v := range n.Values {
				walk(v, section)
			}
		case *ast.MappingValueNode:
			key, value := strings.Trim(n.Key.String(), `"'`), ""
			if s, ok := n.Value.(ast.ScalarNode); ok {
				value = strings.Trim(s.String(), `"'`)
			}
			all = append(all, statement{n.Key.GetToken().Position.Line, section, key, value})
			walk(n.Value, strings.TrimPrefix(section+"/"+key, "./"))
		case *ast.SequenceNode:
			for _, v := range n.Values {
				walk(v, section)
			}
		}
	}
	for _, d := range file.Docs {
		walk(d.Body, ".")
	}
	return all
}
