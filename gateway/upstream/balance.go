package upstream

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// balanced sends requests for one host to the instances of the service, in turn. An instance that can't be connected to gets no
// request for a while, and the request goes to the next one: nothing of it was sent.
type balanced struct {
	host      string // of [Options.BaseURL]
	instances func() []string
	next      http.RoundTripper
	turn      *atomic.Uint64
	ejected   *sync.Map // instance → time.Time at which it gets requests again
	now       func() time.Time
}

// ejectedFor is how long an instance that can't be connected to gets no requests, unless no other is left.
const ejectedFor = 5 * time.Second

// maxInstances is the most instances that one request tries.
const maxInstances = 3

var errNoInstance = errors.New("the service has no instance")

// RoundTrip implements [http.RoundTripper].
func (b *balanced) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != b.host {
		return b.next.RoundTrip(req)
	}
	all := b.instances()
	if len(all) == 0 {
		closeBody(req)
		return nil, &dialError{kind: Connect, err: errNoInstance}
	}
	body := &unsentBody{ReadCloser: req.Body}
	var err error
	for try := range min(len(all), maxInstances) {
		instance := b.pick(all)
		var resp *http.Response
		if resp, err = b.next.RoundTrip(b.to(req, instance, body)); err == nil {
			b.ejected.Delete(instance)
			body.settle()
			return resp, nil
		}
		var dial *dialError
		if !errors.As(err, &dial) || req.Context().Err() != nil {
			break
		}
		b.ejected.Store(instance, b.now().Add(ejectedFor))
		if body.touched.Load() || try+1 == len(all) {
			break
		}
	}
	closeBody(req)
	return nil, err
}

// pick returns the next instance that is not ejected; if all are, the next one.
func (b *balanced) pick(all []string) string {
	turn := b.turn.Add(1)
	for i := range uint64(len(all)) {
		instance := all[(turn+i)%uint64(len(all))]
		until, ejected := b.ejected.Load(instance)
		if !ejected {
			return instance
		}
		if b.now().After(until.(time.Time)) {
			b.ejected.Delete(instance)
			return instance
		}
	}
	return all[turn%uint64(len(all))]
}

// to returns a copy of a request for an instance. Its body stays open when the connection fails.
func (b *balanced) to(req *http.Request, instance string, body *unsentBody) *http.Request {
	own := req.WithContext(req.Context())
	target := *req.URL
	target.Host = instance
	own.URL = &target
	if own.Host == b.host {
		own.Host = ""
	}
	if req.Body != nil && req.Body != http.NoBody {
		own.Body = body
	}
	return own
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// unsentBody is the body of a request until something of it is read, or the request has a response. Until then it can be
// closed without effect.
type unsentBody struct {
	io.ReadCloser
	touched, closed atomic.Bool
}

// Read implements [io.Reader].
func (b *unsentBody) Read(p []byte) (int, error) {
	b.touched.Store(true)
	return b.ReadCloser.Read(p)
}

// Close implements [io.Closer].
func (b *unsentBody) Close() error {
	b.closed.Store(true)
	if b.touched.Load() {
		return b.ReadCloser.Close()
	}
	return nil
}

// settle tells that no other instance gets the body.
func (b *unsentBody) settle() {
	if b.ReadCloser == nil {
		return
	}
	b.touched.Store(true)
	if b.closed.Load() {
		b.ReadCloser.Close()
	}
}
