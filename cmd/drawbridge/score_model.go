package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"drawbridge/gateway/upstream"
	"drawbridge/openapi/readiness"
)

const (
	modelTimeout = 2 * time.Minute // for one answer
	maxModelBody = 1 << 20         // bytes of a response
	maxFailures  = 3               // requests in a row that fail before the others are left out
	maxTries     = 3               // of one request, if the model asks to wait
	maxModelWait = time.Minute     // that the model can ask for between them
)

// draft asks the model for what a document does not hold. refused says what was not taken of the answers, and why.
func (s *scoring) draft(ctx context.Context, a *readiness.Assessment) (drafts []readiness.Draft, refused []string, err error) {
	requests := a.Requests()
	if n := len(requests); n > s.fix.most {
		refused = append(refused, fmt.Sprintf("%s beyond --model-requests %d", count(n-s.fix.most, "operation"), s.fix.most))
		requests = requests[:s.fix.most]
	}
	m := newModel(s)
	defer m.transport.CloseIdleConnections()
	progress := s.progress("asking the model")
	defer progress.Stop()
	failures := 0
	for i, r := range requests {
		answer, err := m.complete(ctx, r)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil:
			refused = append(refused, r.Operation+": "+err.Error())
			if failures++; failures == maxFailures {
				return nil, nil, fmt.Errorf("score: the model failed %d times in a row, the last time: %w", failures, err)
			}
			continue
		}
		failures = 0
		own, faults := r.Drafts(answer)
		drafts, refused = append(drafts, own...), append(refused, faults...)
		progress.Count(i+1, len(requests))
	}
	return drafts, refused, nil
}

// model is an endpoint for chat completions.
type model struct {
	url, name, key string
	transport      *http.Transport
}

func newModel(s *scoring) *model {
	return &model{url: s.fix.endpoint.String(), name: s.fix.name, key: s.getenv(s.fix.keyFrom),
		transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: modelTimeout}}
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// complete returns the answer to a request. If the model has no capacity and says when to ask again, that is done. Errors hold nothing of the
// response but its status, and how the completion ended.
func (m *model) complete(ctx context.Context, r *readiness.Request) (string, error) {
	body, err := json.Marshal(struct {
		Model       string        `json:"model"`
		Temperature int           `json:"temperature"`
		Stream      bool          `json:"stream"`
		Messages    []chatMessage `json:"messages"`
	}{m.name, 0, false, []chatMessage{{"system", r.Prompt}, {"user", r.Parts}}})
	if err != nil {
		return "", err
	}
	for tries := 1; ; tries++ {
		answer, err := m.ask(ctx, body)
		var busy *busyError
		if !errors.As(err, &busy) || tries == maxTries || busy.wait < 0 || busy.wait > maxModelWait {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(busy.wait):
		}
	}
}

// busyError reports that the model has no capacity.
type busyError struct {
	status int
	wait   time.Duration // until it can be asked again; negative if it doesn't say
}

func (e *busyError) Error() string {
	text := fmt.Sprintf("the model answered with status %d", e.status)
	if e.wait > 0 {
		text += fmt.Sprintf(" and asks to wait %s", e.wait.Round(time.Second))
	}
	return text
}

// ask sends a request once. Redirects are not followed: the key is for one endpoint.
func (m *model) ask(ctx context.Context, body []byte) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, modelTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	if m.key != "" {
		req.Header.Set("Authorization", "Bearer "+m.key)
	}
	resp, err := m.transport.RoundTrip(req)
	if err != nil {
		return "", fmt.Errorf("ask the model: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable {
		wait, ok := upstream.RetryAfter(resp.Header, time.Now())
		if !ok {
			wait = -1
		}
		return "", &busyError{resp.StatusCode, wait}
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the model answered with status %d", resp.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxModelBody+1))
	if err != nil {
		return "", fmt.Errorf("read the answer of the model: %w", err)
	}
	if len(data) > maxModelBody {
		return "", fmt.Errorf("the response of the model has more than %d bytes", maxModelBody)
	}
	return completed(data)
}
