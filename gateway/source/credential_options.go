package source

import (
	"errors"
	"net/url"
	"time"

	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/account"
	"drawbridge/gateway/upstream"
)

// options returns the options of one credential, which is sent to one origin.
func (a *upstreamAuth) options(c *config.Credential, limits config.Limits, to *url.URL) (credential.Options, error) {
	o := credential.Options{Name: c.Name, Now: a.now, Origin: to}
	switch c.Type {
	case config.CredentialBearer:
		o.Kind, o.Token = credential.Bearer, credential.Fixed(c.Token.Reveal())
	case config.CredentialBasic:
		o.Kind, o.Username, o.Password = credential.Basic, credential.Fixed(c.Username), credential.Fixed(c.Password.Reveal())
	case config.CredentialAPIKey:
		o.Kind, o.Key, o.In = credential.APIKey, credential.Fixed(c.Value.Reveal()), locationOf(c.In)
	case config.CredentialDigest:
		o.Kind, o.Username, o.Password = credential.Digest, credential.Fixed(c.Username), credential.Fixed(c.Password.Reveal())
	case config.CredentialLogin:
		o.Kind, o.Username, o.Password = credential.LoginRequest, credential.Fixed(c.Username), credential.Fixed(c.Password.Reveal())
		in, name := c.Location()
		o.In, o.Name = locationOf(in), name
		var err error
		o.Login, err = a.login(c, limits, to)
		return o, err
	case config.CredentialAWSSigV4:
		o.Kind = credential.AWSSigV4
		o.AWS = &credential.AWS{
			AccessKeyID: credential.Fixed(c.AccessKeyID), SecretAccessKey: credential.Fixed(c.SecretAccessKey.Reveal()), Region: c.Region, Service: c.Service,
		}
		if !c.SessionToken.IsZero() {
			o.AWS.SessionToken = credential.Fixed(c.SessionToken.Reveal())
		}
	case config.CredentialClientCredentials:
		o.Kind = credential.ClientCredentials
	case config.CredentialTokenExchange:
		o.Kind, o.Subject = credential.TokenExchange, subject
	case config.CredentialOnBehalfOf:
		o.Kind, o.Subject = credential.OnBehalfOf, subject
	case config.CredentialJWTAssertion:
		o.Kind = credential.JWTAssertion
	case config.CredentialAuthorizationCode:
		o.Kind = credential.Account
		service, err := a.account(c, limits)
		o.Accounts = service
		return o, err
	}
	if !c.Type.IsOAuth() {
		return o, nil
	}
	var err error
	o.OAuth, err = a.oauth(c, limits)
	return o, err
}

// account returns the service at which callers have accounts, for a credential of the API.
func (a *upstreamAuth) account(c *config.Credential, limits config.Limits) (*account.Service, error) {
	if known := a.accounts[c]; known != nil {
		return known, nil
	}
	u, err := url.Parse(c.TokenURL.String())
	if err != nil {
		return nil, errors.New("token_url is not a URL")
	}
	client, err := a.tokenClient(c, u, "authorization server", limits)
	if err != nil {
		return nil, err
	}
	o := account.ServiceOptions{API: a.api.Name, Server: a.server, Credential: c, Origin: credentialOrigin(a.api), Client: client.Documents()}
	for name, one := range a.api.Credentials {
		if one == c {
			o.Scheme = name
		}
	}
	if a.accounts == nil {
		a.accounts = map[*config.Credential]*account.Service{}
	}
	a.accounts[c] = a.all.Service(o)
	return a.accounts[c], nil
}

func locationOf(in config.KeyLocation) credential.Location {
	switch in {
	case config.KeyInQuery:
		return credential.Query
	case config.KeyInCookie:
		return credential.Cookie
	case config.KeyInHeader:
	}
	return credential.Header
}

// login returns the login of a credential. A path is at the service, and the request goes where calls go; an absolute URL
// has a client of its own.
func (a *upstreamAuth) login(c *config.Credential, limits config.Limits, service *url.URL) (*credential.Login, error) {
	u, err := c.Login.Resolve(service)
	if err != nil {
		return nil, err
	}
	l := &credential.Login{
		URL: u, Method: string(c.Login.Method), ContentType: c.Login.ContentType(), Body: c.Login.Body, Scheme: c.Login.TokenScheme(c.In, c.Name),
		TokenPointer: c.Login.TokenPointer.String(), TokenHeader: c.Login.TokenHeader, TokenCookie: c.Login.TokenCookie,
		LifetimePointer: c.Login.LifetimePointer.String(), Lifetime: time.Duration(c.Login.Lifetime),
	}
	if c.Login.IsPath() {
		return l, nil
	}
	client, err := a.tokenClient(c, u, "login", limits)
	if err == nil {
		l.Client = client.Documents()
	}
	return l, err
}

