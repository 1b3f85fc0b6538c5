package tunable

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/setting"
)

// ValueProblem says why a tunable does not accept a value.
type ValueProblem struct {
	// Kind is ProblemType, ProblemRange, ProblemPower or ProblemChoice.
	Kind    string
	Message string
	// Outside is what the system does with the value; "" if unknown.
	Outside Outside
	// Kept is how many numbers of a vector the system stores before it refuses the rest.
	Kept int
}

// Kinds of ValueProblem.
const (
	ProblemType   = "type"
	ProblemRange  = "range"
	ProblemPower  = "power-of-two"
	ProblemChoice = "choice"
)

// widths maps integer types to their least and greatest values on amd64 and arm64, where long has
// 64 bits.
var widths = map[Type][2]*big.Int{
	Int: signed(32), S32: signed(32), Long: signed(64), S64: signed(64), S16: signed(16), S8: signed(8),
	Uint: unsigned(32), U32: unsigned(32), Ulong: unsigned(64), U64: unsigned(64), U16: unsigned(16), U8: unsigned(8),
	Bool: {big.NewInt(0), big.NewInt(1)},
}

func signed(bits uint) [2]*big.Int {
	half := new(big.Int).Lsh(big.NewInt(1), bits-1)
	return [2]*big.Int{new(big.Int).Neg(half), new(big.Int).Sub(half, big.NewInt(1))}
}

func unsigned(bits uint) [2]*big.Int {
	all := new(big.Int).Lsh(big.NewInt(1), bits)
	return [2]*big.Int{new(big.Int), all.Sub(all, big.NewInt(1))}
}

// Integer reports whether values of the type are integers.
func (t Type) Integer() bool { _, ok := widths[t]; return ok }

// Reject returns why a value violates the type or constraints of the record on the newest release;
// nil if it is valid or no constraint is known.
func (r *Record) Reject(value string) *ValueProblem { return r.RejectOn(release.Release{}, value) }

// RejectOn is Reject for a given release.
func (r *Record) RejectOn(rel release.Release, value string) *ValueProblem {
	s, x, v := r.At(rel), r.RangeOn(rel), strings.TrimSpace(value)
	if first := r.Read(v); first != v {
		if p := r.RejectOn(rel, first); p != nil {
			return p
		}
		return &ValueProblem{Kind: ProblemType, Message: fmt.Sprintf("the kernel takes %s and ignores the rest", first), Outside: Clamped}
	}
	if _, word := onOff(v); word && s.Type == Bool && (s.Mechanism == setting.Cmdline || s.Mechanism == setting.Module) && r.OS == Linux {
		return nil // kstrtobool accepts it
	}
	switch x.Domain {
	case Switch:
		return rejectSwitch(value, x.Outside) // rc.subr(8) and the loader do not trim: "yes " is not yes
	case Vectors:
		return r.rejectVector(rel, x, v)
	case Whole:
		return rejectWhole(s, x, v)
	case Choice:
		words := []string{v}
		if s.Mechanism == setting.Cmdline { // "auto,nosmt"
			words = strings.FieldsFunc(v, func(c rune) bool { return c == ',' || c == ';' })
		}
		for _, w := range words {
			if !slices.Contains(s.Values, w) {
				return &ValueProblem{Kind: ProblemChoice, Message: fmt.Sprintf("%q is not one of %s", w, strings.Join(s.Values, ", ")), Outside: x.Outside}
			}
		}
	}
	return nil
}

// RejectLine is RejectOn for a line of a file, whose reader may accept less than the kernel:
// FreeBSD's loader accepts size suffixes of numbers, sysctl(8) and Linux do not.
func (r *Record) RejectLine(rel release.Release, l fact.Line) *ValueProblem {
	if p := r.RejectOn(rel, l.Value); p != nil {
		if p.Kind == ProblemPower && r.Constraints.RoundedUp && l.Stage == fact.Loader {
			return nil
		}
		return p
	}
	bsd := r.OS == FreeBSD && l.Stage == fact.Sysctl && r.Type.Integer()
	if !bsd && (r.OS != Linux || r.Mechanism != setting.Sysctl && r.Mechanism != setting.Module || !r.Type.Integer() && r.Type != Numbers) {
		return nil
	}
	for i, v := range strings.Fields(l.Value) {
		if strings.HasPrefix(strings.ToLower(v), "0x") || !strings.ContainsAny(v[len(v)-1:], "kKmMgGtT") {
			continue
		}
		if n, ok := ParseInteger(v); ok {
			return &ValueProblem{Kind: ProblemType, Outside: Refused, Kept: r.kept(rel, i),
				Message: fmt.Sprintf("%s knows no suffixes; %s is %s", map[bool]string{true: "sysctl(8)", false: "the kernel"}[bsd], v, n)}
		}
	}
	return nil
}

