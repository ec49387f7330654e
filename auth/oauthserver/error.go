package oauthserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Error is an OAuth error response (RFC 6749 sections 4.1.2.1 and 5.2, and RFC 7009, 7591, 7662,
// 8693, 8707, 9449).
type Error struct {
	Status      int    `json:"-"`
	Code        string `json:"error"`
	Description string `json:"error_description"`
	Numbers     []int  `json:"error_codes,omitempty"` // of Entra ID
	Challenge   string `json:"-"`                     // WWW-Authenticate, or empty
	Cause       error  `json:"-"`                     // for the log alone; nil if the description says it all
}

// Error codes.
const (
	InvalidRequest        = "invalid_request"
	InvalidClient         = "invalid_client"
	InvalidGrant          = "invalid_grant"
	InvalidScope          = "invalid_scope"
	InvalidTarget         = "invalid_target"
	InvalidProof          = "invalid_dpop_proof"
	InvalidRedirectURI    = "invalid_redirect_uri"
	InvalidClientMetadata = "invalid_client_metadata"
	UnauthorizedClient    = "unauthorized_client"
	AccessDenied          = "access_denied"
)

const maxDescription = 300

// NewError returns an error with status 400. The description may contain text from the client:
// it is reduced to the characters of RFC 6749, printable ASCII without quotation mark and
// backslash.
func NewError(code, format string, args ...any) *Error {
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '?'
		}
		return r
	}, fmt.Sprintf(format, args...))
	if len(text) > maxDescription {
		text = text[:maxDescription-3] + "..."
	}
	return &Error{Status: http.StatusBadRequest, Code: code, Description: text}
}

// Write writes the error as JSON.
func (p *Error) Write(w http.ResponseWriter) {
	if p.Challenge != "" {
		w.Header().Set("WWW-Authenticate", p.Challenge)
	}
	WriteJSON(w, p.Status, p)
}

// WriteJSON writes a JSON response.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
