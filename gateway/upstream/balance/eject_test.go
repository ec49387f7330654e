package balance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	errDial = errors.New("no connection")
	errCut  = errors.New("connection cut")
)

// fleet plays instances: each answers with a status, an error, or a body that is cut.
type fleet struct {
	t       *testing.T
	now     time.Time
	all     []string
	answers map[string]string // status, "dial", "cut", "body", "cancel"; "200" if there is none
	sent    []string          // the instances that got a request, since the last look
	ejected []string
	b       *Service
	client  http.RoundTripper
}

func newFleet(t *testing.T, n int) *fleet {
	f := &fleet{t: t, now: time.Unix(1e9, 0), answers: map[string]string{}}
	for i := range n {
		f.all = append(f.all, fmt.Sprintf("%c:80", 'a'+i))
	}
	f.b = New(Options{
		Host: "service", Instances: func() []string { return f.all }, Unsent: func(err error) bool { return errors.Is(err, errDial) }, None: errDial,
		Ejection: Ejection{
			Failures: 3, OnEject: func(instance string, pause time.Duration) {
				f.ejected = append(f.ejected, fmt.Sprint(instance, " ", pause))
			},
			Judge: func(ctx context.Context, resp *http.Response, err error) Outcome {
				switch {
				case ctx.Err() != nil:
					return Unknown
				case err != nil || resp.StatusCode >= 502:
					return Failure
				case resp.StatusCode >= 400:
					return Success
				}
				return Unknown
			},
		},
	})
	f.b.health.now = func() time.Time { return f.now }
	f.client = f.b.Over(f)
	return f
}

// RoundTrip implements [http.RoundTripper].
func (f *fleet) RoundTrip(req *http.Request) (*http.Response, error) {
	at := req.URL.Host
	f.sent = append(f.sent, strings.TrimSuffix(at, ":80"))
	resp := &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("text")), Request: req}
	switch answer := f.answers[at]; answer {
	case "":
	case "dial":
		return nil, errDial
	case "cut":
		return nil, errCut
	case "body":
		resp.Body = io.NopCloser(io.MultiReader(strings.NewReader("te"), broken{}))
	default:
		if _, err := fmt.Sscan(answer, &resp.StatusCode); err != nil {
			f.t.Fatal(err)
		}
	}
	return resp, nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errCut }

