package document

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/chart"
	"linerate/internal/show"
)

// TestHTML: a page escapes every text, keeps numbers with their units, lists its
// headings under names of their own, and forbids all that it does not bring.
func TestHTML(t *testing.T) {
	d := Document{Kicker: "k <i>", Title: "T <b>"}
	d.Answer("is it? ", "3 ms", "better")
	d.Add(Contents{}, Heading("How & why"), Text("<i> 12 ms, `a<b`"), Heading("How, why?"), Heading("2 ms"), Warning("<w>"), Note("<n>"), Code("<c>"),
		Tiles{{"<v>", "<l>"}}, OnTerminal(func(p *show.Page) { p.Line("dots") }),
		Table{Title: "<t>", Header: []string{"a", "<h>"}, Rows: [][]string{{"<x>", "worse"}}}, Table{Title: "no rows"})
	d.Add(Figures(chart.Draw("a chart", "", "<svg/>"))...)
	var b strings.Builder
	if err := d.HTML(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>T &lt;b&gt; · linerate</title>", "<p>&lt;i&gt; 12\u00a0ms, <code>a&lt;b</code></p>", `<b class="better">3 ms</b>`,
		`<h2 id="how-why">How &amp; why</h2>`, `<h2 id="how-why-2">How, why?</h2>`, `<li><a href="#how-why-2">How, why?</a></li>`, "<li><a href=\"#2-ms\">2\u00a0ms</a></li></ol></nav>",
		"&lt;w&gt;", "&lt;n&gt;", "&lt;c&gt;", "&lt;v&gt;", "&lt;l&gt;", "&lt;t&gt;", "&lt;h&gt;", "&lt;x&gt;", `<td class="word worse">worse</td>`, "<h3>a chart</h3>",
		"default-src 'none'", "prefers-color-scheme: dark"} {
		if !strings.Contains(strings.ReplaceAll(b.String(), "3\u00a0ms", "3 ms"), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, not := range []string{"script-src", "dots", "no rows", "<x>", "<w>"} {
		if strings.Contains(b.String(), not) {
			t.Errorf("the page has %s", not)
		}
	}
}

// TestTerminal leaves out what only pages show.
func TestTerminal(t *testing.T) {
	d := Document{Title: "Title"}
	d.Answer("Yes: ", "better", "better")
	d.Add(Heading("Head"), Text("text"), OnPage{Text("hidden")}, Code("a\nb\n"),
		Table{Title: "caption", Header: []string{"a", "n"}, Rows: [][]string{{"x", "1"}, {"y", "100"}}}, OnTerminal(func(p *show.Page) { p.Line("dots") }))
	var b strings.Builder
	if err := d.Terminal(&b, show.Style{}); err != nil {
		t.Fatal(err)
	}
	want := "Title\n\n  Yes: better\n\n  Head\n\n  text\n    a\n    b\n  caption\n\n  a    n\n  x    1\n  y  100\n\ndots\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// TestSidesOfColumns: words stand at the left of their column and numbers at
// the right, wherever the column is.
func TestSidesOfColumns(t *testing.T) {
	table := Table{Header: []string{"part", "variant", "effect", "of the link"},
		Rows: [][]string{{"a", "none", "control", "8.4 %"}, {"a", "stateful", "−27.7 %", "–"}}}
	if got := table.Numbers(); !slices.Equal(got, []bool{false, false, true, true}) {
		t.Errorf("numbers: %v", got)
	}
}
