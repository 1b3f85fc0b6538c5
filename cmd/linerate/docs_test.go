package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"linerate/internal/capture"
)

// TestDocumentedCommands runs every linerate command of the README, the guide and the
// reference, page by page and in order, as a reader would who types along: with fixtures
// under the names that they use, and studies on a simulated testbed. For verbs that need real
// interfaces or hosts only the flags are checked; the lab's tests run them for real.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var bundle bytes.Buffer // a capture of this machine, shared by all pages
	if err := capture.Run(t.Context(), "-", &bundle, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, page := range documentedPages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		commands := documentedCommands(string(text))
		if len(commands) == 0 {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(filepath.Dir(page))+"-"+filepath.Base(page), ".md")
		if err := os.WriteFile(filepath.Join(dir, name+".txtar"), []byte(docScript(string(text), commands)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Setup: func(e *testscript.Env) error {
			fitSchemas(t, e)
			e.Setenv("LINERATE_LEDGER", filepath.Join(e.WorkDir, ".ledger", "ledger.db"))
			e.Setenv("SIMULATED", "1")
			if err := docFixtures(e.WorkDir); err != nil {
				return err
			}
			return errors.Join(os.WriteFile(filepath.Join(e.WorkDir, "bundle.tar.gz"), bundle.Bytes(), 0o600), os.WriteFile(filepath.Join(e.WorkDir, "fw1.tar.gz"), bundle.Bytes(), 0o600))
		},
	})
}

