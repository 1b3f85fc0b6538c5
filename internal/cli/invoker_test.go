package cli

import (
	"os"
	"testing"
)

// TestInvoker: sudo's and doas's variables tell, to root alone.
func TestInvoker(t *testing.T) {
	for _, c := range []struct {
		name, sudo, doas string
		want             int
	}{
		{"nobody", "", "", -1}, {"sudo", "65534", "", 65534}, {"doas", "", "nobody", 65534}, {"root by sudo", "0", "", -1}, {"no such user", "", "no such user", -1},
	} {
		t.Setenv("SUDO_UID", c.sudo)
		t.Setenv("DOAS_USER", c.doas)
		want := c.want
		if os.Getuid() != 0 {
			want = -1
		}
		if got := Invoker(); got.UID != want {
			t.Errorf("%s: %+v, want user %d", c.name, got, want)
		}
	}
}
