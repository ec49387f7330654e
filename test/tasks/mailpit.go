package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"drawbridge/test/process"
)

// mailpit is a Mailpit that releases mails to another, the outbox, whose messages show what was released.
func mailpit(ctx context.Context, programs, dir string, s, outbox *service) error {
	smtp, err := startMailpit(ctx, programs, outbox)
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(smtp)
	if err != nil {
		return err
	}
	relay := filepath.Join(dir, "relay.yaml")
	if err := os.WriteFile(relay, fmt.Appendf(nil, "host: %s\nport: %s\nauth: none\n", host, port), 0o600); err != nil {
		return err
	}
	_, err = startMailpit(ctx, programs, s, "--smtp-relay-config", relay)
	return err
}

// startMailpit returns the address of its SMTP server.
func startMailpit(ctx context.Context, programs string, s *service, flags ...string) (string, error) {
	smtp, err := process.FreeAddress()
	if err != nil {
		return "", err
	}
	if err := s.start(ctx, append([]string{filepath.Join(programs, "mailpit"), "--listen", s.address(), "--smtp", smtp, "--disable-version-check", "--enable-chaos"}, flags...)); err != nil {
		return "", err
	}
	s.reset = func(ctx context.Context) error {
		if _, err := s.send(ctx, http.MethodDelete, "/api/v1/messages", map[string]any{}); err != nil {
			return err
		}
		text, err := s.send(ctx, "", "/api/v1/tags", nil)
		if err != nil {
			return err
		}
		tags, _ := parse(text).([]any)
		for _, tag := range tags {
			if _, err := s.send(ctx, http.MethodDelete, "/api/v1/tags/"+url.PathEscape(fmt.Sprint(tag)), nil); err != nil {
				return err
			}
		}
		return nil
	}
	return smtp, s.await(ctx, "/api/v1/info")
}
