package credential

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"drawbridge/auth"
	"drawbridge/openapi/origin"
)

// ClientAuth is the method by which the gateway authenticates to a token endpoint.
type ClientAuth uint8

// Client authentication methods.
const (
	// SecretBasic sends client ID and secret as Basic (RFC 6749 section 2.3.1). It is the default.
	SecretBasic ClientAuth = iota
	// SecretPost sends them as parameters.
	SecretPost
	// PrivateKeyJWT sends a JWT signed with the key (RFC 7523 section 2.2).
	PrivateKeyJWT
	// ClientTLS sends the client ID alone: OAuth.Client has a client certificate (RFC 8705 section
	// 2).
	ClientTLS
	// NoClientAuth sends the client ID if there is one. It is for JWTAssertion, where the assertion
	// itself authenticates.
	NoClientAuth
)

// OAuth configures token requests. Only ClientSecret and the key are secret; the rest may be
// printed.
type OAuth struct {
	// TokenURL is the token endpoint: https, or http on loopback.
	TokenURL string
	// Client sends the token requests. Its transport enforces the address policy (SSRF protection).
	// Redirects are never followed. A response may have 64 KiB and take 5 seconds.
	Client *http.Client
	// ClientID identifies the gateway to the authorization server.
	ClientID string
	// ClientAuth is the client authentication method.
	ClientAuth ClientAuth
	// ClientSecret is for SecretBasic and SecretPost.
	ClientSecret Secret
	// SigningKey signs the assertions of PrivateKeyJWT and JWTAssertion.
	SigningKey *SigningKey
	// AssertionAudience is "aud" in the assertion of PrivateKeyJWT. The default is TokenURL; the
	// authorization server's issuer identifier is preferable where it is accepted.
	AssertionAudience string
	// Scopes are requested, if not empty.
	Scopes []string
	// Resources are sent as "resource" (RFC 8707), Audiences as "audience"
	// (RFC 8693 section 2.1).
	Resources, Audiences []string
	// Parameters are additional parameters. They can't have the name of a standard one.
	Parameters map[string]string
	// Assertion configures JWTAssertion.
	Assertion Assertion
	// Exchange configures TokenExchange. OnBehalfOf uses only its Accept.
	Exchange Exchange
	// SubjectIssuer is, for OnBehalfOf, the issuer identifier of the authorization server behind
	// TokenURL. Tokens of callers from other issuers are not sent there.
	SubjectIssuer string
}

// Limits on token responses.
const (
	maxResponse = 64 << 10
	maxToken    = 16 << 10
	maxLife     = 24 * time.Hour
	defaultLife = 5 * time.Minute // without "expires_in"
)

// Grant types.
const (
	grantExchange  = "urn:ietf:params:oauth:grant-type:token-exchange"
	grantAssertion = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	assertionType  = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
)

// grant requests and caches the tokens of one credential at an authorization server.
type grant struct {
	kind                            Kind
	endpoint                        string // host and port, for errors
	client                          http.Client
	config                          *clientcredentials.Config // without the secret
	secret                          Secret                    // nil if none is sent
	clientAssertion, grantAssertion *assertion                // nil if none is sent
	exchange                        *exchange                 // nil if all callers share one token
	onBehalf                        *onBehalf                 // nil unless exchange is that of OnBehalfOf
	now                             func() time.Time
	shared                          tokenSource // the token for all callers
}

// newGrant returns a grant, or all problems with its options.
func newGrant(o Options) (*grant, error) {
	if o.OAuth == nil {
		return nil, errors.New("credential: OAuth is missing")
	}
	c := *o.OAuth
	g := &grant{kind: o.Kind, now: clock(o.Now)}
	form, badForm := tokenForm(&c)
	g.config = &clientcredentials.Config{ClientID: c.ClientID, TokenURL: c.TokenURL, Scopes: c.Scopes, EndpointParams: form, AuthStyle: oauth2.AuthStyleInParams}
	if c.ClientAuth == SecretBasic {
		g.config.AuthStyle = oauth2.AuthStyleInHeader
	}
	return g, errors.Join(g.connect(&c), checkTargets(&c), badForm, g.authenticate(&c), g.useKind(o, &c, form))
}

// connect sets the token endpoint and the client that sends requests to it.
func (g *grant) connect(c *OAuth) error {
	var problems []error
	u, err := url.Parse(c.TokenURL)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http":
		// The URL is omitted, as it may contain a key.
		problems = append(problems, errors.New("credential: the token URL must be an absolute https URL without user and fragment"))
	case u.Scheme == "http" && !origin.Loopback(u.Hostname()):
		problems = append(problems, errors.New("credential: the token URL must be https: secrets are sent to it"))
	default:
		g.endpoint = u.Host
	}
	if c.Client == nil || c.Client.Transport == nil {
		problems = append(problems, errors.New("credential: the client for token requests is missing"))
	} else {
		g.client = *c.Client
		g.client.Jar = nil
		// A redirect would send the secrets elsewhere (RFC 6749 has none here).
		g.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return errors.Join(problems...)
}

