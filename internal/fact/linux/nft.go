package linux

import (
	"regexp"
	"strings"

	"linerate/internal/fact"
)

// nftStatement is a rule, a property or the end of a block in the nftables language.
type nftStatement struct {
	line int // where it begins, from 1
	text string
}

// nftBlock matches the beginning of a block, as opposed to a set in braces.
var nftBlock = regexp.MustCompile(`^(table|chain|set|map|flowtable|counter|quota|limit|ct helper|ct timeout|secmark|synproxy)\b`)

// nftToken matches quoted text, a comment, a symbol, or what is between them.
var nftToken = regexp.MustCompile(`"[^"]*"?|#.*|[{};]|[^"#{};]+`)

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
		for _, token := range nftToken.FindAllString(line, -1) {
			if b.Len() == 0 {
				begin = i + 1
			}
			switch {
			case token[0] == '#':
			case token == ";" && sets == 0:
				flush()
			case token == "{" && sets == 0 && nftBlock.MatchString(strings.TrimSpace(b.String())):
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
		if sets > 0 {
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
		case chain && !beginsWith(s.text, "type ", "policy ", "comment "):
			rules++
			tracking = tracking || tracks.MatchString(s.text)
		}
	}
	return rules, tracking
}

// tracks matches nftables rules that use connection tracking. An ICMP redirect is a packet type.
var tracks = regexp.MustCompile(`\bct (state|status|mark|count|direction|original|reply|zone|label|helper|timeout)\b|(^|\s)(masquerade|[sd]nat|flow add|redirect (to|random|persistent|fully-random)|redirect$)`)

// dport matches the port, or set of ports, in an nft rule.
var dport = regexp.MustCompile(`\bdport ([0-9a-z-]+|\{[^}]*\})`)

// Untracked finds an nft rule that exempts a port from connection tracking while the rules that
// accept this port require a tracking state: its packets reach the policy.
func Untracked(file, text string) *fact.Line {
	if !strings.Contains(text, "policy drop") || strings.Contains(text, "untracked") {
		return nil
	}
	all := nftStatements(text)
	for _, s := range all {
		port := squeezed(dport.FindString(s.text))
		if port == "" || !strings.Contains(s.text, "notrack") {
			continue
		}
		stateful, stateless := false, false
		for _, r := range all {
			if squeezed(dport.FindString(r.text)) == port && strings.Contains(r.text, "accept") && !strings.Contains(r.text, "notrack") {
				tracked := strings.Contains(r.text, "ct state")
				stateful, stateless = stateful || tracked, stateless || !tracked
			}
		}
		if stateful && !stateless {
			return &fact.Line{File: file, Number: s.line, Text: s.text, Name: "nft:notrack", Value: strings.TrimPrefix(port, "dport"), Effective: true, Stage: fact.Conf}
		}
	}
	return nil
}

// squeezed removes blanks from a text: sets are written with and without.
func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }
