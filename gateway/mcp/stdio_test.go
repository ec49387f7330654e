package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/gateway/mcp"
	"drawbridge/test/cases"
	"drawbridge/test/timebox"
)

// TestLines replays the files in testdata/lines in virtual time: each is what one client writes and reads. Each part of a
// file is a step:
//
//	send TITLE      the client writes these lines; "send unended" leaves out the last line feed. {{A*9}} stands for nine As
//	got             what has come since the last time
//	wait DURATION   time passes
//	close           the client closes its end
//	stop            the server is told to read no more
//	leave           the client reads no more
//	hold            the client does not read, and what is written waits for it
//	cancel          the context ends
//	change LISTS    lists change
//	updated URI     a resource changes
//	late URI        a subscription of it that has ended, or was refused, tells that it has changed
//	ended           what ServeLines returned, or that it has not
//
// A message may have at most 400 bytes, and two requests run at once (four at a whole server), and they have two minutes after
// the end. A file that says "server: whole" is said to a server with every capability; {{question}} and {{state}} stand for
// the id of a request of the server and the requestState that came last.
func TestLines(t *testing.T) {
	t.Parallel()
	cases.Run(t, "testdata/lines/*.txtar", func(t *testing.T, file string, a *txtar.Archive) {
		t.Parallel()
		changed := false
		synctest.Test(t, func(t *testing.T) {
			c := newLineClient(t, bytes.Contains(a.Comment, []byte("server: whole")))
			defer c.end()
			for i := range a.Files {
				step := &a.Files[i]
				got, compared := c.step(step.Name, string(step.Data))
				if !compared || got == string(step.Data) {
					continue
				}
				changed = true
				if !*update {
					t.Errorf("step %d, %s (-want +got)\n%s", i+1, step.Name, cmp.Diff(string(step.Data), got))
				}
				step.Data = []byte(got)
			}
		})
		if *update && changed {
			cases.Write(t, file, a)
		}
	})
}

// lineClient is a client at the other end of ServeLines.
type lineClient struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *lineBuffer
	stop   chan struct{}
	cancel context.CancelFunc
	ended  chan error
	holds  bool
	whole  *whole            // nil: a smaller server
	values map[string]string // of {{name}}
}

// lineBuffer is the output of the server that was not read yet.
type lineBuffer struct {
	held   sync.WaitGroup
	mu     sync.Mutex
	b      bytes.Buffer
	closed bool
}

func (l *lineBuffer) Write(b []byte) (int, error) {
	l.held.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, io.ErrClosedPipe
	}
	return l.b.Write(b)
}

func newLineClient(t *testing.T, everything bool) *lineClient {
	in, w := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	c := &lineClient{t: t, in: w, out: &lineBuffer{}, stop: make(chan struct{}), cancel: cancel, ended: make(chan error, 1), values: map[string]string{}}
	h, requests := newLineServer(400), 2
	if everything {
		c.whole = newWhole(mcp.BrokerOptions{})
		requests = 4
		methods, o := wholeServer(c.whole, mcp.Options{ReloadableOptions: mcp.ReloadableOptions{MaxStreamAge: time.Hour}, Name: "test", Version: "1.2.3"})
		o.Capabilities.Tools = true
		h = mcp.NewHandler(methods, o)
	}
	go func() {
		c.ended <- h.ServeStdio(ctx, in, c.out, mcp.StdioOptions{Stop: c.stop, MaxRequests: requests, Drain: func() time.Duration { return 2 * time.Minute }})
	}()
	return c
}

func (c *lineClient) end() {
	c.cancel()
	if c.holds {
		c.out.held.Done()
	}
	_ = c.in.Close()
	synctest.Wait()
	if c.whole == nil {
		return
	}
	if err := c.whole.broker.Drain(c.t.Context()); err != nil {
		c.t.Error(err)
	}
	if len(c.whole.watched) > 0 {
		c.t.Errorf("still watched: %v", c.whole.watched)
	}
}

