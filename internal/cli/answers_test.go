package cli

import (
	"bytes"
	"errors"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
	"linerate/internal/show"
)

// program is a command of two verbs, one of which has verbs of its own.
func program(did *string) *cobra.Command {
	var n int
	var d time.Duration
	var f float64
	var yes bool
	sweep := &cobra.Command{Use: "sweep [HOST …] --all", Short: "sweep hosts", Args: cobra.MaximumNArgs(2), RunE: func(cmd *cobra.Command, args []string) error {
		*did = "sweep " + strings.Join(args, ",")
		if Quiet(cmd.ErrOrStderr()) {
			*did += " quietly"
		}
		_, err := Talk(cmd).Write([]byte("sweeping\n"))
		return err
	}}
	sweep.Flags().IntVar(&n, "parallel", 1, "at once")
	sweep.Flags().DurationVar(&d, "timeout", time.Second, "of each")
	sweep.Flags().Float64Var(&f, "share", 0, "of all")
	sweep.Flags().BoolVar(&yes, "yes", false, "do not ask")
	ask := &cobra.Command{Use: "ask", Short: "ask a question", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		_, err := Confirm(cmd, "really?")
		return err
	}}
	broken := &cobra.Command{Use: "broken", Short: "fail", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		return hint.With(errors.New("no disk"), "%s another", hint.Option("ledger", "FILE"))
	}}
	fleet := &cobra.Command{Use: "fleet", Short: "many hosts"}
	fleet.AddCommand(&cobra.Command{Use: "status", Short: "how they are", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { *did = "status"; return nil }})
	return NewRoot(&cobra.Command{Use: "linerate", Short: "test"}, []Group{{"Hosts", []*cobra.Command{sweep, ask, broken, fleet}}, {"", nil}}, &cobra.Command{Use: "inner", Hidden: true, RunE: func(*cobra.Command, []string) error { *did = "inner"; return nil }})
}

func ran(args ...string) (code int, did, out, errs string) {
	var o, e bytes.Buffer
	code = Run(program(&did), args, strings.NewReader(""), &o, &e)
	return code, did, o.String(), e.String()
}

// TestWrongWords: what is wrong, with what, and what to do; on standard error, with exit code 2, and
// nothing was done.
func TestWrongWords(t *testing.T) {
	for args, want := range map[string]string{
		"swep":                        `linerate: unknown command "swep"` + "\nhint: did you mean sweep?",
		"fleet statsu":                `unknown fleet command "statsu"` + "\nhint: did you mean status?",
		"sweep a b c":                 `linerate: sweep takes [HOST …], and was given "a" "b" "c"` + "\nhint: see linerate sweep --help",
		"sweep a b c d e":             "and was given 5 arguments",
		"ask me":                      `linerate: ask takes no arguments, and was given "me"`,
		"sweep --timeot 3s":           "hint: did you mean --timeout?",
		"sweep -parallel 3":           "hint: did you mean --parallel?",
		"sweep --parallel x":          `--parallel: "x" is not a whole number`,
		"sweep --timeout 5":           `--timeout: "5" is not a duration, such as 30s or 5m`,
		"sweep --share much":          `--share: "much" is not a number`,
		"sweep --yes=maybe":           `--yes: "maybe" is neither true nor false`,
		"ask":                         "standard input is not a terminal, so linerate cannot ask\nhint: add --yes",
		"help swep":                   `unknown command "swep"`,
		"fleet status now":            "fleet status takes no arguments",
		"sweep --no-such-flag-at-all": "hint: see linerate sweep --help",
	} {
		code, did, out, errs := ran(strings.Fields(args)...)
		if code != ExitUsage || did != "" || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, did %q, stdout %q, stderr\n%s\nwant %q", args, code, did, out, errs, want)
		}
	}
	if code, _, out, errs := ran("broken"); code != ExitFailed || out != "" || errs != "linerate: no disk\nhint: --ledger FILE another\n" {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
}

