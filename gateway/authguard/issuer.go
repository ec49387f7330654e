package authguard

import (
	"crypto/x509"
	"fmt"
	"time"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/source"
	"drawbridge/gateway/upstream"
)

// issuerOf converts an issuer of the configuration, completed by its preset.
func issuerOf(is config.Issuer, authority []byte, panicked func(what string, v any)) (auth.Issuer, error) {
	issuer := auth.Issuer{
		URL: is.Issuer.String(), Audiences: is.Audiences, ClientIDs: is.ClientIDs, RequireClient: is.RequireClient,
		ScopeClaims: is.ScopeClaims, MaxLifetime: time.Duration(is.MaxLifetime), Skew: time.Duration(is.Skew),
	}
	if is.Opaque() {
		issuer.Tokens = auth.Opaque
	}
	for _, a := range is.Algorithms {
		issuer.Algorithms = append(issuer.Algorithms, string(a))
	}
	for _, claim := range is.IDTokenClaims {
		issuer.IDTokenClaims = append(issuer.IDTokenClaims, string(claim))
	}
	for _, typ := range is.AcceptTyp {
		if typ == "none" { // the token has no "typ" header
			typ = ""
		}
		issuer.Types = append(issuer.Types, typ)
	}
	if issuer.Skew == 0 { // 0 would select the default of auth
		issuer.Skew = time.Nanosecond
	}
	switch is.DPoP {
	case config.DPoPAccept:
		issuer.DPoP = auth.DPoPAccept
	case config.DPoPRequire:
		issuer.DPoP = auth.DPoPRequire
	case config.DPoPOff:
	}
	issuer.Introspection = introspectionOf(is.Introspection)
	if is.Preset != "" {
		preset, ok := auth.Preset(string(is.Preset))
		if !ok { // a test keeps the two lists equal
			return issuer, fmt.Errorf("no preset is named %q", is.Preset)
		}
		if is.Tokens == config.TokensJWT {
			preset.Tokens, preset.Introspection = auth.JWT, nil
		}
		issuer = issuer.WithDefaults(preset)
	}
	var roots *x509.CertPool
	if authority != nil {
		if roots = x509.NewCertPool(); !roots.AppendCertsFromPEM(authority) {
			return issuer, fmt.Errorf("%q holds no PEM certificate", is.CAFile)
		}
	}
	if proxy := upstream.ConfiguredProxy(is.Proxy); roots != nil || proxy != nil {
		issuer.Client = upstream.NewClient(source.WithDefaultLimits(upstream.Options{
			Name: "issuer", NamedHosts: issuerHosts(is), RootCAs: roots, Proxy: proxy, OnPanic: panicked,
		})).Documents()
	}
	return issuer, nil
}

// introspectionOf converts the introspection of an issuer; nil if none is configured.
func introspectionOf(in *config.Introspection) *auth.Introspection {
	if in == nil {
		return nil
	}
	o := &auth.Introspection{ClientID: in.ClientID, Rate: in.Rate}
	if in.Endpoint != nil {
		o.Endpoint = in.Endpoint.String()
	}
	if in.ClientID != "" {
		o.ClientSecret = func() (string, error) { return in.ClientSecret.Reveal(), nil }
	}
	if in.ClientAuth == config.IntrospectionPost {
		o.Method = auth.ClientSecretPost
	}
	return o
}

// issuerHosts returns the hosts of an issuer that the operator has configured: they may be on private addresses (E1).
func issuerHosts(is config.Issuer) []string {
	hosts := []string{is.Issuer.URL().Hostname()}
	if in := is.Introspection; in != nil && in.Endpoint != nil {
		hosts = append(hosts, in.Endpoint.URL().Hostname())
	}
	return hosts
}
