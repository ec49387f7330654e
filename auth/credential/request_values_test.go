package credential

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

type sentTo func(*http.Request) (*http.Response, error)

func (f sentTo) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestRequestValues holds that values are added to requests for the service alone, in the place of what a request has under
// their names, and that a request is left as it is.
func TestRequestValues(t *testing.T) {
	type caller struct{}
	wrap, err := NewRequestValues(RequestValuesOptions{
		Headers: []RequestValue{{Name: "x-version", Value: "2"}, {Name: "X-Tenant", Claim: "tenant"}},
		Query:   []RequestValue{{Name: "lang", Value: "de&fr"}, {Name: "who", Claim: "tenant"}},
		Claim: func(ctx context.Context, _ string) (string, bool, bool) {
			text, found := ctx.Value(caller{}).(string)
			return text, found, found && text != "[]"
		},
		Origin: &url.URL{Scheme: "https", Host: "api.example"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got *http.Request
	rt := wrap(sentTo(func(r *http.Request) (*http.Response, error) {
		got = r
		return &http.Response{Request: r, Body: http.NoBody}, nil
	}))
	for _, tt := range []struct{ target, claim, want, fault string }{
		{"https://api.example/a?b=1&lang=x;who=y", "acme", "https://api.example/a?b=1&lang=de%26fr&who=acme 2 acme", ""},
		{"https://api.example:443/a", "a b", "https://api.example:443/a?lang=de%26fr&who=a+b 2 a b", ""},
		{"https://api.example/a", "", "", "has no claim"},
		{"https://api.example/a", "[]", "", "can't be sent"},
		{"https://api.example/a", "x\r\nX-Evil: 1", "", "can't be sent"},
		{"https://api.example/a", strings.Repeat("x", maxPassed+1), "", "can't be sent"},
		{"http://api.example/a", "", "http://api.example/a from-arguments from-arguments", ""},
		{"https://api.example.evil/a", "", "https://api.example.evil/a from-arguments from-arguments", ""},
		{"https://other.example/a", "", "https://other.example/a from-arguments from-arguments", ""},
	} {
		got = nil
		ctx := t.Context()
		if tt.claim != "" {
			ctx = context.WithValue(ctx, caller{}, tt.claim)
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, tt.target, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"X_version": {"evil"}, "X-Version": {"from-arguments"}, "X-Tenant": {"from-arguments"}}
		resp, err := rt.RoundTrip(req)
		if resp != nil {
			_ = resp.Body.Close()
		}
		var claim *ClaimError
		switch {
		case tt.fault != "":
			if !errors.As(err, &claim) || got != nil || !strings.Contains(err.Error(), tt.fault) || strings.Contains(claim.ToolMessage(), "X-Evil") {
				t.Errorf("%s with %.20q: %v, sent %v", tt.target, tt.claim, err, got)
			}
		case err != nil || got == nil:
			t.Errorf("%s: %v", tt.target, err)
		default:
			sent := got.URL.String() + " " + got.Header.Get("X-Version") + " " + got.Header.Get("X-Tenant")
			if sent != tt.want {
				t.Errorf("sent %s, want %s", sent, tt.want)
			}
			if got.Header["X_version"] != nil && strings.Contains(tt.want, " 2 ") {
				t.Errorf("%s: a header in another spelling is left", tt.target)
			}
		}
		if req.URL.String() != tt.target || req.Header.Get("X-Tenant") != "from-arguments" {
			t.Errorf("the request was changed: %s %v", req.URL, req.Header)
		}
	}
	for _, o := range []RequestValuesOptions{
		{Headers: []RequestValue{{Name: "a b", Value: "x"}}}, {Headers: []RequestValue{{Name: "A", Value: "x\ny"}}},
		{Query: []RequestValue{{Name: "a", Claim: "x"}}},
	} {
		o.Origin = &url.URL{Scheme: "https", Host: "api.example"}
		if _, err := NewRequestValues(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
