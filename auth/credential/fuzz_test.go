package credential

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"drawbridge/auth"
	"drawbridge/openapi/origin"
)

// FuzzTokenAnswer: whatever a token endpoint answers, there is a token that can
// stand in a header and is good for at most a day, or a [*TokenError] whose text
// has nothing of the answer in it; an exchange never gives the caller's own token.
func FuzzTokenAnswer(f *testing.F) {
	const own = "the.callers.token"
	jwt := unsigned(`{"aud":"` + resource + `"}`)
	for _, seed := range []struct {
		status              int
		kind, retry, answer string
	}{
		{200, "application/json", "", goodAnswer},
		{200, "application/json", "", `{"access_token":"a","token_type":"Bearer","expires_in":"60"}`},
		{200, "application/json", "", `{"access_token":"a","token_type":"Bearer","expires_in":1e308}`},
		{200, "application/json", "", `{"access_token":"a","token_type":"Bearer","expires_in":-9223372036854775808}`},
		{200, "application/json", "", `{"access_token":"a","token_type":"Bearer","expires_in":9223372036854775807}`},
		{200, "application/json", "", `{"access_token":"a","token_type":"Bearer","expires_in":3599.5}`},
		{200, "application/json", "", `{"access_token":"a","token_type":"Bearer","expires_in":null}`},
		{200, "application/json", "", `{"access_token":"a","token_type":"Bearer","expires_in":{}}`},
		{200, "application/json", "", `{"access_token":"a","access_token":"b","ACCESS_TOKEN":"c","expires_in":1,"expires_in":"2"}`},
		{200, "application/json", "", `{"access_token":["a"],"token_type":7}`},
		{200, "application/json", "", `{"access_token":"` + own + `","token_type":"Bearer","issued_token_type":"` + TypeAccessToken + `"}`},
		{200, "application/json", "", `{"access_token":"` + jwt + `","token_type":"Bearer","issued_token_type":"` + TypeJWT + `"}`},
		{200, "application/json", "", `{"access_token":"a\u0000b\r\nEvil: 1"}`},
		{200, "application/json", "", `[]`},
		{200, "application/json", "", "\xef\xbb\xbf{}"},
		{200, "application/json; charset=utf-16", "", `{"access_token":"a"}`},
		{200, "application/x-www-form-urlencoded", "", "access_token=a&expires_in=NaN&token_type=bearer"},
		{200, "application/x-www-form-urlencoded", "", "access_token=a&expires_in=-1.5&expires_in=7"},
		{200, "text/plain", "", "access_token=a&expires_in=Inf."},
		{200, "text/plain", "", "%zz"},
		{400, "application/json", "", `{"error":"invalid_grant","error_description":"c4nary"}`},
		{401, "application/json", "1", `{"error":{"code":"c4nary"}}`},
		{429, "", "-1", ""},
		{503, "text/html", "Fri, 31 Dec 9999 23:59:59 GMT", "<html>"},
		{204, "", "999999999999999999999", ""},
	} {
		f.Add(seed.status, seed.kind, seed.retry, []byte(seed.answer), uint16(0))
	}
	f.Add(200, "application/json", "", []byte(`{"access_token":"a"}`), uint16(0xffff)) // 64 KiB and more
	f.Fuzz(func(t *testing.T, status int, kind, retry string, answer []byte, padding uint16) {
		if status < 200 || status > 599 { // net/http gives no other
			return
		}
		now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		text := string(answer) + strings.Repeat(" ", int(padding))
		client := &http.Client{Transport: through(func(req *http.Request) (*http.Response, error) {
			req.Body.Close()
			return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}, "Retry-After": {retry}}, Body: io.NopCloser(strings.NewReader(text)), Request: req}, nil
		})}
		for _, o := range []Options{clientCredentials("https://idp.example.com/token", client), exchangeOptions("https://idp.example.com/token", client)} {
			o.Now = func() time.Time { return now }
			g, err := newGrant(o)
			if err != nil {
				t.Fatal(err)
			}
			got, err := g.fetch(t.Context(), own, fetchTime)
			if err != nil {
				checkFailure(t, err, text)
				continue
			}
			header := got.header()
			value := strings.TrimPrefix(header[0], "Bearer ")
			switch {
			case len(header) != 1 || value == header[0] || value == "" || len(value) > maxToken || checkToken("", value) != nil:
				t.Fatalf("%q", header)
			case len(text) > maxResponse:
				t.Fatalf("an answer of %d bytes", len(text))
			case o.Kind == TokenExchange && value == own:
				t.Fatal("the caller's own token")
			case !got.requestedAt.Equal(now) || got.expiry.Before(now) || got.expiry.After(now.Add(maxLife)) || got.refreshAt.Before(now) || got.refreshAt.After(got.expiry):
				t.Fatalf("%s %s %s", got.requestedAt, got.refreshAt, got.expiry)
			}
		}
	})
}

