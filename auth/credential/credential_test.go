package credential

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/test/cases"
)

// runCases reads the txtar files of a directory: sections credential, request, want.
func runCases(t *testing.T, directory string, run func(t *testing.T, section map[string]string)) {
	t.Helper()
	cases.Run(t, "testdata/"+directory+"/*.txtar", func(t *testing.T, _ string, archive *txtar.Archive) {
		section := map[string]string{}
		for _, f := range archive.Files {
			section[f.Name] = strings.TrimSuffix(string(f.Data), "\n")
		}
		run(t, section)
	})
}

// options reads "kind name=value …"; in a secret %20, %0a, %0d and %00 stand for themselves.
func options(t *testing.T, text string) Options {
	t.Helper()
	words := strings.Fields(text)
	o := Options{Kind: map[string]Kind{"bearer": Bearer, "basic": Basic, "api_key": APIKey}[words[0]]}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		plain := strings.NewReplacer("%20", " ", "%0a", "\n", "%0d", "\r", "%00", "\x00").Replace(value)
		switch name {
		case "token":
			o.Token = Fixed(plain)
		case "username":
			o.Username = Fixed(plain)
		case "password":
			o.Password = Fixed(plain)
		case "key":
			o.Key = Fixed(plain)
		case "in":
			o.In = map[string]Location{"header": Header, "query": Query, "cookie": Cookie}[value]
		case "name":
			o.Name = plain
		case "origin":
			u, err := url.Parse(value)
			if err != nil {
				t.Fatal(err)
			}
			o.Origin = u
		default:
			t.Fatalf("unknown option %q", name)
		}
	}
	return o
}

// record keeps the request that would be sent.
type record struct{ request *http.Request }

func (r *record) RoundTrip(req *http.Request) (*http.Response, error) {
	r.request = req
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: req}, nil
}

func request(t testing.TB, text string) *http.Request {
	t.Helper()
	lines := strings.Split(text, "\n")
	method, target, _ := strings.Cut(lines[0], " ")
	req, err := http.NewRequestWithContext(t.Context(), method, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		req.Header[name] = append(req.Header[name], value) // the spelling is the point
	}
	return req
}

func print(req *http.Request) string {
	text := req.Method + " " + req.URL.String()
	for _, name := range slices.Sorted(maps.Keys(req.Header)) {
		for _, value := range req.Header[name] {
			text += "\n" + name + ": " + value
		}
	}
	return text
}

// TestRequests compares what goes out with testdata/requests, and that what
// came in is as it was.
func TestRequests(t *testing.T) {
	runCases(t, "requests", func(t *testing.T, section map[string]string) {
		wrap, err := New(options(t, section["credential"]))
		if err != nil {
			t.Fatal(err)
		}
		req := request(t, section["request"])
		before := print(req)
		for range 2 { // the second time from what was kept
			next := &record{}
			if _, err := wrap(next).RoundTrip(req); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(section["want"], print(next.request)); diff != "" {
				t.Error(diff)
			}
		}
		if diff := cmp.Diff(before, print(req)); diff != "" {
			t.Errorf("the request was changed: %s", diff)
		}
	})
}

// TestErrors compares what New says with testdata/errors.
func TestErrors(t *testing.T) {
	runCases(t, "errors", func(t *testing.T, section map[string]string) {
		_, err := New(options(t, section["credential"]))
		if diff := cmp.Diff(section["want"], fmt.Sprint(err)); diff != "" {
			t.Error(diff)
		}
		if strings.Contains(fmt.Sprint(err), "s3cret") {
			t.Error("the error holds the secret")
		}
	})
}

// TestRotation: a new secret is used from the next request on, and while it
// can't be read nothing is sent (Z8).
func TestRotation(t *testing.T) {
	secret, failure := "one\n", error(nil)
	wrap, err := New(Options{
		Kind: Bearer, Token: func() (string, error) { return secret, failure },
		Origin: &url.URL{Scheme: "https", Host: "orders.example.com"},
	})
	if err != nil {
		t.Fatal(err)
	}
	next := &record{}
	transport := wrap(next)
	send := func() error {
		next.request = nil
		body := &closer{Reader: bytes.NewReader(nil)}
		req := request(t, "POST https://orders.example.com/")
		req.Body = body
		_, err := transport.RoundTrip(req)
		if err != nil && !body.closed {
			t.Error("the body was left open")
		}
		return err
	}
	for _, want := range []string{"one", "two", "two"} {
		if err := send(); err != nil {
			t.Fatal(err)
		}
		if got := next.request.Header.Get("Authorization"); got != "Bearer "+want {
			t.Errorf("%q, want %q", got, want)
		}
		secret = "two"
	}
	failure = errors.New("file is gone")
	if diff := cmp.Diff("credential: read token: file is gone", fmt.Sprint(send())); diff != "" || next.request != nil {
		t.Error(diff, next.request)
	}
	failure, secret = nil, "two\ntwo"
	if err := send(); err == nil || next.request != nil {
		t.Error(err, next.request)
	}
	secret = "three"
	if err := send(); err != nil {
		t.Error(err)
	}
}

