package linux

import "testing"

// TestShipped: the kernel of a distribution by os-release, the newest for rolling releases.
func TestShipped(t *testing.T) {
	for text, want := range map[string]string{
		"ID=debian\nVERSION_ID=\"12\"\n":                       "6.1 debian 12",
		"ID=\"rocky\"\nVERSION_ID=\"9.4\"\nID_LIKE=\"rhel\"\n": "5.14 rocky 9.4",
		"NAME=Alpine\nID=alpine\nVERSION_ID=3.20.3\n":          "6.6 alpine 3.20.3",
		"ID=debian\nVERSION_ID=\"1\"\n":                        "",
		"ID=arch\n":                                            "7.2 arch",
		"":                                                     "",
	} {
		kernel, of, ok := Shipped(text)
		got := ""
		if ok {
			got = kernel.String() + " " + of
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
