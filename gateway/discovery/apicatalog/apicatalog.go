package apicatalog

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
)

// Provider reads an API catalog.
type Provider struct {
	d      *config.APICatalogDiscovery
	client discovery.Client
	at     *url.URL
	etag   string
	last   []discovery.Target
	left   error // what was left out of last
}

// New returns the provider that asks through a client, which must not follow redirects.
func New(d *config.APICatalogDiscovery, client discovery.Client) *Provider {
	at := d.URL.URL()
	if strings.Trim(at.Path, "/") == "" {
		at.Path = "/.well-known/api-catalog"
	}
	return &Provider{d: d, client: client, at: at}
}

// Run implements [discovery.Provider].
func (p *Provider) Run(ctx context.Context, update func([]discovery.Target, error)) {
	if c, ok := p.client.(interface{ Close() }); ok {
		defer c.Close()
	}
	discovery.Poll(ctx, time.Duration(p.d.Refresh), p.ask, update)
}

const (
	timeout = 10 * time.Second // for one answer
	maxSize = 16 << 20         // bytes of an answer
)

func (p *Provider) ask(ctx context.Context) ([]discovery.Target, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.at.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/linkset+json, application/json;q=0.9")
	if p.etag != "" {
		req.Header.Set("If-None-Match", p.etag)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.at, err)
	}
	defer resp.Body.Close()
	switch media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case resp.StatusCode == http.StatusNotModified && p.etag != "":
		return p.last, p.left
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: expected status 200, got %d", p.at, resp.StatusCode)
	case media != "application/linkset+json" && media != "application/json":
		return nil, fmt.Errorf("%s: expected application/linkset+json, got %.100q", p.at, media)
	}
	var set discovery.LinkSet
	if err := discovery.ReadJSON(resp.Body, maxSize, &set); err != nil {
		return nil, fmt.Errorf("%s: %w", p.at, err)
	}
	if set.Contexts == nil {
		return nil, fmt.Errorf("%s: the answer has no linkset; is it an API catalog (RFC 9727)?", p.at)
	}
	p.etag = resp.Header.Get("ETag")
	p.last, p.left = p.targets(&set)
	return p.last, p.left
}
