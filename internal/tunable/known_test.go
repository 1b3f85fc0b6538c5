package tunable

import (
	"testing"

	"linerate/internal/fact/release"
)

func TestKnown(t *testing.T) {
	at := release.MustParse
	c := &Catalogue{Records: []*Record{
		{OS: Linux, Since: at("99.0")},
		{OS: FreeBSD, Since: at("13.1"), Checked: []Check{{Release: at("14.3")}}},
		{OS: FreeBSD, Changes: []Change{{Until: at("12.2")}, {From: at("14.0")}}},
		{OS: FreeBSD, Removed: at("15.0")},
		{OS: FreeBSD, Removed: at("9.0")},
		{OS: FreeBSD},
	}}
	if oldest, newest := c.Known(FreeBSD); oldest.Compare(at("12.0")) != 0 || newest != at("15.0") {
		t.Errorf("%s to %s", oldest, newest)
	}
	if oldest, newest := c.Known("plan9"); !oldest.IsZero() || !newest.IsZero() {
		t.Errorf("%s to %s", oldest, newest)
	}
}
