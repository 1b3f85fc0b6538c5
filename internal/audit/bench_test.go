package audit_test

import (
	"testing"

	"linerate/internal/sharedtest"

	"linerate/internal/audit"
	"linerate/internal/tunable"
)

func BenchmarkLoadCatalogue(b *testing.B) {
	for b.Loop() {
		if _, err := tunable.Read(sharedtest.Catalogue()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoadRules(b *testing.B) {
	for b.Loop() {
		if _, err := audit.LoadRules(sharedtest.Catalogue()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	f := tree(b, "14.3", map[string]string{"/etc/sysctl.conf": "net.inet.ip.maxfragpackets=0"})
	for b.Loop() {
		run(b, f, "firewall")
	}
}
