package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// plainToTLS are the messages with which TLS servers answer a plaintext request: those of Go, nginx, Apache httpd and
// Tomcat.
var plainToTLS = []string{"HTTP request to an HTTPS server", "plain HTTP request was sent to HTTPS port", "speaking plain HTTP to an SSL-enabled server port", "combination of host and port requires TLS"}

// SpeaksTLS reports whether the response to a plaintext request means that the port expects TLS.
func SpeaksTLS(body []byte) bool {
	return slices.ContainsFunc(plainToTLS, func(words string) bool { return bytes.Contains(body, []byte(words)) })
}

// statusError returns the error of a response without a document.
func statusError(resp *http.Response, u *url.URL) error {
	advice := ""
	if resp.StatusCode == http.StatusBadRequest && u.Scheme == "http" {
		if head, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)); SpeaksTLS(head) {
			advice = "; the port speaks https: begin the URL with https://"
		}
	}
	return fmt.Errorf("fetch: the server answered %q%s%s", resp.Status, redirectedTo(resp, u), advice)
}

// fetchError returns the error of a request without a response, with the next step for the operator.
func fetchError(err error, u *url.URL) error {
	var timeout net.Error
	advice := ""
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout():
		advice = "; if the server needs longer for the document, raise spec_timeout (at most 30s), or save the document to a file and give its path"
	case u.Scheme == "http" && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), `\x15\x03`)):
		advice = "; if the port speaks https, begin the URL with https://"
	case strings.HasSuffix(err.Error(), "connection refused"):
		advice = "; nothing listens there: check the host and the port, and that the service runs"
	}
	return fmt.Errorf("fetch: %w%s", err, advice)
}

const (
	usualTime     = 5 * time.Second // for searching the usual paths
	maxUsual      = 24              // requests for them
	maxUsualProbe = 64 << 10        // bytes of a response that are examined
)

// usual searches the usual paths of the location's origin, also below the folders of the location, for a document, and
// returns the first URL that has one.
func (s *urlSource) usual(ctx context.Context) (found *url.URL, tried int) {
	ctx, cancel := context.WithTimeout(ctx, usualTime)
	defer cancel()
	var folders []string
	for dir := path.Dir("/" + s.location.Path); ; dir = path.Dir(dir) {
		folders = append(folders, strings.TrimSuffix(dir, "/"))
		if dir == "/" {
			break
		}
	}
	known := map[string]bool{s.location.Path: true}
	for _, folder := range folders {
		for _, usual := range s.usualPaths {
			at := &url.URL{Scheme: s.location.Scheme, Host: s.location.Host, Path: folder + usual}
			if known[at.Path] || tried >= maxUsual || ctx.Err() != nil {
				continue
			}
			known[at.Path] = true
			tried++
			if s.hasDocument(ctx, at) {
				return at, tried
			}
		}
	}
	return nil, tried
}

// hasDocument reports whether the response from a URL begins like an OpenAPI document.
func (s *urlSource) hasDocument(ctx context.Context, at *url.URL) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return false
	}
	req.Header.Set("Accept", "application/openapi+json, application/json, application/openapi+yaml, application/yaml;q=0.9, */*;q=0.5")
	resp, err := s.client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return false
	}
	head, _ := io.ReadAll(io.LimitReader(resp.Body, maxUsualProbe))
	return !isMarkup(head) && (bytes.Contains(head, []byte("openapi")) || bytes.Contains(head, []byte("swagger")))
}

// notFound adds the URL of an existing document to the error of a location without one.
func (s *urlSource) notFound(ctx context.Context, err error) error {
	if len(s.usualPaths) == 0 {
		return err
	}
	found, tried := s.usual(ctx)
	switch {
	case found != nil:
		return fmt.Errorf("%w; there is a document at %q: give that URL", err, found.Redacted())
	case tried > 0:
		return fmt.Errorf("%w; the usual paths have none either, such as %s", err, s.usualPaths[0])
	}
	return err
}
