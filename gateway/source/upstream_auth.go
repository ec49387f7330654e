package source

import (
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/account"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi"
	"drawbridge/openapi/origin"
)

// upstreamAuth is the upstream authentication of one API: everything that the gateway adds to requests to its service
// and to the fetch of its document (credentials, the caller's identity, headers that the caller passes through). All of
// it goes to one origin (E4), except the credentials that are configured for others. It caches tokens of authorization
// servers, so it lives as long as its source.
type upstreamAuth struct {
	now      func() time.Time
	set      *credential.Set // credentials by security scheme; nil if none is configured
	calls    wrapper         // authenticates calls; nil if nothing is added
	document wrapper         // authenticates the fetch of the document; nil if nothing is added
	tls      connection      // presents the client certificate; nil if there is none
	dynamic  bool            // calls adds values that are not in the configuration, such as tokens
	// anonymous reports whether the document is fetched without the credential, because the credential needs a caller or is unset.
	anonymous bool
	tokens    []*upstream.Client // clients of authorization servers
	panicked  func(what string, v any)
	api       config.API
	server    string                                  // by [serverKey], if claims select among several; else ""
	all       *account.Accounts                       // of all services
	accounts  map[*config.Credential]*account.Service // of the credentials for which callers have accounts
	// onlyAddresses contains the addresses that authorization servers must have; nil for any.
	onlyAddresses []netip.Prefix
	open          func(path string) (*os.File, error) // see credential.CertificateOptions

	certificates []*credential.ClientCertificate
}

type (
	wrapper    = func(http.RoundTripper) http.RoundTripper
	connection = func(base *tls.Config, addr string) (*tls.Config, error)
)

// prefixes returns the ranges of networks.
func prefixes(networks []config.Network) []netip.Prefix {
	var out []netip.Prefix
	for _, n := range networks {
		out = append(out, n.Prefix())
	}
	return out
}

// authOptions are the inputs of newUpstreamAuth.
type authOptions struct {
	api      config.API
	limits   config.Limits
	identity *credential.Identity // signs the caller's identity; nil if no API requires it
	now      func() time.Time
	panicked func(what string, v any)
	server   string                            // by [serverKey], if claims select among several; else ""
	accounts *account.Accounts                 // of callers
	wrong    func(key string, err error) error // adds the position of a key of the API to an error
}

// newUpstreamAuth sets up the upstream authentication of an API. It reads keys and certificates but requests no token, and
// returns all problems (Z8).
func newUpstreamAuth(made authOptions) (*upstreamAuth, error) {
	a := &upstreamAuth{
		now: made.now, panicked: made.panicked, api: made.api, server: made.server, all: made.accounts,
		onlyAddresses: prefixes(made.api.GrantedAddresses()), open: made.api.Opener(),
	}
	c, limits := made.api, made.limits
	to := credentialOrigin(c)
	var problems []error
	problem := func(key string, err error) {
		for _, one := range config.SplitErrors(err) {
			problems = append(problems, made.wrong(key, errors.New(strings.TrimPrefix(one.Error(), "credential: "))))
		}
	}
	a.setCredentials(c, limits, to, problem)
	a.setServerCredentials(c, limits, problem)
	a.addHeaders(c, made.identity, to, problem)
	a.setCertificate(c, to, problem)
	problem("spec_credential", a.forDocument(c, limits))
	for _, k := range credentialsOf(c) {
		switch k.Type {
		case config.CredentialLogin, config.CredentialDigest, config.CredentialAWSSigV4:
			a.dynamic = true
		default:
			a.dynamic = a.dynamic || k.Type.IsOAuth()
		}
	}
	return a, errors.Join(problems...)
}

