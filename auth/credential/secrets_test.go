package credential

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"drawbridge/auth"
)

// texts are all forms in which a value can get into a text.
func texts(v any) string {
	var b strings.Builder
	for _, verb := range "vsqdxXtbcoUeEfgGpT" { // those that do not fit show more than those that do
		fmt.Fprintf(&b, "%"+string(verb)+" %+"+string(verb)+" %#"+string(verb)+"\n", v, v, v)
	}
	fmt.Fprintf(&b, "%v %+v %#v\n", struct{ hidden any }{v}, []any{v}, map[string]any{"": v})
	fmt.Fprintf(&b, "%s %q %t\n", struct{ hidden any }{v}, struct{ hidden any }{v}, struct{ hidden any }{v})
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "v", v)
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "v", v)
	j, err := json.Marshal(v)
	fmt.Fprintf(&b, "%s %v\n", j, err)
	x, err := xml.Marshal(v)
	fmt.Fprintf(&b, "%s %v\n", x, err)
	if err, ok := v.(error); ok {
		for ; err != nil; err = errors.Unwrap(err) {
			fmt.Fprintf(&b, "%v %+v %#v\n", err, err, err)
			var e *TokenError
			if errors.As(err, &e) {
				b.WriteString(e.ToolMessage())
			}
		}
	}
	return b.String()
}

// reach calls visit for everything that package fmt could reach from v, if it
// followed all pointers: who prints a part shows no more than who prints the whole.
func reach(v reflect.Value, seen map[unsafe.Pointer]bool, visit func(any)) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || seen[v.UnsafePointer()] {
			return
		}
		seen[v.UnsafePointer()] = true
		if p := v.Type().Elem().PkgPath(); strings.HasPrefix(p, "drawbridge/") {
			visit(v.Interface())
		}
		reach(v.Elem(), seen, visit)
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			if t := f.Type().String(); strings.HasSuffix(t, "http.RoundTripper") || strings.HasSuffix(t, "http.Client") {
				continue // those of others
			}
			if f.CanAddr() { // an unexported field, as if it were none
				f = reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
			}
			reach(f, seen, visit)
		}
	case reflect.Interface:
		if !v.IsNil() {
			reach(v.Elem(), seen, visit)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			reach(v.Index(i), seen, visit)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			reach(v.MapIndex(k), seen, visit)
		}
	}
}

