package audit

import (
	"fmt"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/setting"
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
	tunable.Off:     {Warning, "The system takes any other word for NO."},
	tunable.One:     {Warning, "The system does not refuse it; any number that is not 0 counts as 1."},
	tunable.Fatal:   {Error, "The kernel stops over it: it panics, or the boot does not end."},
	"":              {Warning, "It is outside of what the tunable is made for; what this system does with it is not known to the catalogue."},
}

// outside says how bad a value is that the tunable does not allow, and what
// becomes of it.
func outside(p *tunable.ValueProblem, j judged) (Severity, string) {
	if p.Outside == tunable.OwnSize && j.Stage == fact.Loader && strings.TrimSpace(j.Value) == "0" {
		return Info, "The system takes its own default instead; 0 is how people ask for it."
	}
	if p.Outside != tunable.Refused {
		w := outsideWords[p.Outside]
		if p.Outside == tunable.Off && strings.HasSuffix(j.Name, "_enable") {
			w.severity = Error // pf_enable="TRU" leaves a firewall open
		}
		return w.severity, w.why
	}
	if j.Stage == fact.Sysctl && p.Kind == tunable.ProblemType && j.rec.Type.Integer() && j.rec.OS == tunable.FreeBSD {
		return Error, "sysctl(8) calls it an invalid integer; nothing is set."
	}
	if j.Stage == fact.Sysctl {
		return Error, refusal(p, j)
	}
	if j.rec.Mechanism == setting.Firewall {
		return Error, pfRefuses
	}
	return Error, "The system ignores the value and uses its default."
}

// refusal is how the kernel refuses a line of sysctl.conf: of a vector, most often,
// only the rest.
func refusal(p *tunable.ValueProblem, j judged) string {
	numbers := strings.Fields(j.Value)
	switch {
	case p.Kept > 0:
		return fmt.Sprintf("The kernel takes number by number: it stores %s, answers \"Invalid argument\" to %s, and keeps what it had from there on.", strings.Join(numbers[:p.Kept], " "), numbers[p.Kept])
	case j.st.Together && len(numbers) > 1:
		return "The kernel answers \"Invalid argument\" and keeps all of its numbers."
	}
	return "The kernel answers \"Invalid argument\" and keeps its value."
}
