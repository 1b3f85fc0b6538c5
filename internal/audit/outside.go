package audit

import (
	"linerate/internal/fact"
	"linerate/internal/tunable"
)

// outsideWords are what a system does with a value that a tunable does not
// allow, and how bad that is.
var outsideWords = map[tunable.Outside]struct {
	severity Severity
	why      string
}{
	tunable.Clamped: {Warning, "The system does not refuse it; it takes the nearest value that it allows."},
	tunable.Rounded: {Warning, "The system does not refuse it; it rounds it to one that fits."},
	tunable.OwnSize: {Warning, "The system does not refuse it; it takes its own default instead."},
	tunable.Wrapped: {Error, "Only the low bits are kept: the system takes another number than the line has, and says nothing."},
	tunable.Taken:   {Warning, "The system takes it without a check, though nothing says what such a value would mean."},
	tunable.Fatal:   {Error, "The kernel stops over it: it panics, or the boot does not end."},
	"":              {Warning, "It is outside of what the tunable is made for; what this system does with it is not known to the catalogue."},
}

// outside says how bad a value is that the tunable does not allow, and what
// becomes of it.
func outside(o tunable.Outside, j judged) (Severity, string) {
	if o != tunable.Refused {
		w := outsideWords[o]
		return w.severity, w.why
	}
	if j.Mechanism == fact.Sysctl {
		return Error, "The kernel answers \"Invalid argument\" and keeps its value."
	}
	return Error, "The value is passed over: the system goes on with its default."
}
