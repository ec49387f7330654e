package authtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"drawbridge/test/timebox"

	"drawbridge/auth/oauthserver"
)

// post sends a form to an endpoint of the server itself.
func post(s *Server, path string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Host = s.issuer.Host
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// login returns a fresh code for the client app.
func login(t *testing.T, s *Server) string {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/authorize?"+url.Values{
		"client_id": {"app"}, "redirect_uri": {"http://127.0.0.1:5000/callback"}, "response_type": {"code"},
		"code_challenge": {exampleChallenge}, "code_challenge_method": {"S256"}, "scope": {"orders:read orders:write"},
	}.Encode(), nil)
	r.Host = s.issuer.Host
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	location, err := url.Parse(w.Header().Get("Location"))
	if err != nil || location.Query().Get("code") == "" {
		t.Fatalf("no code: %d %s", w.Code, w.Header().Get("Location"))
	}
	return location.Query().Get("code")
}

func redeemForm(code string) url.Values {
	return url.Values{"grant_type": {oauthserver.GrantCode}, "client_id": {"app"}, "code": {code}, "redirect_uri": {"http://127.0.0.1:5000/callback"}, "code_verifier": {exampleVerifier}}
}

func refreshForm(token string) url.Values {
	return url.Values{"grant_type": {oauthserver.GrantRefresh}, "client_id": {"app"}, "refresh_token": {token}}
}

func decode(t *testing.T, w *httptest.ResponseRecorder) (a response) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return a
}

func (s *Server) isActive(token string) bool { return s.introspect(token)["active"] == true }

// In whatever order codes and refresh tokens are presented: each is accepted at most once, and when one comes again,
// nothing that came of the same login is good any more, while all other logins go on.
func TestNothingIsAcceptedTwice(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
			o := testOptions()
			o.AutoConsent, o.Now = true, func() time.Time { return now }
			o.OpaqueTokens = seed%2 == 0 // quicker, and the rules are the same
			s, err := NewServer(o)
			if err != nil {
				t.Fatal(err)
			}
			// session is one login as the model sees it.
			type session struct {
				access []string
				dead   bool
			}
			type once struct { // a code or a refresh token
				secret  string
				code    bool
				used    bool
				expires time.Time
				of      *session
			}
			var sessions []*session
			var secrets []*once
			for range 400 {
				switch {
				case len(secrets) == 0 || random.IntN(6) == 0:
					of := &session{}
					sessions = append(sessions, of)
					secrets = append(secrets, &once{secret: login(t, s), code: true, of: of, expires: now.Add(time.Minute)})
				case random.IntN(20) == 0:
					now = now.Add(time.Duration(random.IntN(30)) * time.Second)
				default:
					one := secrets[random.IntN(len(secrets))]
					if random.IntN(2) == 0 {
						one = secrets[len(secrets)-1]
					}
					form := refreshForm(one.secret)
					if one.code {
						form = redeemForm(one.secret)
					}
					w := post(s, "/token", form)
					good := !one.used && !one.of.dead && now.Before(one.expires)
					if (w.Code == http.StatusOK) != good {
						t.Fatalf("answer %d %s, used before: %t, revoked: %t", w.Code, w.Body, one.used, one.of.dead)
					}
					if good {
						a := decode(t, w)
						one.of.access = append(one.of.access, a.AccessToken)
						secrets = append(secrets, &once{secret: a.RefreshToken, of: one.of, expires: now.Add(24 * time.Hour)})
					} else if one.used && now.Before(one.expires) {
						one.of.dead = true
					}
					one.used = one.used || now.Before(one.expires)
				}
				for _, of := range sessions {
					if n := len(of.access); n > 0 && s.isActive(of.access[n-1]) == of.dead && now.Before(s.issued.entries[of.access[n-1]].until) {
						t.Fatalf("revoked: %t, and the newest access token is active: %t", of.dead, !of.dead)
					}
				}
			}
		})
	}
}

// Of many that present the same code, refresh token or consent at the same time, one gets something.
func TestOneOfManyGetsIt(t *testing.T) {
	o := testOptions()
	o.AutoConsent = true
	s, err := NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	race := func(form url.Values) int {
		var got atomic.Int64
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				if post(s, "/token", form).Code == http.StatusOK {
					got.Add(1)
				}
			})
		}
		timebox.Done(t, wg.Wait)
		return int(got.Load())
	}
	if n := race(redeemForm(login(t, s))); n != 1 {
		t.Errorf("a code was accepted %d times", n)
	}
	token := decode(t, post(s, "/token", redeemForm(login(t, s)))).RefreshToken
	if n := race(refreshForm(token)); n != 1 {
		t.Errorf("a refresh token was accepted %d times", n)
	}
}

// What is kept is bounded, whatever comes in.
func TestVaultIsBounded(t *testing.T) {
	now := time.Unix(0, 0)
	v := newVault[int](10)
	random := rand.New(rand.NewPCG(1, 1))
	newest := ""
	for i := range 10_000 {
		newest = fmt.Sprint(i)
		v.put(newest, i, now.Add(time.Duration(random.IntN(20))*time.Second+time.Second), now)
		if random.IntN(3) == 0 {
			v.take(fmt.Sprint(random.IntN(i+1)), now)
		}
		if len(v.entries) > 10 || len(v.order) > 20 {
			t.Fatalf("%d entries, %d names", len(v.entries), len(v.order))
		}
		if random.IntN(3) == 0 {
			now = now.Add(time.Second)
		}
	}
	v.put("x", 1, now.Add(time.Second), now)
	if _, ok := v.get("x", now); !ok {
		t.Error("what was just put is not there")
	}
	if _, ok := v.take("x", now); !ok {
		t.Error("what is there can't be taken")
	}
	if _, ok := v.take("x", now); ok {
		t.Error("it can be taken twice")
	}
}
