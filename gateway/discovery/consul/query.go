package consul

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"drawbridge/gateway/discovery"
)

const (
	maxSize = 16 << 20         // bytes of an answer
	margin  = 15 * time.Second // what a query may take longer than it waits
)

// query sends one query, which waits for another index than the given one, and decodes the answer. An index of 0 does not wait.
func (p *Provider) query(ctx context.Context, path string, index uint64, wait time.Duration, answer any) (uint64, error) {
	if index == 0 {
		wait = 0
	}
	// The server adds up to a sixteenth to the time that it waits.
	ctx, cancel := context.WithTimeout(ctx, wait+wait/16+margin)
	defer cancel()
	req, err := p.request(ctx, path, index, wait)
	if err != nil {
		return 0, err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", p.d.Address, err)
	}
	defer resp.Body.Close()
	next, err := checkHead(resp)
	if err != nil {
		return 0, fmt.Errorf("%s%s: %w", p.d.Address, req.URL.EscapedPath(), err)
	}
	if err := discovery.ReadJSON(resp.Body, maxSize, answer); err != nil {
		return 0, fmt.Errorf("%s%s: %w", p.d.Address, req.URL.EscapedPath(), err)
	}
	return next, nil
}

// request returns the request of a query. Any server answers one that waits, not only the leader: what it knows is older by
// milliseconds. The first one, and the first after a failure, is answered by a leader that has all of the catalog: a server that
// has just started knows a leader before it has read its own log, and has an empty catalog until then.
func (p *Provider) request(ctx context.Context, path string, index uint64, wait time.Duration) (*http.Request, error) {
	mode := "consistent"
	if index > 0 {
		mode = "stale"
	}
	values := url.Values{mode: {""}}
	for name, value := range map[string]string{"dc": p.d.Datacenter, "ns": p.d.Namespace, "partition": p.d.Partition} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if index > 0 {
		values.Set("index", strconv.FormatUint(index, 10))
		values.Set("wait", strconv.FormatInt(wait.Milliseconds(), 10)+"ms")
	}
	to := p.d.Address.URL().JoinPath(path)
	to.RawQuery = values.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if !p.d.Token.IsZero() {
		req.Header.Set("X-Consul-Token", p.d.Token.Reveal())
	}
	return req, nil
}

// checkHead returns the index of an answer.
func checkHead(resp *http.Response) (uint64, error) {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	index, err := strconv.ParseUint(resp.Header.Get("X-Consul-Index"), 10, 64)
	switch {
	case resp.StatusCode == http.StatusForbidden:
		return 0, errors.New("expected status 200, got 403; the ACL token needs service:read and node:read")
	case resp.StatusCode == http.StatusTooManyRequests:
		return 0, errors.New("expected status 200, got 429; limits.http_max_conns_per_client of the agent counts queries that wait")
	case resp.StatusCode != http.StatusOK:
		return 0, fmt.Errorf("expected status 200, got %d", resp.StatusCode)
	case media != "application/json":
		return 0, fmt.Errorf("expected application/json, got %.100q", media)
	case err != nil:
		return 0, fmt.Errorf("expected a number as X-Consul-Index, got %.40q; is it Consul?", resp.Header.Get("X-Consul-Index"))
	case resp.Header.Get("X-Consul-KnownLeader") == "false":
		return 0, errors.New("the servers have no leader, so that what they know may be old")
	}
	return max(index, 1), nil // an index of 0 would not wait
}

// backOff returns how long to wait after so many failures in a row: it doubles up to a limit, with a jitter of a half, so that
// gateways do not return at the same time.
func backOff(failures int, most time.Duration) time.Duration {
	wait := min(firstRetry<<min(failures-1, 16), most)
	return wait/2 + rand.N(wait/2)
}
