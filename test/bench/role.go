package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"

	"drawbridge/test/process"
)

// serveRole is the child's side: it prints its address and serves until its standard input ends, so that it can't
// outlive the measurement.
func serveRole(ctx context.Context, role, target string, stdin io.Reader, stdout io.Writer) error {
	var serve func(context.Context, net.Listener) error
	switch role {
	case "upstream":
		serve = serveHTTP(upstream())
	case "proxy":
		u, err := url.Parse(target)
		if err != nil {
			return fmt.Errorf("parse target %q: %w", target, err)
		}
		serve = serveHTTP(reverseProxy(u))
	case "relay":
		serve = serveRelay(strings.TrimPrefix(target, "http://"))
	default:
		return fmt.Errorf("there is no role %q", role)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	fmt.Fprintln(stdout, "http://"+l.Addr().String())
	return serve(untilEnd(ctx, stdin), l)
}

// serveHTTP serves requests until ctx ends.
func serveHTTP(handler http.Handler) func(context.Context, net.Listener) error {
	return func(ctx context.Context, l net.Listener) error {
		server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
		go func() {
			<-ctx.Done()
			server.Close()
		}()
		if err := server.Serve(l); err != http.ErrServerClosed {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	}
}

// untilEnd returns a context that ends with the child's standard input.
func untilEnd(ctx context.Context, stdin io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		cancel()
	}()
	return ctx
}

// serveRelay passes bytes on and reads none of them, until ctx ends: a request in one piece to the host, and its answer in one piece back. What it adds to a
// call, anything does that stands between.
func serveRelay(host string) func(context.Context, net.Listener) error {
	return func(ctx context.Context, l net.Listener) error {
		defer context.AfterFunc(ctx, func() { _ = l.Close() })()
		for {
			client, err := l.Accept()
			if err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return fmt.Errorf("accept: %w", err)
			}
			service, err := (&net.Dialer{}).DialContext(ctx, "tcp", host)
			if err != nil {
				return fmt.Errorf("dial: %w", err)
			}
			go func() {
				defer client.Close()
				defer service.Close()
				b := make([]byte, 64<<10)
				for pass(service, client, b) && pass(client, service, b) {
				}
			}()
		}
	}
}

// pass writes to one what one read of the other gives.
func pass(to, from net.Conn, b []byte) bool {
	n, err := from.Read(b)
	if err != nil {
		return false
	}
	_, err = to.Write(b[:n])
	return err == nil
}

// reverseProxy is what everybody would put in front of a service: net/http's own, with a pool that fits (its
// default of two idle connections a host is a known trap).
func reverseProxy(target *url.URL) http.Handler {
	transport := &http.Transport{MaxIdleConnsPerHost: 256, IdleConnTimeout: 90 * time.Second, DisableCompression: true}
	return &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: transport,
	}
}

// upstream answers GET /small/{id}, /large/{id} and /prose/{id} with the payload of that id.
func upstream() http.Handler {
	mux := http.NewServeMux()
	for _, size := range []payload{small, large, prose} {
		before, after := size.parts()
		length := strconv.Itoa(size.bytes)
		mux.HandleFunc("GET /"+size.name+"/{id}", func(w http.ResponseWriter, r *http.Request) {
			id := r.PathValue("id")
			if len(id) != idDigits {
				http.Error(w, "id has not the digits that it should have", http.StatusBadRequest)
				return
			}
			h := w.Header()
			h["Content-Type"] = []string{"application/json"}
			h["Content-Length"] = []string{length}
			io.WriteString(w, before)
			io.WriteString(w, id)
			io.WriteString(w, after)
		})
	}
	return mux
}

// startRole starts this program again in that role and returns it with its URL.
func startRole(ctx context.Context, program, role, target string) (*process.Child, string, error) {
	child, err := process.StartPiped(ctx, program, "-role", role, "-target", target)
	if err != nil {
		return nil, "", err
	}
	var address string
	err = child.Await(ctx, func(context.Context) error {
		var complete bool
		if address, complete = firstLine(child.Log()); !complete {
			return fmt.Errorf("%s has not printed its address", role)
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	return child, address, nil
}
