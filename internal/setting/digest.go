package setting

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Digest identifies what a DUT was set to: the SHA-256 of the settings' JSON, in
// hex.
func Digest(settings []Setting) string {
	data, err := json.Marshal(settings)
	if err != nil { // a Setting holds nothing that JSON has not
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
