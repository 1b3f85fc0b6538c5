package accesslog

import (
	"bytes"
	"time"
)

// clock parses times of lines; it remembers the last second, which most
// neighbouring lines share.
type clock struct {
	layout timeLayout
	text   [32]byte
	length int
	unix   int64
}

// parse returns seconds since 1970.
func (c *clock) parse(b []byte) (int64, bool) {
	if c.layout == layoutEpoch {
		us, ok := parseEpoch(b)
		return us, ok
	}
	if c.length > 0 && len(b) == c.length && bytes.Equal(b, c.text[:c.length]) {
		return c.unix, true
	}
	layout := "02/Jan/2006:15:04:05 -0700"
	if c.layout == layoutISO {
		layout = time.RFC3339
	}
	if len(b) > len(c.text) {
		return 0, false
	}
	t, err := time.Parse(layout, string(b))
	if err != nil {
		return 0, false
	}
	c.length, c.unix = copy(c.text[:], b), t.Unix()
	return c.unix, true
}

// parseEpoch reads seconds since 1970 with decimals.
func parseEpoch(b []byte) (int64, bool) {
	if i := bytes.IndexByte(b, '.'); i >= 0 {
		b = b[:i]
	}
	if len(b) == 0 || len(b) > 12 {
		return 0, false
	}
	for _, c := range b {
		if c-'0' > 9 {
			return 0, false
		}
	}
	return parseCount(b), true
}
