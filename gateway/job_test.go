package gateway

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/gateway/generation"
	"drawbridge/gateway/source"
	"drawbridge/gateway/task"
	"drawbridge/gateway/upstream"
	"drawbridge/test/cases"
)

// TestJobs runs the cases of testdata/jobs: calls whose answers are jobs, in time that does not pass by itself.
//
//	api.yaml       the document; testdata/jobs/api.yaml, if it is not there
//	config.yaml    as in TestCalls; the service is http://jobs.test/v1
//	answers        what the service answers, one after the other: raw HTTP, with lines === between. A line === 404 stands for an
//	               answer with that status and no more; "=== break" ends the connection. The last is given again and again.
//	calls          one JSON object a line: {"after": "2s", "method": "tools/call", "name": …, "arguments": …, "revision": …,
//	               "tasks": true, "elicitation": true (what the client can), "progress": true, "leave": "3s", "notify": a URL that it wants
//	               to be called at}; leave is when the client goes away.
//	               $TASK in "params" is the id of the last task. {"method": "callback", "type": …, "body": …, "sign": …} is the service
//	               that calls the URL that it got last; "callback" in another call is that, so long after it began.
//	requests       expected: what reached the service, with the time in whole seconds
//	results        expected: for each call what the client got, with the time
func TestJobs(t *testing.T) {
	cases.Run(t, "testdata/jobs/*.txtar", func(t *testing.T, file string, archive *txtar.Archive) {
		synctest.Test(t, func(t *testing.T) { runJobCase(t, file, archive) })
	})
}

// TestLongJobMessage: what a service says of a job takes as long as what is shown of it, whatever its length.
func TestLongJobMessage(t *testing.T) {
	document, err := os.ReadFile("testdata/jobs/api.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ message, want string }{
		{strings.Repeat("password:", 1<<20/9), "which has failed (failed): password:password:"},
		// What stands where it is cut is not shown in part.
		{strings.Repeat("€", 1000) + " password=" + strings.Repeat("aB3", 1<<10), "which has failed (failed): €€"},
	} {
		g := startJobs(t, string(document), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nrules: [{match: {operation: makeReport}, set: {job: {}}}]",
			newJobService("HTTP/1.1 200 OK\nLocation: jobs/7\nContent-Type: application/json\n\n{\"status\":\"failed\",\"message\":\""+c.message+"\"}"))
		begin := time.Now()
		_, got := callJob(t, g, jobCall{Name: "makeReport"}, "")
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%.20s…: %v", c.message, took)
		}
		if text := string(bytes.Join(got, nil)); !strings.Contains(text, c.want) || strings.Contains(text, "aB3") {
			t.Errorf("%.20s…: %.300s", c.message, text)
		}
	}
}

type jobCall struct {
	After, Method, Name, Revision string
	Arguments                     json.RawMessage
	Params                        string
	Tasks, Elicitation, Progress  bool
	Leave                         string
	Type, Body, Sign              string
	Callback                      *jobCall
	Notify                        string // callback URL of the caller
	Header                        map[string]string
}

func runJobCase(t *testing.T, file string, archive *txtar.Archive) {
	section := func(name string) string {
		for _, f := range archive.Files {
			if f.Name == name {
				return string(f.Data)
			}
		}
		return ""
	}
	api := section("api.yaml")
	if api == "" {
		text, err := os.ReadFile("testdata/jobs/api.yaml")
		if err != nil {
			t.Fatal(err)
		}
		api = string(text)
	}
	service := newJobService(section("answers"))
	g := startJobs(t, api, section("config.yaml"), service)
	var results strings.Builder
	task := ""
	for line := range strings.Lines(section("calls")) {
		var in jobCall
		if err := json.Unmarshal([]byte(line), &in); err != nil {
			t.Fatalf("calls: %v", err)
		}
		if in.After != "" {
			time.Sleep(duration(t, in.After))
		}
		if in.Method == "callback" {
			fmt.Fprintf(&results, "%s callback %d\n", service.clock(), service.call(t, g, in))
			continue
		}
		if in.Callback != nil {
			time.AfterFunc(duration(t, in.Callback.After), func() { service.call(t, g, *in.Callback) })
		}
		status, answer := callJob(t, g, in, task)
		fmt.Fprintf(&results, "%s %s", service.clock(), cmp.Or(in.Method, "tools/call"))
		if status != 200 {
			fmt.Fprintf(&results, " %d", status)
		}
		results.WriteByte('\n')
		for _, message := range answer {
			if id := taskID(message); id != "" {
				task = id
			}
			if task != "" {
				message = bytes.ReplaceAll(message, []byte(task), []byte("$TASK"))
			}
			results.Write(pretty(message))
			results.WriteByte('\n')
		}
	}
	for _, part := range []struct{ name, got string }{{"requests", hideNames(service.list())}, {"results", hideNames(results.String())}} {
		if *accept {
			set(archive, part.name, part.got)
			continue
		}
		if diff := gocmp.Diff(section(part.name), part.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", part.name, diff)
		}
	}
	if *accept {
		cases.Write(t, file, archive)
	}
}