// TestCanaries looks for secrets in every error, and in everything that can be
// printed: client secrets, callers' tokens, tokens that were got, assertions,
// identities and keys.
func TestCanaries(t *testing.T) {
	const secret, subjectToken, issued = canary + "-client", canary + "-subject", canary + "-issued"
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pemFile, edFile := writePEM(t, "", ecKey(t)), writePEM(t, "", edKey)
	pemText, err := os.ReadFile(pemFile)
	if err != nil {
		t.Fatal(err)
	}
	keyLine := strings.Split(string(pemText), "\n")[2]
	var found []any
	see := func(v any) { found = append(found, v) }

	key := signingKey(t, KeyOptions{File: edFile})
	see(key)
	ctx := auth.NewContext(as(t.Context(), subjectToken, "alice"), &auth.Principal{Subject: "alice"})
	var sent Sent
	ctx = sent.Context(ctx)
	for name, handler := range echoes(secret, subjectToken, issued) {
		for _, o := range []Options{
			{Kind: ClientCredentials, OAuth: &OAuth{ClientAuth: SecretPost}},
			{Kind: ClientCredentials, OAuth: &OAuth{ClientAuth: PrivateKeyJWT, SigningKey: key}},
			{Kind: JWTAssertion, OAuth: &OAuth{SigningKey: key}},
			{Kind: TokenExchange, OAuth: &OAuth{Audiences: []string{"orders"}}},
			{Kind: OnBehalfOf, OAuth: &OAuth{Scopes: []string{"orders/.default"}, SubjectIssuer: "https://idp.example.com"}},
		} {
			e := &endpoint{handler: handler}
			o.Origin, o.Subject = origin0(), subject
			o.OAuth.TokenURL, o.OAuth.Client, o.OAuth.ClientID, o.OAuth.ClientSecret = "https://idp.example.com/", e.client(), "gateway", Fixed(secret)
			set, err := NewSet(SetOptions{Origin: origin0(), Schemes: map[string]Options{"oauth": o}, Default: &o})
			if err != nil {
				t.Fatal(err)
			}
			choice, err := set.Choose([][]string{{"oauth"}})
			if err != nil {
				t.Fatal(err)
			}
			rt := set.Wrap(&answer{&http.Response{StatusCode: http.StatusOK, Body: http.NoBody}})
			from := choice.Context(ctx)
			if o.Kind == OnBehalfOf {
				from = as(from, unsigned(`{"iss":"https://idp.example.com","sub":"alice","scp":"x"}`)+subjectToken, "alice")
			}
			_, err = send(from, t, rt, "GET", resource, nil)
			if bad := !strings.HasPrefix(name, "good"); bad != (err != nil) && !(name == "good for one" && o.Kind == TokenExchange) {
				t.Errorf("%s, %s: %v", name, o.Kind, err)
			}
			if see(err); name != "good" {
				continue
			}
			for _, v := range []any{o, o.OAuth, SetOptions{Schemes: map[string]Options{"oauth": o}, Default: &o}, set, choice, choice.Context(ctx), rt} {
				see(v)
			}
		}
	}
	see(&sent)
	if text := strings.Join(sent.Reveal(), " "); text != issued+" "+subjectToken && text != subjectToken+" "+issued {
		t.Errorf("%q was sent", text)
	}

	// A secret that can't be read or can't be sent.
	gone := func() (string, error) { return secret, errors.New("file is gone") }
	for _, o := range []Options{
		{Kind: ClientCredentials, OAuth: &OAuth{TokenURL: "https://u:" + secret + "@idp.example.com/?key=" + secret + "#" + secret, ClientID: "g", ClientSecret: gone}},
		{Kind: ClientCredentials, OAuth: &OAuth{TokenURL: "https://idp.example.com/\x00" + secret}},
		{Kind: Bearer, Token: Fixed(secret + "\n" + secret)},
		{Kind: Basic, Username: Fixed(secret + ":"), Password: Fixed(secret + "\n")},
		{Kind: APIKey, In: Cookie, Name: "sid", Key: Fixed(secret + ";")},
	} {
		_, err := New(o)
		if err == nil {
			t.Errorf("%s: no error", o.Kind)
		}
		see(err)
	}
	for name, wrap := range chain(t) {
		rt := wrap(&answer{&http.Response{StatusCode: http.StatusOK, Body: http.NoBody}})
		if _, err := send(ctx, t, rt, "GET", resource, nil); err != nil {
			t.Fatal(name, err)
		}
		see(rt)
	}

	// Keys and what does not hold them.
	for _, content := range []string{keyLine, "-----BEGIN PRIVATE KEY-----\n" + keyLine + "\n-----END PRIVATE KEY-----\n", strings.Replace(string(pemText), "PRIVATE", "EC PRIVATE", 2), string(pemText) + string(pemText)} {
		file := filepath.Join(t.TempDir(), "bad.pem")
		put(t, file, []byte(content))
		_, err := NewSigningKey(KeyOptions{File: file})
		_, err2 := NewClientCertificate(CertificateOptions{CertFile: file, KeyFile: file, CAFile: file, Origin: origin0()})
		_, err3 := NewIdentity(IdentityOptions{Files: []string{file}})
		if err == nil || err2 == nil || err3 == nil {
			t.Error("no error for", content[:20])
		}
		for _, err := range []error{err, err2, err3} {
			see(err)
		}
	}
	a := newAuthority(t)
	dir := t.TempDir()
	_, certificate := issue(t, &x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour)}, a.certificate, edKey.Public(), a.key)
	put(t, filepath.Join(dir, "cert.pem"), certificate)
	c, err := NewClientCertificate(CertificateOptions{CertFile: filepath.Join(dir, "cert.pem"), KeyFile: edFile, Origin: origin0()})
	if err != nil {
		t.Fatal(err)
	}
	see(c)
	wrap, err := NewPassThrough(PassThroughOptions{Headers: plain("X-Tenant"), Origin: origin0(), Inbound: func(context.Context) http.Header { return http.Header{"X-Tenant": {secret + "\n"}} }})
	if err != nil {
		t.Fatal(err)
	}
	_, err = send(ctx, t, wrap(&service{}), "GET", resource, nil)
	see(err)
	i, _, _ := newIdentity(t, nil, pemFile)
	see(i)

	bytes := strings.Trim(fmt.Sprint([]byte(edKey[:8])), "[]")
	shows := func(v any, whole any) {
		text := texts(v)
		for _, s := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), keyLine, keyLine[:16], bytes, fmt.Sprintf("%x", []byte(edKey[:8])), "client_assertion=", "eyJhbGciOi"} {
			if at := strings.Index(text, s); at >= 0 {
				t.Errorf("%T in %T: %q is in …%s…", v, whole, s, text[max(0, at-200):min(len(text), at+50)])
			}
		}
	}
	for _, v := range found {
		if v == nil {
			continue
		}
		shows(v, v)
		reach(reflect.ValueOf(v), map[unsafe.Pointer]bool{}, func(part any) { shows(part, v) })
	}
}

