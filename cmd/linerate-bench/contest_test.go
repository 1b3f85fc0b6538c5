package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestAccounts: what a client prints is read, and half of it is refused.
func TestAccounts(t *testing.T) {
	account := []byte(`{"answered":5,"request_rate":7,"requests":5,"latency_ns":{"p50":3000000000}}`)
	if r, err := readLinerateFiles(account); err != nil || r != (filesRun{5, 7}) {
		t.Errorf("files: %+v, %v", r, err)
	}
	if r, err := readLinerate(account); err != nil || r != (httpRun{7, 3, 5}) {
		t.Errorf("http: %+v, %v", r, err)
	}
	if _, err := readLinerate([]byte(`{"requests":5}`)); err == nil {
		t.Error("http: an account without latencies is read")
	}
	if _, err := readLinerateFiles([]byte(`{`)); err == nil {
		t.Error("files: half an account is read")
	}
}

// TestRivalsTakeTurns: each once a round; ratios are medians of those to the first of
// the case in the same round.
func TestRivalsTakeTurns(t *testing.T) {
	turns := ""
	plays := func(kase, client string, values ...float64) *rival {
		n := 0
		return &rival{Case: kase, Client: client, once: func(context.Context) (measurement, error) {
			turns += client
			n++
			return measurement{value: values[n-1], cpu: float64(len(turns)), busy: 0.87}, nil
		}}
	}
	rivals := []*rival{plays("a", "x", 100, 10, 50), plays("a", "y", 200, 20, 25), plays("b", "z", 7, 7, 7)}
	var out bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetOut(&out)
	cmd.SetErr(&bytes.Buffer{})
	b := contest{rounds: 3, title: "a race", unit: "req/s", cpu: "CPU/req", said: "p50", busy: "server", write: inSI, writeOwn: inSeconds}
	if err := b.run(cmd, rivals); err != nil {
		t.Fatal(err)
	}
	// y's turns were the 2nd, 4th and 9th, x's the 1st, 6th and 8th.
	if turns != "xyzyzxzxy" || rivals[0].Ratio != 1 || rivals[1].Ratio != 2 || rivals[1].Cost != 1.125 || rivals[2].Ratio != 1 {
		t.Errorf("%s; ratios %v %v (cost %v) %v", turns, rivals[0].Ratio, rivals[1].Ratio, rivals[1].Cost, rivals[2].Ratio)
	}
	if text := out.String(); !strings.Contains(text, "a race") || !strings.Contains(text, "p50") || !strings.Contains(text, "server") || strings.Count(text, "87.0 %") != 3 {
		t.Error(text)
	}
	rivals[0].once = func(context.Context) (measurement, error) { return measurement{value: 1, cpu: 1, said: 1}, nil }
	rivals[1].once = func(context.Context) (measurement, error) { return measurement{}, errors.New("it fell") }
	if err := b.run(cmd, rivals[:2]); err == nil || !strings.Contains(err.Error(), "a, y: it fell") {
		t.Errorf("%v", err)
	}
}
