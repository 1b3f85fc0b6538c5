package prose

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBlocks: what each mark of a page begins, and where it ends.
func TestBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []Block
	}{
		"nothing":                {"", []Block{{Kind: Blank}}},
		"a paragraph":            {"one\ntwo\n\n\n", []Block{{Kind: Paragraph, Text: "one two"}}},
		"headings":               {"# A\n### B `c`\ntext", []Block{{Kind: Heading, Level: 1, Text: "A"}, {Kind: Heading, Level: 3, Text: "B `c`"}, {Kind: Paragraph, Text: "text"}}},
		"a heading ends a text":  {"text\n## A", []Block{{Kind: Paragraph, Text: "text"}, {Kind: Heading, Level: 2, Text: "A"}}},
		"a list":                 {"- one\n  more\n  - two\n- three", []Block{{Kind: Item, Text: "one more"}, {Kind: Item, Level: 1, Text: "two"}, {Kind: Item, Text: "three"}}},
		"a numbered list":        {"1. one\n2. two\n   more\n10. ten", []Block{{Kind: Item, Number: "1", Text: "one"}, {Kind: Item, Number: "2", Text: "two more"}, {Kind: Item, Number: "10", Text: "ten"}}},
		"a number in a text":     {"since\n14. That is all", []Block{{Kind: Paragraph, Text: "since 14. That is all"}}},
		"a number in an item":    {"- since\n  14. That is all", []Block{{Kind: Item, Text: "since 14. That is all"}}},
		"a year is no number":    {"2024. A year", []Block{{Kind: Paragraph, Text: "2024. A year"}}},
		"code set in":            {"so:\n    a\n      b\n\n    c\ntext", []Block{{Kind: Paragraph, Text: "so:"}, {Kind: Code, Lines: []string{"a", "  b", "", "c"}}, {Kind: Paragraph, Text: "text"}}},
		"a text that goes on":    {"text\n    more", []Block{{Kind: Paragraph, Text: "text more"}}},
		"an item that goes on":   {"- item:\n    more", []Block{{Kind: Item, Text: "item: more"}}},
		"code with a fence":      {"text\n```yaml\n# no heading\n- no item\n\n| no table\n```\nmore", []Block{{Kind: Paragraph, Text: "text"}, {Kind: Code, Lang: "yaml", Lines: []string{"# no heading", "- no item", "", "| no table"}}, {Kind: Paragraph, Text: "more"}}},
		"a fence without end":    {"```\na", []Block{{Kind: Code, Lines: []string{"a"}}}},
		"two fences of a kind":   {"```sh\na\n```\n\n```sh\nb\n```", []Block{{Kind: Code, Lang: "sh", Lines: []string{"a"}}, {Kind: Blank}, {Kind: Code, Lang: "sh", Lines: []string{"b"}}}},
		"a fence, then set in":   {"```sh\na\n```\n\n    b", []Block{{Kind: Code, Lang: "sh", Lines: []string{"a"}}, {Kind: Blank}, {Kind: Code, Lines: []string{"b"}}}},
		"a table":                {"| a | b |\n|---|:-:|\n| 1 | x \\| y |\n| 2 | |", []Block{{Kind: Table, Header: []string{"a", "b"}, Rows: [][]string{{"1", "x | y"}, {"2", ""}}}}},
		"a table without a head": {"| | |\n|---|---|\n| 1 | 2 |", []Block{{Kind: Table, Rows: [][]string{{"1", "2"}}}}},
		"a head alone":           {"| a |\n|---|", nil},
		"a comment":              {"<!-- not seen -->\ntext", []Block{{Kind: Paragraph, Text: "text"}}},
		"room":                   {"a\n\n\nb", []Block{{Kind: Paragraph, Text: "a"}, {Kind: Blank}, {Kind: Blank}, {Kind: Paragraph, Text: "b"}}},
	} {
		if d := cmp.Diff(c.want, Parse(c.text)); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}

// TestSpans: marks within a line; a mark without its end is text.
func TestSpans(t *testing.T) {
	for text, want := range map[string][]Span{
		"":                         nil,
		"plain":                    {{Text: "plain"}},
		"a `b c` d":                {{Text: "a "}, {Text: "b c", Code: true}, {Text: " d"}},
		"**a `b`** c":              {{Text: "a b", Strong: true}, {Text: " c"}},
		"*a* b":                    {{Text: "a", Emph: true}, {Text: " b"}},
		"2 * 3 * 4":                {{Text: "2 * 3 * 4"}},
		"net.ipv4.conf.*.x":        {{Text: "net.ipv4.conf.*.x"}},
		"``":                       {{Text: "``"}},
		"`open":                    {{Text: "`open"}},
		"**open":                   {{Text: "**open"}},
		"a [b](c.md#d) e":          {{Text: "a "}, {Text: "b", Link: "c.md#d"}, {Text: " e"}},
		"[`b`](c)":                 {{Text: "b", Code: true, Link: "c"}},
		"![a](p.svg)":              {{Text: "a", Image: true, Link: "p.svg"}},
		"x[0] and [b](c)":          {{Text: "x[0] and "}, {Text: "b", Link: "c"}},
		"[open](c":                 {{Text: "[open](c"}},
		"[open]":                   {{Text: "[open]"}},
		"Grüße, `größer` – *ende*": {{Text: "Grüße, "}, {Text: "größer", Code: true}, {Text: " – "}, {Text: "ende", Emph: true}},
	} {
		if d := cmp.Diff(want, Inline(text)); d != "" {
			t.Errorf("%q (-want +got)\n%s", text, d)
		}
	}
	if got := Plain("**a** `b` [c](d) *e* ![f](g)"); got != "a b c e f" {
		t.Errorf("%q", got)
	}
}

// TestAnchors are those that forges make.
func TestAnchors(t *testing.T) {
	for heading, want := range map[string]string{"What next": "what-next", "`audit` & plan": "audit--plan", "14.3-RELEASE": "143-release", "snake_case": "snake_case", "Über": "über", "": ""} {
		if got := Anchor(heading); got != want {
			t.Errorf("%q: %q, want %q", heading, got, want)
		}
	}
}
