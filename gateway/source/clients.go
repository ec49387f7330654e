package source

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi"
)

// clients holds the HTTP clients of one API.
type clients struct {
	deps   *Deps
	api    *config.API
	limits config.Limits
	label  string
	pem    []byte         // contents of ca_file
	roots  *x509.CertPool // pem, parsed; nil for those of the system
	auth   *upstreamAuth

	documents *upstream.Client // fetches the document; nil for a file
	overlays  *upstream.Client // fetches overlays of other origins than the document's, without a credential; nil if there are none
	refs      *upstream.Client // fetches from the origins of allow_refs, without a credential; nil if there are none

	mu    sync.Mutex
	key   string           // name and hosts that calls was made for
	calls *upstream.Client // sends calls; kept across loads, so that its connections survive
}

// makeDocumentClients makes the clients that fetch the document and what it refers to.
func (c *clients) makeDocumentClients() error {
	if c.api.Spec.IsURL() {
		if _, err := url.Parse(c.api.Spec.String()); err != nil {
			return err
		}
		c.documents = c.documentClient(c.auth.document, c.auth.tls, c.documentHosts())
	}
	if hosts := overlayHosts(c.api); len(hosts) > 0 {
		c.overlays = c.documentClient(nil, nil, hosts)
	}
	if len(c.api.AllowRefs) > 0 {
		c.refs = c.documentClient(nil, nil, config.Hosts(c.api.AllowRefs))
	}
	return nil
}

// documentClient makes a client that fetches documents. Only hosts that the operator has configured for this purpose
// may have private addresses (E1).
func (c *clients) documentClient(wrap wrapper, certificate connection, named []string) *upstream.Client {
	o := c.options(c.label, wrap, certificate)
	o.NamedHosts, o.Proxy = named, upstream.ConfiguredProxy(c.api.SpecProxy)
	if !c.api.IsDiscovered() { // else the document is usually at the service
		o.BaseURL = nil
	} else {
		o.Instances = c.deps.Instances(c.api.Service()).Documents
	}
	o.Timeout, o.MaxBytes = time.Duration(c.api.SpecTimeout), int64(c.limits.MaxSpec)
	return upstream.NewClient(o)
}

func (c *clients) options(name string, wrap wrapper, certificate connection) upstream.Options {
	l := c.limits
	o := upstream.Options{
		Name: name, NamedHosts: c.namedHosts(), Timeout: time.Duration(cmp.Or(c.api.Timeout, l.Timeout)), Connect: time.Duration(l.ConnectTimeout),
		TLSHandshake: time.Duration(l.TLSTimeout), FirstByte: time.Duration(l.FirstByteTimeout), MaxBytes: int64(c.api.MaxAnswer),
		MaxRatio: int64(l.MaxRatio), RootCAs: c.roots, Wrap: wrap, TLS: certificate, TracerProvider: c.deps.TracerProvider,
		AllowedAddresses: prefixes(c.api.AllowAddresses), OnlyAddresses: prefixes(c.api.GrantedAddresses()), ConnectionAge: time.Duration(l.ConnectionAge), UserAgent: "drawbridge/" + c.deps.Version,
		OnPanic:         c.deps.Panicked,
		Proxy:           upstream.ConfiguredProxy(c.api.Proxy),
		OnUnknownCoding: func() { c.deps.Metrics.IgnoredEncoding(name) },
	}
	if c.api.BaseURL != nil {
		o.BaseURL = c.api.BaseURL.URL()
	}
	if t := c.api.TLS; t != nil {
		o.ServerName, o.Service = t.ServerName, credentialOrigin(*c.api)
		if t.MinVersion == config.TLS13 {
			o.MinTLS = tls.VersionTLS13
		}
	}
	if c.api.IsDiscovered() {
		instances := c.deps.Instances(c.api.Service())
		o.Instances, o.Having = instances.Load, instances.Having
	}
	return o
}

// documentHosts returns the hosts of the document that the operator has configured. The host of a document that a
// registry names is not included.
func (c *clients) documentHosts() []string {
	if c.api.IsDiscovered() {
		return config.Hosts(c.api.AllowServers)
	}
	return config.Hosts([]config.Origin{config.Origin(c.api.Spec)})
}

// namedHosts returns the hosts that the operator has configured, except that of base_url, which the client already
// knows.
func (c *clients) namedHosts() []string {
	return append(c.documentHosts(), config.Hosts(c.api.AllowServers)...)
}

// forCalls returns the client for the servers of the operations, which have passed the rules of S7.
func (c *clients) forCalls(name string, api *openapi.API, baseOf func(*openapi.Operation) *url.URL) *upstream.Client {
	var hosts []string
	for _, op := range api.Operations {
		if base := baseOf(op); base != nil && !slices.Contains(hosts, base.Hostname()) {
			hosts = append(hosts, base.Hostname())
		}
	}
	key := name + " " + strings.Join(hosts, " ")
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls != nil && c.key == key {
		return c.calls
	}
	if c.calls != nil {
		c.calls.Close() // running calls finish on it; idle connections are closed
	}
	wrap := c.auth.calls
	if service := c.deps.Transport; service != nil {
		wrap = around(wrap, func(http.RoundTripper) http.RoundTripper { return service })
	}
	o := c.options(name, wrap, c.auth.tls)
	o.DocumentHosts = hosts
	setResilience(&o, c.api, c.deps.Logger)
	c.key, c.calls = key, upstream.NewClient(o)
	return c.calls
}

// close closes the idle connections.
func (c *clients) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, client := range []*upstream.Client{c.documents, c.overlays, c.refs, c.calls} {
		if client != nil {
			client.Close()
		}
	}
	c.auth.close()
}

// sameTrust reports whether the file with the trusted certificates is unchanged since it was read.
func (c *clients) sameTrust() bool {
	if c.api.CAFile == "" {
		return true
	}
	pem, _, err := upstream.ReadRoots(c.api.CAFile.String(), c.api.Opener())
	return err == nil && bytes.Equal(pem, c.pem)
}

// WithDefaultLimits completes the options of a client for servers other than those of an API. Missing limits get the
// defaults, because the limits of the configuration are for APIs.
func WithDefaultLimits(o upstream.Options) upstream.Options {
	l := config.DefaultLimits()
	o.Timeout = cmp.Or(o.Timeout, time.Duration(l.Timeout))
	o.Connect, o.TLSHandshake = cmp.Or(o.Connect, time.Duration(l.ConnectTimeout)), cmp.Or(o.TLSHandshake, time.Duration(l.TLSTimeout))
	o.FirstByte = cmp.Or(o.FirstByte, time.Duration(l.FirstByteTimeout))
	o.MaxBytes, o.MaxRatio = cmp.Or(o.MaxBytes, int64(l.MaxAnswer)), cmp.Or(o.MaxRatio, int64(l.MaxRatio))
	return o
}
