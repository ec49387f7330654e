package gateway

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"drawbridge/config"
	"drawbridge/gateway/state"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
)

const (
	// callbackPath is where services call; a token follows.
	callbackPath = "/callbacks/"
	// callbackLabel is the version of the payload of these tokens.
	callbackLabel = "drawbridge callback 1"
	// callbackPrefix stands before the name of a task in the store, where it is what the service has called with.
	callbackPrefix = "callback "
)

// jobCallback is how a service tells by itself that a job has ended. It is immutable.
type jobCallback struct {
	argument  string
	given     *openapi.Operation // the operation as callers see it
	signature *callbackSignature // nil: there is none
	maxBody   int64
}

// callbackSignature is how the body of a callback is signed.
type callbackSignature struct {
	header, prefix string
	secret         []byte
	hash           func() hash.Hash
	decode         func(string) ([]byte, error)
}

// callbackPayload is what the token in the URL of a callback says, to the gateway alone.
type callbackPayload struct {
	Key   string `json:"k"` // of the task, or of the call that waits
	Tool  string `json:"t"`
	Owner string `json:"o,omitempty"`
}

// callbackRecord is what a service has called with.
type callbackRecord struct {
	Type string `json:"t"` // Content-Type
	Body []byte `json:"b"`
}

func newJobCallback(c *config.JobCallback, op *openapi.Operation) (*jobCallback, error) {
	cb := &jobCallback{argument: c.Argument, maxBody: int64(c.MaxBody)}
	if cb.argument == "" {
		var err error
		if cb.argument, err = expectedAt(op); err != nil {
			return nil, err
		}
	}
	if !op.Takes(cb.argument) {
		return nil, fmt.Errorf("argument: the operation has no argument %q", cb.argument)
	}
	cb.given = op.Asked(nil, []string{cb.argument}, "")
	if s := c.Signature; s != nil {
		cb.signature = &callbackSignature{header: s.Header, prefix: s.Prefix, secret: []byte(s.Secret.Reveal()), hash: sha256.New, decode: hex.DecodeString}
		if s.Hash == config.CallbackSHA512 {
			cb.signature.hash = sha512.New
		}
		if s.Encoding == config.CallbackBase64 {
			cb.signature.decode = base64.StdEncoding.DecodeString
		}
	}
	return cb, nil
}

// expectedAt returns the argument at which the document's callback finds its URL.
func expectedAt(op *openapi.Operation) (argument string, err error) {
	for _, c := range op.Callbacks {
		in, name, ok := c.URL.Request()
		if !ok {
			continue
		}
		found, rest, ok := op.ArgumentFor(in, name, name)
		switch {
		case !ok || found == "" || rest != "":
			continue
		case argument != "" && argument != found:
			return "", errors.New("argument: the document has several callbacks; name the argument that is the URL")
		}
		argument = found
	}
	if argument == "" {
		return "", errors.New("argument: the document has no callback whose URL is an argument; name the argument that is the URL")
	}
	return argument, nil
}

// calledBack adds the URL that the service is to call to the arguments of a call.
func (c *call) calledBack(args json.RawMessage) (json.RawMessage, error) {
	c.key = rand.Text()
	payload, err := json.Marshal(callbackPayload{Key: c.key, Tool: c.plan.Tool.Name, Owner: c.req.Principal})
	if err != nil {
		return nil, err
	}
	token := c.g.tasks.callbacks.Seal(payload, time.Now().Add(c.plan.job.ttl+time.Second))
	return c.plan.job.callback.with(args, c.g.base()+callbackPath+token), nil
}

// with puts a URL into arguments.
func (cb *jobCallback) with(args json.RawMessage, url string) json.RawMessage {
	return withArgument(args, cb.argument, url)
}

