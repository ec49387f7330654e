package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"syscall"
	"time"

	"drawbridge/test/process"
)

// startTime is how long the program of a registry may take until it is ready.
const startTime = 2 * time.Minute

// kill ends a program without warning, and returns when it has ended.
func kill(c *process.Child) error {
	if c == nil {
		return nil
	}
	if err := syscall.Kill(c.PID(), syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill: %w", err)
	}
	<-c.Exited()
	return nil
}

// media is the content type of most requests.
const media = "application/json"

// api is the API of a registry.
type api struct {
	base   string
	header http.Header
	client *http.Client
}

// send sends a request, with a JSON value as its body unless that is nil, and returns the body of the response.
func (a *api) send(ctx context.Context, method, path, contentType string, body any) ([]byte, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, a.base+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, a.header)
	req.Header.Set("Content-Type", contentType)
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: status %d: %.300s", method, path, resp.StatusCode, answer)
	}
	return answer, err
}

// each calls f for each service, in the order of their names.
func each(services map[string]*service, f func(name string, s *service) error) error {
	for _, name := range slices.Sorted(maps.Keys(services)) {
		if err := f(name, services[name]); err != nil {
			return fmt.Errorf("service %s: %w", name, err)
		}
	}
	return nil
}
