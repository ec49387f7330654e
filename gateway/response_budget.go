package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
)

// largeAnswer is how many bytes an answer may have before it needs a place among the large ones.
const largeAnswer = 256 << 10

// places is what the large answers of one request hold of the room for them, in bytes: those of a batch, or of a prompt, too. It begins with as
// much as one answer may have, becomes what is in memory when all are read, and is given back when the client has its answer. Together they may
// not be larger than one alone, so that a request holds one place and never waits for itself. It is safe for concurrent use.
type places struct {
	room   *room
	sharer sharer

	mu      sync.Mutex
	held    int64
	used    int64 // of all large answers
	kept    int64 // of used: of answers that stay while their calls read others
	most    int64 // that used may become
	reading int   // calls that have not come to the end of theirs
	ended   bool
}

// places returns those of the call's request. What comes by HTTP keeps them until the answer is out.
func (c *call) places() *places {
	if c.held != nil {
		return c.held
	}
	v := requestInfoFrom(c.ctx)
	p := &places{room: c.g.room, sharer: sharerOf(c.req.Principal, v)}
	if v.doored {
		if !v.places.CompareAndSwap(nil, p) {
			p = v.places.Load()
		}
	} else {
		c.alone = true
	}
	c.held = p
	return p
}

// placed has an answer to the call take a place as soon as it turns out to be large.
func (c *call) placed(resp *http.Response) {
	if c.g.room.answers != nil {
		resp.Body = c.large.again(c, resp.Body)
	}
}

// leavePlaces gives back what only the call itself holds.
func (c *call) leavePlaces() {
	if c.alone {
		c.held.end()
		c.held, c.alone, c.large.counted = nil, false, false
	}
}

var (
	errPlacesEnded = errors.New("the request has its answer")
	errNoPlace     = errors.New("no room for one more large answer to the same request")
)

// enter takes a place for an answer that may have n bytes and of which read are there. The first waits for it.
func (p *places) enter(ctx context.Context, n, read int64) error {
	p.mu.Lock() // who waits here has about the same deadline as the one that holds it
	defer p.mu.Unlock()
	if p.ended {
		return errPlacesEnded
	}
	need := min(p.kept+n, p.room.capacity)
	switch {
	case p.held >= need:
	case p.held == 0:
		if err := p.room.takePlace(ctx, p.sharer, need); err != nil {
			return err
		}
		p.held = need
	default: // waiting while something is held would end in a deadlock
		if !p.room.tryPlace(p.sharer, p.held, need) {
			return errNoPlace
		}
		p.held = need
	}
	p.most = max(p.most, p.kept+n)
	p.used += read
	p.reading++
	return nil
}

// add counts bytes of an answer that has entered; false: they are too many.
func (p *places) add(n int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used += n
	return p.used <= p.most
}

// leave notes that an answer is read, and that forget of its bytes are not needed any more. What is held becomes what is in memory: the
// answer, and it once more as it goes out.
func (p *places) leave(forget int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading--
	p.used -= forget
	p.shrink()
}

// shrink gives back what is not needed for what is in memory. The caller holds the lock.
func (p *places) shrink() {
	if p.ended || p.reading > 0 {
		return
	}
	if less := max(2*p.used, 1); less < p.held {
		p.room.shrinkPlace(p.sharer, p.held, less)
		p.held = less
	}
}

// forget notes that bytes of an answer that is read are not needed any more.
func (p *places) forget(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used -= n
}

// keep notes that n bytes of an answer that is read stay while others are; below zero: that they don't any more.
func (p *places) keep(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept += n
	if n < 0 {
		p.used += n
		p.shrink()
	}
}

// end gives all back.
func (p *places) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended = true; p.held > 0 {
		p.room.shrinkPlace(p.sharer, p.held, 0)
		p.held = 0
	}
}

// answerBody waits for a place as soon as an answer turns out to be large: the service waits too, and nothing is lost.
type answerBody struct {
	io.ReadCloser
	c       *call
	read    int64
	counted bool // in the places of the request
	closed  bool
}

// Read reads the answer.
func (b *answerBody) Read(p []byte) (int, error) {
	if beyond := largeAnswer + 1 - b.read; !b.counted && beyond > 0 {
		p = p[:min(int64(len(p)), beyond)] // one read may bring all that follows, and the end
	} else if !b.counted {
		if err := b.c.places().enter(b.c.ctx, b.c.plan.maxAnswer, b.read); err != nil {
			return 0, noPlace(err)
		}
		b.counted = true
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if b.counted && !b.c.held.add(int64(n)) {
		return 0, &failure{telemetry.Outcome(upstream.TooLarge.String()), nil, "The answers to the calls of this request are too large together. The call may have taken effect: " +
			"if it only reads data, make it by itself, or ask for less."}
	}
	return n, err
}

// Close ends the call of the service.
func (b *answerBody) Close() error {
	err := b.ReadCloser.Close()
	if b.counted && !b.closed {
		b.c.held.leave(0)
	}
	b.closed = true
	return err
}

// keepAnswer has the call's last answer stay, which may be told at the end whatever else is read until then. What it returns lets it go.
func (c *call) keepAnswer() (forget func()) {
	b := &c.large
	if !b.counted {
		return func() {}
	}
	if !b.closed {
		c.held.leave(0)
	}
	n, p := b.read, c.held
	*b = answerBody{}
	p.keep(n)
	return func() { p.keep(-n) }
}

// again makes it that of the call's next answer. The one before is not needed any more.
func (b *answerBody) again(c *call, body io.ReadCloser) io.ReadCloser {
	if b.counted {
		if !b.closed {
			c.held.leave(b.read)
		} else {
			c.held.forget(b.read)
		}
	}
	*b = answerBody{ReadCloser: body, c: c}
	return b
}

// noPlace tells of an answer that got no place.
func noPlace(err error) error {
	if errors.Is(err, context.Canceled) {
		e := &upstream.Error{Kind: upstream.Canceled, Err: err}
		return &failure{telemetry.Outcome(e.Kind.String()), err, e.ToolMessage()}
	}
	return &failure{telemetry.Outcome(upstream.Overloaded.String()), err, "The gateway has no room for an answer of this size now: others are on their way. The call may have taken " +
		"effect. If it only reads data, try again in a minute, or ask for less."}
}
