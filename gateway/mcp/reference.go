package mcp

import (
	"crypto/rand"
	"strings"
)

// NewReference returns a reference for an internal error: the client is told it, and the log has the cause with the
// attribute "reference". It is ten characters of base32 (RFC 4648 section 6) in lower case.
func NewReference() string { return strings.ToLower(rand.Text()[:10]) }
