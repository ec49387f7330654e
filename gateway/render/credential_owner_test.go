package render

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestCredentialOwner checks that the advice on 401 and 403 names the party that can resolve it (pains row 157).
func TestCredentialOwner(t *testing.T) {
	for _, test := range []struct {
		owner              CredentialOwner
		expired, forbidden string // parts of the advice
	}{
		{CredentialOwner{}, "wants a credential, and the gateway has none for it", "gets no credential from the gateway"},
		{CredentialOwner{Gateway: true}, "the operator must look at it", "the operator must help"},
		{CredentialOwner{Sent: []string{"X-Depot-Token"}}, "the user's credential in X-Depot-Token; tell the user to renew it", "the user needs more rights"},
		{CredentialOwner{Missing: []string{"X-Depot-Token"}}, "The client sent no X-Depot-Token", "The client sent no X-Depot-Token"},
		{CredentialOwner{Missing: []string{"X-Depot-Token"}, Gateway: true}, "the operator must look at the gateway's own", "The client sent no X-Depot-Token"},
		{CredentialOwner{Sent: []string{"X-Depot-Token"}, Gateway: true}, "the operator must look at the gateway's own", "the user needs more rights"},
		{CredentialOwner{Exchanged: true}, "tell the user to sign in again", "the user needs more rights"},
		{CredentialOwner{Account: true}, "the user gets a link to log in", "the user needs more rights"},
		{CredentialOwner{Identity: true}, "the user's identity as the gateway sends it; tell the user that the operator", "the user needs more rights"},
	} {
		for status, want := range map[int]string{http.StatusUnauthorized: test.expired, http.StatusForbidden: test.forbidden} {
			text := hint(&http.Response{StatusCode: status, Header: http.Header{}}, true, test.owner, time.Now())
			if !strings.Contains(text, want) || !strings.HasSuffix(text, ".") || len(text) > 250 {
				t.Errorf("%d %+v: %q, want %q", status, test.owner, text, want)
			}
		}
	}
}
