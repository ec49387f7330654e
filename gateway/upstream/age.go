package upstream

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// pool is the connections to the hosts of an API. net/http keeps a connection
// for as long as it is used, and one of HTTP/2 is used for ever: a service that
// has moved to other addresses, or that gets more of them, would never be found.
// So all connections are given up together after an age, which no connection
// then exceeds: calls under way end on those that they have, new ones make new
// ones, and each of these asks for the addresses again (L7).
type pool struct {
	make   func() *connections // but for until
	spoken *protocols
	age    time.Duration // 0: connections live as long as they are used
	now    func() time.Time

	current atomic.Pointer[connections]
	mu      sync.Mutex // held while current is replaced
	retired []*connections
}

// connections are those that are of one age.
type connections struct {
	cleartext *cleartext
	transport *http.Transport // all that cleartext does not take
	patient   *http.Transport // the same for calls that are Patient
	until     time.Time
}

func (c *connections) close() {
	c.cleartext.close()
	c.patient.CloseIdleConnections()
	c.transport.CloseIdleConnections() // those in use too, when their calls end: net/http keeps none after this
}

func newPool(age time.Duration, spoken *protocols, connect func() *connections) *pool {
	p := &pool{make: connect, spoken: spoken, age: age, now: time.Now}
	p.current.Store(p.fresh())
	return p
}

// fresh makes connections that live up to a tenth less than they may, so that
// not all gateways of a kind connect anew at the same moment.
func (p *pool) fresh() *connections {
	c := p.make()
	if p.age > 0 {
		c.until = p.now().Add(p.age - time.Duration(rand.Int64N(int64(p.age)/10+1)))
	}
	return c
}

// RoundTrip implements [http.RoundTripper].
func (p *pool) RoundTrip(req *http.Request) (*http.Response, error) { return p.send(req, Brief) }

func (p *pool) send(req *http.Request, patience Patience) (*http.Response, error) {
	c := p.current.Load()
	if p.age > 0 && !p.now().Before(c.until) {
		c = p.renew(c)
	}
	over, firstByte := c.transport, c.cleartext.firstByte
	if patience == Patient {
		over, firstByte = c.patient, 0
	}
	if c.cleartext.takes(req) {
		return c.cleartext.send(req, firstByte)
	}
	return over.RoundTrip(p.spoken.once(req))
}

// maxRetired is how many of them are remembered for close. What is forgotten
// has no call any more, or one of many minutes, after which its connection ends
// when it has been idle for maxRest.
const maxRetired = 4

// renew replaces the connections, unless another call has done so.
func (p *pool) renew(old *connections) *connections {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.current.Load(); c != old {
		return c
	}
	c := p.fresh()
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

// close closes the idle connections; calls in flight go on.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range append(p.retired, p.current.Load()) {
		c.close()
	}
}
