package show

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Live is a line on a terminal that is overwritten as things change. Elsewhere it shows nothing, to
// keep logs short.
type Live struct {
	w     io.Writer
	style Style
	shown bool
}

// NewLive returns a Live that writes to w if it is a terminal, with the given style.
func NewLive(w io.Writer, terminal bool, s Style) *Live {
	if !terminal {
		return &Live{}
	}
	return &Live{w: w, style: s}
}

// On reports whether anything is shown.
func (l *Live) On() bool { return l.w != nil }

// Show replaces the line; it truncates what is too wide for the terminal, since a wrapped line
// could not be overwritten.
func (l *Live) Show(format string, args ...any) {
	if l.w == nil {
		return
	}
	l.shown = true
	text := fmt.Sprintf(format, args...)
	if l.style.Width > 0 {
		text = ansi.Truncate(text, l.style.Width-1, "…")
	}
	fmt.Fprint(l.w, "\r"+ansi.EraseLineRight+text)
}

// End removes the line.
func (l *Live) End() {
	if l.shown {
		fmt.Fprint(l.w, "\r"+ansi.EraseLineRight)
		l.shown = false
	}
}

// Bar draws a share from 0 to 1 in n columns.
func (s Style) Bar(share float64, n int) string {
	full := int(math.Round(min(1, max(0, share)) * float64(n)))
	return s.Paint(Note, strings.Repeat("━", full)) + s.Dim(strings.Repeat("─", n-full))
}
