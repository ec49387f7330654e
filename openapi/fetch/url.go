package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"drawbridge/openapi/origin"
	"drawbridge/openapi/pacing"
)

// Limits of the documents from the origins of Options.AllowRefs (S2).
const (
	maxForeign      = 50 // documents
	maxForeignDepth = 5  // files on the path to one
)

// origins are the additional origins that a document may refer to. Requests to them carry no credential.
type origins struct {
	client  *http.Client
	allowed map[origin.Origin]bool

	mu      sync.Mutex
	fetched map[string]bool // URLs
	pace    *pacing.Pace    // of reading
}

func newOrigins(allowed []string, client *http.Client, pace *pacing.Pace) (*origins, error) {
	o := &origins{client: client, pace: pace, allowed: make(map[origin.Origin]bool), fetched: make(map[string]bool)}
	for _, text := range allowed {
		u, err := url.Parse(text)
		at, ok := origin.Of(u)
		if err != nil || !ok || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("allowed origin %q is not one such as https://schemas.example.com", text)
		}
		o.allowed[at] = true
	}
	return o, nil
}

// has reports whether a URL may be fetched.
func (o *origins) has(u *url.URL) bool {
	at, ok := origin.Of(u)
	return o.client != nil && ok && u.User == nil && o.allowed[at]
}

// open fetches a URL of one of the origins.
func (o *origins) open(ctx context.Context, u *url.URL, depth int, max int64) ([]byte, response, error) {
	if depth > maxForeignDepth {
		return nil, response{}, fmt.Errorf("documents of other origins may lead %d levels deep", maxForeignDepth)
	}
	u = withoutFragment(u)
	o.mu.Lock()
	o.fetched[u.String()] = true
	n := len(o.fetched)
	o.mu.Unlock()
	if n > maxForeign {
		return nil, response{}, fmt.Errorf("a document may refer to %d documents of other origins", maxForeign)
	}
	data, got, err := get(ctx, o.client, u, nil, max, o.pace)
	if err == nil && !origin.Same(got.url, u) {
		return nil, response{}, errors.New("fetch: it was redirected to another origin")
	}
	return data, got, err
}

// urlSource fetches files of one origin with the API's client, and files of the other allowed origins.
type urlSource struct {
	reading
	client *http.Client
	others *origins
	max    int64
	small  bool // max is Options.Small
	// usualPaths are Options.UsualPaths.
	usualPaths []string

	origin             *url.URL // the configured URL
	location           *url.URL // of the document, after redirects and a page, once it is read
	page               string   // URL of the page that led to the document; "" if there was none
	etag, lastModified string
}

func newURLSource(location string, client *http.Client, others *origins, maxBytes int64) (*urlSource, error) {
	u, err := url.Parse(location)
	if err != nil {
		var e *url.Error
		if errors.As(err, &e) {
			err = e.Err
		}
		return nil, fmt.Errorf("parse URL: %w", err)
	}
	if u.Host == "" {
		return nil, fmt.Errorf("URL %q has no host", u.Redacted())
	}
	if u.User != nil {
		return nil, errors.New("URL holds a user name or password; give it as the credential of the API instead")
	}
	if client == nil {
		return nil, errors.New("documents by URL are not allowed here")
	}
	u = withoutFragment(u)
	return &urlSource{client: client, others: others, max: maxBytes, origin: u, location: u}, nil
}

func (s *urlSource) base() string                       { return s.location.String() }
func (s *urlSource) urls() (found, configured *url.URL) { return s.location, s.origin }

func (s *urlSource) hint(root []byte) string {
	if s.page == "" && isMarkup(root) {
		return pageHint
	}
	return ""
}
func (s *urlSource) Close() error { return nil }

func (s *urlSource) stamp(files []string) Stamp {
	t := s.reading.stamp(files)
	t.ETag, t.LastModified, t.Page = s.etag, s.lastModified, s.page
	return t
}

func (s *urlSource) root(ctx context.Context, previous *Stamp) ([]byte, error) {
	validators := previous
	// The validators are those of the root document. They don't cover other files, and aren't those of a page.
	if previous != nil && (len(previous.Files) > 1 || previous.Page != "") {
		validators = nil
	}
	data, got, err := get(ctx, s.client, s.location, validators, s.max, s.pace)
	if errors.Is(err, errNotFound) {
		err = s.notFound(ctx, err)
	}
	if err != nil {
		return nil, err
	}
	// References are relative to the URL after redirects (RFC 3986 section 5.1.3). The client follows redirects of the
	// same origin only; any other would change the origin that may be referred to.
	if origin.Same(got.url, s.origin) {
		s.location = got.url
	}
	if isMarkup(data) {
		if data, got, err = s.behindPage(ctx, data, previous); err != nil {
			return nil, err
		}
	}
	s.etag, s.lastModified = got.etag, got.lastModified
	s.warn(s.base(), got.charset)
	s.add(s.base(), data)
	return data, nil
}