// TestAccountCanaries looks for passwords and tokens of logins and digests in errors and in everything that can be printed.
func TestAccountCanaries(t *testing.T) {
	var found []any
	for _, status := range []int{200, 302, 401, 403, 500} {
		for _, body := range []string{`{"data":{"token":"` + canary + `","seconds":60}}`, `{"data":{"token":"` + canary + ` ` + canary + `","seconds":"` + canary + `"}}`, canary} {
			for _, o := range []Options{loginOptions(), digestOptions()} {
				o.Username, o.Password = Fixed("gate way"), Fixed(canary)
				var sent Sent
				rt := mustNew(t, o)(through(func(req *http.Request) (*http.Response, error) {
					w := httptest.NewRecorder()
					w.Header().Set("Www-Authenticate", `Digest realm="`+canary+`", nonce="`+canary+`", qop="auth", algorithm=`+body)
					w.Header().Set("Location", "/"+canary)
					if req.URL.Path == "/login" || o.Kind == Digest {
						w.WriteHeader(status)
						_, _ = io.WriteString(w, body)
					}
					return w.Result(), nil
				}))
				_, err := send(sent.Context(t.Context()), t, rt, "GET", resource, nil)
				found = append(found, err, &sent)
				if o.Kind == LoginRequest { // the nonce and realm of a challenge are no secrets
					found = append(found, rt, o)
				}
			}
		}
	}
	for _, v := range found {
		if v == nil {
			continue
		}
		visit := func(part any) {
			if at := strings.Index(texts(part), canary); at >= 0 {
				t.Errorf("%T in %T holds the canary", part, v)
			}
		}
		visit(v)
		reach(reflect.ValueOf(v), map[unsafe.Pointer]bool{}, visit)
	}
}

// echoes are authorization servers that do whatever there is to do with what
// they were sent, and with the secrets that there are.
func echoes(secret, subjectToken, issued string) map[string]http.HandlerFunc {
	type reply func(echo string) (status int, contentType, body string)
	all := map[string]http.HandlerFunc{}
	for name, answer := range map[string]reply{
		"code": func(echo string) (int, string, string) { return 400, "application/json", `{"error":` + echo + `}` },
		"description": func(echo string) (int, string, string) {
			return 401, "application/json", `{"error":"invalid_client","error_description":` + echo + `,"error_uri":` + echo + `}`
		},
		"page":     func(echo string) (int, string, string) { return 500, "text/html", echo },
		"form":     func(echo string) (int, string, string) { return 400, "text/plain", "error=" + echo + "&%zz=" + echo },
		"not json": func(echo string) (int, string, string) { return 200, "application/json", echo + echo },
		"wrong type": func(echo string) (int, string, string) {
			return 200, "application/json", `{"access_token":[` + echo + `]}`
		},
		"bad token": func(echo string) (int, string, string) {
			return 200, "application/json", `{"access_token":"` + issued + ` ","token_type":` + echo + `}`
		},
		"bad type": func(echo string) (int, string, string) {
			return 200, "application/json", `{"access_token":"` + issued + `","issued_token_type":` + echo + `,"token_type":` + echo + `}`
		},
		"moved": func(string) (int, string, string) { return 302, "", "" },
		"good": func(string) (int, string, string) {
			return 200, "application/json", `{"access_token":"` + issued + `","issued_token_type":"` + TypeAccessToken + `","token_type":"Bearer"}`
		},
		"good for one": func(string) (int, string, string) {
			return 200, "application/json", `{"access_token":"` + subjectToken + `","issued_token_type":"` + TypeJWT + `","token_type":"Bearer"}`
		},
	} {
		all[name] = func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				panic(err)
			}
			echo, err := json.Marshal(string(body) + r.Header.Get("Authorization") + secret + r.URL.String())
			if err != nil {
				panic(err)
			}
			w.Header().Set("Location", "https://idp.example.com/?"+secret+issued)
			status, contentType, text := answer(string(echo))
			answers(status, contentType, text)(w, r)
		}
	}
	return all
}