// checkTargets checks the scopes, resources and audiences of the requested tokens.
func checkTargets(c *OAuth) error {
	var problems []error
	for _, scope := range c.Scopes {
		if !isScope(scope) {
			problems = append(problems, fmt.Errorf("credential: %q is not a scope", scope))
		}
	}
	for _, resource := range c.Resources {
		if r, err := url.Parse(resource); err != nil || !r.IsAbs() || strings.Contains(resource, "#") { // RFC 8707 section 2
			problems = append(problems, fmt.Errorf("credential: resource %q is not an absolute URI without fragment", resource))
		}
	}
	if slices.Contains(c.Audiences, "") {
		problems = append(problems, errors.New("credential: an audience is empty"))
	}
	return errors.Join(problems...)
}

// tokenForm returns the parameters of token requests that are the same for every kind of grant.
func tokenForm(c *OAuth) (url.Values, error) {
	form := make(url.Values)
	if len(c.Resources) > 0 {
		form["resource"] = slices.Clone(c.Resources)
	}
	if len(c.Audiences) > 0 {
		form["audience"] = slices.Clone(c.Audiences)
	}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(c.Parameters)) {
		if name == "" || isStandardParameter(name) {
			problems = append(problems, fmt.Errorf("credential: parameter %q of a token request is set by the gateway", name))
		}
		form.Set(name, c.Parameters[name])
	}
	return form, errors.Join(problems...)
}

// useKind configures what only one kind of grant has. form receives its parameters.
func (g *grant) useKind(o Options, c *OAuth, form url.Values) (err error) {
	switch o.Kind { //nolint:exhaustive // client credentials need nothing else; the others have no grant
	case TokenExchange:
		form.Set("grant_type", grantExchange)
		g.exchange, err = newExchange(o, form)
	case OnBehalfOf:
		form.Set("grant_type", grantAssertion)
		g.exchange, g.onBehalf, err = newOnBehalf(o, form)
	case JWTAssertion:
		form.Set("grant_type", grantAssertion)
		a := c.Assertion
		issuer := cmp.Or(a.Issuer, c.ClientID)
		g.grantAssertion = &assertion{
			key: c.SigningKey, issuer: issuer, subject: cmp.Or(a.Subject, issuer), audience: cmp.Or(a.Audience, c.TokenURL),
			life: cmp.Or(a.Lifetime, defaultAssertionLife), claims: maps.Clone(a.Claims), now: g.now,
		}
		err = g.grantAssertion.check()
	}
	return err
}

// authenticate configures client authentication.
func (g *grant) authenticate(c *OAuth) error {
	needsID := true
	var err error
	switch c.ClientAuth {
	case SecretBasic, SecretPost:
		if g.secret = c.ClientSecret; g.secret == nil {
			err = errors.New("credential: client secret is missing")
		} else if _, readErr := g.readSecret(); readErr != nil {
			err = readErr
		}
	case PrivateKeyJWT:
		g.clientAssertion = &assertion{
			key: c.SigningKey, issuer: c.ClientID, subject: c.ClientID, audience: cmp.Or(c.AssertionAudience, c.TokenURL),
			life: defaultAssertionLife, now: g.now,
		}
		if c.SigningKey == nil {
			err = errors.New("credential: private_key_jwt needs a signing key")
		}
	case ClientTLS:
	case NoClientAuth:
		if needsID = false; g.kind != JWTAssertion {
			err = errors.New("credential: only a JWT assertion can do without client authentication")
		}
	default:
		err = fmt.Errorf("credential: unknown client authentication %d", c.ClientAuth)
	}
	if needsID && c.ClientID == "" {
		err = errors.Join(err, errors.New("credential: client ID is missing"))
	}
	return err
}

func (g *grant) readSecret() (string, error) {
	if g.secret == nil {
		return "", nil
	}
	v, err := g.secret()
	if err != nil {
		return "", fmt.Errorf("credential: read client secret: %w", err)
	}
	if v = strings.TrimRight(v, "\r\n"); v == "" {
		return "", errors.New("credential: client secret is empty")
	}
	return v, nil
}

