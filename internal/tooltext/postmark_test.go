package tooltext

import (
	"os"
	"strings"
	"testing"
)

func postmarkOutput(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("testdata/postmark-1.51")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestPostmark(t *testing.T) {
	got, err := ReadPostmark(postmarkOutput(t))
	want := Postmark{Transactions: 9988 + 10012, PerSecond: 1176, Created: 10988, Read: 9983, Appended: 9937, Deleted: 10988, Removed: 976, ReadBytes: 67486351, WrittenBytes: 74123837}
	if err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for name, text := range map[string]string{
		"nothing":       "",
		"a failure":     "pm>Creating files...Done\nPerforming transactions",
		"half a report": postmarkOutput(t)[:500],
		"two runs":      postmarkOutput(t) + postmarkOutput(t),
		"too many":      strings.ReplaceAll(postmarkOutput(t), "9988", "99999999999999999999"),
		"too much":      strings.ReplaceAll(postmarkOutput(t), "64.36 mega", "9999999999999999999.9 mega"),
	} {
		if got, err := ReadPostmark(text); err == nil {
			t.Errorf("%s is read as %+v", name, got)
		}
	}
}

func FuzzPostmark(f *testing.F) {
	f.Add(postmarkOutput(f))
	f.Add("\t1 created (\n\t1 read (\n\t1 appended (\n\t1 deleted (\n\t\tDeletion alone: 1 files\n\t\tMixed with transactions: 1 files\n\t\tMixed with transactions: 2 files\n\t1e9 gigabytes read (")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ReadPostmark(text)
		if err != nil && p != (Postmark{}) {
			t.Errorf("%+v beside %v", p, err)
		}
		if p.Transactions > 2*maxPackets || p.ReadBytes > maxPostmarkBytes || p.WrittenBytes > maxPostmarkBytes {
			t.Errorf("%+v", p)
		}
	})
}
