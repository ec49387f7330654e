package signin

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"
)

const (
	// flowLifetime is how long somebody may take to sign in at the provider.
	flowLifetime = 10 * time.Minute
	// flowCookieName is the name of the cookie of a flow, which has hostPrefix over HTTPS.
	flowCookieName = Cookie + "_flow"
)

// flow is a sign-in that is under way at the provider. The browser keeps it, sealed, so that no number of flows that are
// begun takes memory.
type flow struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"` // of PKCE
	Next     string `json:"p"` // the page to go to
	Issuer   string `json:"i"`
	Began    int64  `json:"b"` // Unix time
}

// flowSealer seals flows with a key of this process.
type flowSealer struct {
	aead cipher.AEAD
	now  func() time.Time
}

func newFlowSealer(now func() time.Time) flowSealer {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	block, _ := aes.NewCipher(key)
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // the size of the key is right
	}
	return flowSealer{aead: aead, now: now}
}

func (s flowSealer) seal(f *flow) string {
	text, _ := json.Marshal(f)
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, text, []byte(flowCookieName)))
}

// open returns the flow of a request; false if it has none, or it began too long ago.
func (s flowSealer) open(r *http.Request, secure bool) (*flow, bool) {
	c, err := r.Cookie(cookieName(flowCookieName, secure))
	if err != nil {
		return nil, false
	}
	sealed, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return nil, false
	}
	text, err := s.aead.Open(nil, nil, sealed, []byte(flowCookieName))
	if err != nil {
		return nil, false
	}
	f := &flow{}
	if json.Unmarshal(text, f) != nil || s.now().Sub(time.Unix(f.Began, 0)) > flowLifetime {
		return nil, false
	}
	return f, true
}

// flowCookie returns the cookie of a flow. It is SameSite=Lax, because the provider's redirect is a cross-site navigation,
// which has no cookie that is Strict.
func flowCookie(value string, maxAge int, secure bool) *http.Cookie {
	return &http.Cookie{
		Name: cookieName(flowCookieName, secure), Value: value, Path: cookiePath(Path+"/signin", secure), MaxAge: maxAge, Secure: secure, HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
	}
}
