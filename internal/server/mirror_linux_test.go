package server_test

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/vishvananda/netlink"

	"linerate/internal/port"
	"linerate/internal/server"
	"linerate/internal/setting"
	"linerate/internal/testbed"
	"linerate/internal/testbed/netnsbed"
)

// addressed gives a device of the Box's namespace an address and brings it up.
func addressed(b *server.Box, device string, a netip.Addr) error {
	return b.Do(func() error {
		link, err := netlink.LinkByName(device)
		if err != nil {
			return err
		}
		at := &netlink.Addr{IPNet: &net.IPNet{IP: a.AsSlice(), Mask: net.CIDRMask(24, 32)}}
		return errors.Join(netlink.AddrAdd(link, at), netlink.LinkSetUp(link))
	})
}

func newBox(t *testing.T) *server.Box {
	t.Helper()
	b, err := server.NewBox(inside)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// TestACacheMixesReleases: a caching proxy keeps single files: if the origin changes between two fetches, its
// clients get a mixture of releases.
func TestACacheMixesReleases(t *testing.T) {
	need(t)
	origin, proxy := newBox(t), newBox(t)
	link, err := netnsbed.Join(netnsbed.End{In: port.Place(proxy.Do), Device: "near0"}, netnsbed.End{In: origin.Do, Device: "far0"}, testbed.Link{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	at := netip.MustParseAddr("198.18.0.2")
	if err := errors.Join(addressed(proxy, "near0", netip.MustParseAddr("198.18.0.1")), addressed(origin, "far0", at)); err != nil {
		t.Fatal(err)
	}
	if _, err := origin.StartWeb(t.Context(), setting.Web{}, at); err != nil {
		t.Fatal(err)
	}
	release := func(name string) {
		for _, file := range []string{"html/index", "html/part"} {
			if err := origin.Write(file, []byte(name), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	through := func(file string) string {
		body, _, err := get(proxy, "http://127.0.0.1/"+file)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	cache := setting.Web{Origin: at.String(), Cache: true, Directives: map[string]string{"proxy_cache_valid": "200 10m"}}
	first, err := proxy.StartWeb(t.Context(), cache, loopback)
	if err != nil {
		t.Fatal(err)
	}
	release("14.2")
	if got := through("part"); got != "14.2" {
		t.Fatalf("the part is of %s", got)
	}
	release("14.3")
	if index, part := through("index"), through("part"); index != "14.3" || part != "14.2" {
		t.Errorf("index of %s and part of %s: no mixture of two releases?", index, part)
	}
	// Emptied, as its author advises, the cache is of one release again.
	first.Stop()
	cache.Directives["proxy_no_cache"], cache.Directives["proxy_cache_bypass"] = "1", "1"
	if _, err := proxy.StartWeb(t.Context(), cache, loopback); err != nil {
		t.Fatal(err)
	}
	if index, part := through("index"), through("part"); index != "14.3" || part != "14.3" {
		t.Errorf("without what it kept: index of %s and part of %s", index, part)
	}
}
