package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"drawbridge/gateway/discovery"
)

// apiServer sends requests to the API server of a cluster.
type apiServer struct {
	cluster *Cluster
	client  discovery.Client
}

// resource is what is listed and watched.
type resource struct {
	group     string // the path of the API group and version
	name      string
	namespace string // "" for all
	selector  string // of labels; "" for all
}

// String describes the resource for errors.
func (r resource) String() string {
	if r.namespace == "" {
		return r.name + " of all namespaces"
	}
	return fmt.Sprintf("%s of namespace %s", r.name, r.namespace)
}

// statusError is a response other than 200, or the ERROR event of a watch.
type statusError struct {
	code       int
	message    string
	retryAfter time.Duration
}

func (e *statusError) Error() string {
	if e.message == "" {
		return fmt.Sprintf("status %d", e.code)
	}
	return fmt.Sprintf("status %d: %.300q", e.code, e.message)
}

// isGone reports whether the version that was asked for is too old: the list has to be read anew.
func isGone(err error) bool {
	var status *statusError
	return errors.As(err, &status) && status.code == http.StatusGone
}

func isForbidden(err error) bool {
	var status *statusError
	return errors.As(err, &status) && status.code == http.StatusForbidden
}

// status is the object Status of an error.
type status struct {
	Message string `json:"message"`
	Code    int    `json:"code"`
	Details struct {
		RetryAfterSeconds int `json:"retryAfterSeconds"`
	} `json:"details"`
}

func (s *status) err(code int) error {
	return &statusError{code: code, message: s.Message, retryAfter: time.Duration(s.Details.RetryAfterSeconds) * time.Second}
}

// maxStatus is the most bytes of an error that are read.
const maxStatus = 64 << 10

// get sends a GET request for a resource and returns the body of a response with status 200, which the caller closes. The
// token is read for each request, as it is replaced while the gateway runs.
func (a *apiServer) get(ctx context.Context, r resource, query url.Values) (io.ReadCloser, error) {
	path := r.group
	if r.namespace != "" {
		path += "/namespaces/" + r.namespace
	}
	if r.selector != "" {
		query.Set("labelSelector", r.selector)
	}
	u := a.cluster.Server.JoinPath(path, r.name)
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	token, err := a.cluster.token()
	if err != nil {
		return nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	var s status
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxStatus)) // the status says enough
	_ = json.Unmarshal(text, &s)
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		s.Details.RetryAfterSeconds = seconds
	}
	return nil, s.err(resp.StatusCode)
}

// page is a part of a list.
type page struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
		Continue        string `json:"continue"`
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`
}

// Limits of what is read.
const (
	pageObjects = 500      // objects of a page, as asked for
	maxPage     = 64 << 20 // bytes of a page
	maxEvent    = 8 << 20  // bytes of an event; etcd holds objects of 1.5 MiB
)

// listPage reads one page of a list.
func (a *apiServer) listPage(ctx context.Context, r resource, next string) (*page, error) {
	query := url.Values{"limit": {strconv.Itoa(pageObjects)}}
	if next != "" {
		query.Set("continue", next)
	}
	body, err := a.get(ctx, r, query)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxPage+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxPage:
		return nil, fmt.Errorf("a page of the list has more than %d bytes", maxPage)
	}
	var p page
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("expected a list of objects: %w", unexpected(err))
	}
	if p.Metadata.ResourceVersion == "" {
		return nil, errors.New("expected a list of objects with metadata.resourceVersion")
	}
	return &p, nil
}

// event is one of a watch.
type event struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// events reads the events of a watch.
type events struct {
	body    io.ReadCloser
	left    int  // bytes that the event that is being read may still have
	ended   bool // the body has ended, or can't be read
	decoder *json.Decoder
}

// openWatch begins a watch after a version. The API server ends it after the time.
func (a *apiServer) openWatch(ctx context.Context, r resource, version string, end time.Duration) (*events, error) {
	body, err := a.get(ctx, r, url.Values{
		"watch": {"true"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {version},
		"timeoutSeconds": {strconv.Itoa(int(end.Seconds()))},
	})
	if err != nil {
		return nil, err
	}
	e := &events{body: body}
	e.decoder = json.NewDecoder(e)
	return e, nil
}

var errLargeEvent = fmt.Errorf("an event of the watch has more than %d bytes", maxEvent)

// Read implements [io.Reader] for the decoder, which buffers an event as a whole.
func (e *events) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, errLargeEvent
	}
	n, err := e.body.Read(p)
	e.left -= n
	e.ended = e.ended || err != nil
	return n, err
}

// next returns the next event.
func (e *events) next() (event, error) {
	var one event
	e.left = maxEvent
	if err := e.decoder.Decode(&one); err != nil {
		return event{}, unexpected(err)
	}
	return one, nil
}

// broke reports whether an error of next is one of the connection, or its end, as opposed to what was read.
func (e *events) broke(err error) bool {
	var syntax *json.SyntaxError
	return e.ended && !errors.As(err, &syntax)
}

func (e *events) close() { _ = e.body.Close() }
