package balance

import (
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Service is what is known of the instances of a service. It is safe for concurrent use.
type Service struct {
	host      string
	instances func() []string
	unsent    func(error) bool
	none      error
	turn      atomic.Uint64
	ejected   sync.Map // instance → time.Time at which it gets requests again
	now       func() time.Time
}

// Options configure a [Service].
type Options struct {
	// Host is the host of URLs, with its port, that stands for the service. Other requests are sent as they are.
	Host string
	// Instances returns the addresses of the instances, host:port. It is called for each request.
	Instances func() []string
	// Unsent reports whether the error of a round trip means that no connection came about.
	Unsent func(error) bool
	// None is the error of a request while there is no instance.
	None error
}

// New returns a service.
func New(o Options) *Service {
	return &Service{host: o.Host, instances: o.Instances, unsent: o.Unsent, none: o.None, now: time.Now}
}

// Over returns a transport that sends requests for the service to its instances by another transport.
func (b *Service) Over(next http.RoundTripper) http.RoundTripper { return transport{b, next} }

// transport sends requests to instances of a service.
type transport struct {
	*Service
	next http.RoundTripper
}

// ejectedFor is how long an instance that can't be connected to gets no requests, unless no other is left.
const ejectedFor = 5 * time.Second

// maxInstances is the most instances that one request tries.
const maxInstances = 3

// RoundTrip implements [http.RoundTripper].
func (b transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != b.host {
		return b.next.RoundTrip(req)
	}
	all := b.instances()
	if len(all) == 0 {
		closeBody(req)
		return nil, b.none
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
		if !b.unsent(err) || req.Context().Err() != nil {
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
func (b *Service) pick(all []string) string {
	turn := b.turn.Add(1)
	for i := range uint64(len(all)) {
		instance := all[(turn+i)%uint64(len(all))]
		until, ejected := b.ejected.Load(instance)
		if !ejected {
			return instance
		}
		if at, ok := until.(time.Time); !ok || b.now().After(at) {
			b.ejected.Delete(instance)
			return instance
		}
	}
	return all[turn%uint64(len(all))]
}

// to returns a copy of a request for an instance. Its body stays open when the connection fails.
func (b *Service) to(req *http.Request, instance string, body *unsentBody) *http.Request {
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
