package netbenches

import (
	"strings"
	"testing"
)

// TestImportedInWords: singular and plural, and commas between thousands.
func TestImportedInWords(t *testing.T) {
	for _, c := range []struct {
		totals Totals
		want   string
	}{
		{Totals{Files: 1, Studies: 1, Trials: 1, Verdicts: 1}, "1 file (0 B) read in 0.0 s; 0 could not be read or understood.\n1 study (0 new), 0 series, 1 trial: 0 invalid, 0 generator-bound, 0 drifting by more than 1 %.\n1 comparison, each"},
		{Totals{Files: 2942, Studies: 56, Trials: 1115}, "2,942 files (0 B) read in 0.0 s; 0 could not be read or understood.\n56 studies (0 new), 0 series, 1,115 trials:"},
	} {
		var out strings.Builder
		if err := (&Imported{Totals: c.totals}).Write(&out); err != nil || !strings.HasPrefix(out.String(), c.want) {
			t.Errorf("%v\n%s\nwant\n%s", err, out.String(), c.want)
		}
	}
}
