package credential

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestSubjectRefused: an authorization server that does not take the caller's token is asked about it once in half a minute, however
// many calls come with it; another token of the same caller is asked for at once. All else stays what the gateway has to answer for.
func TestSubjectRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refusal := `{"error":"invalid_grant","error_description":"c4nary"}`
		e := &endpoint{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.FormValue("subject_token") != "fresh" {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, refusal)
				return
			}
			_, _ = io.WriteString(w, `{"access_token":"for-fresh","issued_token_type":"`+TypeAccessToken+`","token_type":"Bearer"}`)
		})}
		next := &service{}
		rt := mustNew(t, exchangeOptions("https://idp.example.com/token", e.client()))(next)
		call := func(token string) error {
			_, err := send(as(t.Context(), token, "alice"), t, rt, "GET", resource, nil)
			return err
		}
		isSubject := func(err error) bool {
			var known *TokenError
			return errors.As(err, &known) && known.Failure == SubjectRefused
		}
		for range 100 {
			if err := call("old"); !isSubject(err) {
				t.Fatal(err)
			}
		}
		if n := e.requests.Load(); n != 1 {
			t.Errorf("%d token requests for one token that is refused", n)
		}
		if err := call("fresh"); err != nil || len(next.seen) != 1 || next.seen[0] != "Bearer for-fresh" {
			t.Errorf("%v, the service got %q", err, next.seen)
		}
		time.Sleep(maxRetryDelay + time.Second)
		if err := call("old"); !isSubject(err) || e.requests.Load() != 3 {
			t.Errorf("after a while: %v, %d token requests", err, e.requests.Load())
		}
		for code, want := range map[string]bool{
			"invalid_grant": true, "invalid_token": true, "invalid_client": false, "unauthorized_client": false, "invalid_target": false,
			"invalid_scope": false, "invalid_request": false, "temporarily_unavailable": false, "c4nary": false,
		} {
			refusal = `{"error":"` + code + `"}`
			if err := call(code); isSubject(err) != want {
				t.Errorf("%s: %v", code, err)
			}
		}
		// The assertion of another grant is the gateway's own.
		refusal = `{"error":"invalid_grant"}`
		if _, err := send(t.Context(), t, mustNew(t, clientCredentials("https://idp.example.com/token", e.client()))(next), "GET", resource, nil); err == nil || isSubject(err) {
			t.Errorf("client credentials: %v", err)
		}
	})
}

// TestSubjectRefusedLater: the service does not take a token any more, and no other is to be had for that of the caller.
func TestSubjectRefusedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var over atomic.Bool
		e := &endpoint{handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if over.Load() {
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = io.WriteString(w, `{"error":"invalid_token"}`)
				return
			}
			_, _ = io.WriteString(w, `{"access_token":"tok","issued_token_type":"`+TypeAccessToken+`","token_type":"Bearer","expires_in":3600}`)
		})}
		next := &service{status: func(string) (int, string) {
			if over.Load() {
				return http.StatusUnauthorized, `Bearer error="invalid_token"`
			}
			return http.StatusOK, ""
		}}
		rt := mustNew(t, exchangeOptions("https://idp.example.com/token", e.client()))(next)
		if _, err := send(as(t.Context(), "t", "alice"), t, rt, "GET", resource, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(renewAfter)
		over.Store(true)
		var known *TokenError
		if _, err := send(as(t.Context(), "t", "alice"), t, rt, "GET", resource, nil); !errors.As(err, &known) || known.Failure != SubjectRefused {
			t.Error(err)
		}
		if len(next.seen) != 2 {
			t.Errorf("the service was called %d times", len(next.seen))
		}
	})
}
