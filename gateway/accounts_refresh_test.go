package gateway_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/gateway"
	"drawbridge/gateway/account"
	"drawbridge/test/gatewaytest"
)

// TestAccountChangesDuringRefresh: a refresh does not bring back an account that is revoked before the answer arrives, and does not replace
// another account that the user connects meanwhile.
func TestAccountChangesDuringRefresh(t *testing.T) {
	for _, change := range []string{"revoked", "another account"} {
		t.Run(change, func(t *testing.T) {
			w := newAccountWorld(t, 0)
			var during func()
			token := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				req, err := http.NewRequestWithContext(r.Context(), r.Method, w.login.Issuer()+"/token", bytes.NewReader(body))
				if err != nil {
					t.Error(err)
				}
				req.Header = r.Header.Clone()
				resp, err := w.external.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				defer resp.Body.Close()
				if during != nil && strings.Contains(string(body), "grant_type=refresh_token") {
					during()
				}
				rw.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
				rw.WriteHeader(resp.StatusCode)
				_, _ = io.Copy(rw, resp.Body)
			}))
			t.Cleanup(token.Close)
			cfg := strings.Replace(w.config(", state_dir: '"+t.TempDir()+"'"), `token_url: "`+w.login.Issuer()+`/token"`, `token_url: "`+token.URL+`/token"`, 1)
			g := gatewaytest.Start(t, w.document, cfg, w.service.URL)
			w.mustConnect(g, "alice", "list")
			link := w.link(g, "alice", "add") // of another scope, so that there is one
			w.call(g, "alice", "list")
			w.rejected[w.calls[0]] = true
			during = func() {
				during = nil
				if change == "another account" {
					if page := w.browser(g, "alice", "second@shop").connect(link); !strings.Contains(page.Body.String(), connected) {
						t.Errorf("%d %s", page.Code, page.Body)
					}
					return
				}
				accounts, err := gateway.OpenAccounts(g.Config(), slog.New(slog.DiscardHandler))
				if err != nil {
					t.Error(err)
					return
				}
				if done, err := accounts.Revoke(t.Context(), func(*account.Account) bool { return true }); err != nil || len(done) != 1 {
					t.Errorf("%v %+v", err, done)
				}
			}
			w.call(g, "alice", "list")
			text := w.call(g, "alice", "list")
			if change == "revoked" && !linkForm.MatchString(text) || change == "another account" && !strings.Contains(text, "second@shop") {
				t.Errorf("%s", text)
			}
		})
	}
}
