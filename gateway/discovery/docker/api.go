package docker

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"drawbridge/gateway/discovery"
	"drawbridge/gateway/signal"
)

const (
	maxSize  = 16 << 20 // bytes of a list
	maxEvent = 1 << 20  // bytes of an event
	timeout  = 10 * time.Second
	// newest is the newest minor version of the API that is asked for. Docker serves it from version 25 on. Older daemons are
	// asked in their own version: what is used here is the same in all of them.
	newest = 44
)

// filterOfContainers and filterOfEvents restrict what the daemon answers. Events of networks have no labels of containers.
const (
	filterOfContainers = `{"label":["` + LabelService + `"]}`
	filterOfEvents     = `{"type":["container","network"],"event":["start","die","pause","unpause","rename","update","health_status","connect","disconnect"]}`
)

var versionOfAPI = regexp.MustCompile(`\A1\.([0-9]{1,3})\z`)

// version asks which version of the API the daemon speaks, and returns the prefix of paths.
func (p *Provider) version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	resp, err := p.get(ctx, "/_ping", "")
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	m := versionOfAPI.FindStringSubmatch(resp.Header.Get("Api-Version"))
	if m == nil {
		return "", fmt.Errorf("%s/_ping: expected a version such as 1.44 as Api-Version, got %.40q; is it Docker?", p.d.Host, resp.Header.Get("Api-Version"))
	}
	minor, _ := strconv.Atoi(m[1]) // it is digits
	return fmt.Sprintf("/v1.%d", min(minor, newest)), nil
}

// list returns the containers.
func (p *Provider) list(ctx context.Context, version string) ([]container, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	path := version + "/containers/json"
	resp, err := p.get(ctx, path, filterOfContainers)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var containers []container
	if err := discovery.ReadJSON(resp.Body, maxSize, &containers); err != nil {
		return nil, fmt.Errorf("%s%s: %w", p.d.Host, path, err)
	}
	return containers, nil
}

// follow reads events and signals each, until the stream ends or ctx does. The content of an event is not used: the containers are listed again.
func (p *Provider) follow(ctx context.Context, events io.Reader, changed chan<- struct{}) error {
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		signal.Raise(changed)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: the stream of events broke: %w", p.d.Host, err)
	}
	return fmt.Errorf("%s: the stream of events ended", p.d.Host)
}

// get sends a request. An answer has the status 200; its body must be closed.
func (p *Provider) get(ctx context.Context, path, filters string) (*http.Response, error) {
	to := p.d.Host.URL().JoinPath(path)
	if filters != "" {
		to.RawQuery = url.Values{"filters": {filters}}.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.d.Host, err)
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("%s%s: expected status 200, got %d", p.d.Host, path, resp.StatusCode)
	}
	return resp, nil
}
