package credential

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Assertion describes the JWT of the grant of RFC 7523 section 2.1.
type Assertion struct {
	// Issuer is "iss", by which the authorization server finds the key. The default is the client
	// ID.
	Issuer string
	// Subject is "sub", the subject of the token. The default is Issuer.
	Subject string
	// Audience is "aud", the authorization server. The default is OAuth.TokenURL.
	Audience string
	// Lifetime is the time from "iat" to "exp". The default is one minute, the maximum ten.
	Lifetime time.Duration
	// Claims are additional claims, such as "scope" for an authorization server that looks for it
	// there. They can't replace the standard ones.
	Claims map[string]string
}

const (
	defaultAssertionLife = time.Minute
	maxAssertionLife     = 10 * time.Minute
)

// assertion creates JWTs that authenticate the gateway (RFC 7523 section 3).
type assertion struct {
	key                       *SigningKey
	issuer, subject, audience string
	life                      time.Duration
	claims                    map[string]string
	now                       func() time.Time
}

// mint creates a JWT for a single use, with a unique "jti".
func (a *assertion) mint() (string, error) {
	claims := make(map[string]any, 6+len(a.claims))
	for name, value := range a.claims {
		claims[name] = value
	}
	now := a.now()
	claims["iss"], claims["sub"], claims["aud"] = a.issuer, a.subject, a.audience
	claims["iat"], claims["exp"], claims["jti"] = now.Unix(), now.Add(a.life).Unix(), rand.Text()
	return a.key.sign(claims)
}

func (a *assertion) check() error {
	var problems []error
	if a.key == nil {
		problems = append(problems, errors.New("credential: a JWT assertion needs a signing key"))
	}
	if a.issuer == "" {
		problems = append(problems, errors.New("credential: a JWT assertion needs an issuer"))
	}
	if a.life < time.Second || a.life > maxAssertionLife {
		problems = append(problems, fmt.Errorf("credential: a JWT assertion can't live for %s: 1s to %s are good", a.life, maxAssertionLife))
	}
	for _, name := range slices.Sorted(maps.Keys(a.claims)) {
		if name == "" || slices.Contains(strings.Fields("iss sub aud iat exp nbf jti"), name) {
			problems = append(problems, fmt.Errorf("credential: claim %q of a JWT assertion is set by the gateway", name))
		}
	}
	return errors.Join(problems...)
}
