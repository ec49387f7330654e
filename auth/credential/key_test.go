package credential

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/cookiejar"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Which keys sign, and with what: none that is weak, and none with an algorithm of another kind.
func TestKeysAndAlgorithms(t *testing.T) {
	rsaOf := func(bits int) crypto.Signer {
		k, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	ecOf := func(c elliptic.Curve) crypto.Signer {
		k, err := ecdsa.GenerateKey(c, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	good := rsaOf(2048)
	for _, c := range []struct {
		key             crypto.Signer
		algorithm, want string // the algorithm in the header, or the end of the error
	}{
		{good, "", "RS256"}, {good, "PS512", "PS512"}, {good, "ES256", `can't sign with algorithm "ES256": its key is for ["RS256" "RS384" "RS512" "PS256" "PS384" "PS512"]`},
		{good, "HS256", `can't sign with algorithm "HS256": its key is for ["RS256" "RS384" "RS512" "PS256" "PS384" "PS512"]`}, {good, "none", `can't sign with algorithm "none": its key is for ["RS256" "RS384" "RS512" "PS256" "PS384" "PS512"]`},
		{rsaOf(1024), "", "holds an RSA key of 1024 bits: 2048 to 8192 are good"},
		{ecOf(elliptic.P256()), "", "ES256"}, {ecOf(elliptic.P384()), "", "ES384"}, {ecOf(elliptic.P521()), "", "ES512"},
		{ecOf(elliptic.P256()), "ES384", `can't sign with algorithm "ES384": its key is for ["ES256"]`},
		{ecOf(elliptic.P224()), "", "holds a key of a kind that is not supported"},
	} {
		file := writePEM(t, "", c.key)
		k, err := NewSigningKey(KeyOptions{File: file, Algorithm: c.algorithm})
		got := strings.TrimPrefix(fmt.Sprint(err), fmt.Sprintf("credential: key file %q ", file))
		if err == nil {
			text, err := k.sign(map[string]any{})
			if err != nil {
				t.Fatal(err)
			}
			jws, err := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(c.want)})
			if err != nil {
				t.Fatal(err)
			}
			got = jws.Signatures[0].Header.Algorithm
		}
		if got != c.want {
			t.Errorf("%T %s: %s, want %s", c.key, c.algorithm, got, c.want)
		}
	}
}

// The digest of the key's own certificate, and of no other in the file, goes into the header.
func TestDigestOfCertificate(t *testing.T) {
	a := newAuthority(t)
	key := ecKey(t)
	own, ownPEM := issue(t, &x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour)}, a.certificate, &key.PublicKey, a.key)
	file := writePEM(t, "", key)
	private, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(own.Raw)
	parameters := pem.EncodeToMemory(&pem.Block{Type: "EC PARAMETERS", Bytes: []byte{6, 8}})
	for name, c := range map[string]struct {
		content string
		want    any
	}{
		"own":    {string(a.pem) + string(parameters) + string(private) + string(ownPEM), base64.RawURLEncoding.EncodeToString(sum[:])},
		"others": {string(a.pem) + string(private), nil},
		"none":   {string(private), nil},
	} {
		put(t, file, []byte(c.content))
		text, err := signingKey(t, KeyOptions{File: file}).sign(map[string]any{})
		if err != nil {
			t.Fatal(err)
		}
		jws, err := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{jose.ES256})
		if err != nil {
			t.Fatal(err)
		}
		if got := jws.Signatures[0].Header.ExtraHeaders["x5t#S256"]; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// What the model is told of each failure: whether to try again, and who must act.
func TestToolMessages(t *testing.T) {
	const again, login, permission, operator, nobody = "Try again in a minute", "log in to the gateway again", "ask for the permission", "the operator of the gateway must repair", "this call has no user"
	for _, c := range []struct {
		e    TokenError
		want string
	}{
		{TokenError{Failure: NoCaller, Kind: TokenExchange}, nobody},
		{TokenError{Failure: Unavailable, Kind: TokenExchange, Code: "invalid_grant"}, again}, {TokenError{Failure: Unavailable, Kind: ClientCredentials}, again},
		{TokenError{Failure: Refused, Kind: TokenExchange, Code: "invalid_request"}, login}, {TokenError{Failure: SubjectRefused, Kind: TokenExchange, Code: "invalid_grant"}, login},
		{TokenError{Failure: Refused, Kind: TokenExchange, Code: "interaction_required"}, login},
		{TokenError{Failure: Refused, Kind: TokenExchange, Code: "invalid_scope"}, permission}, {TokenError{Failure: Refused, Kind: TokenExchange, Code: "access_denied"}, permission},
		{TokenError{Failure: Refused, Kind: TokenExchange, Code: "invalid_client"}, operator}, {TokenError{Failure: Refused, Kind: TokenExchange}, operator},
		{TokenError{Failure: Refused, Kind: ClientCredentials, Code: "invalid_scope"}, operator}, {TokenError{Failure: Refused, Kind: ClientCredentials, Code: "invalid_grant"}, operator},
		{TokenError{Failure: Unusable, Kind: TokenExchange, Code: "invalid_grant"}, operator}, {TokenError{Failure: Unusable, Kind: TokenExchange, Code: "access_denied"}, operator},
	} {
		c.e.Endpoint = "idp.internal"
		if got := c.e.ToolMessage(); !strings.Contains(got, c.want) || !strings.Contains(got, "Nothing was sent to the service.") || strings.Contains(got, "idp.internal") {
			t.Errorf("%+v: %s", c.e, got)
		}
	}
}