// fetch requests a token; subject is the subject token of an exchange.
func (g *grant) fetch(ctx context.Context, subject string, limit time.Duration) (*token, error) {
	config := clientcredentials.Config{
		ClientID: g.config.ClientID, TokenURL: g.config.TokenURL, Scopes: g.config.Scopes, AuthStyle: g.config.AuthStyle,
		EndpointParams: maps.Clone(g.config.EndpointParams),
	}
	var err error
	if config.ClientSecret, err = g.readSecret(); err != nil {
		return nil, err
	}
	for name, a := range map[string]*assertion{"client_assertion": g.clientAssertion, "assertion": g.grantAssertion} {
		if a == nil {
			continue
		}
		signed, err := a.mint()
		if err != nil {
			return nil, err
		}
		config.EndpointParams.Set(name, signed)
	}
	if g.clientAssertion != nil {
		config.EndpointParams.Set("client_assertion_type", assertionType)
	}
	if g.onBehalf != nil {
		if detail, advice := g.onBehalf.refusal(subject); detail != "" {
			return nil, &TokenError{Failure: NoCaller, Kind: g.kind, Endpoint: g.endpoint, detail: detail, advice: advice}
		}
	}
	if g.exchange != nil {
		config.EndpointParams.Set(g.exchange.parameter, subject)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	start := g.now()
	trip := &tokenTransport{next: g.client.Transport, now: g.now}
	client := g.client
	client.Transport = trip
	got, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, &client))
	if err != nil {
		return nil, g.tokenError(ctx, trip, err)
	}
	return g.newToken(got, subject, start, trip.status)
}

// newToken converts a token response to a token.
func (g *grant) newToken(got *oauth2.Token, subject string, start time.Time, status int) (*token, error) {
	unusable := func(format string, args ...any) error {
		return &TokenError{Failure: Unusable, Kind: g.kind, Endpoint: g.endpoint, Status: status, detail: fmt.Sprintf(format, args...)}
	}
	if len(got.AccessToken) > maxToken {
		return nil, unusable("it has more than %d bytes", maxToken)
	}
	if checkToken("", got.AccessToken) != nil {
		return nil, unusable("it holds a space or a character that can't stand in a header")
	}
	if g.exchange != nil {
		if reason := g.exchange.rejectReason(got, subject); reason != "" {
			return nil, unusable("%s", reason)
		}
	}
	if g.kind != TokenExchange && got.TokenType != "" && !auth.IsBearerType(got.TokenType) {
		return nil, unusable("it is not a bearer token") // such as DPoP: RFC 9449 section 5
	}
	life := lifetime(got)
	// The refresh time is randomized so that replicas do not refresh at once.
	refresh := life*4/5 + time.Duration(rand.Int64N(int64(life/10)+1))
	return &token{
		header:      seal(slices.Clip([]string{"Bearer " + got.AccessToken})),
		requestedAt: start, refreshAt: start.Add(refresh), expiry: start.Add(life),
	}, nil
}

// lifetime returns the lifetime of a token by its "expires_in". The token itself is not read, as
// its content is for the service only (RFC 9068 section 6).
func lifetime(t *oauth2.Token) time.Duration {
	var seconds float64
	switch v := t.Extra("expires_in").(type) {
	case float64:
		seconds = v
	case int64: // of a form-encoded response
		seconds = float64(v)
	case string:
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || n != n {
			return defaultLife
		}
		seconds = n
	default:
		return defaultLife
	}
	return time.Duration(max(0, min(seconds, maxLife.Seconds())) * float64(time.Second))
}

func (g *grant) fetcher(http.RoundTripper) fetcher { return g }

func (*grant) field() field { return field{Header, "Authorization"} }

func (*grant) isRejected(h http.Header) bool { return blamesToken(h) }

func (g *grant) clock() func() time.Time { return g.now }

// source returns the tokenSource for a request, and the subject token.
func (g *grant) source(ctx context.Context) (*tokenSource, string, error) {
	if g.exchange == nil {
		return &g.shared, "", nil
	}
	c, subject, ok := g.exchange.source(ctx, g.now())
	if !ok {
		return nil, "", &TokenError{Failure: NoCaller, Kind: g.kind, Endpoint: g.endpoint}
	}
	return c, subject, nil
}

// isStandardParameter reports whether a parameter of a token request is defined by a standard.
func isStandardParameter(name string) bool {
	return slices.Contains([]string{
		"grant_type", "client_id", "client_secret", "client_assertion", "client_assertion_type", "scope", "resource", "audience",
		"assertion", "subject_token", "subject_token_type", "requested_token_type", "actor_token", "actor_token_type",
		"code", "code_verifier", "redirect_uri", "refresh_token", "username", "password", "requested_token_use",
	}, name)
}

// isScope reports whether a text is a scope-token (RFC 6749 section 3.3).
func isScope(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
}
