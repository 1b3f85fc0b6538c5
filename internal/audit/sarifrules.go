package audit

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/list"
)

// sarifRules returns the rules of the report's findings, sorted by id, and sets index to their
// positions.
func sarifRules(r *Report, index map[string]int) []members {
	all := slices.Clone(r.Findings)
	for _, s := range r.Suppressed {
		all = append(all, s.Finding)
	}
	list.Sort(all, func(a, b Finding) int { return cmp.Compare(a.Rule(), b.Rule()) })
	rules := []members{}
	for _, f := range all {
		if _, seen := index[f.Rule()]; seen {
			continue
		}
		index[f.Rule()] = len(rules)
		rule := members{"id": f.Rule(), "shortDescription": sarifText(describe(f)), "fullDescription": sarifText(sentence(ruleText(f))), "help": helpOf(f),
			"defaultConfiguration": members{"level": sarifLevel(f.Severity)}, "properties": members{"kind": f.Kind}}
		if uri := helpURI(f); uri != "" {
			rule["helpUri"] = uri
		}
		rules = append(rules, rule)
	}
	return rules
}

// sentence adds a full stop to a text that another one follows.
func sentence(s string) string {
	if s = strings.TrimSpace(s); s != "" && !strings.ContainsAny(s[len(s)-1:], ".?!:") {
		s += "."
	}
	return s
}

// describe describes a rule in words that fit all its findings.
func describe(f Finding) string {
	if s, ok := kindWords[f.Kind]; ok {
		return f.Rule() + ": " + s
	}
	return f.Rule()
}

// ruleText describes a rule in a sentence: for a built-in rule its own text, for a rule of the
// catalogue why its finding matters.
func ruleText(f Finding) string { return cmp.Or(structural[f.Rule()], f.Why, describe(f)) }

func helpOf(f Finding) members {
	text, marked := sentence(ruleText(f)), sentence(ruleText(f))
	add := func(plain, markdown string) { text, marked = text+"\n\n"+plain, marked+"\n\n"+markdown }
	if structural[f.Rule()] == "" && f.Fix != "" {
		add("What to do: "+f.Fix, "**What to do:** "+f.Fix)
	}
	add("linerate explain NAME tells what is known of a tunable; linerate help auditing shows how to hide a finding, with a reason.",
		"`linerate explain NAME` tells what is known of a tunable; `linerate help auditing` shows how to hide a finding, with a reason.")
	return members{"text": text, "markdown": marked}
}

// helpURI returns a page about the rule: the first of its sources that is a URL; "" if there is
// none.
func helpURI(f Finding) string {
	s, _ := list.Find(f.Sources, func(s string) bool { return strings.HasPrefix(s, "https://") && !strings.ContainsAny(s, " \t\"<>") })
	return s
}
