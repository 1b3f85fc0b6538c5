package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ID identifies a record by its content: 128 bits of a SHA-256, as 32
// hexadecimal digits.
type ID string

const idDigits = 32

// IDOf returns the identifier of content with these parts.
func IDOf(parts ...string) ID {
	h := sha256.New()
	for _, p := range parts {
		io.WriteString(h, strconv.Itoa(len(p))+":"+p) //nolint:errcheck // writing to a hash never fails
	}
	return ID(hex.EncodeToString(h.Sum(nil)[:idDigits/2]))
}

// Part returns the identifier of a part of the record.
func (id ID) Part(parts ...string) ID { return IDOf(append([]string{string(id)}, parts...)...) }

// Check checks the format of an identifier.
func (id ID) Check() error {
	if len(id) != idDigits || strings.Trim(string(id), "0123456789abcdef") != "" {
		return fmt.Errorf("identifier %.40q: want %d lower-case hexadecimal digits", string(id), idDigits)
	}
	return nil
}

// shortDigits are enough to distinguish records by eye.
const shortDigits = 12

// Short returns a prefix of the identifier for display; Get accepts it.
func (id ID) Short() string { return string(id[:min(len(id), shortDigits)]) }
