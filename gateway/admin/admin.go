package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Options are what the handler shows and does. All functions must be safe for concurrent use.
type Options struct {
	// Status tells the state of the gateway.
	Status func() Status
	// Report returns the load report of an API by its name; false: there is no such API.
	Report func(name string) (Report, bool)
	// Metrics is where /metrics reads.
	Metrics prometheus.Gatherer
	// Reload reads the configuration and all documents anew and returns when the result is in use. Its error
	// goes to the caller, who has shown the token.
	Reload func(context.Context) error
	// Accept puts the document of an API into use that is held, by the name of the API. digest is that of the document that is
	// meant; "": any. The error is ErrNoAPI or ErrNotHeld where there is nothing to accept, ErrChanged where it is another document.
	Accept func(ctx context.Context, name, digest string) error
	// Clean takes out of a body what nobody sees in it: the texts in it are of documents, and a bidirectional control in a title would turn the words
	// around it (S8). nil: bodies are written as they are.
	Clean func([]byte) []byte
	// Access returns the rules that hold for the request that has come.
	Access func() *Access
}

// Handler serves /healthz, /readyz, /metrics, /apis, /apis/{name}, POST /apis/{name}/accept and POST /reload.
func Handler(o Options) http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, h http.Handler) { mux.Handle(pattern, cleaned(o.Clean, h)) }
	handle("GET /healthz", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeText(w, http.StatusOK, "ok\n")
	}))
	handle("GET /readyz", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ready(w, o.Status(), r.URL.Query().Has("verbose"))
	}))
	handle("GET /apis", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, o.Status())
	}))
	handle("GET /apis/{name}", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		report(w, r, o)
	}))
	mux.Handle("GET /metrics", promhttp.HandlerFor(o.Metrics, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	handle("POST /reload", operators(o.Access, "reload", ", or send SIGHUP", reload(o)))
	handle("POST /apis/{name}/accept", operators(o.Access, "accepting a document", "", accepted(o)))
	return secured(screened(o.Access, exact(mux)))
}

// secured sets the headers of every answer (H12).
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'")
		next.ServeHTTP(w, r)
	})
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}

func writeJSON(w http.ResponseWriter, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		writeText(w, http.StatusInternalServerError, "the state can't be written as JSON\n")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b.Bytes())
}

// report answers with the load report of an API. "?fate=skipped,changed" picks operations.
func report(w http.ResponseWriter, r *http.Request, o Options) {
	found, ok := o.Report(r.PathValue("name"))
	if !ok {
		writeText(w, http.StatusNotFound, "there is no API of that name; /apis lists them\n")
		return
	}
	if query := r.URL.Query(); query.Has("fate") {
		var fates []Fate
		for _, word := range strings.Split(query.Get("fate"), ",") {
			fate := Fate(word)
			if !slices.Contains([]Fate{Exposed, Changed, Excluded, HeldBack, Skipped}, fate) {
				writeText(w, http.StatusBadRequest, "fate must be exposed, changed, excluded, held or skipped, or several with commas between\n")
				return
			}
			fates = append(fates, fate)
		}
		found.Operations = slices.DeleteFunc(found.Operations, func(op Operation) bool { return !slices.Contains(fates, op.Fate) })
	}
	writeJSON(w, found)
}

// reload answers POST /reload.
func reload(o Options) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := o.Reload(r.Context())
		late(w)
		if err != nil {
			writeText(w, http.StatusUnprocessableEntity, err.Error()+"\n")
			return
		}
		writeText(w, http.StatusOK, "reloaded\n")
	}
}

// answerTime is how long an answer may take whose request took long itself (H7).
const answerTime = 10 * time.Second

// late gives an answer time of its own: that of the server is over when documents have been slow. What has no deadlines, as
// in a test, needs none.
func late(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime))
}

// accepted answers POST /apis/{name}/accept.
func accepted(o Options) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		digest, ok := matched(r.Header)
		if !ok {
			writeText(w, http.StatusBadRequest, "If-Match must be one digest in quotation marks, the held.digest of /apis/NAME, or *\n")
			return
		}
		err := o.Accept(r.Context(), r.PathValue("name"), digest)
		late(w)
		switch {
		case err == nil:
			writeText(w, http.StatusOK, "accepted\n")
		case errors.Is(err, ErrNoAPI):
			writeText(w, http.StatusNotFound, err.Error()+"\n")
		case errors.Is(err, ErrNotHeld):
			writeText(w, http.StatusConflict, err.Error()+"\n")
		case errors.Is(err, ErrChanged):
			writeText(w, http.StatusPreconditionFailed, err.Error()+"\n")
		default:
			writeText(w, http.StatusServiceUnavailable, err.Error()+"\n")
		}
	}
}

// matched returns what If-Match names (RFC 9110 section 13.1.1); "": nothing, or "*". Of several that may be meant an operator
// has not seen all, so they are refused.
func matched(h http.Header) (digest string, ok bool) {
	values := h.Values("If-Match")
	if len(values) == 0 || len(values) == 1 && strings.Trim(values[0], " \t") == "*" {
		return "", true
	}
	digest, opened := strings.CutPrefix(strings.Trim(values[0], " \t"), `"`)
	digest, closed := strings.CutSuffix(digest, `"`)
	return digest, len(values) == 1 && opened && closed && digest != "" && !strings.Contains(digest, `"`)
}
