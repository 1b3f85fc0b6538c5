package fact

import "testing"

func TestMachineIDOf(t *testing.T) {
	const known = "348bfc4ca94c60b2e6272b253c86cc3d" // printf 'linerate host 0123…' | sha256sum | cut -c1-32
	for text, want := range map[string]string{
		"0123456789abcdef0123456789abcdef\n":   known,
		"01234567-89AB-CDEF-0123-456789ABCDEF": known, // as in kern.hostuuid
		"":                                     "",
		"uninitialized\n":                      "",
		"00000000-0000-0000-0000-000000000000": "",
		"0123456789abcdef0123456789abcdef0":    "",
		"0123456789abcdef0123456789abcdeg":     "",
	} {
		got := MachineIDOf(text)
		if got != want || got != "" && !IsMachineID(got) {
			t.Errorf("MachineIDOf(%q) = %q, want %q", text, got, want)
		}
	}
}
