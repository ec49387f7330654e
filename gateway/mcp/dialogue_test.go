package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/gateway/mcp"
	"drawbridge/test/cases"
)

// TestDialogues replays the files in testdata/dialogues in virtual time, where
// several requests are open at once. Each part of a file is a step:
//
//	open NAME: TITLE    the request that follows begins (Content-Length is added)
//	leave NAME          its client closes the connection
//	got NAME            what has come for it since the last time, "(end)" if it is over;
//	                    many comments of a silent stream are counted
//	heard NAME          the same without comments, where they fall together with something else
//	wait DURATION       time passes
//	change LISTS        lists change; "look" says so without a change
//	updated URI         a resource changes
//	late URI            a subscription of it that has ended, or was refused, tells that it has changed
//	task KEY STATUS     a task changes
//	drain               the streams are to end
//	watched             what is watched
//
// {{session}}, {{question}} and {{state}} stand for the session id, the id of a
// request of the server and the requestState that came last, {{altered}} for that
// with one letter changed. With "keep state NAME" and "keep question NAME" they are
// remembered under another name.
func TestDialogues(t *testing.T) {
	t.Parallel()
	cases.Run(t, "testdata/dialogues/*.txtar", func(t *testing.T, file string, a *txtar.Archive) {
		t.Parallel()
		changed := false
		synctest.Test(t, func(t *testing.T) {
			d := newDialogue(t)
			defer d.end()
			for i := range a.Files {
				step := &a.Files[i]
				got, compared := d.step(step.Name, string(step.Data))
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

// dialogue is a server and the requests that are open to it.
type dialogue struct {
	t       *testing.T
	whole   *whole
	handler http.Handler
	old     http.Handler // the transport of 2024-11-05, at /sse and /messages
	open    map[string]*talk
	values  map[string]string // of {{name}}
}

// talk is one request and its answer.
type talk struct {
	leave context.CancelFunc

	mu     sync.Mutex
	header http.Header
	status int
	body   bytes.Buffer
	begun  bool // status and header were shown
	over   bool
}

func (k *talk) Header() http.Header              { return k.header }
func (k *talk) Flush()                           {}
func (k *talk) SetReadDeadline(time.Time) error  { return nil }
func (k *talk) SetWriteDeadline(time.Time) error { return nil }

func (k *talk) WriteHeader(status int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.status = status
}

func (k *talk) Write(b []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.body.Write(b)
}

func newDialogue(t *testing.T) *dialogue {
	w := newWhole(mcp.BrokerOptions{MaxPerPrincipal: 2, MaxSubscriptions: 3, AuthorizedUntil: func(ctx context.Context) time.Time {
		if p, _ := ctx.Value(principalKey{}).(string); p == "brief" {
			return time.Now().Add(61 * time.Second)
		}
		return time.Time{}
	}})
	methods, options := wholeServer(w, mcp.Options{ReloadableOptions: mcp.ReloadableOptions{MaxBody: 1 << 20, MaxDepth: 64, KeepAlive: 20 * time.Second}, Revocations: newRevoked()})
	d := &dialogue{t: t, whole: w, open: map[string]*talk{}, values: map[string]string{}}
	d.handler = newEndpoint(t, methods, options)
	d.old = newOld(t, methods, options)
	return d
}

// end closes all that is still open, and holds that nothing is left behind.
func (d *dialogue) end() {
	for _, k := range d.open {
		k.leave()
	}
	synctest.Wait()
	if err := d.whole.broker.Drain(d.t.Context()); err != nil {
		d.t.Error(err)
	}
	if len(d.whole.watched) > 0 {
		d.t.Errorf("still watched: %v", d.whole.watched)
	}
}

var references = regexp.MustCompile(`reference [a-z2-7]{10}`)

var remembered = map[string]*regexp.Regexp{
	"question": regexp.MustCompile(`"id":"([A-Z2-7]{26})"`),
	"stream":   regexp.MustCompile(`sessionId=([A-Z2-7]{26})`),
	"state":    regexp.MustCompile(`"requestState":"([^"{]+)"`),
}

// step does what a step says; compared tells that got is what its content should be.
func (d *dialogue) step(name, content string) (got string, compared bool) {
	verb, rest, _ := strings.Cut(name, " ")
	who, _, _ := strings.Cut(rest, ":")
	defer synctest.Wait()
	switch verb {
	case "open":
		for n, v := range d.values {
			content = strings.ReplaceAll(content, "{{"+n+"}}", v)
		}
		if s := d.values["state"]; s != "" {
			content = strings.ReplaceAll(content, "{{altered}}", s[:30]+flip(s[30:31])+s[31:])
		}
		d.begin(who, content)
	case "leave":
		d.open[who].leave()
	case "got":
		return d.got(d.open[who]), true
	case "heard":
		k := d.open[who]
		k.mu.Lock()
		rest := bytes.ReplaceAll(k.body.Bytes(), []byte(":\n\n"), nil)
		k.body.Reset()
		k.body.Write(rest)
		k.mu.Unlock()
		return d.got(k), true
	case "keep":
		what, as, _ := strings.Cut(rest, " ")
		d.values[as] = d.values[what]
	case "wait":
		p, err := time.ParseDuration(rest)
		if err != nil {
			d.t.Fatal(err)
		}
		time.Sleep(p)
	case "change", "look":
		var l mcp.List
		for n, list := range map[string]mcp.List{"tools": mcp.ToolsList, "prompts": mcp.PromptsList, "resources": mcp.ResourcesList} {
			if strings.Contains(rest, n) {
				l |= list
			}
		}
		if verb == "look" {
			d.whole.broker.ListsChanged(l)
		} else {
			d.whole.change(l)
		}
	case "updated":
		d.whole.updated(rest)
	case "late":
		if err := d.whole.late(rest); err != nil {
			d.t.Error(err)
		}
	case "task":
		key, status, _ := strings.Cut(rest, " ")
		d.whole.broker.TaskChanged(key, d.whole.task(mcp.TaskStatus(status)))
	case "drain":
		if err := d.whole.broker.Drain(d.t.Context()); err != nil {
			d.t.Error(err)
		}
	case "watched":
		d.whole.mu.Lock()
		defer d.whole.mu.Unlock()
		for _, what := range slices.Sorted(maps.Keys(d.whole.watched)) {
			got += fmt.Sprintln(what, d.whole.watched[what])
		}
		return got, true
	default:
		d.t.Fatalf("no such step: %s", name)
	}
	return "", false
}

// begin sends a request.
func (d *dialogue) begin(who, raw string) {
	head, body, _ := strings.Cut(raw, "\n\n")
	head, body = strings.TrimRight(head, "\n"), strings.TrimRight(body, "\n")
	if body != "" {
		head += fmt.Sprintf("\nContent-Length: %d", len(body))
	}
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body)))
	if err != nil {
		d.t.Fatalf("%s: %v", who, err)
	}
	ctx, leave := context.WithCancel(context.Background())
	k := &talk{leave: leave, header: http.Header{}}
	d.open[who] = k
	go func() {
		h := d.handler
		if r.URL.Path != "/mcp" {
			h = d.old
		}
		h.ServeHTTP(k, r.WithContext(ctx))
		leave()
		k.mu.Lock()
		defer k.mu.Unlock()
		k.over = true
	}()
}

// got tells what has come since the last time.
func (d *dialogue) got(k *talk) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var b strings.Builder
	if !k.begun && k.status != 0 {
		k.begun = true
		fmt.Fprintln(&b, k.status, http.StatusText(k.status))
		for _, name := range slices.Sorted(maps.Keys(k.header)) {
			if name != "Content-Length" && name != "Vary" {
				fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(k.header[name], ", "))
			}
		}
		if id := k.header.Get("Mcp-Session-Id"); id != "" {
			d.values["session"] = id
		}
		b.WriteString("\n")
	}
	b.Write(k.body.Bytes())
	k.body.Reset()
	answer := regexp.MustCompile(`(:\n\n){6,}`).ReplaceAllStringFunc(b.String(), func(s string) string {
		return fmt.Sprintf("(%d comments)\n", len(s)/3)
	})
	for n, re := range remembered {
		for _, m := range re.FindAllStringSubmatch(answer, -1) {
			d.values[n] = m[1]
		}
	}
	for n, v := range d.values {
		answer = strings.ReplaceAll(answer, v, "{{"+n+"}}")
	}
	for _, n := range []string{"question", "state"} { // all but the last
		re := remembered[n]
		answer = re.ReplaceAllStringFunc(answer, func(s string) string {
			return s[:strings.Index(s, `:"`)+2] + "{{earlier " + n + "}}" + `"`
		})
	}
	answer = references.ReplaceAllString(answer, "reference {{reference}}")
	if answer != "" && !strings.HasSuffix(answer, "\n") {
		answer += "\n"
	}
	if k.over {
		answer += "(end)\n"
	}
	return answer
}
