package netbenches

import (
	"testing"
)

// FuzzSmallFiles covers the files beside an archive's logs: medians, settings, names of files and directories.
func FuzzSmallFiles(f *testing.F) {
	f.Add("bench.1.0.receiver", "1488095\n1.5e6\n")
	f.Add("fbsd11-routing.r308000/results/fbsd11", "#index median minimum maximum\n\"1 flow\" 3 1 2\n")
	f.Add("Xeon_E5-2650-8Cores-Chelsio_T540-CR", "")
	f.Fuzz(func(t *testing.T, name, text string) {
		data := []byte(text)
		numbers(data)
		ParseSettings(name, data)
		ParseRawName(name)
		ParsePlace(name)
	})
}
