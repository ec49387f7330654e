package authtest

import (
	"fmt"
	"net/http"
	"strings"
)

// problem is an OAuth error response (RFC 6749 sections 4.1.2.1 and 5.2, and RFC 7009, 7591, 7662,
// 8693, 8707, 9449).
type problem struct {
	status      int
	Code        string `json:"error"`
	Description string `json:"error_description"`
	Numbers     []int  `json:"error_codes,omitempty"` // of Entra ID
	challenge   string // WWW-Authenticate, or empty
}

// Error codes.
const (
	invalidRequest     = "invalid_request"
	invalidClient      = "invalid_client"
	invalidGrant       = "invalid_grant"
	invalidScope       = "invalid_scope"
	invalidTarget      = "invalid_target"
	invalidProof       = "invalid_dpop_proof"
	invalidRedirect    = "invalid_redirect_uri"
	invalidMetadata    = "invalid_client_metadata"
	unauthorizedClient = "unauthorized_client"
	accessDenied       = "access_denied"
)

const maxDescription = 300

// newProblem returns a problem with status 400. The description may contain text from the client:
// it is reduced to the characters of RFC 6749, printable ASCII without quotation mark and
// backslash.
func newProblem(code, format string, args ...any) *problem {
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '?'
		}
		return r
	}, fmt.Sprintf(format, args...))
	if len(text) > maxDescription {
		text = text[:maxDescription-3] + "..."
	}
	return &problem{status: http.StatusBadRequest, Code: code, Description: text}
}

// write writes the problem as JSON.
func (p *problem) write(w http.ResponseWriter) {
	if p.challenge != "" {
		w.Header().Set("WWW-Authenticate", p.challenge)
	}
	writeJSON(w, p.status, p)
}
