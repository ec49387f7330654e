package relyingparty

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/oauth2"
)

// TestTokenErrorsRepeatNothing: a token endpoint may repeat what it was sent, as an error code or as the target of a redirect. None of it
// reaches the log.
func TestTokenErrorsRepeatNothing(t *testing.T) {
	const sent = "code-and-verifier-and-client-secret"
	response := &http.Response{StatusCode: http.StatusBadRequest}
	for _, tt := range []struct {
		name string
		err  error
		want string // in the log
	}{
		{"a code of OAuth", &oauth2.RetrieveError{Response: response, ErrorCode: "invalid_client", ErrorDescription: sent, Body: []byte(sent)}, `status 400, error "invalid_client"`},
		{"no code", &oauth2.RetrieveError{Response: response, Body: []byte(sent)}, `status 400, error ""`},
		{"what was sent as a code", &oauth2.RetrieveError{Response: response, ErrorCode: sent}, `error "not one of OAuth 2.0"`},
		{"a code of OAuth and what was sent", &oauth2.RetrieveError{Response: response, ErrorCode: "invalid_grant " + sent}, `error "not one of OAuth 2.0"`},
		{"a redirect", fmt.Errorf("oauth2: %w", &url.Error{Op: "Post", URL: "https://elsewhere.example.com/?code=" + sent, Err: errors.New("redirect refused")}), "redirect refused"},
	} {
		f := tokenError(tt.err, "")
		if log := f.cause.Error(); !strings.Contains(log, tt.want) || strings.Contains(log+f.Reason+f.Error(), sent) {
			t.Errorf("%s: %q, %q, want %q", tt.name, log, f.Reason, tt.want)
		}
	}
}
