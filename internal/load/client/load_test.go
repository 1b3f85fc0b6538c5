package client

import (
	"testing"
	"time"

	"linerate/internal/load/request"
)

func TestPace(t *testing.T) {
	l := Load{Rate: 10, Arrivals: request.Poisson, Duration: 90 * time.Second, Warmup: time.Second, Timeout: 1500 * ms, Seed: 7}
	if p := l.Pace(); p != (request.Pace{Loop: "open", Arrivals: "poisson", Rate: 10, Seconds: 90, WarmupSeconds: 1, TimeoutSeconds: 1.5, Seed: 7}) || !p.Open() {
		t.Errorf("%+v", p)
	}
	l.Rate = 0
	if p := l.Pace(); p.Loop != "closed" || p.Arrivals != "" || p.Open() {
		t.Errorf("%+v", p)
	}
}