// call sends some requests and returns the instances that got them.
func (f *fleet) call(n int) string {
	f.t.Helper()
	for range n {
		req, _ := http.NewRequestWithContext(f.t.Context(), http.MethodPost, "http://service/", io.NopCloser(strings.NewReader("x")))
		if resp, err := f.client.RoundTrip(req); err == nil {
			_, _ = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
	}
	got := strings.Join(f.sent, "")
	f.sent = nil
	return got
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

// TestEjection: an instance whose requests fail in a row gets none for a while; then one request decides. No request that was
// sent is repeated.
func TestEjection(t *testing.T) {
	for _, answer := range []string{"503", "cut", "body"} {
		t.Run(answer, func(t *testing.T) {
			f := newFleet(t, 3)
			expect(t, "in turn", f.call(6), "bcabca")
			f.answers["b:80"] = answer
			expect(t, "the third failure ejects", f.call(12), "bcabcabacaca")
			f.now = f.now.Add(firstPause + 1)
			f.gets(4, "b", 1) // a probe, which fails
			f.now = f.now.Add(firstPause + 1)
			if got := f.call(4); strings.Contains(got, "b") {
				t.Errorf("the second pause is as short as the first: %s", got)
			}
			f.now = f.now.Add(firstPause)
			delete(f.answers, "b:80")
			if got := f.call(6); strings.Count(got, "b") < 2 {
				t.Errorf("after a probe that succeeded: %s", got)
			}
			expect(t, "ejected", strings.Join(f.ejected, ", "), "b:80 5s, b:80 10s")
			f.answers["b:80"] = answer
			f.call(9)
			expect(t, "again", f.ejected[2], "b:80 5s")
		})
	}
}

// gets sends some requests, of which an instance must get so many.
func (f *fleet) gets(n int, instance string, want int) {
	f.t.Helper()
	if got := f.call(n); strings.Count(got, instance) != want || len(got) != n {
		f.t.Errorf("%d requests went to %s, want %d to %s", n, got, want, instance)
	}
}

// TestEjectionShare: never more than half of the instances are ejected for what they answer.
func TestEjectionShare(t *testing.T) {
	for n, want := range map[int]int{1: 0, 2: 1, 3: 1, 4: 2, 5: 2} {
		f := newFleet(t, n)
		for _, instance := range f.all {
			f.answers[instance] = "503"
		}
		if f.call(20 * n); len(f.ejected) != want {
			t.Errorf("of %d instances %d were ejected", n, len(f.ejected))
		}
	}
	f := newFleet(t, 4)
	f.answers["a:80"], f.answers["b:80"], f.answers["c:80"] = "dial", "dial", "503"
	if f.call(40); len(f.ejected) != 0 {
		t.Errorf("half can't be connected to, and %v is ejected", f.ejected)
	}
}

// TestNoEjection: single failures, responses that say nothing about the instance, and calls that were canceled eject nothing.
func TestNoEjection(t *testing.T) {
	f := newFleet(t, 3)
	f.answers["b:80"] = "404"
	f.call(30)
	for range 5 {
		f.answers["b:80"] = "503"
		f.call(6) // two failures
		delete(f.answers, "b:80")
		f.call(3)
	}
	f.answers["b:80"] = "cut"
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 30 {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://service/", http.NoBody)
		if resp, err := f.client.RoundTrip(req); err == nil {
			resp.Body.Close()
		}
	}
	if len(f.ejected) != 0 {
		t.Error(f.ejected)
	}
	f.b.health.Failures = 0 // no breaker
	f.answers["b:80"] = "503"
	if f.call(30); len(f.ejected) != 0 {
		t.Error(f.ejected)
	}
}

// TestEjectionChurn lets instances come, go, fail and recover. Each request reaches an instance that is there, one that is healthy
// is never out of turn for longer than the longest pause, and nothing is kept of instances that are gone.
func TestEjectionChurn(t *testing.T) {
	f := newFleet(t, 4)
	r := rand.New(rand.NewPCG(3, 4))
	for step := range 5000 {
		switch r.IntN(8) {
		case 0:
			f.all = nil
			for range 1 + r.IntN(6) {
				f.all = append(f.all, fmt.Sprintf("%c:80", 'a'+r.IntN(26)))
			}
		case 1:
			f.answers[f.all[r.IntN(len(f.all))]] = []string{"503", "dial", "cut", "body"}[r.IntN(4)]
		case 2:
			clear(f.answers)
		case 3:
			f.now = f.now.Add(time.Duration(r.IntN(20)) * time.Second)
		}
		for _, at := range f.call(3) {
			if !strings.Contains(strings.Join(f.all, ""), string(at)) {
				t.Fatalf("step %d: %c is gone", step, at)
			}
		}
		if known := len(f.b.health.known); known > 2*len(f.all)+maxInstances*3 {
			t.Fatalf("step %d: %d instances are known", step, known)
		}
	}
	clear(f.answers)
	f.all = []string{"a:80", "b:80", "c:80"}
	for range 3 {
		f.now = f.now.Add(lastPause + 1)
		f.call(9)
	}
	if got := f.call(30); strings.Count(got, "a") != 10 || strings.Count(got, "b") != 10 || strings.Count(got, "c") != 10 {
		t.Errorf("after all have recovered: %s", got)
	}
}

// A request for an operation that some instances lack goes to the others alone, and what is known of all stays.
func TestOperationOfSome(t *testing.T) {
	f := newFleet(t, 3)
	f.b.having = func(operation string) []string {
		if operation == "GET /new" {
			return []string{"c:80"}
		}
		return nil
	}
	f.answers["a:80"] = "dial"
	f.call(3)
	f.sent = nil
	for range 4 {
		req, err := http.NewRequestWithContext(WithOperation(t.Context(), "GET /new"), http.MethodGet, "http://service/new", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := f.client.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	if diff := cmp.Diff([]string{"c", "c", "c", "c"}, f.sent); diff != "" {
		t.Error(diff)
	}
	if n := f.b.Ejected(); n != 1 {
		t.Errorf("%d instances are ejected", n)
	}
}
