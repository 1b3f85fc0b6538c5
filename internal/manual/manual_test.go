package manual

import (
	"flag"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"linerate/internal/labtest"
)

var update = flag.Bool("update", false, "rewrite golden files")

// program of two verbs, one with a subcommand.
func sampleRoot() *cobra.Command {
	root := &cobra.Command{Use: "x", Short: "a program", Long: "x does `things`.\n\n    x show it\n\n.a line that looks like a request"}
	show := &cobra.Command{Use: "show NAME [FILE]", Short: "show it", Long: "Show shows.\n\n- one\n- two", Example: "    x show a\n    x show 'b' \\", Run: func(*cobra.Command, []string) {}}
	show.Flags().StringP("out", "o", "-", "write to this `FILE`")
	show.Flags().Bool("deep", false, "more of it")
	show.Flags().Bool("secret", false, "x")
	_ = show.Flags().MarkHidden("secret")
	list := &cobra.Command{Use: "list", Short: "list all", Run: func(*cobra.Command, []string) {}}
	set := &cobra.Command{Use: "set", Short: "several"}
	set.AddCommand(list)
	set.PersistentFlags().Int("most", 0, "at most so many")
	set.PersistentFlags().Duration("wait", time.Minute, "how long")
	for i, group := range []string{"Look", "Change"} {
		root.AddGroup(&cobra.Group{ID: group, Title: group})
		[]*cobra.Command{show, set}[i].GroupID = group
	}
	root.PersistentFlags().Bool("json", false, "one document")
	root.AddCommand(show, set, &cobra.Command{Use: "hidden", Hidden: true, Run: func(*cobra.Command, []string) {}})
	return root
}

func pagesOf() map[string]string {
	all := map[string]string{}
	for _, p := range All(sampleRoot(), Of{"1.2", "2026-11-22"}) {
		all[p.File()] = p.Source
	}
	return all
}

func TestPages(t *testing.T) {
	pages := pagesOf()
	if len(pages) != 3 {
		t.Fatalf("%d pages", len(pages))
	}
	for _, c := range []struct{ file, want string }{
		{"man1/x.1", ".TH X 1 2026-11-22 \"linerate 1.2\""},
		{"man1/x.1", "\\&.a line that looks"},
		{"man1/x.1", "\\fBx\\-show\\fR(1)\nshow it\n"},
		{"man1/x-show.1", "\\fBx\\ show\\fR NAME [FILE] [\\fIoptions\\fR]\n"},
		{"man1/x-show.1", "\\fB\\-o\\fR, \\fB\\-\\-out\\fR \\fIFILE\\fR\nwrite to this FILE (default \\-)\n"},
		{"man1/x-show.1", "x show \\(aqb\\(aq \\e\n"},
		{"man1/x-set.1", ".SS \"set list\"\nList all.\n"},
	} {
		if !strings.Contains(pages[c.file], c.want) {
			t.Errorf("%s lacks %q:\n%s", c.file, c.want, pages[c.file])
		}
	}
	if strings.Contains(pages["man1/x-show.1"], "secret") || strings.Contains(pages["man1/x.1"], "hidden") {
		t.Error("what is hidden is in the manual")
	}
}

// TestWholePages: every page as it was read over once, so that no section, request or
// blank goes unseen. -update writes them anew.
func TestWholePages(t *testing.T) {
	pages := pagesOf()
	var all strings.Builder
	for _, file := range slices.Sorted(maps.Keys(pages)) {
		all.WriteString("== " + file + "\n" + pages[file])
	}
	const golden = "testdata/pages.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(all.String(), "\n")); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestEscapes: what roff would take for a request, an escape or a typographer's sign is
// printed as it is.
func TestEscapes(t *testing.T) {
	for text, want := range map[string]string{
		"a-b": `a\-b`, `\n`: `\en`, "it's `x`": `it\(aqs \(gax\(ga`, "^~": `\(ha\(ti`, "a\tb": "a b", "a\x07\x7fb": "ab", "é → 😀": `\[u00E9] \[u2192] \[u1F600]`, "a\nb": "a\nb", "~": `\(ti`, "}": "}",
	} {
		if got := escape(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{".x": `\&.x`, "'x": `\&'x`, "x.": "x.", "": ""} {
		if got := guard(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	var r roff
	r.lines(strings.Repeat("word ", 40) + ".request " + strings.Repeat("w", 2*width))
	for line := range strings.Lines(r.b.String()) {
		if len(line) > width+1 && len(strings.Fields(line)) > 1 || strings.HasPrefix(line, ".") {
			t.Errorf("a line of %d bytes, or a request: %q", len(line), line)
		}
	}
	if n := strings.Count(r.b.String(), "word"); n != 40 {
		t.Errorf("%d words of 40", n)
	}
}

// TestLint: mandoc(1) has nothing to say.
func TestLint(t *testing.T) {
	labtest.Program(t, "mandoc")
	for file, source := range pagesOf() {
		c := exec.Command("mandoc", "-Tlint")
		c.Stdin = strings.NewReader(source)
		if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
}
