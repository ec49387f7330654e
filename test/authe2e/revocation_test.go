package authe2e

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Tokens that say nothing: the gateway asks the issuer about them. One that is revoked is refused when the answer has
// been remembered for its minute, and the client gets in anew.
func testRevocation(t *testing.T, s *suite) {
	const remembered = 60 * time.Second
	for _, server := range []string{oidcProvider, ownServer} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s, setup{server: server, opaque: true})
			s.each(t, "opaque tokens and revocation", server, []string{sdkV1, clientV2, goSDK}, func(t *testing.T, client string) {
				ctx, cancel := context.WithTimeout(t.Context(), remembered+time.Minute)
				defer cancel()
				c := w.enter(ctx, t, client)
				first := w.look(ctx, t, c)
				if strings.Contains(first.Access, ".") {
					t.Error("the token is not opaque")
				}
				w.revoke(ctx, t, first)
				if after := w.awaitRefusal(ctx, t, first.Access); after > remembered+2*time.Second {
					t.Errorf("the token was good for %s after it was revoked", after)
				}
				reading.make(ctx, t, c)
				if second := w.look(ctx, t, c); second.Access == first.Access {
					t.Error("the client got in with its old token")
				}
			})
		})
	}
}

// revoke ends an access token, as its client may (RFC 7009).
func (w *world) revoke(ctx context.Context, t *testing.T, st state) {
	t.Helper()
	var metadata struct {
		Endpoint string `json:"revocation_endpoint"`
	}
	text, _, err := w.get(ctx, w.issuer+"/.well-known/openid-configuration")
	if err == nil {
		err = json.Unmarshal(text, &metadata)
	}
	if err != nil {
		t.Fatalf("metadata of the authorization server: %v %s", err, text)
	}
	form := url.Values{"token": {st.Access}, "client_id": {st.ClientID}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, metadata.Endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if text, status, err := w.do(r); err != nil || status != http.StatusOK {
		t.Fatalf("revoke: status %d, %v %s", status, err, text)
	}
}
