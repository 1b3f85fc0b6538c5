package ministat

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"linerate/internal/labtest"
)

// needMinistat skips unless Debian's ministat is installed.
func needMinistat(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("ministat")
	if err != nil {
		labtest.Lacking(t, "ministat is not installed: apt-get install ministat")
	}
	out, _ := exec.Command(path, "-h").CombinedOutput()
	if !strings.Contains(string(out), "[-Ans]") {
		labtest.Lacking(t, "the installed ministat is not Debian's generation 20150715")
	}
	return path
}

// ours runs our ministat as the command would.
func ours(dir string, stdin []byte, args []string) (stdout, stderr string, code int) {
	o, files, err := Parse(args, Debian, DefaultWidth)
	if err != nil {
		return "", err.Error() + "\n", 2
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	var sets []Set
	for _, f := range files {
		name, data := f, stdin
		if f == "-" {
			name = "<stdin>"
		} else if data, err = os.ReadFile(filepath.Join(dir, f)); err != nil {
			return "", "ministat: Cannot open " + f + ": No such file or directory\n", 1
		}
		s, err := Read(bytes.NewReader(data), name, o.Column, o.Delimiters)
		if err != nil {
			return "", err.Error() + "\n", 2
		}
		sets = append(sets, s)
	}
	out, err := Write(sets, o)
	if err != nil {
		return "", err.Error() + "\n", 2
	}
	return string(out), "", 0
}

// compareRuns runs both and reports whether the binary itself survived.
func compareRuns(t *testing.T, bin, dir string, stdin []byte, args []string) bool {
	t.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Dir, cmd.Stdin, cmd.Args[0] = dir, bytes.NewReader(stdin), "ministat"
	var so, se bytes.Buffer
	cmd.Stdout, cmd.Stderr = &so, &se
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() < 0 {
		return false // killed by a signal: nothing to equal
	}
	gotOut, gotErr, code := ours(dir, stdin, args)
	if gotOut != so.String() || gotErr != se.String() || code != cmd.ProcessState.ExitCode() {
		var data strings.Builder
		for _, a := range args {
			if b, err := os.ReadFile(filepath.Join(dir, a)); err == nil {
				fmt.Fprintf(&data, "--- %s\n%.600s", a, b)
			}
		}
		t.Errorf("ministat %q\n%s--- exit %d, want %d\n--- ours\n%s%s--- ministat's\n%s%s",
			args, data.String(), code, cmd.ProcessState.ExitCode(), gotOut, gotErr, so.String(), se.String())
	}
	return true
}

// TestDebianRandom compares random inputs with the installed binary, byte for
// byte: sizes, ties, signs, magnitudes, several sets, all options.
func TestDebianRandom(t *testing.T) {
	bin := needMinistat(t)
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(20150715, 1))
	equal := 0
	for i := 0; i < 1500 && !t.Failed(); i++ {
		args := randomOptions(r)
		sets := 1 + r.IntN(3)
		if r.IntN(8) == 0 {
			sets = 1 + r.IntN(MaxSets)
		}
		kind, scale := r.IntN(7), math.Pow(10, float64(r.IntN(24)-8))
		for k := range sets {
			name := fmt.Sprintf("set%d", k)
			if err := os.WriteFile(filepath.Join(dir, name), randomSet(r, kind, scale), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, name)
		}
		if compareRuns(t, bin, dir, nil, args) {
			equal++
		}
	}
	t.Logf("%d random inputs equal byte for byte", equal)
	if equal < 1000 {
		t.Errorf("only %d inputs were compared", equal)
	}
}

func randomOptions(r *rand.Rand) []string {
	var args []string
	for _, f := range []string{"-A", "-n", "-s"} {
		if r.IntN(4) == 0 {
			args = append(args, f)
		}
	}
	if r.IntN(2) == 0 {
		args = append(args, "-c", []string{"80", "90", "95", "98", "99", "99.5"}[r.IntN(6)])
	}
	if r.IntN(3) == 0 {
		args = append(args, "-w", strconv.Itoa(2+r.IntN(150)))
	}
	if r.IntN(4) == 0 {
		args = append(args, "-C", strconv.Itoa(1+r.IntN(2)))
	}
	return args
}

