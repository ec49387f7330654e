package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"drawbridge/auth/authtest"
	"drawbridge/test/openload"
	"drawbridge/test/process"
	"drawbridge/test/wire"
)

var panics = figure{
	number: 30, name: "a panic in each layer",
	conditions: [3]string{
		"a panic is put into each of the functions that do the work of a build of its own, and set off once under traffic",
		"a panic is put into each of the functions that do the work of a build of its own, and set off 3 times under traffic",
		"a panic is put into each of the functions that do the work of a build of its own, and set off 100 times under traffic",
	},
	run: runPanics,
}

// layer is a function that panics when it is told to.
type layer struct {
	file, function string // as it is declared: name, or (r *receiver) name without the name of the receiver
	reach          way    // what makes the gateway call it
}

// way is what makes the gateway call a function.
type way int

const (
	byCall way = iota
	byList
	byStream   // open while a document changes
	bySilence  // of a stream
	byDocument // that changes
	byReload   // of the configuration
	byAdmin
	byKeys // a token that names a key that is not known
)

// layers is what panics: on the way of a call from the listener to the service and back, and in what runs by itself.
var layers = []layer{
	{"gateway/listener/conn_limit.go", "(*Limiter) admit", byCall},
	{"gateway/listener/body_pace.go", "(*pacedBody) extend", byCall},
	{"gateway/endpoint/dispatcher.go", "(*dispatcher) dispatch", byCall},
	{"gateway/endpoint/server.go", "(*Server) serve", byCall},
	{"auth/middleware.go", "(*Guard) authenticate", byCall},
	{"gateway/mcp/handler.go", "(*exchange) post", byCall},
	{"gateway/mcp/envelope.go", "parseMessage", byCall},
	{"gateway/endpoint/list.go", "(*lists) serve", byList},
	{"gateway/deliver/tools.go", "(*Tools) ServeVia", byCall},
	{"gateway/call/call.go", "(*Runner) Invoke", byCall},
	{"gateway/call/validate.go", "(*Call) validate", byCall},
	{"gateway/call/send.go", "(*Call) send", byCall},
	{"openapi/request.go", "(*Operation) Build", byCall},
	{"gateway/upstream/upstream.go", "(*Client) do", byCall},
	{"gateway/upstream/bulkhead.go", "(*bulkhead) acquire", byCall},
	{"gateway/upstream/ssrf.go", "(*dialPolicy) dial", byCall},
	{"gateway/upstream/error.go", "(classifier) RoundTrip", byCall},
	{"gateway/upstream/body.go", "(*body) Read", byCall},
	{"openapi/answer/read.go", "(*Plan) Read", byCall},
	{"gateway/call/outcome.go", "(*Call) Done", byCall},
	{"gateway/deliver/result.go", "(*result) success", byCall},
	{"gateway/telemetry/request_log.go", "(*RequestLog) Observe", byCall},
	{"gateway/cache/flight.go", "(*Cache) Do", byCall},
	{"gateway/cache/flight.go", "(*Cache) send", byCall},
	{"gateway/cache/kept.go", "(*keptBody) Read", byCall},
	{"gateway/cache/flight.go", "(*Cache) finish", byCall},
	{"gateway/cache/store.go", "(*Cache) put", byCall},
	{"auth/credential/transport.go", "(*transport) RoundTrip", byCall},
	{"auth/credential/token_refresh.go", "(*tokenSource) get", byCall},
	{"auth/credential/oauth.go", "(*grant) fetch", byCall},
	{"gateway/audit/log.go", "(*Log) put", byCall},
	{"gateway/audit/line.go", "(*Line) append", byCall},
	{"gateway/audit/log.go", "(*Log) take", byCall},
	{"gateway/audit/log.go", "(*Log) write", byCall},
	{"gateway/mcp/subscription_stream.go", "(*subscriptionStream) startDelivery", byStream},
	{"gateway/mcp/subscription_stream.go", "(*subscriptionStream) sendPending", byStream},
	{"gateway/mcp/subscriptions.go", "(*Broker) ListsChanged", byStream},
	{"gateway/mcp/sse.go", "(*responseWriter) sendKeepAlive", bySilence},
	{"openapi/load.go", "(*Document) identify", byDocument},
	{"openapi/operation.go", "(*compiler) operation", byDocument},
	{"gateway/source/load.go", "(*loader) load", byDocument},
	{"gateway/source/load.go", "(*loader) compile", byDocument},
	{"gateway/source/clients.go", "(*clients) forCalls", byDocument},
	{"gateway/source/refresh.go", "refreshDelay", byDocument},
	{"gateway/admission/document_budget.go", "(*DocumentBudget) leftLocked", byDocument},
	{"gateway/diskcache/store.go", "(*Store) Put", byDocument},
	{"gateway/diskcache/store.go", "(*Store) writeFile", byDocument},
	{"gateway/diskcache/format.go", "(*Document) encode", byDocument},
	{"gateway/generation/generation.go", "(*Builder) Build", byDocument},
	{"gateway/plan/compile.go", "Compile", byDocument},
	{"gateway/plan/plan.go", "newPlan", byDocument},
	{"gateway/reload/loop.go", "(*writer) take", byDocument},
	{"gateway/filewatch/watcher.go", "(*Watcher) check", byDocument},
	{"gateway/reload/reload.go", "(*writer) reload", byReload},
	{"gateway/reload/reload.go", "(*writer) promote", byReload},
	{"gateway/generation/deployment.go", "(*Deployer) Deploy", byReload},
	{"gateway/admin/readiness.go", "ready", byAdmin},
	{"gateway/publish.go", "(*publisher) SetStatus", byReload},
	{"auth/issuer.go", "(*issuer) fetch", byKeys},
}

