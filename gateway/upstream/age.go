package upstream

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// pool holds the connections to the hosts of an API. net/http keeps a connection as long as it is
// used, and an HTTP/2 connection indefinitely: a change of a service's addresses would never be
// noticed. So all connections are retired together after a maximum age: calls in flight finish on
// them, new calls open new ones, each with a new name resolution (L7).
type pool struct {
	connect   func() *connections // expires is set by newConnections
	protocols *protocols
	maxAge    time.Duration // no limit if 0
	now       func() time.Time

	current atomic.Pointer[connections]
	mu      sync.Mutex // held while current is replaced
	retired []*connections
}

// connections is a set of connections with a common age.
type connections struct {
	cleartext *cleartext
	transport *http.Transport // for requests that cleartext does not support
	noTimeout *http.Transport // the same for calls with NoHeaderTimeout
	expires   time.Time
}

func (c *connections) close() {
	c.cleartext.close()
	c.noTimeout.CloseIdleConnections()
	c.transport.CloseIdleConnections() // net/http does not keep those in use either when their calls end
}

func newPool(age time.Duration, spoken *protocols, connect func() *connections) *pool {
	p := &pool{connect: connect, protocols: spoken, maxAge: age, now: time.Now}
	p.current.Store(p.newConnections())
	return p
}

// newConnections shortens the maximum age by up to a tenth at random, so that replicas do not
// reconnect at the same moment.
func (p *pool) newConnections() *connections {
	c := p.connect()
	if p.maxAge > 0 {
		c.expires = p.now().Add(p.maxAge - time.Duration(rand.Int64N(int64(p.maxAge)/10+1)))
	}
	return c
}

// RoundTrip implements [http.RoundTripper].
func (p *pool) RoundTrip(req *http.Request) (*http.Response, error) { return p.send(req, LimitHeader) }

func (p *pool) send(req *http.Request, header HeaderTimeout) (*http.Response, error) {
	c := p.current.Load()
	if p.maxAge > 0 && !p.now().Before(c.expires) {
		c = p.replace(c)
	}
	chain, firstByte := c.transport, c.cleartext.firstByte
	if header == NoHeaderTimeout {
		chain, firstByte = c.noTimeout, 0
	}
	if c.cleartext.takes(req) {
		return c.cleartext.send(req, firstByte)
	}
	return p.sendByNetHTTP(chain, req)
}

// sendByNetHTTP sends a request over net/http, again for each connection of its pool that turns out to have been idle for too long: net/http
// itself repeats only requests that it may send twice.
func (p *pool) sendByNetHTTP(chain http.RoundTripper, req *http.Request) (*http.Response, error) {
	for {
		resp, err := trailerGuard{chain, p.protocols}.RoundTrip(p.protocols.preventReplay(req))
		var expired errExpired
		if !errors.As(err, &expired) {
			return resp, err
		}
		if req, err = withBodyAgain(req, err); err != nil {
			return nil, err
		}
	}
}

// maxRetired is the number of retired sets kept for close. An older one has no calls, or one of
// many minutes, whose connection is closed when it has been idle for maxRest.
const maxRetired = 4

// replace replaces the connections, unless another call has done so.
func (p *pool) replace(old *connections) *connections {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.current.Load(); c != old {
		return c
	}
	c := p.newConnections()
	p.current.Store(c)
	p.retired = append(p.retired, old)
	for _, c := range p.retired {
		c.close()
	}
	if len(p.retired) > maxRetired {
		p.retired = p.retired[1:]
	}
	return c
}

// close closes the idle connections; calls in flight continue.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range append(p.retired, p.current.Load()) {
		c.close()
	}
}
