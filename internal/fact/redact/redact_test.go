package redact

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// kinds are all kinds of text of which redaction keeps a part.
var kinds = []string{Sysctl, Loader, RC, Grub, BootLine, Modprobe, Modules, Limits, LXC, Manager, Systemd, Tuned, Networks, Netplan, Ifcfg, Ifupdown, Script, Cloud, Udev,
	Tmpfiles, Sysfs, Fstab, PF, IPFW, NFT, IPTables, Daemon, Release, Values, Kenv, Tree, Ifconfig, Messages, Mount, Options, Uname, Name,
	Sense, VyOS, UCI, Database, Versioned, Applied}

// awks are the implementations that a base system may have: FreeBSD's is original-awk.
var awks = [][]string{{"awk"}, {"mawk"}, {"gawk", "--posix"}, {"original-awk"}, {"busybox", "awk"}}

func testdata(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestBothEnginesAgree compares the script's awk with Text on every kind.
func TestBothEnginesAgree(t *testing.T) {
	in, others := byKind(t), testdata(t, "planted.txt")
	for _, awk := range awks {
		if _, err := exec.LookPath(awk[0]); err != nil {
			continue
		}
		t.Run(awk[0], func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(name, text string) string {
				p := filepath.Join(dir, name)
				if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				return p
			}
			list := ""
			for _, kind := range kinds {
				list += strings.Join([]string{kind, kind, write("in-"+kind, in[kind]+others), filepath.Join(dir, kind)}, "\t") + "\n"
			}
			cmd := exec.Command(awk[0], append(awk[1:], "-v", "report="+filepath.Join(dir, "report"), "-f", write("redact.awk", Awk()))...)
			cmd.Env = append(os.Environ(), "LC_ALL=C")
			cmd.Stdin = strings.NewReader(list)
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &said, &said
			if err := cmd.Run(); err != nil || said.Len() > 0 {
				t.Fatalf("%v: %s", err, said.String())
			}
			for _, kind := range kinds {
				want, _ := Text(kind, in[kind]+others)
				got, err := os.ReadFile(filepath.Join(dir, kind))
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(got), "\n")); d != "" {
					t.Errorf("%s: -Go +awk\n%.2000s", kind, d)
				}
			}
		})
	}
}

// planted are the secrets in the test data.
var planted = []string{"hunter2", "swordfish", "8675309"}

// byKind returns the lines of the test data by the kind in their section's header.
func byKind(t *testing.T) map[string]string {
	t.Helper()
	kind, lines := "", 0
	texts := map[string]string{}
	for line := range strings.Lines(testdata(t, "planted-by-kind.txt")) {
		if k, ok := strings.CutPrefix(strings.TrimSuffix(line, "]\n"), "["); ok && slices.Contains(kinds, k) {
			kind = k
			continue
		}
		texts[kind] += line
		lines++
	}
	if lines < 300 || texts[""] != "" {
		t.Fatalf("%d lines, lines without a kind: %q", lines, texts[""])
	}
	return texts
}

// TestNoPlantedSecretPasses: no planted secret remains, in whatever form: a number, a word, part of an
// address.
func TestNoPlantedSecretPasses(t *testing.T) {
	texts, everywhere := byKind(t), testdata(t, "planted.txt")
	for _, kind := range kinds {
		for what, text := range map[string]string{"its own": texts[kind], "others'": everywhere, "without end": strings.TrimSuffix(texts[kind], "\n"), "DOS": strings.ReplaceAll(texts[kind], "\n", "\r\n")} {
			in := strings.Split(text, "\n")
			got, left := Text(kind, text)
			for i, l := range strings.Split(got, "\n") {
				for _, secret := range planted {
					if strings.Contains(strings.ToLower(l), secret) {
						t.Errorf("%s, %s: %q becomes %q", kind, what, in[i], l)
					}
				}
			}
			if text != "" && !left.Any() {
				t.Errorf("%s, %s: redaction reports nothing as left out", kind, what)
			}
			if again, _ := Text(kind, got); again != got {
				t.Errorf("%s, %s: redacting twice changes the text\n%s", kind, what, cmp.Diff(strings.Split(got, "\n"), strings.Split(again, "\n")))
			}
		}
	}
	for _, text := range []string{"\xff\xfen\x00e\x00t\x00.\x00x\x00=\x00h\x00u\x00n\x00t\x00e\x00r\x002\x00", "n\x00e\x00t\x00=\x008\x006\x007\x005\x00"} {
		for _, kind := range kinds {
			if got, _ := Text(kind, text); strings.ContainsAny(got, "0123456789") {
				t.Errorf("%s: %q", kind, got)
			}
		}
	}
}

