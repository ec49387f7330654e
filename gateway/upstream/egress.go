package upstream

import (
	"cmp"
	"net/http"
	"net/url"
	"time"

	"drawbridge/config"
)

// ConfiguredProxy returns the proxy that a configuration describes; nil for direct connections. p may be nil.
func ConfiguredProxy(p *config.Proxy) *Proxy {
	if !p.On() {
		return nil
	}
	server := func(u *config.ProxyURL) *ProxyServer {
		if u == nil {
			return nil
		}
		s := &ProxyServer{Scheme: u.Scheme(), Host: u.Host(), Address: u.Address(), RootCAs: p.Authorities()}
		s.User, s.Password = p.Reveal(u)
		return s
	}
	return &Proxy{
		HTTP: server(p.For("http")), HTTPS: server(p.For("https")), Bypass: p.NoProxy.String(), ResolvesNames: p.ResolvesNames(),
	}
}

const (
	// exportTimeout is the time of one export, the default of OpenTelemetry.
	exportTimeout = 10 * time.Second
	// maxExportAnswer is the most bytes of a collector's answer.
	maxExportAnswer = 4 << 20
)

// TelemetryClient returns a client for the collector of traces, by way of a proxy. Redirects are followed as those of documents are.
func TelemetryClient(p *config.Proxy, collector *url.URL, version string) *http.Client {
	l := config.DefaultLimits()
	return NewClient(Options{
		Name: "telemetry", BaseURL: collector, Proxy: ConfiguredProxy(p), Timeout: exportTimeout, FirstByte: exportTimeout,
		Connect: time.Duration(l.ConnectTimeout), TLSHandshake: time.Duration(l.TLSTimeout), MaxBytes: maxExportAnswer, MaxRatio: int64(l.MaxRatio),
		MaxIdle: 2, UserAgent: "drawbridge/" + cmp.Or(version, "dev"),
	}).Documents()
}

const (
	// signInTimeout is the time of one request to an OpenID provider.
	signInTimeout = 5 * time.Second
	// maxProviderAnswer is the most bytes of its answer.
	maxProviderAnswer = 256 << 10
)

// ProviderClient returns a client for an OpenID provider at which people log in. The host of the issuer may be on a private network, no
// other host that the provider's metadata names (E1). name is for errors.
func ProviderClient(name string, issuer *config.URL, authority config.File, p *config.Proxy, version string, onPanic func(what string, v any)) (*http.Client, error) {
	_, roots, err := ReadRoots(authority.String(), nil)
	if err != nil {
		return nil, err
	}
	l := config.DefaultLimits()
	return NewClient(Options{
		Name: name, NamedHosts: []string{issuer.URL().Hostname()}, Proxy: ConfiguredProxy(p), RootCAs: roots, OnPanic: onPanic,
		Timeout: signInTimeout, FirstByte: signInTimeout, Connect: time.Duration(l.ConnectTimeout), TLSHandshake: time.Duration(l.TLSTimeout),
		MaxBytes: maxProviderAnswer, MaxRatio: int64(l.MaxRatio), MaxIdle: 2, UserAgent: "drawbridge/" + cmp.Or(version, "dev"),
	}).Documents(), nil
}