// checkFailure checks an error of a token request.
func checkFailure(t *testing.T, err error, answer string) {
	t.Helper()
	var failure *TokenError
	if !errors.As(err, &failure) || failure.Failure.String() == "unknown" || failure.ToolMessage() == "" {
		t.Fatalf("%T %v", err, err)
	}
	if d := failure.RetryAfter; d < 0 || d > maxLife {
		t.Fatal(d)
	}
	if p := failureTTL(err); p <= 0 || p > maxRetryDelay {
		t.Fatal(p)
	}
	const ours = `credential: client_credentials: credential: token_exchange: token endpoint "idp.example.com" is not available gives no token gave a token that can't be used, status 0123456789, error "it redirects, and that is not followed
		the error code is none of the standards the answer is longer than 64 KiB no answer in time the connection broke off before the answer was complete the answer is not that of RFC 6749 section 5.1
		it has more than 16384 bytes it holds a space or a character that can't stand in a header it is not a bearer token it is the caller's own token its issued_token_type is missing its issued_token_type is not what was asked for
		it is for another audience than was asked for does not take the caller's token`
	for _, word := range strings.FieldsFunc(err.Error(), func(r rune) bool { return strings.ContainsRune(" :,\"0123456789", r) }) {
		if !strings.Contains(ours, word) && auth.TokenErrorCode(word) == "" {
			t.Fatalf("%q is of the answer %q: %v", word, answer, err)
		}
	}
}

// dials is a network in which nothing can be reached, but known what was tried.
func dials(to *string, scheme string) func(context.Context, string, string) (net.Conn, error) {
	return func(_ context.Context, _, addr string) (net.Conn, error) {
		*to = scheme + addr
		return nil, errors.New("there is no network")
	}
}

// FuzzOrigin: a request gets the credential only if net/http would connect to
// the origin's host and port in its scheme, for whatever URL.
func FuzzOrigin(f *testing.F) {
	for _, target := range []string{"https://micro.com/", "https://MICRO.com:443", "https://m\u0130cro.com/", "https://\u212aicro.com", "http://micro.com:443/", "https://u@micro.com:0443", "https://micro.com./", "https://[::1%25a]/", "//micro.com"} {
		f.Add(target)
	}
	f.Fuzz(func(t *testing.T, target string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
		if err != nil {
			return
		}
		at, err := parseOrigin(mustURL(t, "https://micro.com"))
		if err != nil {
			t.Fatal(err)
		}
		dialled := ""
		transport := &http.Transport{DialTLSContext: dials(&dialled, "https "), DialContext: dials(&dialled, "http ")}
		resp, err := transport.RoundTrip(req)
		if err == nil {
			resp.Body.Close()
			t.Fatal("there is no network")
		}
		if takes := goesTo(req, at); takes && origin.Lower(dialled) != "https micro.com:443" {
			t.Fatalf("%q gets the credential and goes to %q", target, dialled)
		}
	})
}
