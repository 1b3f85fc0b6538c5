package sshbed

import (
	"context"
	"testing"
)

// saying is a machine with a fixed answer.
type saying struct {
	Conn
	answer string
}

func (saying) Where() string { return "ssh://dut" }

func (s saying) Run(context.Context, string, []string, []byte) ([]byte, error) {
	return []byte(s.answer), nil
}

// TestIdentify: a user counts as root only if the answer says so.
func TestIdentify(t *testing.T) {
	for said, root := range map[string]bool{"uid 0\n": true, "uid 1001\n": false, "uid \n": false, "uid nobody\n": false, "": false} {
		id, err := Identify(t.Context(), saying{answer: "os FreeBSD\nboot 1\n" + said})
		if err != nil || id.OS != "freebsd" || (id.UID == 0) != root {
			t.Errorf("%q: %+v, %v", said, id, err)
		}
	}
	if id, err := Identify(t.Context(), saying{answer: "uid 0\n"}); err == nil {
		t.Errorf("an answer without further facts gives %+v", id)
	}
}
