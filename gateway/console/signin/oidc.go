package signin

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"drawbridge/auth/relyingparty"
	"drawbridge/config"
	"drawbridge/openapi/text"
)

// CallbackPath is the path of the redirect URI at the OpenID provider.
const CallbackPath = Path + "/signin/callback"

// OIDC signs people in at the OpenID provider of a configuration, by the authorization code flow with PKCE. It is safe for
// concurrent use.
type OIDC struct {
	client func(*config.ConsoleOIDC) (*http.Client, error)
	sealer relyingparty.Sealer
	now    func() time.Time

	mu     sync.Mutex
	party  *relyingparty.Party // of the last configuration; nil before the first
	config *config.ConsoleOIDC // of party
	base   string              // of party: URL of the console
}

// NewOIDC returns what signs people in. client returns the client for requests to a provider, with SSRF protection and a
// limit on responses; sealer seals sign-ins that are under way; now is the clock.
func NewOIDC(client func(*config.ConsoleOIDC) (*http.Client, error), sealer relyingparty.Sealer, now func() time.Time) *OIDC {
	return &OIDC{client: client, sealer: sealer, now: now}
}

// Start begins a sign-in: it sets its cookie and returns the URL of the provider to go to. next is the page to go to afterwards.
func (o *OIDC) Start(w http.ResponseWriter, r *http.Request, a *config.Admin, next string) (location string, err error) {
	p, err := o.partyOf(a)
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(next)
	if err != nil {
		return "", err
	}
	return p.Begin(w, r, data)
}

// Finish ends the sign-in of a request to the redirect URI, removes its cookie, and returns who signed in and the page to go
// to. The error is a [*relyingparty.Failure].
func (o *OIDC) Finish(w http.ResponseWriter, r *http.Request, a *config.Admin) (who Identity, next string, err error) {
	p, err := o.partyOf(a)
	if err != nil {
		return who, "", err
	}
	login, err := p.Callback(w, r)
	if err != nil {
		return who, "", err
	}
	tokens, err := p.Redeem(r.Context(), login)
	if err != nil {
		return who, "", err
	}
	who, ok := identity(a.Console.OIDC, tokens.Claims)
	if !ok {
		return who, "", &relyingparty.Failure{Reason: fmt.Sprintf("%s is not let in: the claim %s of the ID token has no value that the configuration gives a role.",
			nameOf(tokens.Claims), a.Console.OIDC.RolesClaim)}
	}
	return who, next, json.Unmarshal(login.Data, &next)
}

// partyOf returns the party at the provider of a configuration.
func (o *OIDC) partyOf(a *config.Admin) (*relyingparty.Party, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c, base := a.Console.OIDC, a.ConsoleURL()
	if o.party == nil || o.config != c || o.base != base {
		client, err := o.client(c)
		if err != nil {
			return nil, fmt.Errorf("the client of the provider: %w", err)
		}
		o.party, o.config, o.base = relyingparty.New(relyingparty.Options{
			Client: relyingparty.Client{
				Issuer: c.Issuer.String(), ID: c.ClientID, Secret: c.ClientSecret.Reveal(), RedirectURI: base + CallbackPath, Scopes: scopesOf(c), HTTP: client,
			},
			Sealer: o.sealer, Cookie: relyingparty.Cookie{Name: Cookie + "_flow", Path: Path + "/signin", Secure: a.ConsoleSecure()}, Now: o.now,
		}), c, base
	}
	return o.party, nil
}

// scopesOf returns the scopes to request.
func scopesOf(c *config.ConsoleOIDC) []string {
	if len(c.Scopes) == 0 {
		return []string{"profile"}
	}
	return c.Scopes
}

// identity decides the role of a person by the claims of an ID token; false if no value of the roles claim has one.
func identity(c *config.ConsoleOIDC, claims map[string]any) (who Identity, ok bool) {
	values := claimValues(claims, c.RolesClaim)
	eachRole(c, func(value string, role Role) {
		if !ok && slices.Contains(values, value) {
			who, ok = Identity{Name: nameOf(claims), Role: role, Grant: grantOf(c, value, role)}, true
		}
	})
	return who, ok
}

// Valid reports whether the value of the claim by which a person signed in still has the same role.
func (o *OIDC) Valid(c *config.ConsoleOIDC, who Identity) bool {
	if c == nil {
		return false
	}
	valid := false
	eachRole(c, func(value string, role Role) {
		valid = valid || role == who.Role && grantOf(c, value, role) == who.Grant
	})
	return valid
}

// eachRole visits the values of the claim that have a role, the greater role first.
func eachRole(c *config.ConsoleOIDC, visit func(value string, role Role)) {
	for _, value := range c.Roles.Operate {
		visit(value, Operate)
	}
	for _, value := range c.Roles.View {
		visit(value, View)
	}
}

// grantOf identifies the line of the configuration that gives a value of the claim a role.
func grantOf(c *config.ConsoleOIDC, value string, role Role) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "oidc %q %q %q %q %s", c.Issuer.String(), c.ClientID, c.RolesClaim, value, role))
}

// nameOf returns the name of a person for logs. It ends with the subject, which alone is unique and chosen by the provider.
func nameOf(claims map[string]any) string {
	subject, _ := claims["sub"].(string)
	name := "oidc:" + printable(subject)
	for _, claim := range []string{"preferred_username", "email"} {
		if text, _ := claims[claim].(string); printable(text) != "" {
			return printable(text) + " (" + name + ")"
		}
	}
	return name
}

// printable returns a text without spaces, parentheses and what can't be seen.
func printable(raw string) string {
	const limit = 100
	return text.Truncate(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || unicode.IsSpace(r) || strings.ContainsRune("()\uFFFD", r) {
			return -1
		}
		return r
	}, raw), limit)
}
