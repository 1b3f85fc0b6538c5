package ministat

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Whine is a usage error, in ministat's words.
type Whine struct {
	First string // what the C library says first, if anything
	Text  string
	New   bool // the new generation's usage
}

func (w *Whine) Error() string {
	flags, quiet := "Ans", ""
	if w.New {
		flags, quiet = "Anqs", "\t-q : suppress printing summary-statistics headers and data-set names\n"
	}
	s := ""
	if w.First != "" {
		s = "ministat: " + w.First + "\n"
	}
	return s + w.Text + "\n" +
		"Usage: ministat [-C column] [-c confidence] [-d delimiter(s)] [-" + flags + "] [-w width] [file [file ...]]\n" +
		"\tconfidence = {80%, 90%, 95%, 98%, 99%, 99.5%}\n" +
		"\t-A : print statistics only. suppress the graph.\n" +
		"\t-C : column number to extract (starts and defaults to 1)\n" +
		"\t-d : delimiter(s) string, default to \" \\t\"\n" +
		"\t-n : print summary statistics only, no graph/test\n" + quiet +
		"\t-s : print avg/median/stddev bars on separate lines\n" +
		"\t-w : width of graph/test output (default 74 or terminal width)"
}

// DefaultWidth of the plot where standard output is no terminal.
const DefaultWidth = 74

// Parse reads ministat's command line: options may stand between files, as
// with the GNU C library. width is the default for -w.
func Parse(args []string, g Generation, width int) (Options, []string, error) {
	o := Options{Generation: g, Column: 1, Confidence: -1, Delimiters: " \t", Width: width}
	whine := func(first, text string) error { return &Whine{First: first, Text: text, New: g.RatioError} }
	var files []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			files = append(files, args[i+1:]...)
			break
		}
		if len(a) < 2 || a[0] != '-' {
			files = append(files, a)
			continue
		}
		for j := 1; j < len(a); j++ {
			if o.flag(a[j]) {
				continue
			}
			if strings.IndexByte("Ccdw", a[j]) < 0 {
				return o, nil, whine(fmt.Sprintf("invalid option -- '%c'", a[j]), "Unknown option")
			}
			value := a[j+1:]
			if value == "" {
				if i++; i == len(args) {
					return o, nil, whine(fmt.Sprintf("option requires an argument -- '%c'", a[j]), "Unknown option")
				}
				value = args[i]
			}
			if text := o.set(a[j], value); text != "" {
				return o, nil, whine("", text)
			}
			break
		}
	}
	if o.Confidence < 0 {
		o.Confidence = 2
	}
	if len(files) > MaxSets {
		return o, nil, whine("", "Too many datasets.")
	}
	return o, files, nil
}

// flag sets an option without value; false when c is none.
func (o *Options) flag(c byte) bool {
	switch {
	case c == 'A':
		o.NoPlot = true
	case c == 'n':
		o.NoTest = true
	case c == 's':
		o.Separate = true
	case c == 'q' && o.Generation.RatioError:
		o.Quiet = true
	default:
		return false
	}
	return true
}

// set sets an option with a value and returns what ministat says of a bad one.
func (o *Options) set(c byte, value string) (complaint string) {
	switch c {
	case 'C':
		n, ok := parseInt(value)
		if !ok {
			return "Invalid column number."
		}
		if n <= 0 {
			return "Column number should be positive."
		}
		o.Column = n
	case 'c':
		return o.setConfidence(value)
	case 'd':
		if value == "" {
			return "Can't use empty delimiter string"
		}
		o.Delimiters = value
	case 'w':
		n, ok := parseInt(value)
		if !ok {
			return "Invalid width, not a number."
		}
		if n < 0 {
			return "Unable to move beyond left margin."
		}
		o.Width = n
	}
	return ""
}

// setConfidence keeps an earlier level when a later one is not on offer, as
// ministat does.
func (o *Options) setConfidence(value string) string {
	level := 0.0
	if value != "" {
		v, ok := parseDouble([]byte(value))
		if !ok {
			return "Not a floating point number"
		}
		level = v
	}
	for i, c := range Confidences {
		if c == level {
			o.Confidence = i
		}
	}
	if o.Confidence < 0 {
		return "No support for confidence level"
	}
	return ""
}

// parseInt is C's strtol of a whole argument, cut to 32 bits; an empty one
// is 0.
func parseInt(s string) (int, bool) {
	s = strings.TrimLeft(s, spaces)
	if s == "" {
		return 0, true
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil && !isRange(err) {
		return 0, false
	}
	return int(int32(n & math.MaxUint32)), true //nolint:gosec // the cut is C's
}