// TestRightWords: a verb is done, quietly where that is asked for, before or behind it; help and the
// version are on standard output.
func TestRightWords(t *testing.T) {
	for args, want := range map[string]string{"sweep a b": "sweep a,b", "sweep -q": "sweep  quietly", "--quiet sweep": "sweep  quietly", "fleet status": "status", "inner": "inner"} {
		code, did, out, errs := ran(strings.Fields(args)...)
		talks := strings.HasPrefix(did, "sweep") && !strings.Contains(did, "quietly")
		if code != ExitOK || did != want || out != "" || (errs == "sweeping\n") != talks || !talks && errs != "" {
			t.Errorf("%s: exit %d, did %q, stdout %q, stderr %q", args, code, did, out, errs)
		}
	}
	for args, want := range map[string]string{
		"--version": "linerate " + Version() + "\n", "--help": "help topics", "help": "Hosts:", "fleet": "status", "help sweep": "sweep hosts", "sweep --help": "--parallel", "help topics": "help TOPIC shows one of these pages", "help fleet status": "how they are",
	} {
		code, did, out, errs := ran(strings.Fields(args)...)
		if code != ExitOK || did != "" || errs != "" || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d, stderr %q, stdout\n%s\nwant %q", args, code, errs, out, want)
		}
		if strings.Contains(out, "inner") {
			t.Errorf("%s tells of what is hidden:\n%s", args, out)
		}
	}
}

// TestNotTerminals: files, buffers and pipes have no colour, and the width of a page.
func TestNotTerminals(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b bytes.Buffer
	for _, s := range []show.Style{StyleOf(f), StyleOf(&b)} {
		if s.Colour || s.Fold || s.Width != show.DefaultWidth {
			t.Errorf("%+v", s)
		}
	}
	NewLive(&b).Show("progress")
	if b.Len() > 0 {
		t.Errorf("progress is in a file: %q", b.String())
	}
	cmd := &cobra.Command{}
	cmd.SetOut(&b)
	JSONFlag(cmd)
	must := func(value string) {
		t.Helper()
		if err := cmd.Flags().Set("json", value); err != nil {
			t.Fatal(err)
		}
	}
	must("true")
	if err := Answer(cmd, map[string]string{"a": "<1>"}, nil); err != nil || b.String() != "{\n  \"a\": \"<1>\"\n}\n" {
		t.Errorf("%v, %q", err, b.String())
	}
	b.Reset()
	must("false")
	if err := Answer(cmd, nil, func(p *show.Page) { p.Line("words") }); err != nil || b.String() != "words\n" {
		t.Errorf("%v, %q", err, b.String())
	}
	if err := PrintJSON(&b, func() {}); err == nil {
		t.Error("what is no document was written")
	}
}

// TestBuiltHere: what the go command notes of a build, shortened.
func TestBuiltHere(t *testing.T) {
	info := func(version string, settings ...string) *debug.BuildInfo {
		i := &debug.BuildInfo{}
		i.Main.Version = version
		for n := 0; n < len(settings); n += 2 {
			i.Settings = append(i.Settings, debug.BuildSetting{Key: settings[n], Value: settings[n+1]})
		}
		return i
	}
	for want, in := range map[Build]*debug.BuildInfo{
		{Version: "devel"}: info("(devel)"), {Version: "v1.2.3"}: info("v1.2.3"),
		{Version: "devel-0123456789ab", Commit: "0123456789ab", Date: "2026-11-22"}: info("(devel)", "vcs.revision", "0123456789abcdef", "vcs.time", "2026-11-22T10:00:00Z"),
		{Version: "v1.2.3", Commit: "01"}:                                           info("v1.2.3", "vcs.revision", "01"),
	} {
		if got := builtHere(in); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if Version() == "" {
		t.Error("no version")
	}
}

// TestInterruptedRun: an interrupt in the middle of a verb is told as one, whatever the verb makes of it.
func TestInterruptedRun(t *testing.T) {
	var e strings.Builder
	if code := conclude("linerate", errors.New("read: file already closed"), true, &e); code != ExitInterrupted || e.String() != "linerate: interrupted\n" {
		t.Errorf("%d, %q", code, e.String())
	}
	e.Reset()
	if code := conclude("linerate", hint.Exit(3), false, &e); code != ExitFindings || e.String() != "" {
		t.Errorf("%d, %q", code, e.String())
	}
}
