package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"drawbridge/test/process"
)

// service is a running service, which is asked without the gateway.
type service struct {
	name  string
	url   string // without a slash at the end
	token string // of the header Authorization, with its scheme; none if empty
	child *process.Child
	reset func(context.Context) error // takes away everything that a task may have made
}

var direct = &http.Client{Timeout: time.Minute}

// send sends a request and returns the body of the answer. Any other status than those of success is an error.
func (s *service) send(ctx context.Context, method, path string, body any) (string, error) {
	var content io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return "", err
		}
		content = bytes.NewReader(text)
	}
	if method == "" {
		method = http.MethodGet
	}
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, content)
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	if s.token != "" {
		r.Header.Set("Authorization", s.token)
	}
	response, err := direct.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return "", fmt.Errorf("%s: %s %s: %s: %.300s", s.name, method, path, response.Status, answer)
	}
	return string(answer), nil
}

// items returns the values of a list that a service answers with.
func (s *service) items(ctx context.Context, method, path string, body any) ([]map[string]any, error) {
	text, err := s.send(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	var all []map[string]any
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, fmt.Errorf("%s: %s %s: %w", s.name, method, path, err)
	}
	return all, nil
}

// deleteAll deletes each item of a list by a member of it.
func (s *service) deleteAll(ctx context.Context, method, list string, body any, path, member string) error {
	all, err := s.items(ctx, method, list, body)
	if err != nil {
		return err
	}
	for _, item := range all {
		key, ok := item[member].(string)
		if !ok {
			return fmt.Errorf("%s: %s: an item without %s", s.name, list, member)
		}
		if _, err := s.send(ctx, http.MethodDelete, path+url.PathEscape(key), nil); err != nil {
			return err
		}
	}
	return nil
}

// await waits until the service answers at a path.
func (s *service) await(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	return s.child.Await(ctx, func(ctx context.Context) error {
		_, err := s.send(ctx, "", path, nil)
		return err
	})
}

// environment is a command that starts another with variables.
func environment(variables []string, command ...string) []string {
	return append(append([]string{"env"}, variables...), command...)
}

// start starts a command as the service.
func (s *service) start(ctx context.Context, command []string) (err error) {
	s.child, err = process.Start(ctx, command[0], command[1:]...)
	return err
}

// address returns the host and port of the service's URL.
func (s *service) address() string {
	u, err := url.Parse(s.url)
	if err != nil {
		return strings.TrimPrefix(s.url, "http://")
	}
	return u.Host
}
