package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"drawbridge/auth/authtest"
	"drawbridge/test/figures"
	"drawbridge/test/process"
)

// settings are the flags.
type settings struct {
	program string
	rps     int           // calls a second with good tokens
	rotate  time.Duration // from one new key to the next
	phase   time.Duration // how long each part takes
	others  int           // calls a second with tokens of unknown key ids
	compare bool          // good tokens are also used beside other floods
	only    string        // the one part to run; "": all
}

func main() {
	var s settings
	flag.StringVar(&s.program, "gateway", "bin/drawbridge", "the gateway's program")
	flag.IntVar(&s.rps, "rps", 1000, "calls a second with good tokens")
	flag.DurationVar(&s.rotate, "rotate", 5*time.Second, "time from one new key to the next")
	flag.DurationVar(&s.phase, "phase", 20*time.Second, "how long each part takes, at least 20s")
	flag.IntVar(&s.others, "others", 1000, "calls a second with tokens of unknown key ids")
	flag.BoolVar(&s.compare, "compare", false, "measure good tokens also beside as many calls without a token, and as many that another program refuses")
	flag.StringVar(&s.only, "only", "", "run one part: rotation, keys or outage")
	order := flag.String("flood", "", "be those who flood the gateway, as this JSON says (the program starts itself so)")
	refuse := flag.Bool("refuse", false, "be a program that refuses all requests (the program starts itself so)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	be := func() error { return run(ctx, s) }
	switch {
	case *order != "":
		be = func() error { return beFlood(ctx, *order, os.Stdout) }
	case *refuse:
		be = func() error { return beRefuser(ctx, os.Stdout) }
	}
	if err := be(); err != nil {
		fmt.Fprintln(os.Stderr, "tokens:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings) error {
	if s.phase < 20*time.Second || s.rotate < 2*time.Second || s.rps < 1 || s.others < 1 {
		return errors.New("-phase must be at least 20s, -rotate at least 2s, -rps and -others at least 1")
	}
	w, err := newWorld(ctx, s)
	if err != nil {
		return err
	}
	defer w.close()
	fmt.Printf("%d calls/s with good tokens, keys rotate every %s, %s for each part\n\n", s.rps, s.rotate, s.phase)
	table := figures.NewTable(os.Stdout)
	for _, part := range []struct {
		name string
		run  func(context.Context) ([]figures.Figure, error)
	}{{"rotation", w.rotation}, {"keys", w.unknownKeys}, {"outage", w.outage}} {
		if s.only != "" && s.only != part.name {
			continue
		}
		measured, err := part.run(ctx)
		if err != nil {
			return fmt.Errorf("%w\n%s", err, w.gateway.Log())
		}
		table.Add(measured...)
	}
	return table.Err()
}

// world is the gateway with what stands around it.
type world struct {
	settings
	dir      string
	issuer   *authtest.Server
	service  *httptest.Server
	gateway  *process.Child
	refuser  *refuser
	endpoint string
	host     string // its address
	admin    string
}

func newWorld(ctx context.Context, s settings) (w *world, err error) {
	w = &world{settings: s}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.dir, err = os.MkdirTemp("", "tokens"); err != nil {
		return nil, err
	}
	if w.host, err = process.FreeAddress(); err != nil {
		return nil, err
	}
	if w.admin, err = process.FreeAddress(); err != nil {
		return nil, err
	}
	w.endpoint = "http://" + w.host + "/mcp"
	if w.issuer, err = authtest.Start(authtest.Options{Resources: []string{w.endpoint}}); err != nil {
		return nil, err
	}
	w.service = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_, _ = rw.Write([]byte(`{"done":true}`))
	}))
	const document = `{"openapi":"3.1.0","info":{"title":"Shop","version":"1"},"paths":{"/":{"get":{"operationId":"look","responses":{"200":{"description":"ok"}}}}}}`
	config := fmt.Sprintf(`server: {listen: %q, shutdown_delay: 0s, drain_timeout: 5s}
admin: {listen: %q}
auth: {issuers: [{issuer: %q}], default_scopes: [mcp:tools]}
apis: [{spec: api.json, name: shop, base_url: %q}]
tools: {prefix: never}
limits: {principal_rate: {rate: 1000000/s, burst: 1000000}, address_rate: off}
telemetry: {log_level: error}
`, w.host, w.admin, w.issuer.Issuer(), w.service.URL)
	file := filepath.Join(w.dir, "drawbridge.yaml")
	for name, text := range map[string]string{file: config, filepath.Join(w.dir, "api.json"): document} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	if w.gateway, err = process.Start(ctx, s.program, "serve", "--config", file); err != nil {
		return nil, err
	}
	if w.refuser, err = startRefuser(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return w, w.gateway.AwaitGateway(ctx, w.admin)
}

func (w *world) close() {
	if w.refuser != nil {
		_ = w.refuser.child.Stop()
	}
	if w.gateway != nil {
		_ = w.gateway.Stop()
	}
	if w.service != nil {
		w.service.Close()
	}
	if w.issuer != nil {
		_ = w.issuer.Close()
	}
	_ = os.RemoveAll(w.dir)
}
