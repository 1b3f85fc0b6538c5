package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"linerate/internal/audit"
)

func TestRulesOfManyHosts(t *testing.T) {
	c := ruleCounts{}
	for i := range 3 {
		r := &audit.Report{Findings: []audit.Finding{
			{ID: "LR-A:x", Name: "x", Severity: audit.Warning, Message: "x is wrong"}, {ID: "LR-A:x@/b", Name: "x", Severity: audit.Warning, Message: "x is wrong"},
			{ID: "LR-I:y", Name: "y", Severity: audit.Info, Message: "y"},
		}}
		if i == 0 {
			r.Findings = append(r.Findings, audit.Finding{ID: "LR-B:z", Name: "z", Severity: audit.Error, Message: "z is gone"})
		}
		c.add(r)
	}
	var b strings.Builder
	c.print(&b)
	if want := "\nLR-A on 3 hosts (warning): x is wrong\nLR-B on 1 host (error): z is gone\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
}

func TestLostConnectionsAreTriedAgain(t *testing.T) {
	was := pauses
	pauses = []time.Duration{1, 1, 1}
	defer func() { pauses = was }()
	for _, c := range []struct {
		err   error
		tries int
	}{{fmt.Errorf("ssh: handshake failed: %w", io.EOF), 4}, {errors.New("read: connection reset by peer"), 4}, {errors.New("permission denied"), 1}, {nil, 1}} {
		n := 0
		_, err := patiently(context.Background(), "h", func(context.Context, string) (int, error) { n++; return 0, c.err })
		if n != c.tries || !errors.Is(err, c.err) {
			t.Errorf("%v: %d tries, %v", c.err, n, err)
		}
	}
}
