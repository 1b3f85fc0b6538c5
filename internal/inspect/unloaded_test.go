package inspect

import (
	"context"
	"strings"
	"testing"

	"linerate/internal/host"
)

// unloaded is a FreeBSD on which nobody has loaded a packet filter.
type unloaded struct{ captured }

func (u unloaded) Output(ctx context.Context, q host.Query) ([]byte, error) {
	switch {
	case q.ID() == "kldstat":
		return []byte("Id Refs Address                Size Name\n 1    1 0xffffffff80200000   92c9e0 kernel\n"), nil
	case q.ID() == "kldstat-v":
		return nil, host.ErrNoCommand
	case q.Module() != "":
		return nil, host.ErrNoCommand
	}
	return u.captured.Output(ctx, q)
}

// TestUnloadedModules: a packet filter that is not there is no source that could
// not be read.
func TestUnloadedModules(t *testing.T) {
	f, err := Host(context.Background(), unloaded{captured{t, "02-modules"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Sources {
		if strings.HasPrefix(s.Name, "pfctl") || strings.HasPrefix(s.Name, "ipfw") {
			t.Errorf("%+v", s)
		}
	}
	if f.Firewall.PF != nil || f.Firewall.IPFW != nil {
		t.Errorf("pf %+v, ipfw %+v", f.Firewall.PF, f.Firewall.IPFW)
	}
}
