package audit_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/audit"
)

const listsPage = "../../docs/guide/linux-lists.md"

// publicLists are the lists of the page, each with the role that it is for.
var publicLists = []struct{ file, title, role string }{
	{"centos", "the CentOS 6 list of wikis", "web"},
	{"easyengine", "EasyEngine", "web"},
	{"nginx", "the nginx list of blogs", "web"},
	{"netoptix", "CustomNetOptix, a one-click script", "vpn"},
	{"k4yt3x", "K4YT3X, hardened", "web"},
	{"highspeed", "25 to 100 Gb/s, after ESnet", "web"},
	{"tuned", "tuned: throughput-performance, network-throughput", "web"},
	{"openwrt", "OpenWrt", "router"},
	{"frr", "FRRouting", "router"},
	{"vyos", "VyOS", "router"},
	{"devsec", "dev-sec, os_hardening (Ansible)", "web"},
	{"netflix", "How Netflix Tunes EC2, 2017", "web"},
	{"hawshemi", "Linux-Optimizer (hawshemi)", "vpn"},
	{"amnezia", "AmneziaVPN's server script", "vpn"},
	{"datastax", "DataStax Enterprise 6.8", "database"},
	{"saphana", "SAP HANA on Azure NetApp Files", "database"},
	{"aistore", "NVIDIA AIStore", "storage"},
	{"k3s", "a k3s node script for CentOS 7", "endpoint"},
	{"bottlerocket", "Bottlerocket", "endpoint"},
	{"pvetune", "pve-tune for Proxmox VE", "endpoint"},
}

// TestLinuxListsPage keeps the page on twenty public Linux lists in step with the
// audit: its table, and every finding it cites of a list ("`LIST LR-…`").
func TestLinuxListsPage(t *testing.T) {
	page, err := os.ReadFile(listsPage)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| list | lines | gone, renamed | unknown | harmful | memory | lowers a default | no effect | the default | claim alone | nothing to say |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	reports := map[string]*audit.Report{}
	for _, l := range publicLists {
		text, err := os.ReadFile("testdata/lists/" + l.file + ".conf")
		if err != nil {
			t.Fatal(err)
		}
		r := run(t, tree(t, "6.12", map[string]string{"/etc/sysctl.d/" + l.file + ".conf": string(text)}), l.role)
		reports[l.file] = r
		fmt.Fprintf(&b, "| %s (%s) | %d |", l.title, l.role, r.Lines)
		for _, kinds := range [][]audit.Kind{{audit.Removed, audit.Renamed}, {audit.Unknown}, {audit.Harmful}, {audit.Memory}, {audit.LowersDefault}, {audit.Ineffective}, {audit.Default}, {audit.Folklore}} {
			n := 0
			for _, f := range r.Findings {
				if slices.Contains(kinds, f.Kind) {
					n++
				}
			}
			fmt.Fprintf(&b, " %d |", n)
		}
		fmt.Fprintf(&b, " %d |\n", r.Quiet)
	}
	want := replaceBlock(t, string(page), "lists", b.String())
	if *update {
		if err := os.WriteFile(listsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(page) {
		t.Errorf("the table in %s is out of step; go test ./internal/audit -run TestLinuxListsPage -update\nwant\n%s", listsPage, b.String())
	}
	for _, m := range regexp.MustCompile("`([a-z0-9]+) (LR-[A-Z]+[^`]*)`").FindAllStringSubmatch(string(page), -1) {
		if r := reports[m[1]]; r == nil || !slices.ContainsFunc(r.Findings, func(f audit.Finding) bool { return f.ID == m[2] }) {
			t.Errorf("%s cites %s of %s, which the audit on 6.12 does not find", listsPage, m[2], m[1])
		}
	}
}
