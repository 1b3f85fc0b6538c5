package audit_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/sharedtest"
)

const folklorePage = "../../docs/guide/folklore.md"

// publicLists are the lists on the page, and the host that each is audited for.
var publicLists = []struct{ file, title, release, role string }{
	{"klaver", "Michiel Klaver, 2011", "6.12", "web"},
	{"centos", "the CentOS 6 list of wikis", "6.12", "web"},
	{"easyengine", "EasyEngine", "6.12", "web"},
	{"nginx", "the nginx list of blogs", "6.12", "web"},
	{"netoptix", "CustomNetOptix, a one-click script", "6.12", "vpn"},
	{"k4yt3x", "K4YT3X, hardened", "6.12", "web"},
	{"highspeed", "25 to 100 Gb/s, after ESnet", "6.12", "web"},
	{"tuned", "tuned: throughput-performance, network-throughput", "6.12", "web"},
	{"openwrt", "OpenWrt", "6.12", "router"},
	{"frr", "FRRouting", "6.12", "router"},
	{"vyos", "VyOS", "6.12", "router"},
	{"devsec", "dev-sec, os_hardening (Ansible)", "6.12", "web"},
	{"netflix", "How Netflix Tunes EC2, 2017", "6.12", "web"},
	{"hawshemi", "Linux-Optimizer (hawshemi)", "6.12", "vpn"},
	{"amnezia", "AmneziaVPN's server script", "6.12", "vpn"},
	{"datastax", "DataStax Enterprise 6.8", "6.12", "database"},
	{"saphana", "SAP HANA on Azure NetApp Files", "6.12", "database"},
	{"aistore", "NVIDIA AIStore", "6.12", "storage"},
	{"k3s", "a k3s node script for CentOS 7", "6.12", "endpoint"},
	{"bottlerocket", "Bottlerocket", "6.12", "endpoint"},
	{"pvetune", "pve-tune for Proxmox VE", "6.12", "endpoint"},
	{"opnsense", "OPNsense 25.7, a collection of 2026", "25.7", "firewall"},
}

const listsHead = "| list (role) | lines | gone | unknown | harmful | memory | lowers | no effect | default | nothing to say |\n|---|---|---|---|---|---|---|---|---|---|\n"

// listRow returns a report's row of the page's table.
func listRow(title string, r *audit.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | %d |", title, r.Lines)
	for _, kinds := range [][]audit.Kind{{audit.Removed, audit.Renamed}, {audit.Unknown}, {audit.Harmful}, {audit.Memory}, {audit.LowersDefault}, {audit.Ineffective}, {audit.Default}} {
		n := 0
		for _, f := range r.Findings {
			if slices.Contains(kinds, f.Kind) {
				n++
			}
		}
		fmt.Fprintf(&b, " %d |", n)
	}
	fmt.Fprintf(&b, " %d |\n", r.Quiet)
	return b.String()
}

// listReport audits a list in testdata/lists.
func listReport(t *testing.T, file, release, role string) *audit.Report {
	t.Helper()
	if file == "opnsense" {
		var items []string
		for line := range strings.Lines(readFile(t, "testdata/lists/opnsense.txt")) {
			if s := strings.TrimSpace(line); s != "" && s[0] != '#' {
				items = append(items, s)
			}
		}
		return ofFiles(t, role, fact.FreeBSD, release, map[string]string{"/conf/config.xml": sense("opnsense", items...)})
	}
	path := "testdata/lists/" + file + ".conf"
	if file == "klaver" {
		path = "testdata/klaver-2011.conf"
	}
	return run(t, tree(t, release, map[string]string{"/etc/sysctl.d/" + file + ".conf": readFile(t, path)}), role)
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// cited matches the findings that the page cites of a list: `LIST LR-…`.
var cited = regexp.MustCompile("`([a-z0-9]+) (LR-[A-Z]+[^`]*)`")

// TestFolklorePage keeps the page on public lists in step with the audit: its table, and every
// finding that it cites.
func TestFolklorePage(t *testing.T) {
	page := readFile(t, folklorePage)
	var b strings.Builder
	b.WriteString(listsHead)
	reports := map[string]*audit.Report{}
	for _, l := range publicLists {
		r := listReport(t, l.file, l.release, l.role)
		reports[l.file] = r
		b.WriteString(listRow(l.title+" ("+l.role+")", r))
	}
	holdBlock(t, page, "lists", b.String())
	for _, m := range cited.FindAllStringSubmatch(page, -1) {
		if r := reports[m[1]]; m[1] != "calomel" && (r == nil || !has(r, m[2])) {
			t.Errorf("%s cites %s of %s, which the audit does not find", folklorePage, m[2], m[1])
		}
	}
	if c := reports["klaver"].Coverage; c.SetKnown != c.Set {
		t.Errorf("the catalogue knows %d of the Klaver list's %d names", c.SetKnown, c.Set)
	}
}

// TestFolkloreCalomel does the same for the Calomel guide, whose text is not in the repository.
func TestFolkloreCalomel(t *testing.T) {
	sharedtest.Dir(t, "seeds")
	files, page := guideFiles(t), readFile(t, folklorePage)
	var b strings.Builder
	b.WriteString(strings.Replace(listsHead, "list (role)", "release, role", 1))
	var reports []*audit.Report
	for _, rel := range []string{"12.4", "13.5", "14.3", "15.0"} {
		for _, role := range []string{"firewall", "web"} {
			r := run(t, tree(t, rel, files), role)
			reports = append(reports, r)
			b.WriteString(listRow(rel+" "+role, r))
		}
	}
	holdBlock(t, page, "calomel", b.String())
	for _, m := range cited.FindAllStringSubmatch(page, -1) {
		if m[1] == "calomel" && !slices.ContainsFunc(reports, func(r *audit.Report) bool { return has(r, m[2]) }) {
			t.Errorf("%s cites %s of the Calomel guide, which no audit of it finds", folklorePage, m[2])
		}
	}
}

func has(r *audit.Report, id string) bool {
	return slices.ContainsFunc(r.Findings, func(f audit.Finding) bool { return f.ID == id })
}

// holdBlock compares a generated block of the page with text; -update rewrites it.
func holdBlock(t *testing.T, page, name, text string) {
	t.Helper()
	begin, end := "<!-- "+name+": generated -->\n", "<!-- end -->"
	before, rest, ok := strings.Cut(page, begin)
	is, after, also := strings.Cut(rest, end)
	switch {
	case !ok || !also:
		t.Fatalf("%s has no block %q", folklorePage, name)
	case is != text && *update:
		if err := os.WriteFile(folklorePage, []byte(before+begin+text+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	case is != text:
		t.Errorf("the block %q of %s is out of step; -update rewrites it\nwant\n%s", name, folklorePage, text)
	}
}
