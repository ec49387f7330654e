package credential

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"drawbridge/auth/authtest"
	"drawbridge/test/timebox"
)

const gatewayAudience = "https://mcp.example.com/mcp"

func onBehalfOptions(tokenURL, issuer string, client *http.Client) Options {
	return Options{Kind: OnBehalfOf, Origin: origin0(), Subject: subject, OAuth: &OAuth{
		TokenURL: tokenURL, Client: client, ClientID: "gateway", ClientSecret: Fixed("s3cret+ /&"), Scopes: []string{"api://orders/.default"}, SubjectIssuer: issuer,
	}}
}

// The token of each user is presented to its issuer, which gives one for the service. It is kept for that token of the user, and no
// other target than the scope is sent.
func TestOnBehalf(t *testing.T) {
	s, e := issuer(t, authtest.Options{DefaultResource: gatewayAudience, EntraID: true})
	e.forms = make(chan url.Values, 10)
	rt := mustNew(t, onBehalfOptions(tokenURL(s), s.Issuer(), e.client()))
	for _, user := range []string{"alice", "bob"} {
		for range 2 { // another token of the same user is another key
			token, err := s.Issue(authtest.Token{Subject: user, Claims: map[string]any{"scp": "access", "oid": user + "-object", "idtyp": "user"}})
			if err != nil {
				t.Fatal(err)
			}
			next := &service{}
			for range 3 {
				if _, err := send(as(t.Context(), token, user), t, rt(next), "GET", resource, nil); err != nil {
					t.Fatal(err)
				}
			}
			form := timebox.Receive(t, e.forms)
			for _, name := range []string{"client_id", "client_secret", "basic"} {
				form.Del(name)
			}
			want := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "requested_token_use": {"on_behalf_of"}, "assertion": {token}, "scope": {"api://orders/.default"}}
			if diff := cmp.Diff(want, form); diff != "" {
				t.Error(diff)
			}
			for _, seen := range next.seen {
				if claims := decode(t, strings.Split(seen, ".")[1]); claims["sub"] != user || claims["aud"] != "api://orders" {
					t.Errorf("the service got %v", claims)
				}
			}
		}
	}
	if n := e.requests.Load(); n != 4 {
		t.Errorf("%d token requests", n)
	}
}

// Tokens without a user, and those that another issuer gave, are not sent anywhere.
func TestOnBehalfWithoutUser(t *testing.T) {
	const app, other, opaque = "the caller's token is that of an application, without a user", "the caller's token is from another issuer than that of the credential", "the caller's token is not a JWT"
	for _, c := range []struct{ token, want string }{
		{unsigned(`{"iss":"https://idp.example.com","sub":"a","scp":"x"}`), ""},
		{unsigned(`{"iss":"https://idp.example.com","sub":"a","scope":"x","client_id":"app"}`), ""},
		{unsigned(`{"iss":"https://idp.example.com","sub":"a","oid":"b","scp":"x","idtyp":"user","azp":"app"}`), ""},
		{unsigned(`{"iss":"https://idp.example.com","sub":"a","scp":"x","idtyp":"app"}`), app},
		{unsigned(`{"iss":"https://idp.example.com","sub":"a","scp":"x","idtyp":"device"}`), app},
		{unsigned(`{"iss":"https://idp.example.com","sub":"a","oid":"a","roles":["x"]}`), app},
		{unsigned(`{"iss":"https://idp.example.com","sub":"a","oid":"a","scp":"x"}`), app},
		{unsigned(`{"iss":"https://idp.example.com","sub":"a","roles":["x"]}`), app},
		{unsigned(`{"iss":"https://idp.example.com","scp":"x"}`), app},
		{unsigned(`{"iss":"https://idp.example.com","sub":"app","client_id":"app","scope":"x"}`), app},
		{unsigned(`{"iss":"https://idp.example.com","sub":"app","azp":"app","scope":"x"}`), app},
		{unsigned(`{"iss":"https://idp.example.com","sub":"app","appid":"app","scp":"x"}`), app},
		{unsigned(`{"iss":"https://idp.example.com/","sub":"a","scp":"x"}`), other},
		{unsigned(`{"sub":"a","scp":"x"}`), other},
		{"opaque", opaque},
		{"a.b.c", opaque},
		{"a.b.c.d.e", opaque},
	} {
		e := &endpoint{handler: answers(200, "application/json", `{"access_token":"t","token_type":"Bearer"}`)}
		rt := mustNew(t, onBehalfOptions("https://idp.example.com/token", "https://idp.example.com", e.client()))
		_, err := send(as(t.Context(), c.token, "a"), t, rt(&service{}), "GET", resource, nil)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.token, err)
			}
			continue
		}
		var failure *TokenError
		if !errors.As(err, &failure) || failure.Failure != NoCaller || !strings.HasSuffix(err.Error(), ": "+c.want) || e.requests.Load() != 0 {
			t.Errorf("%s: %v after %d requests, want %s", c.token, err, e.requests.Load(), c.want)
		}
	}
	e := &endpoint{}
	rt := mustNew(t, onBehalfOptions("https://idp.example.com/token", "https://idp.example.com", e.client()))
	if _, err := send(t.Context(), t, rt(&service{}), "GET", resource, nil); err == nil || e.requests.Load() != 0 {
		t.Errorf("no caller: %v", err)
	}
}