// Which bytes may stand in a secret, and in a name, by place: those of the
// standards, byte for byte.
func TestBytes(t *testing.T) {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	const visible = letters + "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	const tchar = letters + "!#$%&'*+-.^_`|~" // RFC 9110 section 5.6.2
	var all strings.Builder
	for c := range 256 {
		all.WriteByte(byte(c))
	}
	cookie := strings.NewReplacer(`"`, "", ",", "", ";", "", `\`, "").Replace(visible) // RFC 6265 section 4.1.1
	for name, c := range map[string]struct {
		options func(string) Options
		good    string
	}{
		"token":       {func(s string) Options { return Options{Kind: Bearer, Token: Fixed(s)} }, visible},
		"header":      {func(s string) Options { return Options{Kind: APIKey, In: Header, Name: "X-Key", Key: Fixed(s)} }, visible + " "},
		"cookie":      {func(s string) Options { return Options{Kind: APIKey, In: Cookie, Name: "k", Key: Fixed(s)} }, cookie},
		"query":       {func(s string) Options { return Options{Kind: APIKey, In: Query, Name: "k", Key: Fixed(s)} }, all.String()},
		"header name": {func(s string) Options { return Options{Kind: APIKey, In: Header, Name: s, Key: Fixed("s")} }, tchar},
		"cookie name": {func(s string) Options { return Options{Kind: APIKey, In: Cookie, Name: s, Key: Fixed("s")} }, tchar},
		"user": {func(s string) Options { return Options{Kind: Basic, Username: Fixed(s), Password: Fixed("p")} }, strings.Map(func(r rune) rune {
			if r < ' ' || r == ':' || r == 0x7f {
				return -1
			}
			return r
		}, strings.ToValidUTF8(all.String(), "")) + all.String()[0x80:]},
	} {
		for b := range 256 {
			o := c.options("a" + string([]byte{byte(b)}) + "a")
			o.Origin = origin0()
			if _, err := New(o); (err == nil) != (strings.IndexByte(c.good, byte(b)) >= 0) {
				t.Errorf("%s: byte %#x: %v", name, b, err)
			}
		}
	}
}

type closer struct {
	io.Reader
	closed bool
}

func (c *closer) Close() error { c.closed = true; return nil }

// What a service does not answer is an error, whatever the request has been given.
func TestNoAnswer(t *testing.T) {
	gone := errors.New("gone")
	for name, wrap := range chain(t) {
		resp, err := wrap(through(func(*http.Request) (*http.Response, error) { return nil, gone })).RoundTrip(request(t, "GET https://orders.example.com/").WithContext(fromAlice(t)))
		if resp != nil || !errors.Is(err, gone) {
			t.Errorf("%s: %v, %v", name, resp, err)
		}
	}
}

// FuzzQuery: whatever query the arguments make, the service sees the key once,
// and sees the other parameters as they were.
func FuzzQuery(f *testing.F) {
	f.Add("a=1&b=2", "key", "s3cret")
	f.Add("key=1&k%65y=2&&=", "key", "a&key=b")
	f.Add("%zz=1&+=2", "+ &", "=")
	f.Fuzz(func(t *testing.T, query, name, value string) {
		if name == "" || strings.Contains(name, ";") { // which half of the servers take for "&"
			return
		}
		got, err := url.ParseQuery(setQuery(query, name, value))
		// A pair that is the key only if its name is read as it stands goes too: a name of "+" is not a space everywhere.
		others := slices.DeleteFunc(strings.Split(query, "&"), func(pair string) bool {
			raw, _, _ := strings.Cut(pair, "=")
			return raw == name
		})
		want, wantErr := url.ParseQuery(strings.Join(others, "&"))
		if (err == nil) != (wantErr == nil) {
			if wantErr == nil {
				t.Fatal(err)
			}
			return // the broken pair was one with the key in it
		}
		if err != nil || strings.Contains(query, ";") {
			if values := got[name]; len(values) != 1 || values[0] != value {
				t.Fatalf("key %q", values)
			}
			return
		}
		want[name] = []string{value}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzCookie: the service sees the key once.
func FuzzCookie(f *testing.F) {
	f.Add("a=1; sid=2;sid = 3; b", "sid")
	f.Fuzz(func(t *testing.T, line, name string) {
		if checkName(Cookie, name) != nil || strings.ContainsFunc(line, unicode.IsControl) { // net/http sends no such line
			return
		}
		req := http.Request{Header: http.Header{"Cookie": {setCookie([]string{line}, name, "s3cret")}}}
		n := 0
		for _, c := range req.Cookies() {
			if c.Name == name {
				if n++; c.Value != "s3cret" {
					t.Fatalf("%q", req.Header)
				}
			}
		}
		if n != 1 {
			t.Fatalf("%d times in %q", n, req.Header)
		}
	})
}
