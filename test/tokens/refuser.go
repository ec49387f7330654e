package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"drawbridge/test/process"
)

// refuser is a program that reads requests and refuses them, and does nothing else: net/http, with 401. What a flood costs calls that goes there, it costs
// them for the processors that it takes.
type refuser struct {
	child *process.Child
	host  string
}

func startRefuser(ctx context.Context) (*refuser, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	child, err := process.Start(ctx, program, "-refuse")
	if err != nil {
		return nil, err
	}
	r := &refuser{child: child}
	return r, child.Await(ctx, func(context.Context) error {
		line, _, whole := strings.Cut(child.Log(), "\n")
		if !whole {
			return fmt.Errorf("it has not printed its address: %.100q", line)
		}
		r.host = line
		return nil
	})
}

// beRefuser is the process.
func beRefuser(ctx context.Context, out io.Writer) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, l.Addr())
	s := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusUnauthorized)
	})}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	if err := s.Serve(l); ctx.Err() == nil {
		return err
	}
	return nil
}