// kept returns how many numbers of a vector are stored before the next one is refused.
func (r *Record) kept(rel release.Release, before int) int {
	if r.Type != Numbers || r.At(rel).Together {
		return 0
	}
	return before
}

// passesOver reports whether a line leaves the tunable unchanged: its value is refused, or replaced
// by the system's default.
func (r *Record) passesOver(rel release.Release, l fact.Line) bool {
	p := r.RejectLine(rel, l)
	return p != nil && p.Kept == 0 && (p.Outside == Refused || p.Outside == OwnSize)
}

// rejectWhole checks an integer against its type and bounds.
func rejectWhole(s State, x Range, v string) *ValueProblem {
	w := widths[s.Type]
	n, ok := ParseInteger(v)
	if !ok {
		return &ValueProblem{Kind: ProblemType, Message: fmt.Sprintf("%q is not a number", v), Outside: Refused}
	}
	if s.Type != Bool && (n.Cmp(w[0]) < 0 || n.Cmp(w[1]) > 0) {
		beyond := x.Beyond
		beyond = cmp.Or(beyond, x.Outside)
		return &ValueProblem{Kind: ProblemType, Message: fmt.Sprintf("%s does not fit %s (%s to %s)", v, s.Type, w[0], w[1]), Outside: beyond}
	}
	return rejectNumber(s.Constraints, x.Outside, v, n)
}

// rejectVector checks every number of a vector against the bounds. Fewer numbers than the vector
// has are allowed: they set the first ones.
func (r *Record) rejectVector(rel release.Release, x Range, v string) *ValueProblem {
	s, parts := r.At(rel), strings.Fields(v)
	if len(parts) == 0 || s.Count > 0 && len(parts) > s.Count && r.OS != Linux {
		return &ValueProblem{Kind: ProblemType, Message: fmt.Sprintf("%q is not %d numbers", v, s.Count), Outside: Refused}
	}
	for i, p := range parts {
		if s.Count > 0 && i == s.Count { // proc_dointvec ignores more
			return &ValueProblem{Kind: ProblemType, Message: fmt.Sprintf("%d numbers; the kernel takes the first %d", len(parts), s.Count), Outside: Clamped}
		}
		problem := &ValueProblem{Kind: ProblemType, Message: fmt.Sprintf("%q is not a number", p), Outside: Refused}
		if n, ok := ParseInteger(p); ok {
			problem = rejectNumber(s.Constraints, x.Outside, p, n)
		}
		if problem != nil {
			problem.Kept = r.kept(rel, i)
			return problem
		}
	}
	return nil
}

func rejectNumber(k Constraints, outside Outside, v string, n *big.Int) *ValueProblem {
	f, _ := new(big.Float).SetInt(n).Float64()
	switch {
	case len(k.Values) > 0 && !slices.Contains(k.Values, n.String()):
		return &ValueProblem{Kind: ProblemChoice, Message: fmt.Sprintf("%s is not one of %s", v, strings.Join(k.Values, ", ")), Outside: outside}
	case k.Min != nil && f < *k.Min:
		return &ValueProblem{Kind: ProblemRange, Message: fmt.Sprintf("%s is below the minimum, %s", v, number(*k.Min)), Outside: outside}
	case k.Max != nil && f > *k.Max:
		return &ValueProblem{Kind: ProblemRange, Message: fmt.Sprintf("%s is above the maximum, %s", v, number(*k.Max)), Outside: outside}
	case k.PowerOfTwo && !powerOfTwo(n):
		if k.RoundedUp {
			outside = Rounded
		}
		return &ValueProblem{Kind: ProblemPower, Message: fmt.Sprintf("%s is not a power of two", v), Outside: outside}
	case k.Multiple > 0 && math.Mod(f, k.Multiple) != 0:
		return &ValueProblem{Kind: ProblemRange, Message: fmt.Sprintf("%s is not a multiple of %s", v, number(k.Multiple)), Outside: outside}
	}
	return nil
}

