package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// service stands in for the transport: under synctest there is no network.
func service(serve func(*http.Request) (*http.Response, error)) func(http.RoundTripper) http.RoundTripper {
	return func(http.RoundTripper) http.RoundTripper { return roundTrip(serve) }
}

func reply(status int, header ...string) *http.Response {
	resp := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("ok")), ContentLength: 2}
	for i := 0; i+1 < len(header); i += 2 {
		resp.Header.Set(header[i], header[i+1])
	}
	return resp
}

// TestRoom: calls wait in the order in which they came, no longer than they may,
// and the queue ends somewhere (L3).
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBulkhead(Bulkhead{InFlight: 2, Queued: 3, Wait: time.Second})
		enter := func(ctx context.Context, name string, done chan<- string) {
			err := r.acquire(ctx)
			if err != nil {
				name += ": " + err.Error()
			}
			done <- name
		}
		done := make(chan string, 10)
		for _, name := range []string{"a", "b"} {
			enter(t.Context(), name, done)
		}
		canceled, cancel := context.WithCancel(t.Context())
		for _, name := range []string{"c", "d", "e"} {
			ctx := t.Context()
			if name == "d" {
				ctx = canceled
			}
			go enter(ctx, name, done)
			synctest.Wait() // so that the order is known
		}
		enter(t.Context(), "f", done)
		if inFlight, queued := r.load(); inFlight != 2 || queued != 3 {
			t.Errorf("load: %d in flight, %d queued", inFlight, queued)
		}
		cancel()
		synctest.Wait()
		r.release()
		synctest.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		r.release()
		r.release()
		close(done)
		var got []string
		for name := range done {
			got = append(got, name)
		}
		want := []string{"a", "b", "f: too many calls are in flight and waiting", "d: context canceled", "c",
			"e: no call ended while this one waited"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if inFlight, queued := r.load(); inFlight != 0 || queued != 0 || r.first != nil || r.last != nil {
			t.Errorf("at the end: %d in flight, %d queued", inFlight, queued)
		}
	})
}

// TestRoomRace: who gives up at the moment in which a place becomes its own
// passes it on; none is lost.
func TestRoomRace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBulkhead(Bulkhead{InFlight: 4, Queued: 1000, Wait: time.Millisecond})
		for n := range 1000 {
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n%3)*time.Millisecond)
				defer cancel()
				if r.acquire(ctx) == nil {
					time.Sleep(time.Duration(n%2) * time.Millisecond)
					r.release()
				}
			}()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if inFlight, queued := r.load(); inFlight != 0 || queued != 0 {
			t.Errorf("%d places are lost, %d wait", inFlight, queued)
		}
	})
}

// TestOverloaded: a call has its place until its answer is closed, and one that
// finds none is told so without having been sent.
func TestOverloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hits := 0
		c := newClient(Options{Name: "orders", BaseURL: parse(t, "http://orders.internal"), Bulkhead: Bulkhead{InFlight: 1, Queued: 1, Wait: 3 * time.Second},
			Wrap: service(func(*http.Request) (*http.Response, error) { hits++; return reply(200), nil })})
		defer c.Close()
		request := func() *http.Request {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://orders.internal/", nil)
			if err != nil {
				t.Fatal(err)
			}
			return req
		}
		first, err := c.Do(request())
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, first.Body) // read, but not closed
		start := time.Now()
		want := "overloaded\n" + `The service "orders" is busy: as many calls to it as the gateway allows are under way. Nothing was sent to it. Try again in 3 seconds.` + "\n"
		if diff := cmp.Diff(want, outcome(c, request())); diff != "" {
			t.Error(diff)
		}
		if waited := time.Since(start); waited != 3*time.Second || hits != 1 {
			t.Errorf("waited %s, the service was asked %d times", waited, hits)
		}
		// The wait is out of the call's own time.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		_, err = c.Do(request().WithContext(ctx))
		var e *Error
		if !errors.As(err, &e) || e.Kind != Overloaded || !e.NotSent() || time.Since(start) != time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		// Nor does a caller wait who has gone.
		gone, leave := context.WithCancel(t.Context())
		leave()
		if _, err = c.Do(request().WithContext(gone)); !errors.As(err, &e) || e.Kind != Canceled || !e.NotSent() {
			t.Error(err)
		}
		first.Body.Close()
		first.Body.Close() // gives up no second place
		if got := outcome(c, request()); got != "200 \"ok\"\n" {
			t.Error(got)
		}
		if inFlight, queued := c.Load(); inFlight != 0 || queued != 0 {
			t.Errorf("%d in flight, %d queued", inFlight, queued)
		}
	})
}

// TestPlaceIsGivenUp in each way in which a call can end.
func TestPlaceIsGivenUp(t *testing.T) {
	for name, serve := range map[string]func(*http.Request) (*http.Response, error){
		"error":      func(*http.Request) (*http.Response, error) { return nil, errors.New("broken") },
		"bad head":   func(*http.Request) (*http.Response, error) { return reply(101), nil },
		"bad coding": func(*http.Request) (*http.Response, error) { return reply(200, "Content-Encoding", "br"), nil },
		"panic":      func(*http.Request) (*http.Response, error) { panic("credential") },
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(Options{Name: "orders", Bulkhead: Bulkhead{InFlight: 1}, Wrap: service(serve)})
			defer c.Close()
			func() {
				defer func() { _ = recover() }()
				if got := outcome(c, get(t, parse(t, "http://orders.internal/"))); strings.HasPrefix(got, "200") {
					t.Error(got)
				}
			}()
			if inFlight, _ := c.Load(); inFlight != 0 {
				t.Error("the place is still taken")
			}
		})
	}
}
