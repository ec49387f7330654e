package credential

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"drawbridge/auth/authtest"
)

func testSet(t testing.TB, fallback bool) *Set {
	t.Helper()
	s, e := issuer(t, authtest.Options{})
	o := SetOptions{Origin: origin0(), Schemes: map[string]Options{
		"key": {Kind: APIKey, In: Header, Name: "X-Api-Key", Key: Fixed("s3cret-key")}, "app": {Kind: APIKey, In: Query, Name: "app", Key: Fixed("s3cret-app")},
		"user": {Kind: Basic, Username: Fixed("u"), Password: Fixed("s3cret-pw")}, "tls": {Kind: MutualTLS}, "oauth": clientCredentials(tokenURL(s), e.client()),
	}}
	if fallback {
		o.Default = &Options{Kind: Bearer, Token: Fixed("s3cret-default")}
	}
	set, err := NewSet(o)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Alternatives are written as in "key app | user | {}": OR of ANDs.
func TestSet(t *testing.T) {
	const app, key, user, fallback = "?app=s3cret-app", "\nX-Api-Key: s3cret-key", "\nAuthorization: Basic dTpzM2NyZXQtcHc=", "\nAuthorization: Bearer s3cret-default"
	for _, c := range []struct {
		alternatives string
		fallback     bool
		want         string // what is sent, or the error
	}{
		{"", false, ""},
		{"", true, fallback},
		{"key", false, key},
		{"key", true, key},
		{"key | user", false, key},
		{"user | key", false, user},
		{"other | key", false, key},
		{"other | key", true, key},
		{"key app", false, app + key},
		{"key other | app", false, app},
		{"key user app", false, app + user + key},
		{"tls", false, ""},
		{"tls key", false, key},
		{"{} | key", false, key}, // who configures a credential wants it used
		{"{} | other", false, ""},
		{"other | {}", true, fallback},
		{"other", true, fallback},
		{"user oauth | key", false, key}, // two in one header
		{"oauth key", false, "\nAuthorization: Bearer …" + key},
		{"other", false, `credential: no credential for security scheme "other"`},
		{"other key more | third", false, `credential: no credential for security scheme "other" and "more", or "third"`},
		{"user oauth", false, "credential: two credentials of one alternative stand in header Authorization"},
	} {
		t.Run(fmt.Sprintf("%s,%t", c.alternatives, c.fallback), func(t *testing.T) {
			set := testSet(t, c.fallback)
			var alternatives [][]string
			for names := range strings.SplitSeq(c.alternatives, "|") {
				if names = strings.TrimSpace(names); names == "{}" {
					alternatives = append(alternatives, nil)
				} else if names != "" {
					alternatives = append(alternatives, strings.Fields(names))
				}
			}
			choice, err := set.Choose(alternatives)
			got := ""
			if err != nil {
				var missing *MissingError
				if !errors.As(err, &missing) {
					t.Errorf("%T", err)
				}
				got = err.Error()
			} else {
				next := &record{}
				req := request(t, "GET https://orders.example.com/")
				if _, err := set.Wrap(next).RoundTrip(req.WithContext(choice.Context(t.Context()))); err != nil {
					t.Fatal(err)
				}
				if a := next.request.Header["Authorization"]; len(a) == 1 && strings.HasPrefix(a[0], "Bearer ey") {
					next.request.Header["Authorization"] = []string{"Bearer …"}
				}
				got = strings.TrimPrefix(print(next.request), "GET https://orders.example.com/")
				if (len(choice.credentials.list) == 0) != (got == "" && c.alternatives != "tls") {
					t.Error("empty?", got)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A request that nobody chose for gets the default, one for another origin gets nothing (E4).
func TestSetWithoutChoice(t *testing.T) {
	set := testSet(t, true)
	choice, err := set.Choose([][]string{{"key"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"key"}, choice.Schemes()); diff != "" {
		t.Error(diff)
	}
	next := &record{}
	for _, c := range []struct{ target, want string }{
		{"https://orders.example.com/", "\nAuthorization: Bearer s3cret-default"}, {"https://billing.example.com/", ""},
	} {
		if _, err := set.Wrap(next).RoundTrip(request(t, "GET "+c.target)); err != nil || print(next.request) != "GET "+c.target+c.want {
			t.Error(print(next.request), err)
		}
	}
	if _, err := set.Wrap(next).RoundTrip(request(t, "GET https://billing.example.com/").WithContext(choice.Context(t.Context()))); err != nil || len(next.request.Header) != 0 {
		t.Error(next.request.Header, err)
	}
}

func TestSetErrors(t *testing.T) {
	_, err := NewSet(SetOptions{Default: &Options{Kind: Bearer}, Schemes: map[string]Options{
		"b": {Kind: Basic, Username: Fixed("a:b"), Password: Fixed("s3cret")}, "a": {Kind: APIKey, In: Cookie, Key: Fixed("s3cret;")}, "c": {},
	}})
	want := `credential: origin must be an absolute http or https URL
security scheme "a": credential: the API key needs a name
security scheme "b": credential: username holds a colon
security scheme "c": credential: unknown kind 0
credential: token is missing`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Error(diff)
	}
}
