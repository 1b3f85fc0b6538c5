package linux

import (
	"strings"

	"linerate/internal/fact"
	"linerate/internal/lazy"
)

// nftStatement is a rule, a property or the end of a block in the nftables language.
type nftStatement struct {
	line int // where it begins, from 1
	text string
}

// nftBlock matches the beginning of a block, as opposed to a set in braces.
var nftBlock = lazy.Regexp(`^(?:(?:table|chain|set|map|flowtable)\b|(?:counter|quota|limit|ct helper|ct timeout|ct expectation|secmark|synproxy)[ \t]+\S+$)`)

// nftToken matches quoted text, a comment, a symbol, or what is between them.
var nftToken = lazy.Regexp(`"[^"]*"?|#.*|[{};]|[^"#{};]+`)

// nftStatements splits `nft list ruleset` or nftables.conf into statements, which end at a newline
// or semicolon, except within a set: "chain x {", a rule, "}".
func nftStatements(text string) (all []nftStatement) {
	var b strings.Builder
	begin, sets := 0, 0
	flush := func() {
		if s := strings.TrimSpace(b.String()); s != "" {
			all = append(all, nftStatement{begin, s})
		}
		b.Reset()
	}
	for i, line := range fact.Lines(text) {
		line, more := strings.CutSuffix(line, `\`)
		for _, token := range nftToken().FindAllString(line, -1) {
			if b.Len() == 0 {
				begin = i + 1
			}
			switch {
			case token[0] == '#':
			case token == ";" && sets == 0:
				flush()
			case token == "{" && sets == 0 && nftBlock().MatchString(strings.TrimSpace(b.String())):
				b.WriteString(token)
				flush()
			case token == "}" && sets == 0:
				flush()
				all = append(all, nftStatement{i + 1, "}"})
			default:
				sets += map[string]int{"{": 1, "}": -1}[token]
				b.WriteString(token)
			}
		}
		if sets > 0 || more {
			b.WriteByte(' ')
		} else {
			flush()
		}
	}
	flush()
	return all
}

// CountNFT counts the rules of `nft list ruleset` or of nftables.conf: statements inside chains
// other than hook and policy.
func CountNFT(text string) (rules int, tracking bool) {
	chain := false
	for _, s := range nftStatements(text) {
		switch {
		case strings.HasPrefix(s.text, "chain ") && strings.HasSuffix(s.text, "{"):
			chain = true
		case s.text == "}":
			chain = false
		case chain && !notRule().MatchString(s.text):
			rules++
			tracking = tracking || tracks().MatchString(s.text)
		}
	}
	return rules, tracking
}

// notRule matches statements of a chain that are no rules.
var notRule = lazy.Regexp(`^(?:type|policy|comment) `)

// tracks matches nftables rules that use connection tracking. An ICMP redirect is a packet type.
var tracks = lazy.Regexp(`\bct (state|status|mark|count|direction|original|reply|zone|label|helper|timeout)\b|(^|\s)(masquerade|[sd]nat|flow add|redirect (to|random|persistent|fully-random)|redirect$)`)
