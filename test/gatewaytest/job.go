package gatewaytest

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
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/gateway"
	"drawbridge/gateway/generation"
	"drawbridge/gateway/source"
	"drawbridge/gateway/task"
	"drawbridge/gateway/upstream"
)

// JobCall is a request of a case about jobs.
type JobCall struct {
	After, Method, Name, Revision string
	Arguments                     json.RawMessage
	Params                        string
	Tasks, Elicitation, Progress  bool
	Leave                         string
	Type, Body, Sign              string
	Callback                      *JobCall
	Notify                        string // callback URL of the caller
	Header                        map[string]string
}

// Duration parses a duration.
func Duration(t *testing.T, text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// StartJobs makes a gateway whose only service is a function: so no time passes on the way.
func StartJobs(t testing.TB, api, cfg string, service http.RoundTripper) *gateway.Gateway {
	t.Helper()
	g, err := gateway.New(gateway.Options{Config: Configure(t, t.TempDir(), api, cfg, "http://jobs.test/v1"), Version: "1.0.0", Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		Test: gateway.TestOptions{Jitter: func(d time.Duration) time.Duration { return d }, Service: service, FirstDeployment: func(d *generation.Deployment) {
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

// CallJob makes one call and returns the messages of its answer: parts of what it does not depend on are taken out.
func CallJob(t *testing.T, g *gateway.Gateway, in JobCall, taskID string) (status int, messages [][]byte) {
	params := strings.ReplaceAll(in.Params, "$TASK", taskID)
	if params == "" {
		params = fmt.Sprintf(`"name":%q,"arguments":%s`, in.Name, OrEmpty(in.Arguments))
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
		w := Post(g.Handler(), http.Header{"Content-Type": {"application/json"}, "Accept": {"*/*"}},
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
		time.AfterFunc(Duration(t, in.Leave), cancel)
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

// TaskID returns the ID of the task in a message.
func TaskID(message []byte) string {
	var m struct {
		Result struct{ ResultType, TaskID string }
	}
	if json.Unmarshal(message, &m) != nil || m.Result.ResultType != "task" {
		return ""
	}
	return m.Result.TaskID
}

// JobService answers requests with what a case says, in order.
type JobService struct {
	Begin time.Time

	Mu      sync.Mutex
	Seen    strings.Builder
	Called  string // the URL of the last callback
	Answers []string
}

// NewJobService returns the service of a case about jobs, with its answers one after the other.
func NewJobService(answers string) *JobService {
	s := &JobService{Begin: time.Now()}
	for line := range strings.Lines(answers) {
		if rest, ok := strings.CutPrefix(line, "==="); ok || len(s.Answers) == 0 {
			s.Answers = append(s.Answers, "")
			if rest = strings.TrimSpace(rest); ok && rest != "" {
				s.Answers[len(s.Answers)-1] = rest
			}
			if ok {
				continue
			}
		}
		s.Answers[len(s.Answers)-1] += line
	}
	return s
}

// List is what has reached the service.
func (s *JobService) List() string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Seen.String()
}

// Clock returns the time since the case began.
func (s *JobService) Clock() string { return time.Since(s.Begin).Round(time.Second).String() }

// RoundTrip answers a request with the next answer.
func (s *JobService) RoundTrip(r *http.Request) (*http.Response, error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	fmt.Fprintf(&s.Seen, "%s %s %s", s.Clock(), r.Method, r.URL)
	if a := r.Header.Get("Authorization"); a != "" {
		s.Seen.WriteString(" " + a)
	}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		text := string(body)
		if _, after, ok := strings.Cut(text, "https://gateway.test/callbacks/"); ok {
			token, _, _ := strings.Cut(after, `"`)
			s.Called = "/callbacks/" + token
			text = strings.ReplaceAll(text, token, "$TOKEN")
		}
		if signature := r.Header.Get(task.SignatureHeader); signature != "" {
			text = signed(signature, body) + regexp.MustCompile(`"taskId":"[^"]*"`).ReplaceAllLiteralString(text, `"taskId":"$ID"`)
		}
		s.Seen.WriteString(" " + text)
	}
	s.Seen.WriteByte('\n')
	answer := s.Answers[0]
	if len(s.Answers) > 1 {
		s.Answers = s.Answers[1:]
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

// Call calls the URL that the service got last, and returns the status of the answer.
func (s *JobService) Call(t *testing.T, g *gateway.Gateway, in JobCall) int {
	s.Mu.Lock()
	url := s.Called
	s.Mu.Unlock()
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
