package oauthserver

import (
	"crypto/sha256"
	"encoding/base64"
)

// StyleSource returns the source expression of a content security policy that permits an inline style sheet by its digest (CSP Level 3
// section 2.3.1).
func StyleSource(style string) string {
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
