package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"drawbridge/test/figures"
	"drawbridge/test/process"
)

// settings are the flags.
type settings struct {
	program  string
	dir      string // of the stored files
	size     int64  // of the large file, in bytes
	parallel int    // smaller files at once
	small    int64  // the size of one of them, in bytes
	rounds   int
}

func main() {
	var s settings
	flag.StringVar(&s.program, "gateway", "bin/drawbridge", "the gateway's program")
	flag.StringVar(&s.dir, "dir", os.TempDir(), "where the gateway stores files; its disk is part of what is measured")
	flag.Int64Var(&s.size, "size", 1<<30, "size of the large file in bytes")
	flag.IntVar(&s.parallel, "parallel", 200, "smaller files at once")
	flag.Int64Var(&s.small, "small", 5<<20, "size of a smaller file in bytes")
	flag.IntVar(&s.rounds, "rounds", 3, "how often each part runs; the best throughput and the largest memory count")
	proxy := flag.String("proxy", "", "be a reverse proxy, ADDRESS=URL (the program starts itself so)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	be := func() error { return run(ctx, &s) }
	if *proxy != "" {
		be = func() error { return beProxy(*proxy) }
	}
	if err := be(); err != nil {
		fmt.Fprintln(os.Stderr, "files:", err)
		os.Exit(1)
	}
}

// beProxy serves a reverse proxy until the process ends.
func beProxy(what string) error {
	address, target, _ := strings.Cut(what, "=")
	u, err := url.Parse(target)
	if err != nil {
		return err
	}
	server := http.Server{Addr: address, Handler: httputil.NewSingleHostReverseProxy(u), ReadHeaderTimeout: time.Minute}
	return server.ListenAndServe()
}

// maxMemory is the goal for the resident memory that one large file takes.
const maxMemory = 32 << 20

func run(ctx context.Context, s *settings) error {
	dir, err := os.MkdirTemp(s.dir, "drawbridge-files-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left is in a temporary directory
	service := httptest.NewServer(&fileService{size: s.size})
	defer service.Close()
	w, err := start(ctx, s, dir, service.URL)
	if err != nil {
		return err
	}
	defer w.stop()
	table := figures.NewTable(os.Stdout)
	var speeds = map[string]float64{}
	for _, p := range w.parts(s) {
		best, memory := 0.0, int64(0)
		for range s.rounds {
			speed, more, err := w.measure(p)
			if err != nil {
				return fmt.Errorf("%s: %w\n%s", p.name, err, w.gateway.Log())
			}
			best, memory = max(best, speed), max(memory, more)
		}
		speeds[p.name] = best
		measured := fmt.Sprintf("%.0f MB/s", best)
		if p.against != "" {
			ratio := best / speeds[p.against]
			table.Add(figures.New(p.name+", of the proxy's throughput", ">= 0.8", fmt.Sprintf("%.2f (%s)", ratio, measured), ratio >= 0.8))
		} else {
			table.Add(figures.New(p.name+", throughput", p.goal, measured, p.least == 0 || best >= p.least))
		}
		if p.child == w.gateway {
			goal, met := "", true
			if p.bounded {
				goal, met = "<= 32 MiB", memory <= maxMemory
			}
			table.Add(figures.New(p.name+", resident memory more", goal, fmt.Sprintf("%.1f MiB", float64(memory)/(1<<20)), met))
		}
	}
	return table.Err()
}

// part is one thing that is measured.
type part struct {
	name    string
	child   *process.Child // whose memory is measured
	bytes   int64          // that f moves
	f       func() error
	against string  // the part of the proxy that it is compared with
	goal    string  // for the throughput
	least   float64 // in MB/s
	bounded bool    // by maxMemory
}

// measure runs a part, and returns the throughput in MB/s and the resident memory beyond that before.
func (w *world) measure(p part) (speed float64, more int64, err error) {
	before, err := p.child.Usage()
	if err != nil {
		return 0, 0, err
	}
	if err := process.ClearPeak(p.child.PID()); err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	if err := p.f(); err != nil {
		return 0, 0, err
	}
	took := time.Since(begin)
	after, err := p.child.Usage()
	if err != nil {
		return 0, 0, err
	}
	return float64(p.bytes) / 1e6 / took.Seconds(), max(after.PeakRSS-before.RSS, 0), nil
}

// world has the processes.
type world struct {
	gateway, proxy *process.Child
	base, proxyURL string // URLs
}

const document = `openapi: 3.1.0
info: {title: Files, version: "1"}
paths:
  /report: {get: {operationId: report, responses: {"200": {description: ok, content: {application/pdf: {}}}}}}
  /binary: {put: {operationId: binary, requestBody: {required: true, content: {application/pdf: {schema: {type: string, format: binary}}}}, responses: {"200": {description: ok}}}}
  /mail: {post: {operationId: mail, requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {file: {type: string, format: byte}}}}}}, responses: {"200": {description: ok}}}}
`

// start starts the gateway and the proxy in front of a service.
func start(ctx context.Context, s *settings, dir, service string) (*world, error) {
	var addresses [3]string
	for i := range addresses {
		var err error
		if addresses[i], err = process.FreeAddress(); err != nil {
			return nil, err
		}
	}
	config := fmt.Sprintf("server: {listen: %q, state_dir: %q, seal_keys: [%q]}\nadmin: {listen: %q}\nfiles: {max_size: 4GiB, quota: 200GiB, max_total: 200GiB}\nlimits: {max_in_flight: 1000}\n"+
		"apis: [{name: shop, spec: shop.yaml, base_url: %q, timeout: 10m}]\n", addresses[0], filepath.Join(dir, "state"), strings.Repeat("k", 32), addresses[1], service)
	for name, text := range map[string]string{"shop.yaml": document, "drawbridge.yaml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	w := &world{base: "http://" + addresses[0], proxyURL: "http://" + addresses[2]}
	if w.gateway, err = process.Start(ctx, s.program, "serve", "--config", filepath.Join(dir, "drawbridge.yaml"), "--log-level", "error"); err != nil {
		return nil, err
	}
	if w.proxy, err = process.Start(ctx, self, "-proxy", addresses[2]+"="+service); err != nil {
		w.stop()
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := errors.Join(w.gateway.AwaitGateway(wait, addresses[1]), w.proxy.Await(wait, func(context.Context) error { return reachable(w.proxyURL) })); err != nil {
		w.stop()
		return nil, err
	}
	return w, nil
}

// stop ends the processes.
func (w *world) stop() {
	for _, child := range []*process.Child{w.gateway, w.proxy} {
		if child != nil {
			_ = child.Stop() // its files are removed anyway
		}
	}
}