func documentedPages(t *testing.T) []string {
	t.Helper()
	pages := []string{"../../README.md"}
	for _, pattern := range []string{"../../docs/guide/*.md", "../../docs/reference/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	return pages
}

// docCommand matches an indented or fenced line that begins with linerate or with a pipe into it.
var docCommand = regexp.MustCompile(`^( {4,}|\$ |)(sudo )?((zcat \S+ \| )?linerate |go run -exec sudo \./cmd/linerate )`)

// documentedCommands returns the commands of a page, with continued lines joined.
func documentedCommands(text string) []string {
	var out []string
	fenced, joined := false, ""
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if joined != "" {
			line = joined + " " + strings.TrimSpace(line)
			joined = ""
		} else if !docCommand.MatchString(strings.Replace(line, "    $ ", "    ", 1)) || !fenced && !strings.HasPrefix(line, "    ") {
			continue
		}
		if rest, more := strings.CutSuffix(line, `\`); more {
			joined = rest
			continue
		}
		out = append(out, line)
	}
	return out
}

var (
	// docRemark matches the remark that a page puts after a command.
	docRemark = regexp.MustCompile(`\s{2,}\S.*$`)
	// needsMore matches commands that need what this test does not have: real interfaces,
	// other hosts, captured packets, a database, or many minutes.
	needsMore = regexp.MustCompile(`linerate (fleet|lab|apply|confirm|rollback|status|load|serve|worker|study queue|study run \S+ (--quick )?--submit|tune --study (web-latency|mail|files) --role \w+ --time|study run (web-latency|http-concurrency|tls|release-mirror|mail|files))\b|ssh://|--hosts|--changed|--metric (cpu|softirq)-per-packet|--per connection|inspect --watch`)
	// mayFind matches commands whose exit code reports findings.
	mayFind = regexp.MustCompile(`--fail-on`)
	// makesDirectory matches commands that write a study's directory.
	makesDirectory = regexp.MustCompile(`linerate (demo|study run)\b`)
)

// typed rewrites a documented command for this test's directory.
func typed(line string) string {
	line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
	line = strings.TrimPrefix(line, "sudo ")
	line = strings.Replace(line, "go run -exec sudo ./cmd/linerate", "linerate", 1)
	line = strings.TrimSuffix(docRemark.ReplaceAllString(line, ""), " &")
	for _, r := range [][2]string{{"/var/log/nginx/", ""}, {"/backup/fw1", "fw1"}, {"/mnt", "fw1"}, {"./fw1", "fw1"}, {"import DIR", "import netbenches"}, {"resume DIR", "resume demo"},
		{"VERDICT", "$(cat verdict)"}, {"TRIAL", "$(cat trial)"}, {"SHA256", "$(cat sha256)"}} {
		line = strings.ReplaceAll(line, r[0], r[1])
	}
	line, _, _ = strings.Cut(line, " | jq ") // jq may not be installed
	if needsMore.MatchString(line) {
		line += " --help"
	}
	return line
}

// docScript returns the test script of a page. Fixtures that few pages need are made only
// when the page names them.
func docScript(text string, commands []string) string {
	var b strings.Builder
	all := strings.Join(commands, "\n")
	for _, p := range []struct{ names, make string }{
		{`netbenches|import DIR`, "exec mkarchive netbenches\n"},
		{`--root guide`, "exec cp -r fw1 guide\n"},
		{`eleven\.db`, "exec mkarchive netbenches\n"},
		{`resume DIR`, "exec linerate demo --quick --out demo\n"},
		{`VERDICT|ledger query|ledger export`, "exec linerate study run firewall-rules --quick --out lab --seed 1\nexec linerate study run firewall-rules --quick --out results/firewall-rules --seed 2\n"},
		{`VERDICT`, "exec sh -c 'linerate ledger query --study firewall-rules --json | field verdict_id > verdict'\n" +
			"exec sh -c 'linerate ledger query --study firewall-rules --json | field study_id > study'\n" +
			"exec sh -c 'linerate ledger show $(cat verdict) --json | field record.variant_trials.0 > trial'\n" +
			"exec sh -c 'linerate ledger show $(cat trial) --json | field record.sources.0.sha256 > sha256'\n"},
	} {
		if regexp.MustCompile(p.names).MatchString(all) && !strings.Contains(b.String(), p.make) {
			b.WriteString(p.make)
		}
	}
	files := docFiles(text)
	for i, c := range commands {
		c = typed(c)
		switch {
		case mayFind.MatchString(c):
			c += " || test $? = 3 -o $? = 4"
		case makesDirectory.MatchString(c) && !strings.Contains(c, "--out") && !strings.Contains(c, "--dry-run"):
			c += fmt.Sprintf(" --out made-%d", i) // the default name is a timestamp
		}
		name := fmt.Sprintf("command-%d.sh", i)
		files[name] = c + "\n"
		fmt.Fprintf(&b, "exec sh -e %s\n", name)
	}
	for name, content := range files {
		fmt.Fprintf(&b, "-- %s --\n%s", name, content)
	}
	return b.String()
}

// docFiles returns the YAML files that a page shows: a study, suppressions.
func docFiles(text string) map[string]string {
	files := map[string]string{}
	blocks := strings.Split(text, "```yaml\n")
	for _, b := range blocks[1:] {
		content, _, _ := strings.Cut(b, "```")
		switch {
		case strings.HasPrefix(content, "hosts:"):
			files["lab.yaml"] = content
		case strings.HasPrefix(content, "suppressions:"):
			files["known.yaml"] = content
		case strings.HasPrefix(content, "name: "):
			name, _, _ := strings.Cut(strings.TrimPrefix(content, "name: "), "\n")
			files[strings.TrimSpace(name)+".yaml"] = content
		}
	}
	return files
}

// docFixtures creates the files that pages refer to.
func docFixtures(dir string) error {
	tree := map[string]string{
		"etc/sysctl.conf": "net.inet.ip.redirect=0\n", "etc/rc.conf": "hostname=\"fw1\"\ngateway_enable=\"YES\"\n",
		"boot/loader.conf": "net.inet.tcp.hostcache.cachelimit=\"0\"\n",
	}
	files := map[string]string{"before.txt": "100\n101\n99\n100.5\n100.2\n", "after.txt": "103\n104\n102.5\n103.4\n103\n", "cores.txt": "1 100\n2 180\n4 300\n8 420\n16 500\n", "nightly.txt": "100\n101\n99\n100\n100\n90\n91\n89\n90\n90\n",
		"access.log": docLog(1), "before.log": docLog(1), "after.log": docLog(3),
		"before.folded": "fork_exit;ip_input;ip_forward 70\nfork_exit;cpu_idle 30\n", "after.folded": "fork_exit;ip_input;pf_test 61\nfork_exit;ip_input;ip_forward 35\nfork_exit;cpu_idle 4\n",
		"router.graph": "@ CPU_CLK_UNHALTED [100 samples]\n\n70.00%  [70]       ip_forward @ /boot/kernel/kernel\n 100.0%  [70]        fork_exit\n\n30.00%  [30]       cpu_idle\n 100.0%  [30]        fork_exit\n"}
	for _, unit := range []string{"tuned", "kubelet", "docker"} {
		files["node1/etc/systemd/system/multi-user.target.wants/"+unit+".service"] = ""
	}
	files["node1/etc/sysctl.d/50-x.conf"], files["node1/etc/tuned/active_profile"] = "vm.swappiness = 60\nkernel.panic = 60\n", "database\n"
	files["node1/etc/tuned/database/tuned.conf"], files["node1/etc/tuned/tuned-main.conf"] = "[sysctl]\nvm.swappiness=10\n", "reapply_sysctl=0\n"
	files["config-fw1.xml"] = "<?xml version=\"1.0\"?>\n<opnsense>\n<sysctl><item><tunable>net.inet.ip.redirect</tunable><value>0</value></item></sysctl>\n</opnsense>\n"
	files["config.boot"] = "interfaces {\n    ethernet eth0 {\n        address 192.0.2.1/24\n    }\n}\nsystem {\n    host-name rtr1\n    sysctl {\n        parameter net.core.somaxconn {\n            value 8192\n        }\n    }\n}\n"
	for i := range 3 {
		for name, rate := range map[string]float64{"cubic": 9e9, "bbr": 9.5e9} {
			files[fmt.Sprintf("%s-%d.json", name, i)] = fmt.Sprintf(`{"start":{},"intervals":[],"end":{"sum_received":{"bytes":9,"bits_per_second":%g}}}`, rate+1e7*float64(i))
		}
	}
	files["sysctl.conf"] = "net.ipv4.tcp_tw_recycle=1\n"
	for name, text := range tree {
		files[name], files["fw1/"+name], files["list/"+name] = text, text, text
	}
	for i := range 200 {
		files["app.log"] += fmt.Sprintf("{\"time\":\"2025-10-10T12:00:%02dZ\",\"status\":200,\"backend\":{\"took\":%d}}\n", i/4, 10+i%90)
	}
	files["access.log.2.gz"] = gzipped(docLog(1))
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// docLog returns an access log whose requests take about scale hundredths of a second.
func docLog(scale int) string {
	var b strings.Builder
	for i := range 600 {
		fmt.Fprintf(&b, "198.18.0.%d - - [10/Oct/2025:12:%02d:%02d +0000] \"GET /api/%d HTTP/1.1\" 200 512 \"-\" \"-\" 0.%03d\n", i%250+1, i/60, i%60, i%7, scale*(10+i%30))
	}
	return b.String()
}

func gzipped(text string) string {
	var b strings.Builder
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}
