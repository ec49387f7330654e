package task

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"drawbridge/gateway/call"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/signal"
	"drawbridge/gateway/state"
	"drawbridge/openapi/jsonscan"
)

const (
	// callbackLabel is the version of the payload of callback tokens.
	callbackLabel = "drawbridge callback 1"
	// CallbackPrefix precedes a task's key in the store for the record of its callback.
	CallbackPrefix = "callback "
)

// CallbackPayload is the payload of the token in a callback URL, which only the gateway can read.
type CallbackPayload struct {
	Key   string `json:"k"` // of the task, or of the waiting call
	Tool  string `json:"t"`
	Owner string `json:"o,omitempty"`
}

// NewCallback implements [call.Continuation].
func (s *Tasks) NewCallback(p *plan.Plan, owner string) (key, url string, err error) {
	key = rand.Text()
	payload, err := json.Marshal(CallbackPayload{Key: key, Tool: p.Tool.Name, Owner: owner})
	if err != nil {
		return "", "", err
	}
	token := s.Callbacks.Seal(payload, time.Now().Add(p.Job.TTL+time.Second))
	return key, s.BaseURL() + plan.CallbackPath + token, nil
}

// Received implements [call.Continuation].
func (s *Tasks) Received(ctx context.Context, key string) (*call.ServiceWebhook, error) {
	value, ok, err := s.Records.Get(ctx, CallbackPrefix+key)
	if errors.Is(err, state.ErrAway) {
		return nil, nil //nolint:nilnil // the service is polled instead
	}
	if err != nil || !ok {
		return nil, err
	}
	rec := &call.ServiceWebhook{}
	return rec, json.Unmarshal(value, rec)
}

// ServeCallback handles a callback from a service. It reports errors by the status code alone.
func (s *Tasks) ServeCallback(w http.ResponseWriter, r *http.Request) {
	payload, until, err := s.Callbacks.Open(chi.URLParam(r, "token"), time.Now())
	var p CallbackPayload
	if err != nil || json.Unmarshal(payload, &p) != nil {
		http.NotFound(w, r)
		return
	}
	e := s.Endpoint("")
	if e == nil || e.Plan(p.Tool) == nil || e.Plan(p.Tool).Job.Callback == nil {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "POST is what this URL is for", http.StatusMethodNotAllowed)
		return
	}
	plan := e.Plan(p.Tool)
	cb := plan.Job.Callback
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, cb.MaxBody))
	if err != nil {
		var large *http.MaxBytesError
		switch { // by which a service decides whether to retry
		case errors.As(err, &large):
			http.Error(w, "the body is too large", http.StatusRequestEntityTooLarge)
		case errors.Is(err, os.ErrDeadlineExceeded):
			http.Error(w, "the body came too slowly", http.StatusRequestTimeout)
		default:
			http.Error(w, "the body was not sent whole", http.StatusBadRequest)
		}
		return
	}
	if !cb.Verify(r.Header, body) {
		if line := s.unsigned.Sample(plan.Tool.API, "", time.Now()); line.Logged {
			attrs := []slog.Attr{slog.String("api", plan.Tool.API), slog.String("tool", plan.Tool.Name)}
			s.Log.LogAttrs(r.Context(), slog.LevelWarn, "a service callback has a missing or wrong signature", line.Attrs(attrs, "callbacks have no line")...)
		}
		http.Error(w, "the signature is missing or wrong", http.StatusUnauthorized)
		return
	}
	media, text := bodyType(r.Header.Get("Content-Type"), body)
	if !text {
		http.Error(w, "the body is neither JSON nor text", http.StatusUnsupportedMediaType)
		return
	}
	if plan.Job.GoesOn(body) {
		s.WakeAll(r.Context(), p.Key) // a reason to poll, and no more
		w.WriteHeader(http.StatusNoContent)
		return
	}
	switch first, err := s.storeWebhook(r.Context(), p, &call.ServiceWebhook{Type: media, Body: body}, until); {
	case err != nil:
		s.Log.Error("a service callback could not be stored", "api", plan.Tool.API, "tool", plan.Tool.Name, "error", err)
		w.Header().Set("Retry-After", "5")
		http.Error(w, "try again", http.StatusServiceUnavailable)
	case !first:
		http.Error(w, "this URL was called before", http.StatusGone)
	default:
		s.WakeAll(r.Context(), p.Key)
		w.WriteHeader(http.StatusNoContent)
	}
}

// bodyType returns the media type of a body that is JSON, text or empty.
func bodyType(contentType string, body []byte) (media string, ok bool) {
	media, _, err := mime.ParseMediaType(contentType)
	switch {
	case len(body) == 0:
		return "", true
	case err != nil || media == "application/json" || strings.HasSuffix(media, "+json"):
		_, err := jsonscan.Scan(body, jsonscan.Options{MaxDepth: 64})
		return "application/json", err == nil
	}
	return "text/plain; charset=utf-8", strings.HasPrefix(media, "text/") && utf8.Valid(body)
}

// storeWebhook stores the content of a callback. It returns false if an earlier callback was stored.
func (s *Tasks) storeWebhook(ctx context.Context, p CallbackPayload, rec *call.ServiceWebhook, until time.Time) (first bool, err error) {
	value, err := json.Marshal(rec)
	if err != nil {
		return false, err
	}
	return s.Records.Add(ctx, CallbackPrefix+p.Key, p.Owner, value, until)
}

// Expect implements [call.Continuation].
func (s *Tasks) Expect(key string) (wake <-chan struct{}, end func()) {
	if key == "" {
		return nil, func() {}
	}
	c := make(chan struct{}, 1)
	s.mu.Lock()
	s.waiting[key] = c
	s.mu.Unlock()
	return c, func() {
		s.mu.Lock()
		delete(s.waiting, key)
		s.mu.Unlock()
	}
}

// WakeAll makes the calls and subscriptions that wait for a job poll it now, at every replica.
func (s *Tasks) WakeAll(ctx context.Context, key string) {
	s.Wake(key)
	s.Publish(ctx, key)
}

// Wake makes those of this replica poll.
func (s *Tasks) Wake(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	channels := []chan struct{}{s.waiting[key]}
	if watched := s.Watched[key]; watched != nil {
		channels = append(channels, watched.wake)
	}
	for _, c := range channels {
		signal.Raise(c)
	}
}
