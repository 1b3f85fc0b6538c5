package sshbed

import (
	"context"
	"testing"
)

// saying is a machine that gives one answer.
type saying struct {
	Conn
	answer string
}

func (saying) Where() string { return "ssh://dut" }

func (s saying) Run(context.Context, string, []string, []byte) ([]byte, error) {
	return []byte(s.answer), nil
}

// TestIdentify: who does not say that it is root is not taken for root.
func TestIdentify(t *testing.T) {
	for said, root := range map[string]bool{"uid 0\n": true, "uid 1001\n": false, "uid \n": false, "uid nobody\n": false, "": false} {
		id, err := Identify(t.Context(), saying{answer: "os FreeBSD\nboot 1\n" + said})
		if err != nil || id.OS != "freebsd" || (id.UID == 0) != root {
			t.Errorf("%q: %+v, %v", said, id, err)
		}
	}
	if id, err := Identify(t.Context(), saying{answer: "uid 0\n"}); err == nil {
		t.Errorf("who says nothing else is %+v", id)
	}
}
