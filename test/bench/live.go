package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"
)

// liveToken signs in to the console. It is that of this measurement alone.
const liveToken = "bench-live-0123456789"

// watchLive opens the console's page Live like browsers do, and lets each ask for newer calls once a second until ctx ends. It returns
// when all are open; wait returns the first error of one of them.
func (g *gateway) watchLive(ctx context.Context, pages int) (wait func() error, err error) {
	ended := make(chan error, pages)
	for range pages {
		p := &livePage{base: "http://" + g.admin}
		if err := p.open(ctx); err != nil {
			return nil, fmt.Errorf("the page Live: %w", err)
		}
		go func() { ended <- p.follow(ctx) }()
	}
	return func() (err error) {
		for range pages {
			err = errors.Join(err, <-ended)
		}
		return err
	}, nil
}

// livePage is one browser.
type livePage struct {
	base   string
	client http.Client
	next   string // where newer calls are
	rows   int    // that it has got
}

func (p *livePage) open(ctx context.Context) (err error) {
	if p.client.Jar, err = cookiejar.New(nil); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.base+"/console/signin", strings.NewReader(url.Values{"token": {liveToken}}.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if _, err := p.send(req); err != nil {
		return err
	}
	p.next = "/console/live"
	return p.ask(ctx)
}

// follow asks for newer calls once a second.
func (p *livePage) follow(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			if p.rows == 0 {
				return errors.New("the page Live has shown no call")
			}
			return nil
		case <-tick.C:
			if err := p.ask(ctx); err != nil && ctx.Err() == nil {
				return fmt.Errorf("the page Live: %w", err)
			}
		}
	}
}

func (p *livePage) ask(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base+p.next, http.NoBody)
	if err != nil {
		return err
	}
	if strings.Contains(p.next, "after=") {
		req.Header.Set("HX-Request", "true")
		req.Header.Set("HX-Target", "rows")
	}
	page, err := p.send(req)
	if err != nil || page == "" {
		return err // nothing is newer
	}
	_, rest, found := strings.Cut(page, `hx-get="`)
	next, _, _ := strings.Cut(rest, `"`)
	if !found {
		return fmt.Errorf("expected a page that asks for newer calls, got %.200q", page)
	}
	p.next = html.UnescapeString(next)
	p.rows += strings.Count(page, "<tr>")
	return nil
}

// send returns the body of a response; "" if it has none.
func (p *livePage) send(req *http.Request) (string, error) {
	resp, err := p.client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s: status %d", req.URL.Path, resp.StatusCode)
	}
	return string(body), err
}
