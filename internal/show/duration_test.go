package show

import (
	"testing"
	"time"
)

func TestLong(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 seconds", time.Second: "1 second", 200 * time.Second: "3 minutes 20 seconds", time.Hour: "1 hour",
		1037000 * time.Second: "12 days", 1078000 * time.Second: "12 days 11 hours", 90*time.Minute + 29*time.Second: "1 hour 30 minutes",
		59*time.Second + 600*time.Millisecond: "1 minute",
	} {
		if got := Long(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}
