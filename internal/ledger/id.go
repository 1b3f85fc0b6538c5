package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ID names a record by what it is made of: 128 bits of a SHA-256, as 32
// hexadecimal digits.
type ID string

const idDigits = 32

// IDOf is the identifier of what is made of these parts.
func IDOf(parts ...string) ID {
	h := sha256.New()
	for _, p := range parts {
		io.WriteString(h, strconv.Itoa(len(p))+":"+p) //nolint:errcheck // a hash never fails
	}
	return ID(hex.EncodeToString(h.Sum(nil)[:idDigits/2]))
}

// Part is the identifier of a part of the record.
func (id ID) Part(parts ...string) ID { return IDOf(append([]string{string(id)}, parts...)...) }

// Check says whether it is an identifier as IDOf makes them.
func (id ID) Check() error {
	if len(id) != idDigits || strings.Trim(string(id), "0123456789abcdef") != "" {
		return fmt.Errorf("identifier %.40q: want %d lower-case hexadecimal digits", string(id), idDigits)
	}
	return nil
}

// shortDigits are enough of an identifier to tell records apart by eye.
const shortDigits = 12

// Short is the identifier's beginning, for people; Get finds the record by it.
func (id ID) Short() string { return string(id[:min(len(id), shortDigits)]) }
