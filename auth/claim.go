package auth

import (
	"bytes"
	"encoding/json"
)

// Claim returns the value of a claim, given by its name or by a JSON Pointer if it begins with '/'; nil if the token
// does not have it, or claims are not kept ([Options.KeepClaims]). The receiver may be nil.
func (p *Principal) Claim(name string) json.RawMessage {
	if p == nil || p.claims == nil {
		return nil
	}
	return bytes.Clone(claimAt(p.claims.text, name))
}
