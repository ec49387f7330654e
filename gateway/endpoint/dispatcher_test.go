package endpoint

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestPanicBehindAStream: a request that has become a stream holds places that the stream gives back, so the stream runs also when what
// stands around the request panics on the way out. A panic of a request that has not goes on to its connection.
func TestPanicBehindAStream(t *testing.T) {
	counted := 0
	for _, stream := range []bool{true, false} {
		ran := false
		d := &dispatcher{onPanic: func(string, any) { counted++ }, next: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if stream {
				runAfterMiddleware(r.Context(), func() { ran = true })
			}
			panic("injected")
		})}
		went := func() (went any) {
			defer func() { went = recover() }()
			d.dispatch(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/mcp", nil), &Request{})
			return nil
		}()
		if ran != stream || (went == nil) != stream {
			t.Errorf("stream %t: ran %t, panic %v", stream, ran, went)
		}
	}
	if counted != 1 {
		t.Errorf("%d panics are counted", counted)
	}
}
