package site_test

import (
	"context"
	"encoding/json"
	"html"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/internal/sharedtest"

	"linerate/catalogue"
	"linerate/internal/audit"
	"linerate/internal/labtest"
	"linerate/internal/site"
)

// made is the whole site, built once.
var made = sync.OnceValues(func() (map[string][]byte, error) {
	c, err := catalogue.Load()
	if err != nil {
		return nil, err
	}
	rules, err := audit.LoadRules(sharedtest.Catalogue())
	if err != nil {
		return nil, err
	}
	rows, err := catalogue.Evidence()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	err = site.Write(site.Input{Catalogue: c, Rules: rules.Rules(), Evidence: rows, Built: "test"}, func(name string, data []byte) error {
		files[name] = data
		return nil
	})
	return files, err
})

func files(t *testing.T) map[string][]byte {
	t.Helper()
	all, err := made()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEveryTunableHasAPage, with its JSON, in less than 60 MB.
func TestEveryTunableHasAPage(t *testing.T) {
	all := files(t)
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	pages, bytes := 0, 0
	lower := map[string]string{}
	for name, data := range all {
		bytes += len(data)
		if strings.HasPrefix(name, "t/") && strings.HasSuffix(name, ".html") {
			pages++
			var doc struct{ Name string }
			if err := json.Unmarshal(all[strings.TrimSuffix(name, ".html")+".json"], &doc); err != nil || !strings.Contains(string(data), "<h1><code>"+html.EscapeString(doc.Name)) {
				t.Errorf("%s: its JSON is of %q, %v", name, doc.Name, err)
			}
		}
		if other := lower[strings.ToLower(name)]; other != "" {
			t.Errorf("%s and %s are one file where letters have no case", name, other)
		}
		lower[strings.ToLower(name)] = name
	}
	if pages != len(c.Records) || bytes > 60e6 {
		t.Errorf("%d pages of %d tunables, %d bytes", pages, len(c.Records), bytes)
	}
	t.Logf("%d files, %d bytes", len(all), bytes)
}

var (
	leads  = regexp.MustCompile(`(?:href|src)="([^"#]*)(#[^"]*)?"`)
	loaded = regexp.MustCompile(`<(?:script|img|link)[^>]*(?:src|href)="(?:https?:)?//`)
)

// TestLinks: every link leads to a page of the site or to another site, and no page loads anything
// from other sites.
func TestLinks(t *testing.T) {
	all := files(t)
	for name, data := range all {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		if loaded.Match(data) {
			t.Errorf("%s loads something from elsewhere", name)
		}
		for _, m := range leads.FindAllSubmatch(data, -1) {
			to := html.UnescapeString(string(m[1]))
			if to == "" {
				if id := strings.TrimPrefix(string(m[2]), "#"); id != "" && !strings.Contains(string(data), `id="`+id+`"`) {
					t.Errorf("%s links to its part %s, which it lacks", name, id)
				}
				continue
			}
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			if _, ok := all[path.Join(path.Dir(name), to)]; !ok {
				t.Errorf("%s links to %s, which is not there", name, to)
			}
		}
	}
}

// TestPagesSay what the catalogue knows.
func TestPagesSay(t *testing.T) {
	all := files(t)
	for _, c := range []struct{ page, want string }{
		{"t/linux/net.ipv4.tcp_tw_recycle.html", "gone since 4.12"},
		{"t/linux/net.ipv4.tcp_rmem.html", `href="../../t/freebsd/net.inet.tcp.`},
		{"t/linux/net.ipv4.tcp_rmem.html", `id="claims"`},
		{"t/freebsd/net.inet.ip.redirect.html", `class="better"`},
		{"list/freebsd.html", "net.inet.tcp.sendbuf_max</a>"},
	} {
		if !strings.Contains(string(all[c.page]), c.want) {
			t.Errorf("%s (%d bytes) lacks %s", c.page, len(all[c.page]), c.want)
		}
	}
}

// TestSearchInABrowser: in Chromium, from file://, the search finds by name and by meaning, and
// applies filters.
func TestSearchInABrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		labtest.Lacking(t, "chromium: %v", err)
	}
	dir := t.TempDir()
	for name, data := range files(t) {
		if strings.Contains(name, "/") {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	slowest := 0.0
	for _, c := range []struct{ query, first, has, not string }{
		{"q=net.core.somaxconn", "net.core.somaxconn", "", ""},
		{"q=tcp_tw_recycle", "net.ipv4.tcp_tw_recycle", "gone", ""},
		{"q=tcp+send+buffer", "", "net.inet.tcp.sendspace", ""},
		{"q=redirect&os=0", "", "net.inet.ip.redirect", ">Linux"},
		{"q=tcp_tw_recycle&os=1&release=1:6.12", "", "Nothing found", "<li><a"},
		{"is=1&os=0", "", "net.inet.ip.redirect", ">Linux"},
		{"q=%3Cscript%3Ealert(1)%3C/script%3E", "", `id="results"`, "alert(1)</script>"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		out, err := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+filepath.Join(dir, ".profile"), "--virtual-time-budget=4000",
			"--dump-dom", "file://"+filepath.Join(dir, "index.html")+"#"+c.query).Output()
		cancel()
		if err != nil {
			t.Fatalf("chromium: %v", err)
		}
		dom := string(out)
		_, list, _ := strings.Cut(dom, `id="told"`)
		list, _, _ = strings.Cut(list, "<noscript>")
		first := ""
		if m := regexp.MustCompile(`<li><a href="([^"]*)">([^<]*)`).FindStringSubmatch(list); m != nil {
			first = m[2]
		}
		if c.first != "" && first != c.first || !strings.Contains(list+`id="results"`, c.has) || c.not != "" && strings.Contains(list, c.not) {
			t.Errorf("#%s finds %q first:\n%.2000s", c.query, first, list)
		}
		if m := regexp.MustCompile(`data-ms="([0-9.]+)"`).FindStringSubmatch(dom); m != nil {
			ms, _ := strconv.ParseFloat(m[1], 64)
			slowest = max(slowest, ms)
		} else {
			t.Errorf("#%s: the search did not run", c.query)
		}
	}
	t.Logf("the slowest search took %.1f ms", slowest)
}
