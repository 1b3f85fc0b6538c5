package main

import (
	"slices"
	"strings"
	"testing"
)

// TestProveFlags: hours, shares and margins as people write them, and what is wrong with them
// before anything is asked or touched.
func TestProveFlags(t *testing.T) {
	args := []string{"prove", "net.ipv4.tcp_fin_timeout=17", "--metric", "drops", "--window", "5m"}
	for _, c := range []struct{ flags, want string }{
		{"--hours 01:00-05:00x", `--hours: "01:00-05:00x" are no hours`},
		{"--hours 01:00-01:05", "have no room for a pair of windows"},
		{"--max-share 60%", "--max-share: "},
		{"--max-share a", "want a percentage, such as 25%"},
		{"--time 2h --hours 01:00-05:00 --max-share 1%", "cannot decide"},
	} {
		var b strings.Builder
		root := newRootCmd()
		root.SetArgs(append(slices.Clone(args), strings.Fields(c.flags)...))
		root.SetOut(&b)
		root.SetErr(&b)
		if err := root.Execute(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.flags, err, c.want)
		}
	}
	var f proveFlags
	for _, text := range []string{"25%", "25 %", "25"} {
		if err := f.share.Set(text); err != nil || f.share != 25 || f.share.String() != "25%" {
			t.Errorf("%q is %v: %v", text, f.share, err)
		}
	}
}