func duration(t *testing.T, text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// startJobs makes a gateway whose only service is a function: so no time passes on the way.
func startJobs(t testing.TB, api, cfg string, service http.RoundTripper) *Gateway {
	t.Helper()
	g, err := New(Options{Config: configure(t, t.TempDir(), api, cfg, "http://jobs.test/v1"), Version: "1.0.0", Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		Test: TestOptions{Jitter: func(d time.Duration) time.Duration { return d }, Service: service, FirstDeployment: func(d *generation.Deployment) {
			if out := d.CallerWebhooks; out != nil {
				out.Client = upstream.NewClient(source.WithDefaultLimits(upstream.Options{Name: "callback", Wrap: func(http.RoundTripper) http.RoundTripper { return service }}))
			}
		}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(context.Background()); err != nil {
		t.Fatal(err)
	}
	return g
}

// callJob makes one call and returns the messages of its answer: parts of what it does not depend on are taken out.
func callJob(t *testing.T, g *Gateway, in jobCall, taskID string) (status int, messages [][]byte) {
	params := strings.ReplaceAll(in.Params, "$TASK", taskID)
	if params == "" {
		params = fmt.Sprintf(`"name":%q,"arguments":%s`, in.Name, orEmpty(in.Arguments))
	}
	ctx := t.Context()
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	revision, method := cmp.Or(in.Revision, "2026-07-28"), cmp.Or(in.Method, "tools/call")
	header.Set("MCP-Protocol-Version", revision)
	var can []string
	if in.Tasks {
		can = append(can, `"extensions":{"io.modelcontextprotocol/tasks":{}}`)
	}
	if in.Elicitation {
		can = append(can, `"elicitation":{"form":{}}`)
	}
	meta := ""
	if in.Progress {
		meta = `"progressToken":7`
	}
	if in.Notify != "" {
		meta = strings.TrimPrefix(meta+fmt.Sprintf(`,%q:%q`, task.CallbackKey, in.Notify), ",")
	}
	if revision >= "2026" {
		header.Set("Mcp-Method", method)
		if method != "subscriptions/listen" {
			header.Set("Mcp-Name", cmp.Or(in.Name, taskID))
		}
		meta = strings.TrimPrefix(meta+`,"io.modelcontextprotocol/protocolVersion":"`+revision+`","io.modelcontextprotocol/clientCapabilities":`+"{"+strings.Join(can, ",")+"}", ",")
	} else {
		w := post(g.Handler(), http.Header{"Content-Type": {"application/json"}, "Accept": {"*/*"}},
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+revision+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		header.Set("Mcp-Session-Id", w.Header().Get("Mcp-Session-Id"))
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:8080/mcp",
		strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,"_meta":{%s}}}`, method, params, meta)))
	if err != nil {
		t.Fatal(err)
	}
	if in.Leave != "" {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		time.AfterFunc(duration(t, in.Leave), cancel)
		r = r.WithContext(ctx)
	}
	r.Header = header
	for name, value := range in.Header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	g.Handler().ServeHTTP(w, r)
	body := w.Body.Bytes()
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		for line := range bytes.Lines(body) {
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
				messages = append(messages, bytes.TrimSpace(data))
			}
		}
		return w.Code, messages
	}
	if len(body) > 0 {
		messages = append(messages, bytes.TrimSpace(body))
	}
	return w.Code, messages
}

// pretty writes a message as a person reads it, without what all messages have.
func pretty(message []byte) []byte {
	var parts struct {
		Method                string
		Params, Result, Error json.RawMessage
	}
	if json.Unmarshal(message, &parts) != nil {
		return message
	}
	var b bytes.Buffer
	for _, part := range []struct {
		name string
		text json.RawMessage
	}{{"result", parts.Result}, {"error", parts.Error}, {parts.Method, parts.Params}} {
		if part.text == nil {
			continue
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(part.text, &members) == nil {
			delete(members, "_meta")
			for _, name := range []string{"createdAt", "lastUpdatedAt"} {
				var at time.Time
				if json.Unmarshal(members[name], &at) == nil {
					members[name], _ = json.Marshal(at.UTC().Format("15:04:05"))
				}
			}
			part.text, _ = json.Marshal(members)
		}
		b.WriteString(part.name + " ")
		_ = json.Indent(&b, part.text, "", "  ") // it was JSON
	}
	return b.Bytes()
}

func taskID(message []byte) string {
	var m struct {
		Result struct{ ResultType, TaskID string }
	}
	if json.Unmarshal(message, &m) != nil || m.Result.ResultType != "task" {
		return ""
	}
	return m.Result.TaskID
}

// jobService answers requests with what a case says, in order.
type jobService struct {
	begin time.Time

	mu      sync.Mutex
	seen    strings.Builder
	called  string // the URL of the last callback
	answers []string
}

func newJobService(answers string) *jobService {
	s := &jobService{begin: time.Now()}
	for line := range strings.Lines(answers) {
		if rest, ok := strings.CutPrefix(line, "==="); ok || len(s.answers) == 0 {
			s.answers = append(s.answers, "")
			if rest = strings.TrimSpace(rest); ok && rest != "" {
				s.answers[len(s.answers)-1] = rest
			}
			if ok {
				continue
			}
		}
		s.answers[len(s.answers)-1] += line
	}
	return s
}

// list is what has reached the service.
func (s *jobService) list() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen.String()
}

func (s *jobService) clock() string { return time.Since(s.begin).Round(time.Second).String() }

func (s *jobService) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(&s.seen, "%s %s %s", s.clock(), r.Method, r.URL)
	if a := r.Header.Get("Authorization"); a != "" {
		s.seen.WriteString(" " + a)
	}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		text := string(body)
		if _, after, ok := strings.Cut(text, "https://gateway.test/callbacks/"); ok {
			token, _, _ := strings.Cut(after, `"`)
			s.called = "/callbacks/" + token
			text = strings.ReplaceAll(text, token, "$TOKEN")
		}
		if signature := r.Header.Get(task.SignatureHeader); signature != "" {
			text = signed(signature, body) + regexp.MustCompile(`"taskId":"[^"]*"`).ReplaceAllLiteralString(text, `"taskId":"$ID"`)
		}
		s.seen.WriteString(" " + text)
	}
	s.seen.WriteByte('\n')
	answer := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	switch {
	case answer == "break":
		return nil, &upstream.Error{Kind: upstream.Connect, API: "reports", Err: io.ErrUnexpectedEOF}
	case !strings.HasPrefix(answer, "HTTP/"):
		answer = "HTTP/1.1 " + answer + " Status\nContent-Length: 0\n\n"
	}
	head, body, _ := strings.Cut(answer, "\n\n")
	body = strings.TrimSuffix(body, "\n")
	head = strings.ReplaceAll(head, "\n", "\r\n")
	if !strings.Contains(head, "Content-Length") && !strings.Contains(head, "Connection: close") {
		head += fmt.Sprintf("\r\nContent-Length: %d", len(body))
	}
	return http.ReadResponse(bufio.NewReader(strings.NewReader(head+"\r\n\r\n"+body)), r)
}

// call calls the URL that the service got last, and returns the status of the answer.
func (s *jobService) call(t *testing.T, g *Gateway, in jobCall) int {
	s.mu.Lock()
	url := s.called
	s.mu.Unlock()
	r := httptest.NewRequest(http.MethodPost, "https://gateway.test"+url, strings.NewReader(in.Body))
	r.Header.Set("Content-Type", cmp.Or(in.Type, "application/json"))
	if in.Sign != "" {
		mac := hmac.New(sha256.New, []byte(in.Sign))
		mac.Write([]byte(in.Body))
		r.Header.Set("X-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	w := httptest.NewRecorder()
	g.Handler().ServeHTTP(w, r)
	return w.Code
}

// signed tells whether the gateway has signed a body with the secret of the cases.
func signed(signature string, body []byte) string {
	seconds, given, _ := strings.Cut(strings.TrimPrefix(signature, "t="), ",v1=")
	mac := hmac.New(sha256.New, []byte("secret-of-the-cases"))
	mac.Write([]byte(seconds + "." + string(body)))
	if given != hex.EncodeToString(mac.Sum(nil)) {
		return "WRONGLY SIGNED "
	}
	return "signed "
}
