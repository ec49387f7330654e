package eureka

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
)

// Provider asks a Eureka server.
type Provider struct {
	d      *config.EurekaDiscovery
	client discovery.Client

	last    []discovery.Target // the last answer, with what was kept in it
	away    bool               // the last request failed
	had     bool               // the last answer had an instance that is up
	settled time.Time          // until when services that the server does not know are kept
}

// New returns the provider that asks through a client, which must not follow redirects.
func New(d *config.EurekaDiscovery, client discovery.Client) *Provider {
	return &Provider{d: d, client: client}
}

// Run implements [discovery.Provider].
func (p *Provider) Run(ctx context.Context, update func([]discovery.Target, error)) {
	if c, ok := p.client.(interface{ Close() }); ok {
		defer c.Close()
	}
	discovery.Poll(ctx, time.Duration(p.d.Refresh), p.next, update)
}

// settling is how long services are kept after an outage. Instances that a server does not know register again with their next
// heartbeat, every 30 s by default; those that are gone would have been evicted after 90 s.
const settling = 90 * time.Second

// next returns the services, with those that a server which may just have started can't know yet.
func (p *Provider) next(ctx context.Context) ([]discovery.Target, error) {
	list, err := p.ask(ctx)
	if err != nil {
		p.away = p.last != nil
		return nil, err
	}
	targets, err := list.targets()
	has := callable(targets)
	if p.away || p.had && !has {
		p.settled = time.Now().Add(settling)
	}
	p.away, p.had = false, has
	if time.Now().Before(p.settled) {
		targets = keep(targets, p.last)
	}
	p.last = targets
	return targets, err
}

// callable reports whether one of the services has an instance.
func callable(targets []discovery.Target) bool {
	for i := range targets {
		if len(targets[i].Instances) > 0 {
			return true
		}
	}
	return false
}

// keep adds the services of an earlier answer that a new one does not have.
func keep(targets, last []discovery.Target) []discovery.Target {
	known := map[string]bool{}
	for i := range targets {
		known[targets[i].Name] = true
	}
	for i := range last {
		if !known[last[i].Name] {
			targets = append(targets, last[i])
		}
	}
	return targets
}

const (
	timeout = 10 * time.Second // for one answer
	maxSize = 32 << 20         // bytes of an answer
)

// ask returns the applications of the server.
func (p *Provider) ask(ctx context.Context) (*applications, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	at := p.d.URL.URL().JoinPath("apps")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if p.d.Username != "" {
		req.SetBasicAuth(p.d.Username, p.d.Password.Reveal())
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	defer resp.Body.Close()
	if err := checkHead(resp); err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	var answer registry
	if err := discovery.ReadJSON(resp.Body, maxSize, &answer); err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	if answer.Applications == nil {
		return nil, fmt.Errorf("%s: the answer has no applications; is it Eureka?", at)
	}
	return answer.Applications, nil
}

// registry is the answer of /apps.
type registry struct {
	Applications *applications `json:"applications"`
}

// checkHead returns an error unless the answer is a list.
func checkHead(resp *http.Response) error {
	switch media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case resp.StatusCode == http.StatusUnauthorized:
		return errors.New("expected status 200, got 401; username and password are those of the server")
	case resp.StatusCode == http.StatusForbidden:
		return errors.New("expected status 200, got 403; the server has just started and waits for its peers, or the user has no right to read")
	case resp.StatusCode == http.StatusNotFound:
		return errors.New("expected status 200, got 404; the URL ends in /eureka, unless the server has another context path")
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("expected status 200, got %d", resp.StatusCode)
	case media != "application/json":
		return fmt.Errorf("expected application/json, got %.100q", media)
	}
	return nil
}