func rejectSwitch(v string, outside Outside) *ValueProblem {
	switch strings.ToLower(v) {
	case "yes", "true", "on", "1", "no", "false", "off", "0", "none", "auto":
		return nil
	}
	return &ValueProblem{Kind: ProblemType, Message: fmt.Sprintf("%q is neither YES nor NO", v), Outside: outside}
}

func powerOfTwo(n *big.Int) bool {
	return n.Sign() > 0 && new(big.Int).And(n, new(big.Int).Sub(n, big.NewInt(1))).Sign() == 0
}

// maxNumber is the maximum length of a number's text: no setting needs more, and files are
// untrusted.
const maxNumber = 64

// ParseInteger parses a number like sysctl(8) and the kernel environment: decimal, 0x hexadecimal,
// 0 octal, with an optional suffix k, m, g or t (powers of 1024).
func ParseInteger(s string) (*big.Int, bool) {
	if len(s) > maxNumber {
		return nil, false
	}
	shift := uint(0)
	if n := len(s); n > 1 && !strings.HasPrefix(strings.ToLower(s), "0x") {
		if i := strings.IndexByte("kmgt", s[n-1]|0x20); i >= 0 {
			shift, s = uint(10*(i+1)), s[:n-1]
		}
	}
	if strings.ContainsAny(s, "_oObB") && !strings.Contains(strings.ToLower(s), "0x") {
		return nil, false // Go syntax that strtoimax(3) does not know
	}
	n, ok := new(big.Int).SetString(strings.ReplaceAll(s, "_", "?"), 0)
	if !ok {
		return nil, false
	}
	return n.Lsh(n, shift), true
}

// Read returns the part of a value that the system reads: for a Linux sysctl with one number the
// first word (proc_dointvec), else all of it.
func (r *Record) Read(value string) string {
	first, rest, more := strings.Cut(strings.TrimSpace(value), " ")
	if !more || strings.TrimSpace(rest) == "" || r.OS != Linux || r.Mechanism != setting.Sysctl || !r.Type.Integer() {
		return value
	}
	if _, ok := ParseInteger(first); !ok {
		return value
	}
	return first
}

// onOff parses a switch of the kernel command line.
func onOff(s string) (on, known bool) {
	switch strings.ToLower(s) {
	case "y", "n":
		return s == "y" || s == "Y", true
	}
	return yes(s)
}

// SameValue reports whether two values are equivalent for the tunable: numbers by value, switches
// by meaning, others by text.
func (r *Record) SameValue(a, b string) bool {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	if a == b {
		return true
	}
	if r.Type == Numbers {
		x, y := strings.Fields(a), strings.Fields(b)
		if n := min(len(x), len(y)); r.OS == Linux && n > 0 { // fewer numbers set only the first ones
			x, y = x[:n], y[:n]
		}
		return slices.Equal(x, y)
	}
	if r.Type == YesNo {
		x, ok := yes(a)
		y, ok2 := yes(b)
		return ok && ok2 && x == y
	}
	if !r.Type.Integer() {
		return false
	}
	a, b = r.Read(a), r.Read(b)
	if x, ok := onOff(a); r.Type == Bool && ok {
		if y, ok := onOff(b); ok {
			return x == y
		}
	}
	x, ok := ParseInteger(a)
	y, ok2 := ParseInteger(b)
	return ok && ok2 && (x.Cmp(y) == 0 || r.sameTick(x, y))
}

// coarsestTick is the longest timer tick of Linux kernels, in ms (HZ=100).
const coarsestTick = 10

// sameTick reports whether a kernel may store two times in ms as the same: with a tick of 4 ms, 250
// reads back as 252.
func (r *Record) sameTick(x, y *big.Int) bool {
	d := new(big.Int).Sub(x, y)
	return r.Constraints.Jiffies && r.Unit == "ms" && d.IsInt64() && -coarsestTick < d.Int64() && d.Int64() < coarsestTick
}

func yes(s string) (on, known bool) {
	switch strings.ToLower(s) {
	case "yes", "true", "on", "1":
		return true, true
	case "no", "false", "off", "0":
		return false, true
	}
	return false, false
}

// number formats a float without an unnecessary fraction or exponent.
func number(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e18 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// Greatest returns the greatest number within the record's bounds and type; infinity if unknown.
func (r *Record) Greatest() float64 {
	most := math.Inf(1)
	if w, ok := widths[r.Type]; ok {
		most, _ = new(big.Float).SetInt(w[1]).Float64()
	}
	if r.Constraints.Max != nil {
		most = min(most, *r.Constraints.Max)
	}
	return most
}
