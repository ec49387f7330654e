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

// Options are the data and actions of the handler. All functions must be safe for concurrent use.
type Options struct {
	// Status returns the state of the gateway.
	Status func() Status
	// Report returns the load report of an API by its name; false if there is no such API.
	Report func(name string) (Report, bool)
	// Metrics is the source of /metrics.
	Metrics prometheus.Gatherer
	// Reload reloads the configuration and all documents, and returns when the result is in use.
	// Its error is sent to the caller, which has sent the token.
	Reload func(context.Context) error
	// Accept puts the quarantined document of an API into use. digest is that of the expected
	// document; "" accepts any. The error is ErrNoAPI or ErrNotHeld if there is nothing to accept,
	// ErrChanged if it is another document.
	Accept func(ctx context.Context, name, digest string) error
	// AcceptLoss removes the services that a provider has lost. Its error says why there are none.
	AcceptLoss func(ctx context.Context, provider string) error
	// Clean removes invisible characters from a body: its texts come from documents, and a
	// bidirectional control in a title would reorder the text around it (S8). If nil, bodies are
	// written unchanged.
	Clean func([]byte) []byte
	// Access returns the current access control.
	Access func() *Access
	// Console serves /console and the paths below it, behind the check of Host, with access control of its own. If nil,
	// these paths do not exist.
	Console Console
}

// Console is a handler that may be off.
type Console interface {
	http.Handler
	// On reports whether it serves at present.
	On() bool
}

// Handler serves /healthz, /readyz, /metrics, /apis, /apis/{name}, POST /apis/{name}/accept,
// POST /discovery/{name}/accept and POST /reload, and the console.
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
	handle("POST /reload", requireToken(o.Access, "reload", ", or send SIGHUP", reload(o)))
	handle("POST /apis/{name}/accept", requireToken(o.Access, "accepting a document", "", accept(o)))
	handle("POST /discovery/{name}/accept", requireToken(o.Access, "accepting a loss of services", "", acceptLoss(o)))
	if o.Console != nil {
		mux.Handle("/console", o.Console)
		mux.Handle("/console/", o.Console)
		mux.HandleFunc("GET /{$}", toConsole(o.Console))
	}
	return secured(checkHost(o.Access, canonicalPath(mux)))
}

// toConsole sends whoever asks for the root to the console, while it is on.
func toConsole(c Console) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !c.On() {
			writeText(w, http.StatusNotFound, "404 page not found\n")
			return
		}
		http.Redirect(w, r, "/console", http.StatusSeeOther)
	}
}

// secured sets the headers of every response (H12).
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

// report serves the load report of an API. "?fate=skipped,changed" selects operations.
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

// reload serves POST /reload.
func reload(o Options) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := o.Reload(r.Context())
		ExtendDeadline(w)
		if err != nil {
			writeText(w, http.StatusUnprocessableEntity, err.Error()+"\n")
			return
		}
		writeText(w, http.StatusOK, "reloaded\n")
	}
}

// responseTime is the write timeout of a response to a request that may take long (H7).
const responseTime = 10 * time.Second

// ExtendDeadline extends the write deadline, since that of the server has passed if documents were
// slow. A writer without deadlines, as in a test, needs none.
func ExtendDeadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(responseTime))
}

// acceptLoss serves POST /discovery/{name}/accept.
func acceptLoss(o Options) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := o.AcceptLoss(r.Context(), r.PathValue("name")); err != nil {
			writeText(w, http.StatusNotFound, err.Error()+"\n")
			return
		}
		writeText(w, http.StatusOK, "accepted\n")
	}
}

// accept serves POST /apis/{name}/accept.
func accept(o Options) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		digest, ok := ifMatch(r.Header)
		if !ok {
			writeText(w, http.StatusBadRequest, "If-Match must be one digest in quotation marks, the held.digest of /apis/NAME, or *\n")
			return
		}
		err := o.Accept(r.Context(), r.PathValue("name"), digest)
		ExtendDeadline(w)
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

// ifMatch returns the tag in If-Match (RFC 9110 section 13.1.1); "" if absent or "*". A list is
// rejected: the operator can't have seen all of them.
func ifMatch(h http.Header) (digest string, ok bool) {
	values := h.Values("If-Match")
	if len(values) == 0 || len(values) == 1 && strings.Trim(values[0], " \t") == "*" {
		return "", true
	}
	digest, opened := strings.CutPrefix(strings.Trim(values[0], " \t"), `"`)
	digest, closed := strings.CutSuffix(digest, `"`)
	return digest, len(values) == 1 && opened && closed && digest != "" && !strings.Contains(digest, `"`)
}