// A token endpoint that sets a cookie does not get it back, whatever the client does elsewhere.
func TestNoCookies(t *testing.T) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	e := &endpoint{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Cookies()) > 0 {
			t.Error(r.Cookies())
		}
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "1"})
		answers(200, "application/json", `{"access_token":"t","expires_in":0}`)(w, r)
	})}
	client := e.client()
	client.Jar = jar
	rt := mustNew(t, clientCredentials("https://idp.example.com/", client))(&service{})
	for range 2 {
		if _, err := send(t.Context(), t, rt, "GET", resource, nil); err != nil {
			t.Fatal(err)
		}
	}
	if client.Jar == nil || e.requests.Load() != 2 {
		t.Error("the client of the options was changed, or used once", e.requests.Load())
	}
}

// A plain-text origin has a port as well, and letters up to Z.
func TestPlainOrigin(t *testing.T) {
	o := Options{Kind: Bearer, Token: Fixed("t"), Origin: mustURL(t, "http://AZ.example.com")}
	for target, good := range map[string]bool{"http://az.example.com/": true, "http://AZ.example.com:80/": true, "http://az.example.com:8080/": false, "http://az.example.com:443/": false, "https://az.example.com:80/": false} {
		next := &record{}
		if _, err := mustNew(t, o)(next).RoundTrip(request(t, "GET "+target)); err != nil || (len(next.request.Header) == 1) != good {
			t.Errorf("%s: %v, %v", target, next.request.Header, err)
		}
	}
}

// A key may stand in each of the forms that openssl writes; one that is encrypted is told from one that is broken.
func TestKeyForms(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	elliptic := ecKey(t)
	sec1, err := x509.MarshalECPrivateKey(elliptic)
	if err != nil {
		t.Fatal(err)
	}
	pkcs1 := x509.MarshalPKCS1PrivateKey(rsaKey)
	exchange, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	x25519, err := x509.MarshalPKCS8PrivateKey(exchange)
	if err != nil {
		t.Fatal(err)
	}
	encrypted := map[string]string{"DEK-Info": "AES-256-CBC,00", "Proc-Type": "4,ENCRYPTED"}
	for _, c := range []struct {
		block pem.Block
		want  string // the end of the error; empty: it signs
	}{
		{pem.Block{Type: "RSA PRIVATE KEY", Bytes: pkcs1}, ""}, {pem.Block{Type: "EC PRIVATE KEY", Bytes: sec1}, ""},
		{pem.Block{Type: "RSA PRIVATE KEY", Bytes: pkcs1, Headers: encrypted}, "holds an encrypted key"},
		{pem.Block{Type: "EC PRIVATE KEY", Bytes: sec1, Headers: encrypted}, "holds an encrypted key"},
		{pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: pkcs1}, "holds an encrypted key"},
		{pem.Block{Type: "RSA PRIVATE KEY", Bytes: sec1}, "holds a private key that can't be read"},
		{pem.Block{Type: "EC PRIVATE KEY", Bytes: pkcs1}, "holds a private key that can't be read"},
		{pem.Block{Type: "PRIVATE KEY", Bytes: pkcs1[:100]}, "holds a private key that can't be read"},
		{pem.Block{Type: "CERTIFICATE", Bytes: pkcs1}, "holds a certificate that can't be read"},
		{pem.Block{Type: "PUBLIC KEY", Bytes: pkcs1}, "holds no private key in PEM form"},
		{pem.Block{Type: "PRIVATE KEY", Bytes: x25519}, "holds a private key that can't sign"},
	} {
		file := t.TempDir() + "/key.pem"
		put(t, file, pem.EncodeToMemory(&c.block))
		k, err := NewSigningKey(KeyOptions{File: file})
		want := fmt.Sprintf("credential: key file %q %s", file, c.want)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.block.Type, err)
			} else if _, err := k.sign(1); err != nil {
				t.Error(err)
			}
		} else if fmt.Sprint(err) != want {
			t.Errorf("%s: %v, want %s", c.block.Type, err, want)
		}
	}
}

// Of two keys in a file none is taken: which of them signs would be chance.
func TestTwoKeys(t *testing.T) {
	file := writePEM(t, "", ecKey(t))
	first, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(writePEM(t, file, ecKey(t)))
	if err != nil {
		t.Fatal(err)
	}
	put(t, file, slices.Concat(first, second))
	_, err = NewSigningKey(KeyOptions{File: file})
	if want := fmt.Sprintf("credential: key file %q holds two private keys", file); fmt.Sprint(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// RSA keys are bounded on both sides. Keys of this size take long to make, and their numbers are not looked at.
func TestSizesOfKeys(t *testing.T) {
	for bits, good := range map[uint]bool{2047: false, 2048: true, 8192: true, 8193: false} {
		key := &rsa.PrivateKey{PublicKey: rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), bits-1), E: 65537}}
		if _, err := algorithmsOf(key); (err == nil) != good {
			t.Errorf("%d bits: %v", bits, err)
		}
	}
}
