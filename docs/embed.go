// Package docs has the pages that `linerate help TOPIC` shows, so that pages which
// hints refer to are always available.
package docs

import (
	_ "embed" // docs.pack
	"strings"

	"linerate/internal/list"
	"linerate/internal/pack"
)

// packed holds the pages in one, a third of the size. `go test . -run TestPagesAreFresh -update` generates it.
//
//go:embed docs.pack
var packed []byte

// Pages returns the pages by their paths below docs.
var Pages = pack.Map[string](packed)

// Topic is a page with its name in help. No topic has the name of a command, so that help can show
// both by name.
type Topic struct {
	Name string
	file string
}

var topics = []Topic{
	{"studies", "reference/study.md"}, {"results", "reference/results.md"}, {"testbeds", "reference/testbed.md"}, {"queues", "reference/queue.md"}, {"servers", "reference/servers.md"}, {"live-hosts", "reference/live.md"},
	{"ssh", "guide/ssh.md"}, {"plans", "reference/plan.md"}, {"advice", "reference/advice.md"}, {"applying", "reference/apply.md"},
	{"auditing", "guide/audit.md"}, {"audits", "reference/audit.md"}, {"facts", "reference/facts.md"}, {"bundles", "reference/bundle.md"},
	{"fleets", "reference/fleet.md"}, {"sweeping", "guide/fleet.md"},
	{"records", "reference/catalogue.md"}, {"calculators", "reference/calc.md"}, {"ledgers", "reference/ledger.md"},
	{"page", "reference/serve.md"}, {"comparisons", "reference/compare.md"}, {"access-logs", "reference/logs.md"},
	{"flags", "reference/flags.md"}, {"loads", "reference/load.md"}, {"traffic", "reference/traffic.md"}, {"exit-codes", "reference/exit-codes.md"}, {"schemas", "reference/schemas.md"},
}

// Topics returns all topics, grouped by purpose.
func Topics() []Topic { return topics }

// Find returns the topic with a name.
func Find(name string) (Topic, bool) {
	return list.Find(topics, func(t Topic) bool { return t.Name == name })
}

// About returns the topic whose page is the reference of a command.
func About(command string) (Topic, bool) {
	return list.Find(topics, func(t Topic) bool { return t.file == "reference/"+command+".md" })
}

// Text returns the page, in Markdown.
func (t Topic) Text() string {
	return Pages()[t.file]
}

// Title returns the page's heading, without markup.
func (t Topic) Title() string {
	line, _, _ := strings.Cut(strings.TrimPrefix(t.Text(), "# "), "\n")
	return strings.ReplaceAll(line, "`", "")
}
