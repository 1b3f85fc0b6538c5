package load

import (
	"strconv"
	"strings"

	"linerate/internal/hint"
)

// Frame sizes that any engine may be asked for, with FCS. What an engine and
// a device can really send is probed.
const (
	MinSize = 64
	MaxSize = 65535
	// maxMix bounds a size sequence: enough for a genome, not for a trace.
	maxMix = 4096
)

// SimpleIMIX is the Internet mix of 7 : 4 : 1 IP packets of 40, 576 and 1,500
// bytes, that is frames of 64, 594 and 1,518 bytes, interleaved.
func SimpleIMIX() []int {
	const s, m, l = 64, 594, 1518
	return []int{s, s, m, s, s, m, s, s, m, s, m, l}
}

// genome is the table of RFC 6985 §3, without z, the MTU.
var genome = map[byte]int{
	'a': 64, 'b': 128, 'c': 256, 'd': 512, 'e': 1024, 'f': 1280, 'g': 1518, 'h': 2112, 'i': 9000, 'j': 16000,
}

// ParseIMIX reads "simple", or an IMIX genome (RFC 6985): one letter per
// frame, a=64 b=128 c=256 d=512 e=1024 f=1280 g=1518 h=2112 i=9000 j=16000,
// z=the device's largest frame (mtu counts neither header nor FCS). A number
// before a letter repeats it (run-length encoding, §5.1); custom sizes
// are capital letters, defined behind a colon (§4): "aAAB:A=70,B=594".
func ParseIMIX(s string, mtu int) ([]int, error) {
	if strings.EqualFold(strings.TrimSpace(s), "simple") {
		return SimpleIMIX(), nil
	}
	letters, custom, _ := strings.Cut(s, ":")
	sizes, err := customSizes(custom)
	if err != nil {
		return nil, err
	}
	sizes['z'] = mtu + 18
	return spell(letters, sizes)
}

// customSizes reads "A=70,B=594".
func customSizes(s string) (map[byte]int, error) {
	sizes := map[byte]int{}
	for c, n := range genome {
		sizes[c] = n
	}
	if strings.TrimSpace(s) == "" {
		return sizes, nil
	}
	for _, def := range strings.Split(s, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(def), "=")
		if !ok || len(name) != 1 || name[0] < 'A' || name[0] > 'Z' {
			return nil, badGenome("%q defines no size", def)
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < MinSize || n > MaxSize {
			return nil, badGenome("%q: a size is a number from %d to %d", def, MinSize, MaxSize)
		}
		sizes[name[0]] = n
	}
	return sizes, nil
}

// spell reads letters with their repetitions.
func spell(letters string, sizes map[byte]int) ([]int, error) {
	var mix []int
	repeat := 0
	for i := range len(letters) {
		c := letters[i]
		if c >= '0' && c <= '9' {
			if repeat = repeat*10 + int(c-'0'); repeat == 0 || repeat > maxMix {
				return nil, badGenome("%q repeats a frame not at all or more than %d times", letters, maxMix)
			}
			continue
		}
		n, ok := sizes[c]
		if !ok {
			return nil, badGenome("%q stands for no size", c)
		}
		if len(mix)+max(1, repeat) > maxMix {
			return nil, badGenome("more than %d frames", maxMix)
		}
		for range max(1, repeat) {
			mix = append(mix, n)
		}
		repeat = 0
	}
	if len(mix) == 0 || repeat > 0 {
		return nil, badGenome("%q names no frame, or ends in a number", letters)
	}
	return mix, nil
}

func badGenome(format string, args ...any) error {
	return hint.With(hint.Usagef("IMIX: "+format, args...),
		`"simple", or an RFC 6985 genome like aaafg, 7a4d1g or AAB:A=70,B=594 (a=64 b=128 c=256 d=512 e=1024 f=1280 g=1518 h=2112 i=9000 j=16000 z=MTU)`)
}

// MeanSize is the mean frame size of a sequence, with FCS.
func MeanSize(sizes []int) float64 {
	sum := 0
	for _, n := range sizes {
		sum += n
	}
	return float64(sum) / float64(max(1, len(sizes)))
}