// serveCallback takes what a service calls with. What is wrong with it is told by the status alone.
func (g *Gateway) serveCallback(w http.ResponseWriter, r *http.Request) {
	payload, until, err := g.tasks.callbacks.Open(chi.URLParam(r, "token"), time.Now())
	var p callbackPayload
	if err != nil || json.Unmarshal(payload, &p) != nil {
		http.NotFound(w, r)
		return
	}
	gen := g.current.Load()
	if gen == nil || gen.whole.plans[p.Tool] == nil || gen.whole.plans[p.Tool].job.callback == nil {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "POST is what this URL is for", http.StatusMethodNotAllowed)
		return
	}
	plan := gen.whole.plans[p.Tool]
	cb := plan.job.callback
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, cb.maxBody))
	if err != nil {
		var large *http.MaxBytesError
		switch { // by which a service decides whether to call again
		case errors.As(err, &large):
			http.Error(w, "the body is too large", http.StatusRequestEntityTooLarge)
		case errors.Is(err, os.ErrDeadlineExceeded):
			http.Error(w, "the body came too slowly", http.StatusRequestTimeout)
		default:
			http.Error(w, "the body was not sent whole", http.StatusBadRequest)
		}
		return
	}
	if cb.signature != nil && !cb.signature.holds(r.Header, body) {
		if line := g.unsigned.tells(plan.Tool.API, "", time.Now()); line.tell {
			attrs := []slog.Attr{slog.String("api", plan.Tool.API), slog.String("tool", plan.Tool.Name)}
			g.log.LogAttrs(r.Context(), slog.LevelWarn, "a callback was not signed as it should be", line.with(attrs, "callbacks have no line")...)
		}
		http.Error(w, "the signature is missing or wrong", http.StatusUnauthorized)
		return
	}
	media, text := bodyType(r.Header.Get("Content-Type"), body)
	if !text {
		http.Error(w, "the body is neither JSON nor text", http.StatusUnsupportedMediaType)
		return
	}
	if plan.job.goesOn(body) {
		g.tasks.tell(r.Context(), p.Key) // which is a reason to look, and no more
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

// holds tells whether a body has been signed.
func (s *callbackSignature) holds(h http.Header, body []byte) bool {
	values := h.Values(s.header)
	if len(values) != 1 {
		return false
	}
	text, ok := strings.CutPrefix(strings.Trim(values[0], " \t"), s.prefix)
	given, err := s.decode(text)
	if !ok || err != nil {
		return false
	}
	mac := hmac.New(s.hash, s.secret)
	mac.Write(body)
	return hmac.Equal(given, mac.Sum(nil))
}

// bodyType returns the media type of a body that is JSON or text; nothing may be in it either.
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

// goesOn tells whether the body of a callback says that the job has not ended.
func (j *job) goesOn(body []byte) bool {
	if _, err := jsonscan.Scan(body, jsonscan.Options{}); err != nil {
		return false
	}
	l := &look{body: body}
	j.read(l, func(text string) string { return text })
	return l.state == jobWorking || l.state == jobUnsaid && l.word != "" && j.stated
}

// called keeps what a service has called with; false: it has called before.
func (s *tasks) called(ctx context.Context, p callbackPayload, rec callbackRecord, until time.Time) (first bool, err error) {
	value, err := json.Marshal(rec)
	if err != nil {
		return false, err
	}
	return s.store.Add(ctx, callbackPrefix+p.Key, p.Owner, value, until)
}

// expect returns a channel that is sent to when the service calls; end must be called.
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

// tell makes those look who wait for a job or listen for its task, at every replica.
func (s *tasks) tell(ctx context.Context, key string) {
	s.wake(key)
	s.shared.changed(ctx, key)
}

// wake makes those of this replica look.
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
		default: // nobody waits, or he is awake
		}
	}
}

// callback returns what the service has called with; nil: it has not, as far as is known here.
func (c *call) callback(ctx context.Context) (*callbackRecord, error) {
	if c.key == "" || c.plan.job.callback == nil {
		return nil, nil //nolint:nilnil // it has not called
	}
	value, ok, err := c.g.tasks.store.Get(ctx, callbackPrefix+c.key)
	if errors.Is(err, state.ErrAway) {
		return nil, nil //nolint:nilnil // the service is asked then
	}
	if err != nil || !ok {
		return nil, err
	}
	rec := &callbackRecord{}
	return rec, json.Unmarshal(value, rec)
}

// lookAt reads what the service has called with as an answer to the question how the job stands; nil: it says that there is more to
// ask for.
func (c *call) lookAt(ctx context.Context, b *begun, rec *callbackRecord) (*look, error) {
	l, err := c.lookIn(rec.Type, rec.Body)
	if err != nil {
		return nil, c.lookFailed(err)
	}
	placed := b.url != nil || b.status != nil
	switch l.state {
	case jobFailed, jobCancelled:
		return l, nil
	case jobSucceeded:
		if c.plan.job.result != nil || b.result != nil || c.plan.job.hasOutput(l.body) || !placed {
			return l, c.fetch(ctx, b, l)
		}
	case jobUnsaid, jobWorking:
		if !placed {
			l.state = jobSucceeded // what it has called with is the result
			return l, c.inside(l)
		}
	}
	return nil, nil //nolint:nilnil // the service has to be asked
}
