package sshhost

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestParseTarget(t *testing.T) {
	for in, want := range map[string]Target{
		"ssh://fw1":               {Host: "fw1"},
		"ssh://root@fw1":          {Host: "fw1", User: "root"},
		"ssh://fw1.example:2222":  {Host: "fw1.example", Port: 2222},
		"ssh://me@[2001:2::1]:22": {Host: "2001:2::1", User: "me", Port: 22},
		"ssh://[fe80::1%25eth0]/": {Host: "fe80::1%eth0"},
	} {
		got, err := ParseTarget(in)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
	for _, bad := range []string{"", "fw1", "ssh://", "ssh://root:pw@fw1", "ssh://fw1/etc", "ssh://fw1?x=1", "ssh://fw1:0", "ssh://fw1:99999", "ssh://-oProxyCommand=id", "ssh://a b", "ssh://-l@fw1", "ssh://x@%68", "http://fw1", "ssh://fw1#x", "ssh://$(id)@fw1"} {
		if got, err := ParseTarget(bad); err == nil {
			t.Errorf("%q is accepted as %+v", bad, got)
		}
	}
}

func FuzzParseTarget(f *testing.F) {
	f.Add("ssh://me@[2001:2::1]:22")
	f.Add("ssh://root:pw@fw1")
	f.Fuzz(func(t *testing.T, s string) {
		target, err := ParseTarget(s)
		if err != nil {
			return
		}
		if again, err := ParseTarget(strings.Replace(target.String(), "%", "%25", 1)); err != nil || again != target {
			t.Errorf("%q is %+v, and %q is %+v (%v)", s, target, target.String(), again, err)
		}
	})
}

// FuzzReadAfter: what a host sends before and after the mark may be hostile.
func FuzzReadAfter(f *testing.F) {
	f.Add([]byte("motd\nmark\nbody"))
	f.Add(bytes.Repeat([]byte("x"), 70_000))
	f.Add([]byte("mark"))
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := readAfter(bytes.NewReader(in), "mark", func(r io.Reader) ([]byte, error) { return Room(nil).read(t.Context(), r, 10) })
		if len(out) > 10 {
			t.Errorf("%d bytes of 10", len(out))
		}
		if err == nil && !bytes.Contains(in, []byte("mark")) {
			t.Error("the mark was found although it is missing")
		}
	})
}

func TestPasswordsAreNotEchoed(t *testing.T) {
	for _, target := range []string{"ssh://u:hunter2@fw1", "ssh://u:hunter2%w@fw1", "ssh://u:hun@hunter2@fw1", "ssh://u:hunter2@fw1/x"} {
		if _, err := ParseTarget(target); err == nil || strings.Contains(err.Error(), "hun") || !strings.Contains(err.Error(), "u:…@fw1") {
			t.Errorf("%s: %v", target, err)
		}
	}
}
