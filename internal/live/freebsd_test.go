package live

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/host/localhost"
)

// TestFreeBSDText parses what FreeBSD 14.0's netstat -s and pfctl print, with distinct numbers: of several
// lines with the same ending only one is the counter.
func TestFreeBSDText(t *testing.T) {
	const text = `boot 1
hz 127
tcp 500 packets sent
tcp 300 data packets (0 bytes)
tcp 12 data packets (17280 bytes) retransmitted
tcp 3 data packets unnecessarily retransmitted
tcp 7 retransmit timeouts
tcp 5 retransmitted
tcp 2 discarded due to full reassembly queue
tcp 4 listen queue overflows
tcp 90 packets sent with ECN ECT(0) bit set
ip 8 fragments dropped (dup or out of space)
ip 16 output packets dropped due to no bufs, etc.
memory 100
available 50
entries 98000
entries-limit 100000
end
`
	s, err := parseSample(text)
	if err != nil || s.Segments != 500 || s.Again != 12 || s.Drops != 2+4+8+16 || s.States != 0.98 {
		t.Fatalf("%+v, %v", s, err)
	}
	// A full pf state table trips at two consecutive checks, as a full nf_conntrack does.
	g := guarding{rails: (&Options{}).guardrails()}
	g.window("it")
	before := s
	for i := range 2 {
		s.Passed++
		trip := g.check(true, s, before, nil)
		if (trip != nil) != (i == 1) || trip != nil && !strings.Contains(trip.Text, "connection table in use was 98.0 %") {
			t.Errorf("check %d: %+v", i, trip)
		}
	}
}

// TestFreeBSDClockIsSet: setting the clock also moves the boot time from which FreeBSD computes its
// uptime; the host has not rebooted, and still belongs to its study.
func TestFreeBSDClockIsSet(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	at := func(set int, args ...string) string {
		clock := fmt.Sprintf(`uname() { echo FreeBSD; }
date() { echo %d; }
sysctl() {
	case "$1 $2" in
	'-n kern.boottime') echo '{ sec = %d, usec = 171142 } Tue Nov 24 09:00:00 2026' ;;
	'-b kern.boot_id') printf 'sixteen bytes id' ;;
	esac
}
`, 1800000100+set, 1800000000+set)
		r := &localhost.Runner{Env: []string{"LINERATE_ROOT=" + root}}
		out, err := r.Run(t.Context(), clock+hostScript, args, nil)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	for _, c := range []struct {
		set  int
		args []string
		want string
	}{
		{0, []string{"lock", "study-1", "60", "first", "why"}, "taken"},
		{3600, []string{"lock", "study-2", "60", "first", "why"}, "held study-1 60\nwhy"},
		{-3600, []string{"lock", "study-1", "50", "again", "why"}, "taken"},
		{7, []string{"release"}, "held study-1 50"},
	} {
		if got := at(c.set, c.args...); got != c.want {
			t.Errorf("%v, the clock set by %d s: %q, want %q", c.args, c.set, got, c.want)
		}
	}
}