func (s *urlSource) open(ctx context.Context, location, from string, depth int) ([]byte, error) {
	u, err := url.Parse(location)
	if err != nil {
		return nil, errors.New("it is no URL")
	}
	// A document of another origin must not choose a URL that is fetched with the credential (E4).
	if by, err := url.Parse(from); origin.Same(u, s.origin) && (err != nil || !origin.Same(by, s.origin)) {
		return nil, errors.New("a document of another origin may only refer to other origins in allow_refs, not to that of the API")
	}
	data, got, err := s.fetch(ctx, u, depth, nil)
	if err != nil {
		return nil, err
	}
	s.warn(location, got.charset)
	s.add(location, data)
	return data, nil
}

// fetch fetches a URL that the document names, if that is allowed (S2). Only requests to the document's own origin
// carry a credential, which is that of the API's client (E4).
func (s *urlSource) fetch(ctx context.Context, u *url.URL, depth int, previous *Stamp) ([]byte, response, error) {
	if s.others.has(u) && !origin.Same(u, s.origin) {
		return s.others.open(ctx, u, depth, s.max)
	}
	if !origin.Same(u, s.origin) || u.User != nil {
		own, _ := origin.Of(s.origin)
		return nil, response{}, fmt.Errorf("a document may only refer to its own origin, %s, and to those in allow_refs", own)
	}
	data, got, err := get(ctx, s.client, withoutFragment(u), previous, s.max, s.pace)
	if err == nil && !origin.Same(got.url, s.origin) {
		return nil, response{}, errors.New("fetch: it was redirected to another origin")
	}
	return data, response{url: u, charset: got.charset}, err
}

// response is the metadata of a fetched file.
type response struct {
	url                *url.URL // after redirects
	etag, lastModified string
	charset            string // problem with the charset; "" if there is none
}

// redirectedTo describes the URL of a response whose request was redirected from u. Queries of redirects are often
// secret.
func redirectedTo(resp *http.Response, u *url.URL) string {
	if resp.Request == nil || resp.Request.URL == nil || *resp.Request.URL == *u {
		return ""
	}
	at := *resp.Request.URL
	at.RawQuery, at.Fragment, at.User = "", "", nil
	return fmt.Sprintf(" at %.200q, to which it redirects", at.String())
}

// get fetches one URL, conditionally if previous has validators.
func get(ctx context.Context, client *http.Client, u *url.URL, previous *Stamp, max int64, pace *pacing.Pace) ([]byte, response, error) {
	var none response
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, none, err
	}
	req.Header.Set("Accept", "application/openapi+json, application/json, application/openapi+yaml, application/yaml;q=0.9, */*;q=0.5")
	conditional := true
	if previous != nil && previous.ETag != "" {
		req.Header.Set("If-None-Match", previous.ETag)
	} else if previous != nil && previous.LastModified != "" {
		req.Header.Set("If-Modified-Since", previous.LastModified)
	} else {
		conditional = false
	}
	resp, err := client.Do(req)
	if err != nil {
		var e *url.Error
		if errors.As(err, &e) {
			err = e.Err // the caller adds the location
		}
		return nil, none, fetchError(err, u)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && conditional:
		return nil, none, ErrUnchanged
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden:
		return nil, none, fmt.Errorf("fetch: the server answered %q%s; %w", resp.Status, redirectedTo(resp, u), ErrProtected)
	case resp.StatusCode == http.StatusNotFound:
		return nil, none, fmt.Errorf("%w%w", statusError(resp, u), errNotFound)
	case resp.StatusCode != http.StatusOK:
		return nil, none, statusError(resp, u)
	}
	data, err := readLimited(resp.Body, resp.ContentLength, max, pace)
	if err != nil {
		return nil, none, fmt.Errorf("fetch: %w", err)
	}
	data, problem := decode(data, resp.Header.Get("Content-Type"))
	if int64(len(data)) > max {
		return nil, none, fmt.Errorf("fetch: %w", sizeError(max))
	}
	got := response{url: u, charset: problem, etag: resp.Header.Get("ETag"), lastModified: resp.Header.Get("Last-Modified")}
	if resp.Request != nil && resp.Request.URL != nil {
		got.url = resp.Request.URL
	}
	return data, got, nil
}

func withoutFragment(u *url.URL) *url.URL {
	c := *u
	c.Fragment, c.RawFragment = "", ""
	return &c
}