// setCredentials sets up the credentials by security scheme, all of which go to one origin.
func (a *upstreamAuth) setCredentials(c config.API, limits config.Limits, to *url.URL, problem func(key string, err error)) {
	valid := true
	build := func(key string, k *config.Credential) credential.Options {
		o, err := a.options(k, limits, to)
		if err == nil {
			_, err = credential.New(o) // validates; the errors of a set don't name the key
		}
		problem(key, err)
		valid = valid && err == nil
		return o
	}
	o := credential.SetOptions{Origin: to, Schemes: map[string]credential.Options{}}
	if c.Credential != nil {
		standard := build("credential", c.Credential)
		o.Default = &standard
	}
	for _, name := range slices.Sorted(maps.Keys(c.Credentials)) {
		o.Schemes[name] = build("credentials."+name, c.Credentials[name])
	}
	if !valid || o.Default == nil && len(o.Schemes) == 0 {
		return
	}
	var err error
	a.set, err = credential.NewSet(o)
	problem("credentials", err)
	if a.set != nil {
		a.calls = a.set.Wrap
	}
}

// setServerCredentials sets up the credentials for other origins, each of which goes only to its own.
func (a *upstreamAuth) setServerCredentials(c config.API, limits config.Limits, problem func(key string, err error)) {
	for _, name := range slices.Sorted(maps.Keys(c.ServerCredentials)) {
		var wrap wrapper
		server, err := url.Parse(name)
		if err == nil {
			var o credential.Options
			if o, err = a.options(c.ServerCredentials[name], limits, server); err == nil {
				wrap, err = credential.New(o)
			}
		}
		problem("server_credentials."+name, err)
		a.calls = around(wrap, a.calls)
	}
}

// addHeaders sets up the headers of calls in addition to credentials: the caller's identity, headers that the caller
// passes through, and configured values.
func (a *upstreamAuth) addHeaders(c config.API, identity *credential.Identity, to *url.URL, problem func(key string, err error)) {
	// The order of these wrappers does not matter: each sets headers of its own.
	if c.Identity != nil && identity != nil {
		identify, err := identity.For(credential.IdentityUse{Header: c.Identity.HeaderName(), Audience: orName(c.Identity.Audience, c.Name), Origin: to})
		problem("identity", err)
		a.calls, a.dynamic = around(identify, a.calls), true
	}
	if len(c.PassHeaders) > 0 {
		pass, err := credential.NewPassThrough(a.passed(c, to, problem))
		problem("pass_headers", err)
		a.calls = around(pass, a.calls)
		a.dynamic = a.dynamic || c.PassesCredential()
	}
	if !c.Request.IsZero() {
		// This wrapper comes first, so that a signature of the request covers the values.
		values, err := credential.NewRequestValues(requestValues(c.Request, to))
		problem("request", err)
		a.calls = around(values, a.calls)
	}
}

// setCertificate sets up the client certificate for connections to the service.
func (a *upstreamAuth) setCertificate(c config.API, to *url.URL, problem func(key string, err error)) {
	k := c.ClientCertificate
	if k == nil {
		return
	}
	certificate, err := credential.NewClientCertificate(credential.CertificateOptions{
		CertFile: k.CertFile.String(), KeyFile: k.KeyFile.String(), Open: a.open, Origin: to, Now: a.now})
	problem("client_certificate", err)
	if err == nil {
		a.tls = certificate.Config
		a.certificates = append(a.certificates, certificate)
	}
}

func orName(text, name string) string {
	if text == "" {
		return name
	}
	return text
}

// around wraps inner in outer. Each may be nil.
func around(outer, inner wrapper) wrapper {
	switch {
	case inner == nil:
		return outer
	case outer == nil:
		return inner
	}
	return func(next http.RoundTripper) http.RoundTripper { return outer(inner(next)) }
}