// runPanics builds the gateway with the panics in it, and sets them off one after the other.
func runPanics(ctx context.Context, s *suite) (rows []row, err error) {
	program, err := s.buildWithPanics(ctx)
	if err != nil {
		return nil, err
	}
	w, err := s.newPanicWorld(ctx, program)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	times := by(s, [3]int{1, 3, 100})
	survived, died, unwell, unreached := 0, []string{}, []string{}, []string{}
	for n, l := range layers {
		if s.size == full { // half a minute for each
			s.progress("   %d of %d: %s %s", n+1, len(layers), l.file, l.function)
		}
		for range times {
			if err := w.setOff(ctx, n, l.reach); err != nil {
				s.progress("   %s %s: %v", l.file, l.function, err)
				unreached = append(unreached, l.function)
				break
			}
			if !w.alive() {
				s.progress("   died of a panic in %s %s: %s", l.file, l.function, firstOf(w.g.child.Log(), "goroutine "))
				died = append(died, l.function)
				if err := w.restart(ctx); err != nil {
					return nil, err
				}
				break
			}
			if err := w.well(ctx, l.reach); err != nil {
				s.progress("   after a panic in %s %s: %v", l.file, l.function, err)
				unwell = append(unwell, fmt.Sprintf("%s: %v", l.function, err))
				_ = w.g.child.Stop() // however it ends: it is not what it was
				if err := w.restart(ctx); err != nil {
					return nil, err
				}
				break
			}
			survived++
		}
	}
	all := len(layers) * times
	return []row{
		{"functions that traffic leads to", "all", fmt.Sprintf("%d of %d%s", len(layers)-len(unreached), len(layers), orNothing("; not ", strings.Join(unreached, ", "))), verdictOf(len(unreached) == 0)},
		{"the process survives", "all", fmt.Sprintf("%d of %d%s", all-len(died), all, orNothing("; died in ", strings.Join(died, ", "))), verdictOf(len(died) == 0)},
		{"and does its work", "all", fmt.Sprintf("%d of %d%s", survived, all, orNothing("; not after ", strings.Join(unwell, ", "))), verdictOf(survived == all)},
	}, nil
}

// firstOf is the end of a text from the first place of a word on, which is not long.
func firstOf(text, word string) string {
	if at := strings.Index(text, "panic: "); at >= 0 {
		text = text[at:]
	}
	before, _, _ := strings.Cut(text, word)
	return strings.TrimSpace(before)
}

