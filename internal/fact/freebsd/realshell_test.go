package freebsd

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/labtest"
)

// TestAgainstRealShell compares the reader of rc.conf with sh(1): what it claims to understand must be
// what the shell reads. Texts that it reports as not understood are left out.
func TestAgainstRealShell(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		labtest.Lacking(t, "no sh")
	}
	tokens := []string{"a", "b", "=", "=", `"`, `"`, "'", "1", "on", " ", "\t", "#", "$a", "${a}", "${b:-x}", "${c:=y}", "_", ";",
		`a="1"`, "b=2", "\n", ` : ${d:=z}`, `"$a b"`, "${a:+q}", "${a:+$a }", "${b-}", ".", "é", `\ `, `\"`, "\\\n "}
	r := rand.New(rand.NewPCG(13, 14))
	dir := t.TempDir()
	var files []string
	texts, want := map[string]string{}, map[string]string{}
	for i := range 4000 {
		var text strings.Builder
		text.WriteString("a=start\nb=\n")
		for range r.IntN(10) + 1 {
			text.WriteString(tokens[r.IntN(len(tokens))])
		}
		text.WriteByte('\n')
		c := ReadRC(tree{"/etc/rc.conf": text.String()})
		if len(c.Problems) > 0 || ambiguous(c) {
			continue
		}
		file := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
		texts[file] = text.String()
		value := func(name string) string { v, _ := effective(c, name); return v }
		want[file] = fmt.Sprintf("a=%s|b=%s|c=%s|d=%s", value("a"), value("b"), value("c"), value("d"))
	}
	script := `for f; do (PATH=/nonexistent; . "$f"; printf '%s\001a=%s|b=%s|c=%s|d=%s\002' "$f" "$a" "$b" "$c" "$d"); done`
	out, err := exec.Command("/bin/sh", append([]string{"-c", script, "sh"}, files...)...).Output()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	answers := 0
	for answer := range strings.SplitSeq(string(out), "\x02") { // texts with a syntax error give no answer
		file, got, ok := strings.Cut(answer, "\x01")
		if !ok {
			continue
		}
		if answers++; got != want[file] {
			t.Errorf("%q: read as %q, sh says %q", texts[file], want[file], got)
		}
	}
	if answers < 300 {
		t.Errorf("only %d of %d texts compared", answers, len(files))
	}
}

// ambiguous reports several assignments in one statement: FreeBSD's sh expands all of them before it
// assigns any (bin/sh/eval.c, evalcommand), as the reader does; dash since 0.5.11 assigns one after
// the other.
func ambiguous(c Config) bool {
	for i := 1; i < len(c.Lines); i++ {
		if c.Lines[i].Number == c.Lines[i-1].Number {
			return true
		}
	}
	return false
}