func (c *lineClient) step(name, content string) (got string, compared bool) {
	verb, rest, _ := strings.Cut(name, " ")
	defer synctest.Wait()
	switch verb {
	case "send":
		text := regexp.MustCompile(`\{\{(.)\*(\d+)\}\}`).ReplaceAllStringFunc(content, func(s string) string {
			n, _ := strconv.Atoi(s[4 : len(s)-2])
			return strings.Repeat(s[2:3], n)
		})
		for n, v := range c.values {
			text = strings.ReplaceAll(text, "{{"+n+"}}", v)
		}
		if strings.HasPrefix(rest, "unended") {
			text = strings.TrimSuffix(text, "\n")
		}
		go func() { _, _ = io.WriteString(c.in, text) }() // the server may be too busy to read
	case "got":
		c.out.mu.Lock()
		defer c.out.mu.Unlock()
		got = c.out.b.String()
		c.out.b.Reset()
		if got != "" && !strings.HasSuffix(got, "\n") {
			got += "(no end)\n"
		}
		for n, re := range remembered {
			for _, m := range re.FindAllStringSubmatch(got, -1) {
				c.values[n] = m[1]
				got = strings.ReplaceAll(got, m[1], "{{"+n+"}}")
			}
		}
		got = regexp.MustCompile(`"requestId":"[A-Z2-7]{26}"`).ReplaceAllString(got, `"requestId":"{{question}}"`)
		return regexp.MustCompile(`reference [a-z2-7]{10}`).ReplaceAllString(got, "reference {{reference}}"), true
	case "wait":
		d, err := time.ParseDuration(rest)
		if err != nil {
			c.t.Fatal(err)
		}
		time.Sleep(d)
	case "close":
		_ = c.in.Close()
	case "stop":
		close(c.stop)
	case "leave":
		c.out.mu.Lock()
		defer c.out.mu.Unlock()
		c.out.closed = true
	case "hold":
		c.out.held.Add(1)
		c.holds = true
	case "cancel":
		c.cancel()
	case "change":
		for n, list := range map[string]mcp.List{"tools": mcp.ToolsList, "prompts": mcp.PromptsList} {
			if strings.Contains(rest, n) {
				c.whole.change(list)
			}
		}
	case "updated":
		c.whole.updated(rest)
	case "late":
		if err := c.whole.late(rest); err != nil {
			c.t.Error(err)
		}
	case "ended":
		select {
		case err := <-c.ended:
			return fmt.Sprintln(err), true
		default:
			return "no\n", true
		}
	default:
		c.t.Fatalf("no such step: %s", name)
	}
	return "", false
}

// newLineServer is a server whose tools are named after what they do.
func newLineServer(maxBody int64) *mcp.Handler {
	methods := testMethods()
	maps.Copy(methods, mcp.Methods{"tools/call": lineTool})
	return mcp.NewHandler(methods, mcp.Options{
		ReloadableOptions: mcp.ReloadableOptions{MaxBody: maxBody},
		Name:              "test",
		Version:           "1.2.3",
		Capabilities:      mcp.Capabilities{Tools: true, Logging: true},
	})
}

func lineTool(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
	content := mcp.Chunk{Bytes: []byte(`"content":[]`)}
	switch req.Name {
	case "minute", "hour":
		wait := time.Minute
		if req.Name == "hour" {
			wait = time.Hour
		}
		select {
		case <-time.After(wait):
			return reply.Result(content)
		case <-ctx.Done():
			return ctx.Err()
		}
	case "minute without a look at its context":
		time.Sleep(time.Minute)
		if err := reply.Progress(1, 1, ""); err != nil {
			return err
		}
		return reply.Result(content)
	case "steps":
		for i := range 3 {
			if err := reply.Progress(float64(i), 3, "step \"one\"\nor two"); err != nil {
				return err
			}
			if err := reply.Log(mcp.LevelInfo, "", []byte("{\"step\":\r\n1}")); err != nil {
				return err
			}
			time.Sleep(time.Second)
		}
		return reply.Result(content)
	case "long silence":
		reply.KeepAlive()
		time.Sleep(time.Hour)
		return reply.Result(content)
	case "silence of 25 s":
		reply.KeepAlive()
		time.Sleep(25 * time.Second)
		return reply.Result(content)
	case "abort":
		if err := reply.Notify("notifications/message", mcp.Chunk{Bytes: []byte(`"level":"info","data":1`)}); err != nil {
			return err
		}
		panic(http.ErrAbortHandler)
	}
	return callTool(ctx, req, reply)
}

// TestLinesConcurrent holds that every one of many requests at once is answered once, on a line of its own.
func TestLinesConcurrent(t *testing.T) {
	t.Parallel()
	const requests = 1000
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- newLineServer(1<<20).ServeStdio(t.Context(), in, out, mcp.StdioOptions{})
		_ = out.Close()
	}()
	go func() {
		for i := range requests {
			_, _ = fmt.Fprintf(toServer, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"n":"%d %s"},`+
				`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`+"\n",
				i, i, strings.Repeat("x", 4*i))
		}
		_ = toServer.Close()
	}()
	seen := map[int]bool{}
	lines := bufio.NewScanner(fromServer)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var answer struct {
			ID     int
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			t.Fatalf("%v: %.200s", err, lines.Text())
		}
		want := fmt.Sprintf(`{"n":"%d %s"}`, answer.ID, strings.Repeat("x", 4*answer.ID))
		if seen[answer.ID] || len(answer.Result.Content) != 1 || answer.Result.Content[0].Text != want {
			t.Errorf("request %d, answered before: %t, got %.200s", answer.ID, seen[answer.ID], lines.Text())
		}
		seen[answer.ID] = true
	}
	if err := timebox.Receive(t, ended); err != nil || lines.Err() != nil || len(seen) != requests {
		t.Errorf("%d of %d requests were answered; %v, %v", len(seen), requests, err, lines.Err())
	}
}
