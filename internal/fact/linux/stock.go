package linux

import (
	_ "embed" // stock.txt
	"path"
	"strings"
	"sync"

	"linerate/internal/fact"
	"linerate/internal/list"
)

// stockText lists what distributions install below /etc/sysctl.d. A modified line is the owner's.
//
//go:embed stock.txt
var stockText string

// stockLines holds its lines, by system and file.
var stockLines = sync.OnceValue(func() map[[2]string][]string {
	lines := map[[2]string][]string{}
	for _, row := range list.Rows(stockText) {
		at := [2]string{row[0], row[1]}
		lines[at] = append(lines[at], row[2])
	}
	return lines
})

// stock returns what a distribution installed in a file below /etc: name=value, with single spaces
// between words.
func stock(files fact.Files, p string) []string {
	if path.Dir(p) != "/etc/sysctl.d" {
		return nil
	}
	name := path.Base(p)
	if lines := stockLines()[[2]string{"openwrt", name}]; lines != nil {
		if like, _ := likeAny(files, "openwrt"); like {
			return lines
		}
	}
	return stockLines()[[2]string{"any", name}]
}

// stockForm returns a line in the form of stock.
func stockForm(name, value string) string {
	return name + "=" + strings.Join(strings.Fields(value), " ")
}