// buildWithPanics builds the gateway from the same sources, in which the layers begin with a panic that waits for a file.
func (s *suite) buildWithPanics(ctx context.Context) (program string, err error) {
	type edit struct {
		at   int
		text string
	}
	edits := map[string][]edit{}
	packages := map[string]string{}
	for n, l := range layers {
		path := filepath.Join(s.root, l.file)
		at, name, err := l.place(s.root)
		if err != nil {
			return "", err
		}
		edits[path] = append(edits[path], edit{at, fmt.Sprintf("; injectedPanic(%d);", n)})
		packages[filepath.Dir(path)] = name
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, list := range edits {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		var b bytes.Buffer
		for at := range text {
			for _, e := range list {
				if e.at == at {
					b.WriteString(e.text)
				}
			}
			b.WriteByte(text[at])
		}
		name := strings.NewReplacer("/", "_").Replace(strings.TrimPrefix(path, s.root))
		if overlay.Replace[path], err = s.write(name, b.String()); err != nil {
			return "", err
		}
	}
	for dir, name := range packages {
		// The file goes with the panic, so that there is one.
		copied, err := s.write("injected_"+name+".go", fmt.Sprintf(`package %s

import (
	"fmt"
	"os"
)

func injectedPanic(n int) {
	if os.Remove(fmt.Sprintf("%s/panic-%%d", n)) == nil {
		panic("injected")
	}
}
`, name, s.dir))
		if err != nil {
			return "", err
		}
		overlay.Replace[filepath.Join(dir, "injected_panic.go")] = copied
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	file, err := s.write("overlay.json", string(text))
	if err != nil {
		return "", err
	}
	program = filepath.Join(s.dir, "drawbridge")
	c := exec.CommandContext(ctx, "go", "build", "-overlay", file, "-o", program, "./cmd/drawbridge")
	c.Dir = s.root
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build with panics: %w\n%s", err, out)
	}
	return program, nil
}

// place is where the panic goes, behind what catches one, in bytes from the beginning of the file; and the name of the package.
func (l layer) place(root string) (at int, name string, err error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, filepath.Join(root, l.file), nil, parser.SkipObjectResolution)
	if err != nil {
		return 0, "", err
	}
	for _, d := range f.Decls {
		fn, isFunc := d.(*ast.FuncDecl)
		if !isFunc || declared(fn) != l.function {
			continue
		}
		at = files.Position(fn.Body.Lbrace).Offset + 1
		for _, first := range fn.Body.List { // what catches a panic of the function stands at its beginning
			if _, isDefer := first.(*ast.DeferStmt); !isDefer {
				break
			}
			at = files.Position(first.End()).Offset
		}
		return at, f.Name.Name, nil
	}
	return 0, "", fmt.Errorf("%s has no function %s any more: name the one that does its work in the table of layers", l.file, l.function)
}

// declared is how the table of layers writes a function.
func declared(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	receiver := ""
	switch t := fn.Recv.List[0].Type.(type) {
	case *ast.StarExpr:
		if name, isName := t.X.(*ast.Ident); isName {
			receiver = "*" + name.Name
		}
	case *ast.Ident:
		receiver = t.Name
	}
	return "(" + receiver + ") " + fn.Name.Name
}

// panicWorld is the gateway that panics, with what reaches each of its layers.
type panicWorld struct {
	s        *suite
	program  string
	issuer   *authtest.Server
	upstream *service
	g        *gateway
	host     string
	spec     string
	token    string
	changes  int
	calls    atomic.Int64
}

func (s *suite) newPanicWorld(ctx context.Context, program string) (w *panicWorld, err error) {
	w = &panicWorld{s: s, program: program}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.upstream, err = newService(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" { // which the gateway needs another of every other second
			answerJSON(rw, `{"access_token":"own","token_type":"Bearer","expires_in":2}`)
			return
		}
		rw.Header().Set("Connection", "close") // each call dials
		answerJSON(rw, `{"ok":true}`)
	}); err != nil {
		return nil, err
	}
	if w.host, err = process.FreeAddress(); err != nil {
		return nil, err
	}
	if w.issuer, err = authtest.Start(authtest.Options{Resources: []string{"http://" + w.host + "/mcp"}}); err != nil {
		return nil, err
	}
	w.token, err = w.issuer.Issue(authtest.Token{Subject: "tester", Audience: []string{"http://" + w.host + "/mcp"}, Scopes: []string{"mcp:tools"}, Life: 3 * time.Hour})
	if err != nil {
		return nil, err
	}
	if err := w.change(); err != nil {
		return nil, err
	}
	return w, w.restart(ctx)
}

// change writes the document anew, with another operation.
func (w *panicWorld) change() (err error) {
	w.changes++
	document := strings.Replace(things, `"paths":{`, fmt.Sprintf(`"paths":{"/c":{"get":{"operationId":"changed%d","responses":{"200":{"description":"ok"}}}},`, w.changes), 1)
	if w.spec, err = w.s.write("things.json.new", document); err != nil {
		return err
	}
	next := strings.TrimSuffix(w.spec, ".new")
	err = os.Rename(w.spec, next)
	w.spec = next
	return err
}

func (w *panicWorld) restart(ctx context.Context) error {
	admin, err := process.FreeAddress()
	if err != nil {
		return err
	}
	w.g, err = w.s.startProgram(ctx, w.program, setup{
		addresses: []string{w.host, admin},
		server:    fmt.Sprintf(", keep_alive: 100ms, state_dir: %q", filepath.Join(w.s.dir, "state")),
		// With room for few calls, what a panic does not give back is missed soon.
		apis: fmt.Sprintf("[{spec: %q, name: things, base_url: %q, max_in_flight: 2, credential: {type: client_credentials, token_url: %q, client_id: gateway, client_secret: secret}}]",
			w.spec, "http://"+w.upstream.host, "http://"+w.upstream.host+"/token"),
		environment: []string{"GOMEMLIMIT=512MiB"}, // so that what documents take is counted
		more: fmt.Sprintf("auth: {issuers: [{issuer: %q}], default_scopes: [mcp:tools]}\nrules: [{match: {api: things}, set: {cache: {ttl: 1m}}}]\naudit: {file: %q}\n",
			w.issuer.Issuer(), filepath.Join(w.s.dir, "audit.log")),
	})
	if err != nil {
		return err
	}
	if err := w.g.ready(ctx); err != nil {
		return err
	}
	return w.well(ctx, byCall)
}

