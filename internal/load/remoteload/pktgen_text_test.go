package remoteload

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"linerate/internal/hint"
)

// TestPktGenText parses captures of the public netbenches archive; those of FreeBSD 14.0's pkt-gen are
// from a tap on Linux: interrupted, and with averages (-A, units normalised).
func TestPktGenText(t *testing.T) {
	for _, c := range []struct {
		file    string
		packets uint64
		seconds float64
		closed  bool
	}{
		{"fbsd15.sender", 1000000000, 67.21, true},
		{"fbsd10.sender", 80000000, 94.72, true},
		{"fbsd16-inet6.sender", 80000000, 55.98, true},
		{"fbsd13.receiver", 136627299, 67.30, true},
		{"fbsd14-interrupted.sender", 820520, 4.98, true},
		{"fbsd14-average.sender", 6000, 0.03, true},
		{"fbsd15.receiver", 0, 0, false},
	} {
		data, err := os.ReadFile("testdata/" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		a, err := readPktGen(string(data))
		if (err == nil) != c.closed || err != nil && !errors.Is(err, errUnclosed) {
			t.Errorf("%s: %v", c.file, err)
		}
		if c.closed && (a.packets != c.packets || a.seconds != c.seconds) {
			t.Errorf("%s: %+v", c.file, a)
		}
	}
	if a, err := readPktGen("Received 12 packets 720 bytes 3 events 60 bytes each in -1.00 seconds.\n"); err != nil || a.packets != 12 || a.seconds != 0 {
		t.Errorf("a receiver of few frames: %+v, %v", a, err)
	}
	failed := "881.494448 sender_body [1701] start, fd 3 main_fd 3\n881.6 sender_body [1801] poll error on 3 ring 0-0\n881.9 main_thread [2780] 0 pps (0 pkts 0 bps in 1000872 usec) 0.00 avg_batch 0 min_space\n881.9 main_thread [2812] ouch, thread 0 exited with error\nSent 12 packets 720 bytes 3 events 60 bytes each in -881.49 seconds.\n"
	if a, err := readPktGen(failed); err == nil || !strings.Contains(err.Error(), "failed: poll error on 3 ring 0-0") || hint.Of(err) == "" {
		t.Errorf("a thread that failed: %+v, %v", a, err)
	}
	none := "784.171651 main_thread [2785] 0 pps (0 pkts 0 bps in 890210 usec) 0.00 avg_batch 99999 min_space\nReceived nothing.\n"
	if a, err := readPktGen(none); err != nil || a.packets != 0 {
		t.Errorf("a receiver of no frames: %+v, %v", a, err)
	}
}

func FuzzPktGen(f *testing.F) {
	for _, name := range []string{"fbsd15.sender", "fbsd10.sender", "fbsd13.receiver"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data[max(0, len(data)-2000):]))
	}
	f.Add("Received 1 packets 1 bytes 1 events 1 bytes each in -. seconds.")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := readPktGen(text)
		if err == nil {
			if a.packets > maxPackets+1e15 || math.IsNaN(a.seconds) || a.seconds < 0 {
				t.Fatalf("%+v", a)
			}
		}
	})
}
