package request

// Kind is how a request ended.
type Kind int

// The kinds, in the order in which a request can encounter them.
const (
	OK Kind = iota
	NoPort
	NoFile
	Refused
	ConnectTimeout
	Unreachable
	TLS
	Reset
	Closed
	Short
	Malformed
	Late
	Status
	NoSpace
	Other
	kinds
)

var kindNames = [kinds]string{
	"ok", "no_local_port", "no_descriptor", "connect_refused", "connect_timeout", "connect_failed",
	"tls", "reset", "closed", "short_body", "malformed", "too_late", "status", "no_space", "other",
}

var kindTexts = [kinds]string{
	"ok", "no local port left", "no file descriptor left", "connection refused", "connection timed out", "connection failed",
	"TLS failed", "connection reset", "closed before an answer", "body cut short", "answer not understood", "too late", "status 400 or more", "no space left", "other",
}

// String returns the kind's name in JSON.
func (k Kind) String() string { return kindNames[k] }

// Text describes the kind.
func (k Kind) Text() string { return kindTexts[k] }

// answered reports whether a complete answer arrived, whatever its status.
func (k Kind) answered() bool { return k == OK || k == Status }

// Kinds lists all kinds of failure.
func Kinds() []Kind {
	var ks []Kind
	for k := OK + 1; k < kinds; k++ {
		ks = append(ks, k)
	}
	return ks
}
