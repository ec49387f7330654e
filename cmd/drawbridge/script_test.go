package main

import (
	"bufio"
	"bytes"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs the program as its users do, by the scripts of testdata. Besides the commands of testscript
// there are:
//
//	exits CODE COMMAND ARGS…   runs a program and demands its exit code
//	service DIR                starts a service at the URL $SERVICE, host and port $TAKEN. It answers GET /a/b with the
//	                           raw HTTP answer in the file DIR/GET_a_b, in which $SERVICE stands for its address and
//	                           line ends are made CRLF up to the empty line; a request without a file gets 404
//	requests FILE              writes the requests that the service got since the last such command
//	repeat N TEXT FILE         writes TEXT N times into a file
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireExplicitExec: true, RequireUniqueNames: true, UpdateScripts: *accept,
		Setup: func(env *testscript.Env) error {
			env.Values[serviceKey{}] = &service{}
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else every run under the race detector takes a second
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "service": startService, "requests": requests, "repeat": repeat,
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func repeat(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: repeat N TEXT FILE")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), bytes.Repeat([]byte(args[1]), n), 0o600))
}

// service answers with what stands in files, byte for byte: an http.Handler can't be made to answer badly.
type service struct {
	dir, address string

	mu   sync.Mutex
	seen strings.Builder
}

type serviceKey struct{}

func serviceOf(ts *testscript.TestScript) *service { return ts.Value(serviceKey{}).(*service) }

func startService(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: service DIR")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	s := serviceOf(ts)
	s.dir, s.address = ts.MkAbs(args[0]), "http://"+l.Addr().String()
	ts.Setenv("SERVICE", s.address)
	ts.Setenv("TAKEN", l.Addr().String())
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { s.answer(c) })
		}
	})
	ts.Defer(func() {
		_ = l.Close()
		ended := make(chan struct{})
		go func() { conns.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			ts.Fatalf("a request to the service goes on")
		}
	})
}

// answer takes one request: the connection is closed after it.
func (s *service) answer(c net.Conn) {
	defer c.Close()
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	s.record(r)
	data, err := os.ReadFile(filepath.Join(s.dir, r.Method+strings.ReplaceAll(r.URL.Path, "/", "_")))
	if err != nil {
		data = []byte("HTTP/1.1 404 Not Found\n\n")
	}
	data = bytes.ReplaceAll(data, []byte("$SERVICE"), []byte(s.address))
	head, body, _ := bytes.Cut(data, []byte("\n\n"))
	head = bytes.ReplaceAll(head, []byte("\n"), []byte("\r\n"))
	_, _ = c.Write(append(append(head, "\r\nConnection: close\r\n\r\n"...), bytes.TrimSuffix(body, []byte("\n"))...))
}

func (s *service) record(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Header.Del("User-Agent") // holds the version
	if s.seen.Len() > 0 {
		s.seen.WriteString("\n")
	}
	_ = writeRequest(&s.seen, r) // into memory
}

func requests(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: requests FILE")
	}
	s := serviceOf(ts)
	s.mu.Lock()
	defer s.mu.Unlock()
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(s.seen.String()), 0o600))
	s.seen.Reset()
}