// oauth returns the token source of an OAuth credential.
func (a *upstreamAuth) oauth(c *config.Credential, limits config.Limits) (*credential.OAuth, error) {
	o := &credential.OAuth{
		TokenURL: c.TokenURL.String(), ClientID: c.ClientID, Scopes: c.Scopes, Resources: c.Resources, Audiences: c.Audiences,
		Parameters: c.Parameters,
		Exchange:   credential.Exchange{SubjectType: c.SubjectTokenType, Requested: c.RequestedTokenType, Accept: c.AcceptAudiences},

		SubjectIssuer: c.Issuer,
	}
	switch c.ClientAuth {
	case config.ClientSecretBasic:
		o.ClientAuth = credential.SecretBasic
	case config.ClientSecretPost:
		o.ClientAuth = credential.SecretPost
	case config.PrivateKeyJWT:
		o.ClientAuth = credential.PrivateKeyJWT
	case config.ClientTLS:
		o.ClientAuth = credential.ClientTLS
	case config.ClientAuthNone:
		o.ClientAuth = credential.NoClientAuth
	}
	if !c.ClientSecret.IsZero() {
		o.ClientSecret = credential.Fixed(c.ClientSecret.Reveal())
	}
	if x := c.Assertion; x != nil {
		o.AssertionAudience = x.Audience
		o.Assertion = credential.Assertion{Issuer: x.Issuer, Subject: x.Subject, Audience: x.Audience, Lifetime: time.Duration(x.Lifetime), Claims: x.Claims}
	}
	var problems []error
	if c.Type == config.CredentialJWTAssertion || c.ClientAuth == config.PrivateKeyJWT {
		key, err := credential.NewSigningKey(credential.KeyOptions{File: c.KeyFile.String(), Open: a.open, ID: c.KeyID, Algorithm: string(c.KeyAlgorithm), Now: a.now})
		if err != nil {
			problems = append(problems, err)
		} else {
			o.SigningKey = key
		}
	}
	u, err := url.Parse(c.TokenURL.String())
	if err != nil {
		return nil, errors.Join(append(problems, errors.New("token_url is not a URL"))...)
	}
	client, err := a.tokenClient(c, u, "authorization server", limits)
	if err != nil {
		problems = append(problems, err)
	} else {
		o.Client = client.Documents()
	}
	return o, errors.Join(problems...)
}

// maxTokenAnswer is the maximum size of a token endpoint's response after decompression, in bytes, which is the limit
// of auth/credential.
const maxTokenAnswer = 64 << 10

// tokenClient makes the client for a token endpoint or login, whose host the operator has configured (E1). It uses neither
// the credential of the API nor its certificate authorities.
func (a *upstreamAuth) tokenClient(c *config.Credential, u *url.URL, name string, limits config.Limits) (*upstream.Client, error) {
	defaults := config.DefaultLimits() // other limits of the configuration are for the service
	o := upstream.Options{
		Name: name, NamedHosts: []string{u.Hostname()}, OnlyAddresses: a.onlyAddresses, Connect: time.Duration(limits.ConnectTimeout),
		TLSHandshake: time.Duration(limits.TLSTimeout), Timeout: time.Duration(defaults.Timeout), FirstByte: time.Duration(defaults.FirstByteTimeout),
		MaxBytes: maxTokenAnswer, MaxRatio: int64(defaults.MaxRatio), MaxIdle: 4,
		ConnectionAge: time.Duration(limits.ConnectionAge), OnPanic: a.panicked, Proxy: upstream.ConfiguredProxy(c.Proxy),
	}
	if c.CertFile != "" || c.CAFile != "" {
		k := credential.CertificateOptions{CAFile: c.CAFile.String(), Open: a.open, Origin: u, Now: a.now}
		if c.CertFile != "" {
			k.CertFile, k.KeyFile = c.CertFile.String(), c.KeyFile.String()
		}
		certificate, err := credential.NewClientCertificate(k)
		if err != nil {
			return nil, err
		}
		o.TLS = certificate.Config
		a.certificates = append(a.certificates, certificate)
	}
	if c.Type == config.CredentialAuthorizationCode && c.RevokeURL.String() != "" {
		o.NamedHosts = append(o.NamedHosts, c.RevokeURL.Host())
	}
	client := upstream.NewClient(o)
	a.tokens = append(a.tokens, client)
	return client, nil
}
