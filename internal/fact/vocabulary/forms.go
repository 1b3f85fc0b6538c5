package vocabulary

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"linerate/internal/fact/redact"
	"linerate/internal/lazy"
	"linerate/internal/yamlfile"
)

// statement is a key with its value, or the beginning of a section, which has no key.
type statement struct {
	line                int
	section, key, value string
	block, number       int    // block is the number of the statement that opens what this one stands in, -1 in the file
	addresses           []span // of an operand of a relation
}

// forms are the ways in which files are written.
var forms = map[string]func(f format, text string) []statement{
	"ini": ini, "words": words, "blocks": blocks, "yaml": yaml,
	"json": func(f format, text string) []statement { return yaml(f, uncommented(text)) },
}

// ini reads [SECTION] and KEY=VALUE, where a line that ends with \ continues.
func ini(_ format, text string) (all []statement) {
	section, joined, first, block := ".", "", 0, -1
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
			section, block = joined[1:len(joined)-1], len(all)
			all = append(all, statement{line: first, section: section, block: -1})
		} else if isKey {
			all = append(all, statement{line: first, section: section, key: strings.TrimSpace(key), value: strings.TrimSpace(value), block: block})
		}
		joined = ""
	}
	return all
}

// worded matches a line of words: its key, and its value up to a comment.
var worded = lazy.Regexp(`^[ \t]*([^\s=:#]+)(?:[ \t]*=[ \t]*|:[ \t]*|[ \t]+|$)((?:"[^"\n]*"|[^#"\n])*)`)

// words reads lines of a key and its values, where a key that names a section begins it.
func words(f format, text string) (all []statement) {
	section, block := ".", -1
	for i, line := range strings.Split(text, "\n") {
		m := worded().FindStringSubmatch(line)
		if m == nil || strings.ContainsRune(f.flags["comments"], rune(m[1][0])) {
			continue
		}
		key, value := m[1], strings.Trim(strings.TrimSpace(m[2]), `"`)
		_, begins := f.section[f.folded(key)]
		if _, within := f.section[section][f.folded(key)]; begins && (!within || key == section) {
			section, block = f.folded(key), len(all)
			all = append(all, statement{line: i + 1, section: section, block: -1})
			if _, told := f.section[section][section]; !told { // that its values are a statement too
				continue
			}
		}
		all = append(all, statement{line: i + 1, section: section, key: key, value: value, block: block})
	}
	return all
}

// token matches a quoted word, a word, the end of a statement or of a line, or a comment.
var token = lazy.Regexp(`#[^\n]*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\$\{\w+\}|[{};\n]|(?:[^\s{};"'#$\\]|\\.|\$\w*|\$\{\w+\})[^\s{};"']*`)

// foreign matches templates and programs in other languages, whose braces are their own, and masked words.
var foreign = lazy.Regexp(`\{\{|\{%|<%|_by_lua_block|\bperl_set\b|` + redact.Mark)

// blocks reads KEY VALUE …; and NAME … { }. The end of a line ends a statement if the format says so. Text in an
// unknown block is passed over.
func blocks(f format, text string) (all []statement) {
	above, blocks, words, line, begun := []string{f.flags["top"]}, []int{-1}, []string{}, 1, 1
	_, byLine := f.flags["lines"]
	_, endless := f.flags["endless"] // a block's statement goes on behind it, up to the ;
	if _, slashes := f.flags["slashes"]; slashes {
		text = uncommented(text)
	}
	_, assigns := f.flags["assign"] // KEY = VALUE
	_, paths := f.flags["paths"]    // a section is the names above it
	section := func() string {
		last := above[len(above)-1]
		if paths {
			return strings.Join(above[min(1, len(above)-1):], "/")
		}
		if _, ok := f.section[above[min(1, len(above)-1)]+"/"+last]; ok && len(above) > 2 {
			return above[1] + "/" + last
		}
		return last
	}
	end := func() {
		if len(words) > 0 && words[0] != "" {
			key, value := words[0], strings.Join(words[1:], " ")
			if before, after, ok := strings.Cut(strings.Join(words, " "), "="); assigns && ok {
				key, value = strings.TrimSpace(before), strings.Trim(strings.TrimSpace(after), `"'`)
			}
			all = append(all, statement{line: begun, section: section(), key: key, value: value, block: blocks[len(blocks)-1]})
		}
		words = nil
	}
	for _, t := range token().FindAllString(text, -1) {
		switch {
		case t == "{":
			name, opener := strings.Join(words[:min(1, len(words))], ""), len(all)
			if name == "" {
				opener = blocks[len(blocks)-1]
			}
			end()
			above, blocks = append(above, name), append(blocks, opener)
		case t == "}":
			end()
			if len(above) == 1 && !foreign().MatchString(text) {
				return append(all, statement{line: line, value: "}"})
			}
			above, blocks = above[:max(1, len(above)-1)], blocks[:max(1, len(blocks)-1)]
			if endless {
				words = []string{""}
			}
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
	if len(above) > 1 && !foreign().MatchString(text) {
		all = append(all, statement{line: strings.Count(strings.TrimRight(text, "\n"), "\n") + 1, value: "{"})
	}
	return all
}

// comment matches a string, or a comment of C, C++ or the shell.
var comment = lazy.Regexp(`"(?:[^"\\\n]|\\.)*"|//[^\n]*|#[^\n]*|/\*(?s:.*?)\*/`)

// uncommented returns JSON without its comments.
func uncommented(text string) string {
	return comment().ReplaceAllStringFunc(text, func(c string) string {
		if c[0] == '"' {
			return c
		}
		return strings.Repeat("\n", strings.Count(c, "\n"))
	})
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
	var walk func(n ast.Node, section string, block int)
	walk = func(n ast.Node, section string, block int) {
		switch n := n.(type) {
		case *ast.MappingNode:
			for _, v := range n.Values {
				walk(v, section, block)
			}
		case *ast.MappingValueNode:
			key, value := strings.Trim(n.Key.String(), `"'`), ""
			if s, ok := n.Value.(ast.ScalarNode); ok {
				value = strings.Trim(s.String(), `"'`)
			}
			all = append(all, statement{line: n.Key.GetToken().Position.Line, section: section, key: key, value: value, block: block})
			walk(n.Value, strings.TrimPrefix(section+"/"+key, "./"), len(all)-1)
		case *ast.SequenceNode:
			for _, v := range n.Values {
				all = append(all, statement{section: section, block: block})
				walk(v, section, len(all)-1)
			}
		}
	}
	for _, d := range file.Docs {
		walk(d.Body, ".", -1)
	}
	return all
}
