package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"drawbridge/gateway/admin"
)

// awaitReady returns when an API is served.
func (s *served) awaitReady() {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		status, text := s.get("/readyz")
		if status == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("/readyz = %d %s; log:\n%s", status, text, s.log)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// awaitStored returns when documents are in server.state_dir.
func (s *served) awaitStored(documents int) {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		_, text := s.get("/metrics")
		if strings.Contains(text, fmt.Sprintf("\ndrawbridge_state_writes_total{outcome=\"ok\"} %d\n", documents)) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("documents are not stored; log:\n%s", s.log)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// awaitServing returns when an API is served, also by a gateway that is not ready because no issuer responds.
func (s *served) awaitServing() {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		status, text := s.get("/readyz")
		if status == http.StatusOK || text == string(admin.NoIssuer)+"\n" {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("/readyz = %d %s; log:\n%s", status, text, s.log)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (s *served) get(path string) (status int, body string) { return s.do(http.MethodGet, path, "") }

func (s *served) post(path, token string) (status int, body string) {
	return s.do(http.MethodPost, path, token)
}

// do asks the admin listener.
func (s *served) do(method, path, token string) (status int, body string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.admin+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}