// Entra ID says by numbers whether a login has ended, which the client repairs, or whether a second factor, a policy or consent is
// missing, which another token of the same login would be, too. Nothing that it writes is shown.
func TestOnBehalfRefusals(t *testing.T) {
	const other = "the operator of the gateway must repair the credential"
	for _, c := range []struct {
		answer  string
		failure Failure
		text    string // in the log
		advice  string // in the text for the model
	}{
		{`{"error":"invalid_grant","error_codes":[500133],"error_description":"AADSTS500133: canary"}`, SubjectRefused, `does not take the caller's token, status 400, error "invalid_grant": AADSTS500133`, "log in to the gateway again"},
		{`{"error":"invalid_grant"}`, SubjectRefused, `error "invalid_grant"`, "log in to the gateway again"},
		{`{"error":"invalid_grant","error_codes":[500131]}`, Refused, "AADSTS500131", other},
		{`{"error":"invalid_grant","error_codes":[65001],"suberror":"consent_required"}`, Refused, "AADSTS65001", "an administrator of the directory to consent"},
		{`{"error":"invalid_grant","error_codes":[50076]}`, Refused, "AADSTS50076", "a second factor"},
		{`{"error":"interaction_required","error_codes":[53003],"claims":"{\"access_token\":{\"canary\":1}}"}`, Refused, `error "interaction_required": AADSTS53003`, "conditional access"},
		{`{"error":"interaction_required"}`, Refused, `error "interaction_required"`, "conditional access"},
		{`{"error":"invalid_target","error_codes":[9010010]}`, Refused, "AADSTS9010010", other},
		{`{"error":"invalid_client","error_codes":[7000215]}`, Refused, "AADSTS7000215", other},
		{`{"error":"canary","error_codes":["canary"]}`, Refused, "none of the standards", other},
		{`{"error":"temporarily_unavailable","error_codes":[90033]}`, Unavailable, "is not available", "Try again in a minute"},
	} {
		e := &endpoint{handler: answers(400, "application/json", c.answer)}
		rt := mustNew(t, onBehalfOptions("https://idp.example.com/token", "https://idp.example.com", e.client()))
		_, err := send(as(t.Context(), unsigned(`{"iss":"https://idp.example.com","sub":"a","scp":"x"}`), "a"), t, rt(&service{}), "GET", resource, nil)
		var failure *TokenError
		if !errors.As(err, &failure) {
			t.Errorf("%s: %v", c.answer, err)
			continue
		}
		if text, advice := err.Error(), failure.ToolMessage(); failure.Failure != c.failure || !strings.Contains(text, c.text) || !strings.Contains(advice, c.advice) || strings.Contains(text+advice, "canary") {
			t.Errorf("%s: %s %s %s", c.answer, failure.Failure, text, advice)
		}
	}
}

// A token for the gateway itself, or for an audience that is not accepted, is not sent.
func TestOnBehalfAudience(t *testing.T) {
	own := unsigned(`{"iss":"https://idp.example.com","aud":"gateway","sub":"a","scp":"x"}`)
	for _, c := range []struct {
		accept []string
		token  string
		good   bool
	}{
		{nil, unsigned(`{"aud":"orders"}`), true},
		{nil, "opaque", true},
		{nil, unsigned(`{"aud":["orders","gateway"]}`), false},
		{nil, own, false},
		{[]string{"orders"}, unsigned(`{"aud":"orders"}`), true},
		{[]string{"orders"}, unsigned(`{"aud":"stock"}`), false},
	} {
		e := &endpoint{handler: answers(200, "application/json", fmt.Sprintf(`{"access_token":%q,"token_type":"Bearer","expires_in":60}`, c.token))}
		o := onBehalfOptions("https://idp.example.com/token", "https://idp.example.com", e.client())
		o.OAuth.Exchange.Accept = c.accept
		next := &service{}
		if _, err := send(as(t.Context(), own, "a"), t, mustNew(t, o)(next), "GET", resource, nil); (err == nil) != c.good || len(next.seen) > 0 != c.good {
			t.Errorf("%v %s: %v", c.accept, c.token, err)
		}
	}
}

// A refused token is not presented again for half a minute: the answer would be the same.
func TestOnBehalfRefusedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"invalid_grant","error_codes":[500133]}`)
		})}
		rt := mustNew(t, onBehalfOptions("https://idp.example.com/token", "https://idp.example.com", e.client()))(&service{})
		ctx := as(t.Context(), unsigned(`{"iss":"https://idp.example.com","sub":"a","scp":"x"}`), "a")
		for range 5 {
			if _, err := send(ctx, t, rt, "GET", resource, nil); err == nil {
				t.Error("no error")
			}
		}
		if n := e.requests.Load(); n != 1 {
			t.Errorf("%d requests", n)
		}
		time.Sleep(31 * time.Second)
		_, _ = send(ctx, t, rt, "GET", resource, nil)
		if n := e.requests.Load(); n != 2 {
			t.Errorf("%d requests", n)
		}
	})
}
