package credential

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/test/sigv4"
)

const (
	awsKey    = "AKIDEXAMPLE"
	awsSecret = "secret-key-c4nary/of+AWS"
)

func awsOptions(t testing.TB, target, service string) Options {
	t.Helper()
	return Options{Kind: AWSSigV4, Origin: mustURL(t, target), AWS: &AWS{AccessKeyID: Fixed(awsKey), SecretAccessKey: Fixed(awsSecret + "\n"), Region: "eu-west-1", Service: service}}
}

// signedService verifies what it gets as AWS does.
type signedService struct {
	*httptest.Server
	v sigv4.Verifier

	mu       sync.Mutex
	requests []*http.Request
	problems []error
}

func newSignedService(t testing.TB, v sigv4.Verifier) *signedService {
	t.Helper()
	v.AccessKeyID, v.SecretAccessKey, v.Region = awsKey, awsSecret, "eu-west-1"
	s := &signedService{v: v}
	s.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		err := s.v.Verify(r)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests = append(s.requests, r)
		if err != nil {
			s.problems = append(s.problems, err)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// TestSigV4 sends what a service could tell apart in more than one way, and has it verified from what is on the wire.
func TestSigV4(t *testing.T) {
	for _, service := range []string{"execute-api", "s3", "s3express", "s3-object-lambda"} {
		s := newSignedService(t, sigv4.Verifier{Service: service, PlainPath: service != "execute-api"})
		rt := mustNew(t, awsOptions(t, s.URL, service))(http.DefaultTransport)
		for _, target := range []string{
			"", "/", "/orders", "/a%20b/caf%C3%A9/%E6%97%A5%E6%9C%AC", "/a%2Fb", "/a:b@c", "/a+b", "//a//b/", "/%7Etilde~",
			"/q?b=2&a=1&b=1", "/q?tag=z&tag=a", "/q?acl", "/q?a=", "/q?a=b=c", "/q?a+b=c+d", "/q?a%20b=c%2Bd", "/q?x=%C3%A9&y=%2F%3F", "/q?", "/q?A=1&a=2",
		} {
			for _, body := range []string{"", `{"name":"café"}`, strings.Repeat("x", 1<<20)} {
				var reader io.Reader
				method := http.MethodGet
				if body != "" {
					reader, method = bytes.NewReader([]byte(body)), http.MethodPost
				}
				req, err := http.NewRequestWithContext(t.Context(), method, s.URL+target, reader)
				if err != nil {
					t.Fatal(err)
				}
				req.Header = http.Header{"Content-Type": {"application/json;  charset=utf-8"}, "X-Amz-Target": {"Orders.List"}, "X-Other": {"1"}, "Idempotency-Key": {}, "X-Amz-Date": {"evil"}, "x_amz_security_token": {"evil"}, "Authorization": {"evil"}}
				before := fmt.Sprint(req.URL, req.Header)
				resp, err := rt.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				if got := fmt.Sprint(req.URL, req.Header); got != before {
					t.Errorf("the request was changed: %s", got)
				}
				got := s.requests[len(s.requests)-1]
				_, query, _ := strings.Cut(target, "?")
				if want := strings.ReplaceAll(query, "+", "%20"); got.URL.RawQuery != want || got.Header.Get("X-Other") != "1" || got.Header["X_amz_security_token"] != nil || got.Header["X-Amz-Security-Token"] != nil {
					t.Errorf("%s: the service got %q, %v", target, got.URL.RawQuery, got.Header)
				}
			}
		}
		for _, err := range s.problems {
			t.Errorf("%s: %v", service, err)
		}
	}
}

// TestSigV4Attempts: each attempt has a signature of its own time, what others attach is signed with it, and nothing is signed for another
// origin, or with a secret that is of no use.
func TestSigV4Attempts(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	s := newSignedService(t, sigv4.Verifier{Service: "execute-api", SessionToken: "session-c4nary", Now: clock})
	o := awsOptions(t, s.URL, "execute-api")
	o.Now, o.AWS.SessionToken = clock, Fixed("session-c4nary")
	set, err := NewSet(SetOptions{Origin: o.Origin, Schemes: map[string]Options{
		"sigv4": o, "key": {Kind: APIKey, In: Query, Name: "key", Key: Fixed("k e+y")}, "amz": {Kind: APIKey, In: Header, Name: "X-Amz-Custom", Key: Fixed("v")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	choice, err := set.Choose([][]string{{"sigv4", "key", "amz"}})
	if err != nil {
		t.Fatal(err)
	}
	var sent Sent
	rt := set.Wrap(http.DefaultTransport)
	signatures := map[string]bool{}
	for range 3 {
		req, err := http.NewRequestWithContext(sent.Context(choice.Context(t.Context())), http.MethodPost, s.URL+"/a?b=c", strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		signatures[s.requests[len(s.requests)-1].Header.Get("Authorization")] = true
		now = now.Add(10 * time.Minute)
	}
	for _, err := range s.problems {
		t.Error(err)
	}
	if len(signatures) != 3 || len(sent.Reveal()) != 3 || len(sent.Reveal()[0]) != 64 {
		t.Errorf("%d signatures, noted %q", len(signatures), sent.Reveal())
	}
	if got := s.requests[0].URL.RawQuery; got != "b=c&key=k%20e%2By" {
		t.Errorf("query %q", got)
	}

	next := &record{}
	elsewhere, err := http.NewRequestWithContext(choice.Context(t.Context()), http.MethodGet, "https://elsewhere.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Wrap(next).RoundTrip(elsewhere); err != nil || len(next.request.Header) != 0 {
		t.Errorf("another origin: %v %v", err, next.request.Header)
	}

	once, err := http.NewRequestWithContext(choice.Context(t.Context()), http.MethodPost, s.URL, io.MultiReader(strings.NewReader("body")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rt.RoundTrip(once); fmt.Sprint(err) != "credential: the body can be read only once, so it can't be signed" {
		t.Errorf("a body that can't be read twice: %v", err)
	}
	ended, cancel := context.WithCancel(choice.Context(t.Context()))
	cancel()
	late, err := http.NewRequestWithContext(ended, http.MethodPost, s.URL, strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Wrap(&record{}).RoundTrip(late); err == nil {
		t.Error("a request that has ended was signed")
	}
}

// TestSigV4Host: the usual port is not part of the header Host, as services of AWS have it.
func TestSigV4Host(t *testing.T) {
	for target, want := range map[string]string{"https://a.example.com:443/": "a.example.com", "https://a.example.com/": "a.example.com", "https://a.example.com:8443/": "a.example.com:8443"} {
		next := &record{}
		if _, err := mustNew(t, awsOptions(t, target, "execute-api"))(next).RoundTrip(&http.Request{Method: http.MethodGet, URL: mustURL(t, target), Header: http.Header{}}); err != nil {
			t.Fatal(err)
		}
		if got := next.request.Host; got != want && (got != "" || next.request.URL.Host != want) {
			t.Errorf("%s: host %q", target, got)
		}
	}
}

// TestSigV4Errors: what can't work is found when it is configured, and no text has a secret in it.
func TestSigV4Errors(t *testing.T) {
	none := func() (string, error) { return "", nil }
	for want, change := range map[string]func(*AWS){
		`credential: "EU West" is not the name of an AWS region or service`:                       func(a *AWS) { a.Region = "EU West" },
		`credential: "a/b" is not the name of an AWS region or service`:                           func(a *AWS) { a.Service = "a/b" },
		`credential: access key id or secret access key is missing`:                               func(a *AWS) { a.SecretAccessKey = nil },
		`credential: secret access key is empty`:                                                  func(a *AWS) { a.SecretAccessKey = none },
		`credential: session token holds a space or a character that can't stand in a header`:     func(a *AWS) { a.SessionToken = Fixed("c4nary\n2") },
		`credential: access key id holds a slash`:                                                 func(a *AWS) { a.AccessKeyID = Fixed("c4nary/x") },
		`credential: secret access key holds a space or a character that can't stand in a header`: func(a *AWS) { a.SecretAccessKey = Fixed("c4nary key") },
	} {
		o := awsOptions(t, "https://a.example.com", "execute-api")
		change(o.AWS)
		if _, err := New(o); fmt.Sprint(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := New(Options{Kind: AWSSigV4, Origin: &url.URL{Scheme: "https", Host: "a"}}); err == nil {
		t.Error("no credentials were accepted")
	}
	o := awsOptions(t, "https://a.example.com", "s3")
	signed := mustNew(t, o)(&record{})
	if text := fmt.Sprintf("%v %+v %#v %#v", signed, signed, signed, o); strings.Contains(text, "c4nary") {
		t.Error(text)
	}
}
