package gateway

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

	"drawbridge/gateway/job"
	"drawbridge/gateway/state"
	"drawbridge/openapi/jsonscan"
)

const (
	// callbackPath is the path for callbacks from services; a token follows.
	callbackPath = "/callbacks/"
	// callbackLabel is the version of the payload of callback tokens.
	callbackLabel = "drawbridge callback 1"
	// callbackPrefix precedes a task's key in the store for the record of its callback.
	callbackPrefix = "callback "
)

// callbackPayload is the payload of the token in a callback URL, which only the gateway can read.
type callbackPayload struct {
	Key   string `json:"k"` // of the task, or of the waiting call
	Tool  string `json:"t"`
	Owner string `json:"o,omitempty"`
}

// callbackRecord is the content of a callback from a service.
type callbackRecord struct {
	Type string `json:"t"` // Content-Type
	Body []byte `json:"b"`
}

// calledBack adds the callback URL for the service to the arguments of a call.
func (c *call) calledBack(args json.RawMessage) (json.RawMessage, error) {
	c.key = rand.Text()
	payload, err := json.Marshal(callbackPayload{Key: c.key, Tool: c.plan.Tool.Name, Owner: c.req.Principal})
	if err != nil {
		return nil, err
	}
	token := c.g.tasks.callbacks.Seal(payload, time.Now().Add(c.plan.job.TTL+time.Second))
	return c.plan.job.Callback.Arguments(args, c.g.base()+callbackPath+token), nil
}

// serveCallback handles a callback from a service. It reports errors by the status code alone.
func (g *Gateway) serveCallback(w http.ResponseWriter, r *http.Request) {
	payload, until, err := g.tasks.callbacks.Open(chi.URLParam(r, "token"), time.Now())
	var p callbackPayload
	if err != nil || json.Unmarshal(payload, &p) != nil {
		http.NotFound(w, r)
		return
	}
	gen := g.current.Load()
	if gen == nil || gen.main.plans[p.Tool] == nil || gen.main.plans[p.Tool].job.Callback == nil {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "POST is what this URL is for", http.StatusMethodNotAllowed)
		return
	}
	plan := gen.main.plans[p.Tool]
	cb := plan.job.Callback
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
		if line := g.unsigned.Sample(plan.Tool.API, "", time.Now()); line.Logged {
			attrs := []slog.Attr{slog.String("api", plan.Tool.API), slog.String("tool", plan.Tool.Name)}
			g.log.LogAttrs(r.Context(), slog.LevelWarn, "a callback was not signed as it should be", line.Attrs(attrs, "callbacks have no line")...)
		}
		http.Error(w, "the signature is missing or wrong", http.StatusUnauthorized)
		return
	}
	media, text := bodyType(r.Header.Get("Content-Type"), body)
	if !text {
		http.Error(w, "the body is neither JSON nor text", http.StatusUnsupportedMediaType)
		return
	}
	if plan.job.GoesOn(body) {
		g.tasks.tell(r.Context(), p.Key) // a reason to poll, and no more
		w.WriteHeader(http.StatusNoContent)
		return
	}
	switch first, err := g.tasks.called(r.Context(), p, callbackRecord{media, body}, until); {
	case err != nil:
		g.log.Error("a callback could not be kept", "api", plan.Tool.API, "tool", plan.Tool.Name, "error", err)
		w.Header().Set("Retry-After", "5")
		http.Error(w, "try again", http.StatusServiceUnavailable)
	case !first:
		http.Error(w, "this URL was called before", http.StatusGone)
	default:
		g.tasks.tell(r.Context(), p.Key)
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

// called stores the content of a callback. It returns false if an earlier callback was stored.
func (s *tasks) called(ctx context.Context, p callbackPayload, rec callbackRecord, until time.Time) (first bool, err error) {
	value, err := json.Marshal(rec)
	if err != nil {
		return false, err
	}
	return s.store.Add(ctx, callbackPrefix+p.Key, p.Owner, value, until)
}

// expect returns a channel that receives when the service calls back; end must be called.
func (s *tasks) expect(key string) (wake <-chan struct{}, end func()) {
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

// tell makes the calls and subscriptions that wait for a job poll it now, at every replica.
func (s *tasks) tell(ctx context.Context, key string) {
	s.wake(key)
	s.shared.changed(ctx, key)
}

// wake makes those of this replica poll.
func (s *tasks) wake(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	channels := []chan struct{}{s.waiting[key]}
	if watched := s.watched[key]; watched != nil {
		channels = append(channels, watched.wake)
	}
	for _, c := range channels {
		select {
		case c <- struct{}{}:
		default: // no receiver, or it has been woken already
		}
	}
}

// callback returns the content of the service's callback, or nil if none is known to this replica.
func (c *call) callback(ctx context.Context) (*callbackRecord, error) {
	if c.key == "" || c.plan.job.Callback == nil {
		return nil, nil //nolint:nilnil // no callback
	}
	value, ok, err := c.g.tasks.store.Get(ctx, callbackPrefix+c.key)
	if errors.Is(err, state.ErrAway) {
		return nil, nil //nolint:nilnil // the service is polled instead
	}
	if err != nil || !ok {
		return nil, err
	}
	rec := &callbackRecord{}
	return rec, json.Unmarshal(value, rec)
}

// lookAt interprets a callback as the response to a status request. It returns nil if the service must still be polled.
func (c *call) lookAt(ctx context.Context, b *job.Handle, rec *callbackRecord) (*look, error) {
	l, err := c.lookIn(rec.Type, rec.Body)
	if err != nil {
		return nil, c.lookFailed(err)
	}
	placed := b.URL != nil || b.Status != nil
	switch l.State {
	case job.Failed, job.Cancelled:
		return l, nil
	case job.Succeeded:
		if c.plan.job.Result != nil || b.Result != nil || c.plan.job.HasOutput(l.body) || !placed {
			return l, c.fetch(ctx, b, l)
		}
	case job.Unknown, job.Working:
		if !placed {
			l.State = job.Succeeded // the callback's body is the result
			return l, c.inside(l)
		}
	}
	return nil, nil //nolint:nilnil // the service must be polled
}
