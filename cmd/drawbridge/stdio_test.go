package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"drawbridge/config"
	"drawbridge/test/timebox"
)

// spoken is "drawbridge stdio" running inside the test, with a client at its streams.
type spoken struct {
	*served
	in      io.WriteCloser
	out     io.Closer // the client's end
	answers *bufio.Scanner
}

// speak runs the program with drawbridge.yaml of files. It is ended with the test if nothing else has ended it.
func speak(t *testing.T, files map[string]string) *spoken {
	t.Helper()
	s := &served{t: t, dir: t.TempDir(), signals: make(chan os.Signal, 4), log: newLogBuffer(), exit: make(chan int, 1)}
	s.write(files)
	location := filepath.Join(s.dir, "drawbridge.yaml")
	cfg, problems := config.Load(location, func(string) string { return "" })
	if cfg == nil {
		t.Fatal(problems)
	}
	in, toProgram := io.Pipe()
	fromProgram, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p := &program{getenv: func(string) string { return "" }, stdout: out, stderr: s.log, signals: s.signals}
		code := exitOK
		if err := p.stdio(ctx, in, location, cfg, nil, ""); err != nil {
			t.Log(err)
			code = exitFail
		}
		_ = out.Close()
		s.exit <- code
	}()
	t.Cleanup(func() {
		cancel()
		_ = in.Close() // no host is left: a read that is under way ends
		_ = fromProgram.Close()
		timebox.Wait(t, ended)
		if t.Failed() {
			t.Logf("log:\n%s", s.log)
		}
	})
	return &spoken{served: s, in: toProgram, out: fromProgram, answers: bufio.NewScanner(fromProgram)}
}

// say writes a request of the newest revision.
func (s *spoken) say(id int, method, params string) {
	s.t.Helper()
	if params != "" {
		params += ","
	}
	_, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{}}}}`+"\n", id, method, params)
	if err != nil {
		s.t.Fatal(err)
	}
}

type spokenAnswer struct {
	ID     int
	Result struct {
		Tools   []struct{ Name string }
		Content []struct{ Text string }
	}
	Error *struct{ Message string }
}

// heard reads an answer; io.EOF tells that the program says no more.
func (s *spoken) heard() (a spokenAnswer, err error) {
	s.t.Helper()
	if !s.answers.Scan() {
		return a, errors.Join(s.answers.Err(), io.EOF)
	}
	return a, json.Unmarshal(s.answers.Bytes(), &a)
}

// slowThings answers when it is told to, and tells when it is asked.
func slowThings(t *testing.T) (url string, asked chan struct{}, answer chan struct{}) {
	asked, answer = make(chan struct{}, 1), make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-answer:
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(service.Close)
	return service.URL, asked, answer
}

// TestStdioDrain holds that a call that is under way is answered after the end of the input and after a signal.
func TestStdioDrain(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"end of the input", "signal"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			url, asked, answer := slowThings(t)
			s := speak(t, map[string]string{"drawbridge.yaml": "apis: [{spec: api.yaml, base_url: '" + url + "'}]", "api.yaml": servedDocument})
			s.say(1, "tools/call", `"name":"getThing","arguments":{"id":"7"}`)
			timebox.Wait(t, asked)
			if how == "signal" {
				s.signals <- syscall.SIGTERM
				s.await("draining", 1)
			} else {
				_ = s.in.Close()
			}
			close(answer)
			if a, err := s.heard(); err != nil || a.ID != 1 || len(a.Result.Content) != 1 {
				t.Errorf("%+v, %v; want the answer to the call", a, err)
			}
			if code := s.exited(); code != exitOK {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// TestStdioCut holds that a call that never ends is cut: by server.drain_timeout, also by one that came with a reload, and by a second signal.
func TestStdioCut(t *testing.T) {
	t.Parallel()
	for how, timeout := range map[string]string{"timeout": "50ms", "reload": "1h", "signal": "1h"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			url, asked, _ := slowThings(t)
			configuration := func(timeout string) map[string]string {
				return map[string]string{"api.yaml": servedDocument, "drawbridge.yaml": "server: {drain_timeout: " + timeout + "}\n" +
					"limits: {timeout: 1h, first_byte_timeout: 1h}\napis: [{spec: api.yaml, base_url: '" + url + "'}]"}
			}
			s := speak(t, configuration(timeout))
			s.say(1, "tools/call", `"name":"getThing","arguments":{"id":"7"}`)
			timebox.Wait(t, asked)
			if how == "reload" {
				s.write(configuration("50ms"))
				s.signals <- syscall.SIGHUP
				s.await("configuration in use", 1)
			}
			s.signals <- syscall.SIGTERM
			message := "cancelling calls that are still running"
			if how == "signal" {
				s.signals <- os.Interrupt
				message = "shutting down immediately"
			}
			if a, err := s.heard(); err != nil || a.ID != 1 || !strings.Contains(a.Result.Content[0].Text, "canceled") {
				t.Errorf("%+v, %v; want to hear that the call was cancelled", a, err)
			}
			s.await(message, 1)
			if code := s.exited(); code != exitOK {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// TestStdioReload holds that documents and the configuration are read anew, by a signal and when their files change.
func TestStdioReload(t *testing.T) {
	t.Parallel()
	s := speak(t, map[string]string{"drawbridge.yaml": "apis: [{spec: api.yaml}]", "api.yaml": servedDocument})
	listed := func(id int) (names string) {
		s.say(id, "tools/list", "")
		a, err := s.heard()
		if err != nil || a.ID != id || a.Error != nil {
			t.Fatalf("%+v, %v", a, err)
		}
		for _, tool := range a.Result.Tools {
			names += tool.Name + " "
		}
		return names
	}
	if got := listed(1); got != "getThing " {
		t.Fatalf("tools: %s", got)
	}
	s.write(map[string]string{"api.yaml": strings.ReplaceAll(servedDocument, "getThing", "readThing")})
	id := 2
	for start := time.Now(); ; id++ {
		if got := listed(id); got == "readThing " {
			break
		} else if got != "getThing " || time.Since(start) > time.Minute {
			t.Fatalf("tools: %s", got)
		}
	}
	s.write(map[string]string{"drawbridge.yaml": "apis: [{spec: api.yaml}]\nrules: [{match: {operation: readThing}, set: {name: seeThing}}]"})
	s.signals <- syscall.SIGHUP
	s.await("configuration in use", 1)
	if got := listed(id + 1); got != "seeThing " {
		t.Errorf("tools: %s", got)
	}
	_ = s.in.Close()
	if code := s.exited(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// TestStdioHostGone holds that the program ends when nobody reads what it says.
func TestStdioHostGone(t *testing.T) {
	t.Parallel()
	s := speak(t, map[string]string{"drawbridge.yaml": "apis: [{spec: api.yaml}]", "api.yaml": servedDocument})
	s.say(1, "tools/list", "")
	_ = s.out.Close()
	if code := s.exited(); code != exitFail {
		t.Errorf("exit code %d", code)
	}
}
