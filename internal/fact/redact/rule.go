package redact

import (
	"regexp"
	"strings"
	"sync"
)

// action is what becomes of a token.
type action byte

const (
	keep    action = 'k' // it stays
	value   action = 'v' // it stays if it is a number or of the vocabulary
	mask    action = 'm' // Mark stands for it
	drop    action = 'd' // nothing does
	comment action = 'c' // its first sign stays
)

// rule is one line of the table: what a text may begin with in a state. The
// first rule that holds is taken; where none does, the rest of the line is
// masked. Patterns are extended regular expressions that awk and Go read
// alike: no backslash but \t and [\\], no {counts}; the longest match counts.
type rule struct {
	at      string // the state
	pattern string
	act     action
	to      string // the next state; "" stays
	set     string // the token, bare, must be a word of this set
	ahead   string // what follows must begin with this
}

func on(at, pattern string, act action, to string) rule {
	return rule{at: at, pattern: macros.Replace(pattern), act: act, to: to}
}

// in demands that the token is in a set.
func (r rule) in(set string) rule { r.set = set; return r }

// before demands that a pattern follows.
func (r rule) before(pattern string) rule { r.ahead = macros.Replace(pattern); return r }

// macros are the parts of patterns that many share.
var macros = strings.NewReplacer(
	"{_}", `[ \t]*`, "{b}", `[ \t]+`,
	// root begins the names of the kernel's own tree.
	"{root}", `(kern|net|hw|vm|vfs|debug|security|machdep|dev|hint|compat|p1003_1b|user|kernel|fs|abi|sunrpc|crypto|kstat|linerate)`,
	"{name}", `[A-Za-z0-9_.*/?%:@!-]+`,
	// secret ends names whose value is one, though the kernel knows them.
	"{secret}", `[A-Za-z0-9_.*/?%:@!+-]*(passphrase|passwd|password|secret|credential|setkey|setpsk|[._/-](key|psk|pin|token))`,
	"{path}", `[A-Za-z0-9_.+/-]+`,
	"{if}", `[A-Za-z][A-Za-z0-9_.:@*?%-]*`,
	// dev is an interface by its name, or as scripts and udev(7) refer to it.
	"{dev}", `[A-Za-z][A-Za-z0-9_.:@*?%-]*|[$]([{][A-Za-z0-9_]+[}]|[A-Za-z0-9_]+)|%(k|E[{]INTERFACE[}])`,
	"{ref}", `[$]([{][A-Za-z0-9_]+[}]|[A-Za-z0-9_]+)`,
)

// number is what counts as a number: with a sign, a fraction, a unit; a list or
// a range of numbers; a number in hexadecimal.
const number = `[-+]?[0-9]+([.][0-9]+)*([,:/-][0-9]+)*([kKmMgGtT]i?[bB]?|%|n?s|ms|us|[hd]|[kKmMgG]?bit|[kKmMgG]bps)?|0[xX][0-9a-fA-F]+(,[0-9a-fA-F]+)*`

// compiledRule is a rule and its patterns, compiled when first met.
type compiledRule struct {
	rule
	once             sync.Once
	matches, follows *regexp.Regexp
}

func (r *compiledRule) compile() {
	r.matches = regexp.MustCompilePOSIX("^(" + r.pattern + ")")
	if r.ahead != "" {
		r.follows = regexp.MustCompilePOSIX("^(" + r.ahead + ")")
	}
}
