package clients

import (
	"context"
	"embed"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "drawbridge/gateway" // so that go test runs again when the program has changed: it sees imports, not what we build
	"drawbridge/test/process"
)

//go:embed testdata/things.yaml testdata/gateway.yaml
var testdata embed.FS

// world is a gateway in front of a service of things.
type world struct {
	endpoint string // of the gateway
	control  string // URL below which a client's script makes things happen: change, notice, slow, gone
	folder   string
	model    *model

	slow, gone chan struct{} // a slow call has arrived, and was given up

	mu     sync.Mutex
	notice int
	orders []string // what was ordered, as "thing colour"
}

// newWorld starts both; they end with the test.
func newWorld(t *testing.T, program string) *world {
	t.Helper()
	w := &world{model: newModel(t, orderThing), folder: t.TempDir(), slow: make(chan struct{}, 10), gone: make(chan struct{}, 10)}
	service := httptest.NewServer(w.service())
	t.Cleanup(service.Close)
	w.control = service.URL + "/control"
	listen, admin := address(t), address(t)
	values := strings.NewReplacer("${LISTEN}", listen, "${ADMIN}", admin, "${SERVICE}", service.URL)
	for _, name := range []string{"things.yaml", "gateway.yaml"} {
		text, err := testdata.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		w.write(t, name, values.Replace(string(text)))
	}
	startGateway(t, program, filepath.Join(w.folder, "gateway.yaml"), admin)
	w.endpoint = "http://" + listen + "/mcp"
	return w
}

// startGateway starts the gateway and waits until it is ready; it ends with the test.
func startGateway(t *testing.T, program, config, admin string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	gateway, err := process.Start(context.WithoutCancel(ctx), program, "serve", "--config", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := gateway.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the gateway's last words:\n%s", gateway.Log())
		}
	})
	if err := gateway.AwaitGateway(ctx, admin); err != nil {
		t.Fatal(err)
	}
}

// service is the REST service, and what scripts make happen in it.
func (w *world) service() http.Handler {
	mux := http.NewServeMux()
	answer := func(out http.ResponseWriter, mediaType, text string) {
		out.Header().Set("Content-Type", mediaType)
		_, _ = io.WriteString(out, text)
	}
	mux.HandleFunc("GET /things", func(out http.ResponseWriter, r *http.Request) {
		answer(out, "application/json", `{"things":[{"id":"T-1"},{"id":"T-2"}]}`)
	})
	mux.HandleFunc("GET /things/{id}", func(out http.ResponseWriter, r *http.Request) {
		if id := r.PathValue("id"); strings.HasPrefix(id, "T-") {
			answer(out, "application/json", fmt.Sprintf(`{"id":%q,"colour":"red","next":"T-2"}`, id))
			return
		}
		out.WriteHeader(http.StatusNotFound)
	})
	mux.HandleFunc("POST /orders", func(out http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		w.mu.Lock()
		w.orders = append(w.orders, q.Get("thing")+" "+q.Get("colour"))
		number := len(w.orders)
		w.mu.Unlock()
		answer(out, "application/json", fmt.Sprintf(`{"order":"O-%d","colour":%q}`, number, q.Get("colour")))
	})
	mux.HandleFunc("GET /orders/{order}", func(out http.ResponseWriter, r *http.Request) {
		answer(out, "application/json", fmt.Sprintf(`{"order":%q,"state":"packed"}`, r.PathValue("order")))
	})
	mux.HandleFunc("POST /import", func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Content-Type", "application/x-ndjson")
		for i := range 3 {
			_, _ = fmt.Fprintf(out, "{\"progress\":%d,\"total\":3,\"message\":\"step %d\"}\n", i+1, i+1)
			_ = http.NewResponseController(out).Flush() // the client sees what comes
		}
		_, _ = io.WriteString(out, `{"result":{"imported":3}}`+"\n")
	})
	mux.HandleFunc("POST /reports", func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Location", "/reports/1")
		out.WriteHeader(http.StatusAccepted)
	})
	var looks atomic.Int64
	mux.HandleFunc("GET /reports/1", func(out http.ResponseWriter, r *http.Request) {
		if looks.Add(1)%3 != 0 {
			answer(out, "application/json", `{"status":"running"}`)
		} else {
			answer(out, "application/json", `{"status":"succeeded","result":{"pages":7}}`)
		}
	})
	mux.HandleFunc("GET /stock", func(out http.ResponseWriter, r *http.Request) {
		answer(out, "text/plain; charset=utf-8", "stock of "+r.URL.Query().Get("region"))
	})
	mux.HandleFunc("GET /slow", func(out http.ResponseWriter, r *http.Request) {
		w.slow <- struct{}{}
		<-r.Context().Done()
		w.gone <- struct{}{}
	})
	mux.HandleFunc("GET /notice", func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		tag := fmt.Sprintf(`"%d"`, w.notice)
		w.mu.Unlock()
		out.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			out.WriteHeader(http.StatusNotModified)
			return
		}
		answer(out, "text/plain; charset=utf-8", "notice "+tag)
	})
	await := func(happened chan struct{}) http.HandlerFunc {
		return func(out http.ResponseWriter, r *http.Request) {
			select {
			case <-happened:
			case <-r.Context().Done():
			}
		}
	}
	mux.HandleFunc("POST /control/slow", await(w.slow))
	mux.HandleFunc("POST /control/gone", await(w.gone))
	mux.HandleFunc("POST /control/notice", func(http.ResponseWriter, *http.Request) { w.post() })
	mux.HandleFunc("POST /control/change", func(out http.ResponseWriter, r *http.Request) {
		if err := w.change(); err != nil {
			http.Error(out, err.Error(), http.StatusInternalServerError)
		}
	})
	return mux
}

// post puts another notice on the board.
func (w *world) post() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notice++
}

// another is an operation that comes and goes.
const another = `  /another:
    get:
      operationId: another
      summary: Comes and goes
      responses: {"200": {description: Text, content: {text/plain: {}}}}
`

// change puts an operation at the end of the document, or takes it out.
func (w *world) change() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	file := filepath.Join(w.folder, "things.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, found := strings.CutSuffix(string(text), another)
	if !found {
		before += another
	}
	if err := os.WriteFile(file+".new", []byte(before), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

func (w *world) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func address(t *testing.T) string {
	t.Helper()
	a, err := process.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return a
}
