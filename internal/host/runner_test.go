package host

import (
	"os/exec"
	"strings"
	"testing"
)

// TestCompose: arguments and input reach the script unchanged, and the shell does not interpret them.
func TestCompose(t *testing.T) {
	hostile := []string{"", "a b", "'", "$(echo x)", "`id`", "a\nb", "-n", "*", `\`, "!", "\"", "é"}
	script := `for a; do printf '<%s>' "$a"; done; cat`
	input := "one $HOME `id`\n'two'\\\n\tthree"
	for _, shell := range []string{"sh", "dash", "bash"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		text, err := Compose(script, hostile, []byte(input))
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(path, "-s")
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", shell, err, out)
		}
		if out, err = Whole(out); err != nil {
			t.Errorf("%s: %v", shell, err)
		}
		if want := "<" + strings.Join(hostile, "><") + ">" + input + "\n"; string(out) != want {
			t.Errorf("%s printed %q, want %q", shell, out, want)
		}
	}
}

func TestComposeRefuses(t *testing.T) {
	for _, c := range []struct{ arg, stdin string }{{"a\x00b", ""}, {"", "x\x00"}, {"", "a\n" + inputEnd + "\nrm -rf /\n"}, {"", inputEnd}} {
		if _, err := Compose(":", []string{c.arg}, []byte(c.stdin)); err == nil {
			t.Errorf("Compose accepted the argument %q and the input %q", c.arg, c.stdin)
		}
	}
}
