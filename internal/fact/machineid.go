package fact

import (
	"crypto/sha256"
	_ "embed" // machineid.sh
	"encoding/hex"
	"strings"
)

// MachineIDScript is the shell function machine_id, which prints MachineIDOf of a host's
// identifier.
//
//go:embed machineid.sh
var MachineIDScript string

// machineDigits is the length of a machine's identifier and of its digest, in hexadecimal digits.
const machineDigits = 32

// MachineIDOf returns an identifier for a host from the text of its machine-id(5) or kern.hostuuid:
// half of a SHA-256, which does not reveal the original, as machine-id(5) requires. It returns ""
// if the text is not an identifier, or is zero. MachineIDScript does the same.
func MachineIDOf(text string) string {
	id := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(text), "-", ""))
	if !IsMachineID(id) || strings.HasPrefix(id, "00000000") {
		return ""
	}
	sum := sha256.Sum256([]byte("linerate host " + id))
	return hex.EncodeToString(sum[:])[:machineDigits]
}

// IsMachineID reports whether a text has the format of MachineIDOf.
func IsMachineID(text string) bool {
	return len(text) == machineDigits && strings.Trim(text, "0123456789abcdef") == ""
}
