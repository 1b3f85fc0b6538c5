package load

import (
	"strings"
	"testing"
)

func TestShortBecause(t *testing.T) {
	refused := func(n uint64) *uint64 { return &n }
	host := func(h HostTime) *HostTime { h.Seconds, h.Workers = 2, 1; return &h }
	for _, c := range []struct {
		name string
		sent Sent
		want []string // begins of reasons
	}{
		{"not short", Sent{TargetPPS: 1e6, TxPackets: 2e6, Host: host(HostTime{Waited: 1})}, nil},
		{"nothing known", Sent{TargetPPS: 1e6, TxPackets: 1e6, Unsent: 1e6}, nil},
		{"a thousandth is no matter", Sent{TargetPPS: 1e6, TxPackets: 1e6, Unsent: 900, Host: host(HostTime{Stolen: 1})}, nil},
		{"stolen", Sent{TargetPPS: 1e6, TxPackets: 1e6, Unsent: 1e6, Host: host(HostTime{Stolen: 0.1})},
			[]string{"the hypervisor stole 5 %"}},
		{"the weightiest first", Sent{TargetPPS: 1e6, TxPackets: 1e6, Unsent: 1e6, Host: host(HostTime{Stolen: 0.1, Waited: 1})},
			[]string{"other programs had the workers' CPUs for 50 %", "the hypervisor stole 5 %"}},
		{"ksoftirqd is not others", Sent{TargetPPS: 1e6, TxPackets: 1e6, Unsent: 1e6, Host: host(HostTime{Waited: 1,
			Threads: []ThreadTime{{Name: "ksoftirqd/0", Ran: 0.99}}})}, []string{"ksoftirqd"}},
		{"the path is full", Sent{TargetPPS: 9e6, TxPackets: 1e6, Unsent: 1e6, TxPPS: 5e5, Host: host(HostTime{})},
			[]string{"nothing else had the workers' CPUs: 500 kpps"}},
		{"nobody counted", Sent{TargetPPS: 9e6, TxPackets: 1e6, Unsent: 1e6, TxPPS: 5e5, Host: host(HostTime{Uncounted: true})},
			[]string{"500 kpps is what the workers and this path carried; whether others"}},
		{"the far end wakes late", Sent{TargetPPS: 1e6, TxPackets: 1e6, Refused: refused(2e5), Host: host(HostTime{
			Threads: []ThreadTime{{Name: "napi/dut0-7", Ran: 0.9, Waited: 0.6, Wakeups: 1000}}})},
			[]string{"20.0 % of the frames found the far end's ring full: napi/dut0-7 waited 30 % of the time for its CPU, 600 µs a time"}},
		{"the far end is busy", Sent{TargetPPS: 1e6, TxPackets: 1e6, Refused: refused(2e5), Host: host(HostTime{
			Threads: []ThreadTime{{Name: "napi/dut0-7", Ran: 1.99}}})}, []string{"20.0 % of the frames found the far end's ring full: napi/dut0-7 worked all the time"}},
		{"at maximum a full ring is what was asked for", Sent{TxPackets: 1e6, Refused: refused(2e5), Host: host(HostTime{Waited: 1})}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.sent.ShortBecause()
			if len(got) != len(c.want) {
				t.Fatalf("got %q, want %q", got, c.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], c.want[i]) {
					t.Errorf("got %q, want %q", got[i], c.want[i])
				}
			}
		})
	}
}
