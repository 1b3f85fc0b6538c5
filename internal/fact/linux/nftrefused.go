package linux

import (
	"cmp"
	"strings"

	"linerate/internal/lazy"
)

var (
	nftLexeme = longest(`"[^"]*"?|[{}(),|^]|[!=<>]=|<<|>>|[=&<>!]|[0-9a-fA-F:]*::(?:/\d+)?(?:-[0-9a-fA-F:.]+)?|[^\s{}(),|^&<>!="]*[^\s{}(),|^&<>!=":]|:`)
	nftJoint  = lazy.Regexp(`\s*(/)\s*|\s+(-)\s+`)
	// nftWhole matches files that nft loads by themselves: others are included within a table.
	nftWhole  = lazy.Regexp(`(?m)^(?:table|flush|add (?:table|chain|rule|set))[ \t]`)
	nftHook   = lazy.Regexp(`^type[ \t]+(\w+)[ \t]+hook[ \t]+(\w+)`)
	nftOpens  = lazy.Regexp(`^(table|set|map|\w+) (?:(ip6?|inet|arp|bridge|netdev) )?(\S+)`)
	nftSuffix = lazy.Regexp(`(@\w+)/\S*`)
	nftKind   = lazy.Regexp(`^(?:type (.*)|flags (.*)|(timeout) .*) $`)
)

// nftTokens separates what nft's scanner does. A set's name has its types and flags behind it, if they are known.
func nftTokens(statement, table string, sets map[string]string) string {
	var text strings.Builder
	for _, w := range nftLexeme.FindAllString(nftJoint().ReplaceAllString(statement, "$1$2"), -1) {
		text.WriteString(strings.ReplaceAll(w, " ", "_") + sets[table+w] + " ")
	}
	return text.String()
}

// nftRefused returns the first statement that nft refuses of a file, and its words; 0 if there is none.
func nftRefused(text string) (line int, words string) {
	if template().MatchString(text) || strings.Contains(text, hidden) || !nftWhole().MatchString(text) {
		return 0, ""
	}
	sets := map[string]string{}
	if line, words = nftWalk(text, sets); line == 0 && len(sets) > 0 { // which it knows now
		line, words = nftWalk(text, sets)
	}
	return line, nftSuffix().ReplaceAllString(words, "$1")
}

// nftWalk reads a file's statements, each in the block that it stands in, and adds what a set's elements are.
func nftWalk(text string, sets map[string]string) (line int, words string) {
	above, family, hooked, table, name, block := []string{"nft-top"}, "ip", " - -", "", "", ""
	for _, s := range nftStatements(text) {
		in, tokens := above[len(above)-1:], nftTokens(strings.TrimSuffix(s.text, "{"), table, sets)
		switch {
		case s.text == "}" && grammar().whole("lacks", in[0]+" } "+block) != "":
			return s.line, strings.Trim(block[:min(len(block), 70)], "; ")
		case s.text == "}":
			above, name = above[:max(1, len(above)-1)], ""
			continue
		case in[0] == "nft-chain":
			in = []string{"nft-chain", "nft-rule"}
		case name != "":
			in = []string{in[0] + sets[name], in[0]}
		}
		if words := grammar().refuses(tokens, in...); words != "" {
			return s.line, words
		}
		block += "; " + tokens
		if m := nftHook().FindStringSubmatch(tokens); m != nil {
			hooked = " " + m[1] + " " + m[2]
		}
		if m := nftKind().FindStringSubmatch(tokens); m != nil && name != "" {
			sets[name] += "/" + strings.ReplaceAll(m[1]+m[2]+m[3], " ", "")
		}
		place := map[bool]string{true: family + hooked, false: in[0]}[in[0] == "nft-chain"]
		if why := grammar().whole("lacks", place+" : "+tokens); why != "" {
			return s.line, why
		}
		if strings.HasSuffix(s.text, "{") && nftBlock().MatchString(strings.TrimRight(s.text, " \t{")) {
			m := nftOpens().FindStringSubmatch(tokens + "-")
			above, hooked, name, block = append(above, "nft-"+m[1]), " - -", "", ""
			if m[1] == "table" {
				family, table = cmp.Or(m[2], "ip"), tokens
			} else if key := table + "@" + m[3]; (m[1] == "set" || m[1] == "map") && sets[key] == "" {
				name = key
			}
		}
	}
	return 0, ""
}
