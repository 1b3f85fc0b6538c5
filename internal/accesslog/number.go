package accesslog

import "bytes"

// parseLatency reads a decimal number of units as whole microseconds, cutting
// off what is finer. A list, as NGINX writes for several upstreams (0.001,
// 0.002 or 0.001 : 0.002), is summed. ok is false for "-" and whatever else
// is not a number.
func parseLatency(b []byte, unit Unit) (us int64, ok bool) {
	if unit == Nanoseconds {
		ns, ok := parseLatency(b, Microseconds)
		return ns / 1000, ok
	}
	if v, ok := parseDecimal(b, unit); ok {
		return v, true
	}
	if bytes.IndexByte(b, ',') < 0 && bytes.IndexByte(b, ':') < 0 {
		return 0, false
	}
	for _, part := range bytes.FieldsFunc(b, func(r rune) bool { return r == ',' || r == ':' || r == ' ' }) {
		if len(part) == 1 && part[0] == '-' {
			continue
		}
		v, valid := parseDecimal(part, unit)
		if !valid {
			return 0, false
		}
		us, ok = us+v, true
	}
	return us, ok
}

// tooMuch bounds the whole part of a number: beyond MaxLatency in any unit,
// and small enough never to overflow.
const tooMuch = 1000*MaxLatency + 1000

// parseDecimal reads digits[.digits]. Signs and exponents are no number here:
// no server writes them, and a negative latency is a broken clock.
func parseDecimal(b []byte, unit Unit) (int64, bool) {
	if len(b) == 0 || len(b) > 24 {
		return 0, false
	}
	var whole int64
	i := 0
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		if whole = whole*10 + int64(b[i]-'0'); whole > tooMuch {
			whole = tooMuch
		}
	}
	if whole > MaxLatency && unit != Microseconds {
		whole = MaxLatency + 1
	}
	if i == len(b) {
		return whole * int64(unit), true
	}
	if b[i] != '.' || len(b) == 1 {
		return 0, false
	}
	us := whole * int64(unit)
	for i, scale := i+1, int64(unit); i < len(b); i++ {
		if b[i]-'0' > 9 {
			return 0, false
		}
		scale /= 10
		us += int64(b[i]-'0') * scale
	}
	return us, true
}

// parseStatus reads a three-digit status; 0 means that it is none.
func parseStatus(b []byte) int {
	if len(b) != 3 || b[0]-'0' > 9 || b[1]-'0' > 9 || b[2]-'0' > 9 {
		return 0
	}
	return int(b[0]-'0')*100 + int(b[1]-'0')*10 + int(b[2]-'0')
}

// parseCount reads a size; "-" is Apache's zero.
func parseCount(b []byte) int64 {
	var n int64
	for _, c := range b {
		if c-'0' > 9 || n > 1<<55 {
			return 0
		}
		n = n*10 + int64(c-'0')
	}
	return n
}
