package main

import "testing"

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