func (w *panicWorld) close() (err error) {
	if w.g != nil && w.alive() {
		err = w.g.child.Stop()
	}
	if w.upstream != nil {
		w.upstream.close()
	}
	if w.issuer != nil {
		err = errors.Join(err, w.issuer.Close())
	}
	return err
}

func (w *panicWorld) alive() bool {
	select {
	case <-w.g.child.Exited():
		return false
	case <-time.After(50 * time.Millisecond): // for one that dies just now
		return true
	}
}

func (w *panicWorld) client() *wire.Client {
	return &wire.Client{Host: w.host, Revision: wire.Modern, Token: w.token}
}

// patience is how long it may take until traffic has led to a layer. Keys of an issuer are fetched once in 10 s when unknown ones come all the time.
const patience = 30 * time.Second

// setOff lays the file down for which a layer waits, and goes its way until the file is gone.
func (w *panicWorld) setOff(ctx context.Context, n int, reach way) error {
	file := filepath.Join(w.s.dir, fmt.Sprintf("panic-%d", n))
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return err
	}
	if reach == byStream || reach == bySilence {
		c := &caller{client: w.client()}
		stream, err := c.dial()
		if err != nil {
			return err
		}
		defer stream.Close()
		if _, err := stream.Write([]byte(c.client.Listen())); err != nil {
			return err
		}
	}
	for end := time.Now().Add(patience); time.Now().Before(end); {
		w.lead(ctx, reach)
		for range 10 {
			if _, err := os.Stat(file); err != nil {
				return nil
			}
			if !openload.Pause(ctx, 10*time.Millisecond) {
				return ctx.Err()
			}
		}
	}
	return errors.Join(errors.New("nothing has led there"), os.Remove(file))
}

// call makes a call whose answer nobody has kept.
func (w *panicWorld) call(c *caller) (text string, err error) {
	return c.call("get_thing", 1, fmt.Sprintf(`{"id":"a%d"}`, w.calls.Add(1)))
}

// lead does once what leads to a layer. What comes of it is of no matter here.
func (w *panicWorld) lead(ctx context.Context, reach way) {
	c := &caller{client: w.client()}
	defer c.close()
	switch reach {
	case byCall:
		_, _ = w.call(c)
	case byList:
		_, _, _ = c.exchange(c.client.List(""))
	case bySilence:
	case byStream, byDocument:
		_ = w.change()
	case byReload:
		_ = w.g.reload(ctx)
	case byAdmin:
		_ = process.Ready(ctx, w.g.admin)
	case byKeys:
		_ = w.issuer.RotateKeys()
		token, err := w.issuer.Issue(authtest.Token{Subject: "tester", Audience: []string{"http://" + w.host + "/mcp"}, Scopes: []string{"mcp:tools"}, Life: 3 * time.Hour})
		if err == nil {
			c.client.Token = token
			_, _ = w.call(c)
		}
	}
}

// well tells whether the gateway does its work: calls, readiness, and a document that changes. What a panic has left out of a
// document is there again when it has changed.
func (w *panicWorld) well(ctx context.Context, after way) error {
	if after == byDocument {
		if err := w.follows(ctx); err != nil {
			return err
		}
	}
	check := func() error {
		c := &caller{client: w.client()}
		defer c.close()
		if text, err := w.call(c); err != nil {
			return fmt.Errorf("a call: %w %s", err, text)
		}
		return process.Ready(ctx, w.g.admin)
	}
	if err := w.until(ctx, check); err != nil {
		return err
	}
	return w.follows(ctx)
}

// follows tells whether a document that changes is served.
func (w *panicWorld) follows(ctx context.Context) error {
	if err := w.change(); err != nil {
		return err
	}
	want := fmt.Sprintf("changed%d", w.changes)
	return w.until(ctx, func() error {
		c := &caller{client: w.client()}
		defer c.close()
		a, body, err := c.exchange(c.client.List(""))
		if err != nil || a.Status != http.StatusOK || !bytes.Contains(body, []byte(want)) {
			return fmt.Errorf("a changed document is not served: %d, %w", a.Status, err)
		}
		return nil
	})
}

func (w *panicWorld) until(ctx context.Context, check func() error) (err error) {
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
		if err = check(); err == nil || !w.alive() {
			return err
		}
		if !openload.Pause(ctx, 20*time.Millisecond) {
			return ctx.Err()
		}
	}
	return err
}