func FuzzText(f *testing.F) {
	for i, kind := range kinds {
		f.Add(uint8(i), "net.core.somaxconn=4096 # x\nifconfig_"+kind+"=\"inet\n\"")
	}
	f.Fuzz(func(t *testing.T, k uint8, s string) {
		got, _ := Text(kinds[int(k)%len(kinds)], s)
		if strings.Count(got, "\n") != strings.Count(s, "\n") && !utf16(s) {
			t.Errorf("line numbers change: %q → %q", s, got)
		}
	})
}

// TestElementsOverLines: an element of config.xml that closes on a later line is redacted like one on
// a single line.
func TestElementsOverLines(t *testing.T) {
	got, _ := Text(Sense, "<pfsense>\n<system>\n<disablesegmentationoffloading>\n  </disablesegmentationoffloading>\n<optimization>\nhunter2\n</optimization>\n<mtu>\n1492</mtu></system></pfsense>")
	if want := "<pfsense>\n<system>\n<disablesegmentationoffloading>\n</disablesegmentationoffloading>\n<optimization>\n" + Mark + "\n</optimization>\n<mtu>\n1492</mtu></system></pfsense>"; got != want {
		t.Errorf("%s", got)
	}
	got, _ = Text(Sense, "<pfsense>\n<pptpd><mode><!-- off *or* - server --></mode></pptpd>\n<sysctl>\n<!--\n<item><tunable>kern.ipc.maxsockbuf</tunable></item>\n-->\n</sysctl><system><!-- <mtu>9</mtu> --></system></pfsense>")
	if want := "<pfsense>\n<mode></mode>\n<sysctl>\n\n\n\n</sysctl><system></system></pfsense>"; got != want {
		t.Errorf("%q", got)
	}
}

// TestQuotesOfComments: quotes in a comment of a loader file are kept, because they end the value
// before it.
func TestQuotesOfComments(t *testing.T) {
	for in, want := range map[string]string{
		`pf_load="YES" # was "NO"`:           `pf_load="YES" #""`,
		`kern.hz="100" # hush`:               `kern.hz="100" #`,
		`kern.hz="1 # 2"`:                    `kern.hz="1 #"`,
		`# kern.hz="100"`:                    `#`,
		`kern.hz="100" # "pass word" secret`: `kern.hz="100" #""`,
	} {
		got, _ := Text(Loader, in)
		again, _ := Text(Loader, got)
		if got != want || again != got {
			t.Errorf("%s: %s, then %s, want %s", in, got, again, want)
		}
	}
}

// TestTable: every pattern compiles, and every target state exists.
func TestTable(t *testing.T) {
	states := compiled().rules
	for _, r := range written().rules {
		r.compile()
		if _, ok := states[r.to]; r.to != "" && !ok || !strings.ContainsRune("kvmdc", rune(r.act)) {
			t.Errorf("%s: %s leads to %q, act %c", r.at, r.pattern, r.to, r.act)
		}
	}
	for from, to := range written().eol {
		if states[from] == nil || states[to] == nil {
			t.Errorf("a line ends in %s, the next begins in %s", from, to)
		}
	}
}

// TestEscapedQuotesOfCommands: an escaped quote opens nothing, or what a shell runs would seem to go on below.
func TestEscapedQuotesOfCommands(t *testing.T) {
	for in, want := range map[string]string{
		`eval value=\"\$$name\"`:    Mark + " " + Mark + "=" + Mark,
		`echo "a \" b" hunter2`:     Mark + ` "` + Mark + `" ` + Mark,
		`echo \"hunter2\" \`:        Mark + " " + Mark + ` \`,
		`echo "not closed hunter2 `: Mark + ` "` + Mark,
	} {
		if got, _ := Text(RC, in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
