package balance

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// Service is what is known of the instances of a service. It is safe for concurrent use.
type Service struct {
	host   string
	all    func() []string
	having func(operation string) []string
	unsent func(error) bool
	none   error
	turn   atomic.Uint64
	health instances
}

// Options configure a [Service].
type Options struct {
	// Host is the host of URLs, with its port, that stands for the service. Other requests are sent as they are.
	Host string
	// Instances returns the addresses of the instances, host:port. It is called for each request.
	Instances func() []string
	// Having returns those of Instances that have an operation; none if all do. It may be nil.
	Having func(operation string) []string
	// Unsent reports whether the error of a round trip means that no connection came about.
	Unsent func(error) bool
	// None is the error of a request while there is no instance.
	None error
	// Ejection determines which instances get no requests for a while.
	Ejection Ejection
}

// New returns a service.
func New(o Options) *Service {
	return &Service{host: o.Host, all: o.Instances, having: o.Having, unsent: o.Unsent, none: o.None, health: instances{Ejection: o.Ejection, now: time.Now, known: map[string]*instance{}}}
}

// Ejected returns how many instances get no requests now.
func (b *Service) Ejected() int {
	b.health.mu.Lock()
	defer b.health.mu.Unlock()
	return b.health.ejected(b.all())
}

// Over returns a transport that sends requests for the service to its instances by another transport.
func (b *Service) Over(next http.RoundTripper) http.RoundTripper { return transport{b, next} }

// transport sends requests to instances of a service.
type transport struct {
	*Service
	next http.RoundTripper
}

// maxInstances is the most instances that one request tries.
const maxInstances = 3

// RoundTrip implements [http.RoundTripper].
func (b transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != b.host {
		return b.next.RoundTrip(req)
	}
	all := b.candidates(req)
	if len(all) == 0 {
		closeBody(req)
		return nil, b.none
	}
	body := &unsentBody{ReadCloser: req.Body}
	var err error
	for try := range min(len(all), maxInstances) {
		address := b.health.pick(all, b.all(), b.turn.Add(1))
		var resp *http.Response
		resp, err = b.next.RoundTrip(b.to(req, address, body))
		if err == nil {
			body.settle()
			return b.judged(req, resp, all, address), nil
		}
		if !b.unsent(err) || req.Context().Err() != nil {
			b.health.record(all, address, b.judge(req, nil, err))
			break
		}
		b.health.unreachable(address)
		if body.touched.Load() || try+1 == len(all) {
			break
		}
	}
	closeBody(req)
	return nil, err
}

type operationKey struct{}

// WithOperation returns a context whose requests go to instances that have an operation.
func WithOperation(ctx context.Context, operation string) context.Context {
	return context.WithValue(ctx, operationKey{}, operation)
}

// candidates returns the instances that a request may go to.
func (b *Service) candidates(req *http.Request) []string {
	if operation, ok := req.Context().Value(operationKey{}).(string); ok && b.having != nil {
		if some := b.having(operation); len(some) > 0 {
			return some
		}
	}
	return b.all()
}

// judge returns the outcome of a request. Without a judge, each response is a success.
func (b *Service) judge(req *http.Request, resp *http.Response, err error) Outcome {
	switch judge := b.health.Judge; {
	case b.health.Failures > 0:
		return judge(req.Context(), resp, err)
	case err == nil:
		return Success
	}
	return Unknown
}

// judged records the outcome of a request that has a response header. If the header doesn't tell, the body does.
func (b *Service) judged(req *http.Request, resp *http.Response, all []string, address string) *http.Response {
	o := b.judge(req, resp, nil)
	if o == Unknown {
		resp.Body = &judgedBody{ReadCloser: resp.Body, ended: func(err error) {
			switch {
			case err != nil:
				b.health.record(all, address, b.judge(req, nil, err))
			case req.Context().Err() == nil: // else the body may have ended early
				b.health.record(all, address, Success)
			}
		}}
		return resp
	}
	b.health.record(all, address, o)
	return resp
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
