package main

import (
	"strings"
	"testing"
)

// What PostMark 1.51 prints.
const postmarkOutput = `PostMark v1.51 : 8/14/01
Creating files...Done
Performing transactions..........Done
Deleting files...Done
Time:
	3 seconds total
	3 seconds of transactions (666 per second)

Files:
	1211 created (403 per second)
		Creation alone: 200 files (200 per second)
		Mixed with transactions: 1011 files (337 per second)
	1006 read (335 per second)
	994 appended (331 per second)
	1211 deleted (403 per second)
		Deletion alone: 222 files (222 per second)
		Mixed with transactions: 989 files (329 per second)
`

func TestPostmarkIsRead(t *testing.T) {
	if r, err := readPostmark([]byte(postmarkOutput)); err != nil || r != (filesRun{2000, 666}) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := readPostmark([]byte("Error: cannot open 'x' for writing")); err == nil {
		t.Error("a failure is taken for a result")
	}
}

// TestAccountsOfOneRun: an account of none, or of two, is not read as one.
func TestAccountsOfOneRun(t *testing.T) {
	const point = `{"answered":5,"request_rate":7,"requests":5,"latency_ns":{"p50":3000000000}}`
	for _, points := range []string{``, point + `,` + point} {
		text := []byte(`{"points":[` + points + `]}`)
		if _, err := readLoadFiles(text); err == nil || !strings.Contains(err.Error(), "runs, not of one") || strings.Contains(err.Error(), "nil") {
			t.Errorf("files: %v", err)
		}
		if _, err := readLinerate(text); err == nil || strings.Contains(err.Error(), "nil") {
			t.Errorf("http: %v", err)
		}
	}
	text := []byte(`{"points":[` + point + `]}`)
	if r, err := readLoadFiles(text); err != nil || r != (filesRun{5, 7}) {
		t.Errorf("files: %+v, %v", r, err)
	}
	if r, err := readLinerate(text); err != nil || r != (httpRun{7, 3, 5}) {
		t.Errorf("http: %+v, %v", r, err)
	}
	if _, err := readLoadFiles([]byte(`{`)); err == nil {
		t.Error("half an account is read")
	}
}

func TestFilesRatiosAreOfRounds(t *testing.T) {
	rows := []*filesRow{
		{Case: "a", Seconds: []float64{1, 2, 4}, CPU: []float64{1, 1, 1}},
		{Case: "a", Seconds: []float64{2, 4, 2}, CPU: []float64{2, 3, 4}},
		{Case: "b", Seconds: []float64{7}, CPU: []float64{7}},
	}
	compareFiles(rows)
	if rows[0].Ratio != 1 || rows[1].Ratio != 2 || rows[1].Cost != 3 || rows[2].Ratio != 1 {
		t.Errorf("ratios %v %v (cost %v) %v", rows[0].Ratio, rows[1].Ratio, rows[1].Cost, rows[2].Ratio)
	}
}