// forDocument sets up the authentication of the document's fetch: spec_credential, only for the origin of the
// document's URL, or for the service if a registry names that URL; otherwise the default credential of the API if the
// document is on the origin that receives it (E4).
func (a *upstreamAuth) forDocument(c config.API, limits config.Limits) error {
	if !c.Spec.IsURL() {
		return nil
	}
	u, err := url.Parse(c.Spec.String())
	if err != nil {
		return nil // makeDocumentClients reports it
	}
	switch own := c.Credential; {
	case c.SpecCredential != nil && c.SpecCredential.Unset():
		a.anonymous = true
	case c.SpecCredential != nil:
		to := u
		if c.IsDiscovered() {
			to = credentialOrigin(c)
		}
		o, err := a.options(c.SpecCredential, limits, to)
		if err != nil {
			return err
		}
		a.document, err = credential.New(o)
		return err
	case own == nil || a.set == nil || c.BaseURL != nil && !origin.Same(c.BaseURL.URL(), u):
	case own.Type.NeedsCaller() || own.Type == config.CredentialAuthorizationCode || own.Unset():
		a.anonymous = true
	default:
		a.document = a.set.Wrap
	}
	return nil
}

// expiry returns the earliest expiry of the client certificates; zero if there is none.
func (a *upstreamAuth) expiry() (first time.Time) {
	for _, c := range a.certificates {
		if end := c.Expiry(); !end.IsZero() && (first.IsZero() || end.Before(first)) {
			first = end
		}
	}
	return first
}

// close closes the idle connections to authorization servers.
func (a *upstreamAuth) close() {
	for _, c := range a.tokens {
		c.Close()
	}
}

// credentialOrigin returns the only origin that receives the settings of the API as a whole: that of base_url, or that
// of the document's URL. A document never decides it (E4); for a document in a file the configuration must have
// base_url.
func credentialOrigin(c config.API) *url.URL {
	if c.BaseURL != nil {
		return c.BaseURL.URL()
	}
	u, err := url.Parse(c.Spec.String())
	if err != nil {
		return &url.URL{}
	}
	return u
}

// subject returns the token of the caller, which goes only to the authorization server (T1).
func subject(ctx context.Context) (token, key string, ok bool) {
	p := auth.FromContext(ctx)
	t, found := auth.SubjectToken(ctx)
	if p == nil || !found {
		return "", "", false
	}
	_ = t.Use(func(text string) error { token = text; return nil }) // Use returns only the error of the function
	return token, p.ID(), true
}

// readsFiles reports whether an API has keys or certificates in files, which may have become invalid since they were
// read.
func readsFiles(c config.API) bool {
	return c.ClientCertificate != nil || slices.ContainsFunc(credentialsOf(c), func(k *config.Credential) bool {
		return k.KeyFile != "" || k.CertFile != "" || k.CAFile != ""
	})
}

// reserved returns the parameters that the gateway itself sends to the service of an API. Arguments must not set them
// (R5, R7).
func reserved(c config.API) []openapi.Reserved {
	var all []openapi.Reserved
	for _, k := range credentialsOf(c) {
		if in, name := k.Location(); (k.Type == config.CredentialAPIKey || k.Type == config.CredentialLogin) && k != c.SpecCredential {
			all = append(all, openapi.Reserved{In: string(in), Name: name})
		}
		if k.Type == config.CredentialAWSSigV4 && k != c.SpecCredential {
			// AWS's own documents declare these as parameters. In the query they would turn a request into a presigned
			// one.
			for _, name := range []string{"X-Amz-Date", "X-Amz-Security-Token", "X-Amz-Content-Sha256", "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders"} {
				all = append(all, openapi.Reserved{In: "header", Name: name}, openapi.Reserved{In: "query", Name: name})
			}
		}
	}
	for _, h := range c.PassHeaders {
		all = append(all, openapi.Reserved{In: "header", Name: h.To})
	}
	if c.Identity != nil {
		all = append(all, openapi.Reserved{In: "header", Name: c.Identity.HeaderName()})
	}
	if r := c.Request; r != nil {
		for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
			all = append(all, openapi.Reserved{In: "header", Name: name})
		}
		for _, name := range slices.Sorted(maps.Keys(r.Query)) {
			all = append(all, openapi.Reserved{In: "query", Name: name})
		}
	}
	return all
}

// credentialsOf returns all credentials of an API.
func credentialsOf(c config.API) []*config.Credential {
	_, all := c.AllCredentials()
	return all
}
