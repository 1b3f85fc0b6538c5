package yamlfile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"

	"linerate/internal/hint"
)

// mistakes maps messages of the YAML package about invalid YAML to clearer words and advice.
var mistakes = []struct{ sign, what, advice string }{
	{"must be specified", "a list that [ begins has no ] or lacks a comma", "close it with ], and put commas between its entries"},
	{"sequence end token", "a list that [ begins has no ]", "close it with ], on this line or after it"},
	{"flow mapping end token", "keys that { begin have no }", "close them with }, and put commas between them"},
	{"end character of double-quoted", "a text that \" begins has no \" at its end", "close it, or omit the quotes"},
	{"end character of single-quoted", "a text that ' begins has no ' at its end", "close it, or write a single ' as two"},
	{"character '\t'", "a tab where YAML wants spaces", "indent by spaces"},
	{"mapping value is not allowed", "a key where none is allowed", "indent it like its neighbours, and put texts that contain a colon in quotes"},
	{"value is not allowed in this context", "a value where none is allowed", "indent it deeper than its key, and like its neighbours"},
	{"non-map value is specified", "a line is no KEY: VALUE", "put a colon and a space behind the key"},
	{"unexpected key name", "a line is no KEY: VALUE", "put a colon and a space behind the key"},
	{"block sequence entries are not allowed", "a dash where a list is not allowed", "indent the list like its neighbours"},
	{"already defined at", "", "keep one of them"},
}

// elsewhere is the advice for unknown mistakes.
const elsewhere = "look at the line above, too: mind indentation, quotes, brackets and colons"

// syntaxError turns the YAML package's error into one line with the position, what is wrong there
// and what to do.
func syntaxError(file string, err error) error {
	at, text := file, ""
	var y yaml.Error
	if errors.As(err, &y) && y.GetToken() != nil && y.GetToken().Position != nil {
		at, text = fmt.Sprintf("%s:%d", file, y.GetToken().Position.Line), y.GetMessage()
	} else {
		text, _, _ = strings.Cut(err.Error(), "\n")
	}
	for _, m := range mistakes {
		if !strings.Contains(text, m.sign) {
			continue
		}
		if m.what != "" {
			text = m.what
		}
		return hint.With(hint.Usagef("%s: %s", at, text), "%s", m.advice)
	}
	return hint.With(hint.Usagef("%s: %s", at, text), elsewhere)
}