// randomSet writes values of one kind, in two columns with noise around them.
func randomSet(r *rand.Rand, kind int, scale float64) []byte {
	n := 3 + r.IntN(12)
	switch r.IntN(10) {
	case 0:
		n = 3
	case 1:
		n = 100 + r.IntN(400)
	}
	var b bytes.Buffer
	base, shift := r.NormFloat64()*100, float64(r.IntN(3))
	for range n {
		v := 0.0
		switch kind {
		case 0:
			v = r.NormFloat64()
		case 1:
			v = float64(r.IntN(5)) // ties
		case 2:
			v = 1 // identical
		case 3:
			v = -r.ExpFloat64()
		case 4:
			v = 100 + shift + r.NormFloat64()
		case 5:
			v = base + 1e-9*r.NormFloat64() // cancellation
		case 6:
			v = math.Exp(10 * r.NormFloat64())
		}
		v *= scale
		verb := []string{"%g", "%.3f", "%.17g", "%e", "%.0f"}[r.IntN(5)]
		if scale > 1e10 || scale < 1e-2 {
			verb = "%.17g"
		}
		fmt.Fprintf(&b, verb+"\t"+verb, v, v+shift*scale)
		switch r.IntN(12) {
		case 0:
			b.WriteString("  # a remark")
		case 1:
			b.WriteString(" \r")
		case 2:
			b.WriteString("\n\n# only a remark")
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// TestDebianErrors compares everything ministat complains of, and odd input.
func TestDebianErrors(t *testing.T) {
	bin := needMinistat(t)
	dir := t.TempDir()
	files := map[string]string{
		"a": "1\n2\n3\n", "b": "5\n6\n7\n\n# c\n8 # x\n", "short": "1\n2\n", "bad": "1\nx\n3\n4\n", "empty": "",
		"csv": "1,2\n3,4\n5,6\n7,8\n", "same": "0.1\n0.1\n0.1\n", "tall": "1\n1\n1\n1\n1\n2\n",
		"odd": "0x10\n+1\n -2\n.3\n3.\n1e2\n0x1p3\n", "odd2": "1\t\n2 \r\n3\f\n4", "odd3": "1 #x\n2#x\n", "odd4": "1e400\n1\n2\n3\n",
		"long": "1\n2\n7 " + strings.Repeat("x", 9000) + " 5\n4\n", "long2": "1\n2\n3\n# " + strings.Repeat("x ", 5000) + "\n9\n",
		"two": "1 2\n3 # 4\n5 6\n7 8\n9 10\n", "inf": "inf\n1\n2\n3\n", "nan": "nan\n1\n2\n3\n", "cr": "1\r2\n3\n4\n5\n", "us": "1_0\n2\n3\n4\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		"a", "a b", "b a", "a tall", "tall a", "same", "same a", "a same", "short", "bad", "empty", "nofile", "a nofile",
		"-C 2 -d , csv", "-d , csv", "-C 2 two", "-C 3 two", "-C 0 a", "-C -1 a", "-C x a", "-C 1x a", "-C", "-d", "-c", "-w",
		"-c 97 a b", "-c x a b", "-c 95 -c 42 a b", "-c 9.5e1 a b", "-c 80 -c 99.5 a b", "-c99 a b", "-w30 a b", "-Anw30 a b", "-sw30 a b",
		"-w -3 a b", "-w x a b", "-w 2 a b", "-w 3 a b", "-w 999999999999 a", "-q a b", "-z", "-h", "-Az a", "a -A b", "a b -n", "-- a", "a -- -A",
		"a a a a a a a", "a a a a a a a a", "-s a b a tall b a b", "- a", "a -", "-", "-n odd", "-n odd2", "-n odd3", "-n odd4", "-n inf", "-n nan",
		"long", "long2", "cr", "us", "odd", "-A inf a", "-A a inf", "-C 99999999999 a",
	} {
		compareRuns(t, bin, dir, []byte("3\n1\n2\n10\n"), strings.Fields(line))
	}
	for _, args := range [][]string{{"-d", "", "a"}, {"-c", "", "a", "b"}, {"-C", "", "a"}, {"-d", "\t ,", "csv"}, {}, {""}} {
		compareRuns(t, bin, dir, []byte("3\n1\n2\n10\n"), args)
	}
}

// TestDebianStudentTable reads ministat's critical values off its output, for
// every degree of freedom it can meet and every confidence.
func TestDebianStudentTable(t *testing.T) {
	bin := needMinistat(t)
	dir := t.TempDir()
	write := func(name string, n int, offset float64) {
		var b bytes.Buffer
		for i := range n {
			fmt.Fprintln(&b, offset+float64(i%3))
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("b", 3, 1e6)
	for n := 3; n <= 102; n++ {
		write("a", n, 0)
		for _, c := range Confidences {
			compareRuns(t, bin, dir, nil, []string{"-A", "-c", strconv.FormatFloat(c, 'g', -1, 64), "a", "b"})
		}
	}
}
