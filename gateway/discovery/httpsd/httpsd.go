package httpsd

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/gateway/discovery/targetgroup"
)

// Provider asks a URL for services.
type Provider struct {
	d      *config.HTTPDiscovery
	client discovery.Client
	etag   string
	last   []discovery.Target
}

// New returns the provider that asks a URL through a client, which must not follow redirects.
func New(d *config.HTTPDiscovery, client discovery.Client) *Provider {
	return &Provider{d: d, client: client}
}

// Run implements [discovery.Provider].
func (p *Provider) Run(ctx context.Context, update func([]discovery.Target, error)) {
	ticker := time.NewTicker(time.Duration(p.d.Refresh))
	defer ticker.Stop()
	for {
		targets, err := p.ask(ctx)
		if ctx.Err() != nil {
			return
		}
		update(targets, err)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// timeout is the time for one answer.
const timeout = 10 * time.Second

func (p *Provider) ask(ctx context.Context) ([]discovery.Target, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.d.URL.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("X-Prometheus-Refresh-Interval-Seconds", fmt.Sprintf("%g", time.Duration(p.d.Refresh).Seconds()))
	if !p.d.Token.IsZero() {
		req.Header.Set("Authorization", "Bearer "+p.d.Token.Reveal())
	}
	if p.etag != "" {
		req.Header.Set("If-None-Match", p.etag)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case resp.StatusCode == http.StatusNotModified && p.etag != "":
		return p.last, nil
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: expected status 200, got %d", p.d.URL, resp.StatusCode)
	case media != "application/json":
		return nil, fmt.Errorf("%s: expected application/json, got %.100q", p.d.URL, media)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, targetgroup.MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > targetgroup.MaxSize {
		return nil, fmt.Errorf("%s: the list has more than %d bytes", p.d.URL, targetgroup.MaxSize)
	}
	targets, err := targetgroup.ParseJSON(text)
	if err != nil {
		return targets, fmt.Errorf("%s: %w", p.d.URL, err)
	}
	p.etag, p.last = resp.Header.Get("ETag"), targets
	return targets, nil
}
