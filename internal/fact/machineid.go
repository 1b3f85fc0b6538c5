package fact

import (
	"crypto/sha256"
	_ "embed" // machineid.sh
	"encoding/hex"
	"strings"
)

// MachineIDScript is the shell function machine_id, which prints on a host what
// MachineIDOf makes of its number.
//
//go:embed machineid.sh
var MachineIDScript string

// machineDigits is the length of a machine's number and of its digest, in hexadecimal
// digits.
const machineDigits = 32

// MachineIDOf is by what a host is known, from the text of its machine-id(5) or
// kern.hostuuid: half of a SHA-256, from which the number, which machine-id(5) wants
// kept, cannot be had. "" where the text is no such number, or is nought.
// MachineIDScript does the same.
func MachineIDOf(text string) string {
	id := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(text), "-", ""))
	if !IsMachineID(id) || strings.HasPrefix(id, "00000000") {
		return ""
	}
	sum := sha256.Sum256([]byte("linerate host " + id))
	return hex.EncodeToString(sum[:])[:machineDigits]
}

// IsMachineID reports a text that has the form of what MachineIDOf returns.
func IsMachineID(text string) bool {
	return len(text) == machineDigits && strings.Trim(text, "0123456789abcdef") == ""
}
