package mcp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"

	"drawbridge/openapi/jsonscan"
)

// maxBatch bounds the messages of a batch (H6).
const maxBatch = 16

// isBatch tells whether a body is a JSON array.
func isBatch(body []byte) bool {
	return jsonscan.KindOf(bytes.TrimLeft(body, " \t\r\n")) == jsonscan.Array
}

// batch serves several messages in one body, which exist in 2025-03-26 alone: servers of
// that revision must receive them (2025-03-26 basic, Batching). The whole is looked at,
// and allowed or refused, before any of it is executed. The requests run side by side
// and their answers are one array in their order, without anything before them: the
// stream of a batch would belong to no request.
func (x *exchange) batch(body []byte) *Error {
	r, h := x.req.HTTP, x.h
	x.event.Method = "batch"
	version, _ := first(r.Header, headerVersion)
	x.req.Era = classify(version, &envelope{})
	refused := invalidRequest("a batch is not accepted: send each message in a POST of its own")
	if _, err := jsonscan.Scan(body, jsonscan.Options{MaxDepth: h.tuning.Load().MaxDepth + 1, Unique: true}); err != nil {
		return scanFault(err)
	}
	if x.req.Era == Modern || h.o.Batch == nil {
		return refused
	}
	if err := checkLegacyVersion(r.Header); err != nil {
		return err
	}
	x.req.Principal = h.o.Principal(r.Context())
	ss, fault := h.resume(r.Context(), r.Header, x.req.Principal)
	if fault != nil {
		return fault
	}
	x.enter(ss)
	if x.req.Revision != revision20250326 || version != "" && version != revision20250326 {
		return refused // also if the header says that the client goes by a revision without batches now
	}
	messages, fault := unpack(body)
	if fault != nil {
		return fault
	}
	// What wants no answer is taken when nothing can refuse the batch any more.
	var parts []*part
	var asked []*Request
	for i := range messages {
		if e := &messages[i]; e.id != nil && !e.response {
			p := x.part(e)
			p.x.req.Part = uint8(len(parts) + 1) //nolint:gosec // there are maxBatch at most
			if p.fault == nil {
				asked = append(asked, &p.x.req)
			}
			parts = append(parts, p)
		}
	}
	if err := h.o.Batch(r.Context(), asked); err != nil {
		var e *Error
		if errors.As(err, &e) {
			return e
		}
		return x.internal("a batch could not be decided on", 0, slog.Any("error", err))
	}
	if err := x.hearAll(messages, len(parts)); err != nil {
		return err
	}
	var untaken *Error
	for i := range messages {
		untaken = cmp.Or(x.take(&messages[i]), untaken)
	}
	if len(parts) == 0 {
		if untaken == nil {
			x.out.empty(http.StatusAccepted)
		}
		return untaken
	}
	var running sync.WaitGroup
	for _, p := range parts {
		running.Go(p.serve)
	}
	running.Wait()
	x.out.event = wantsEvents(r.Header)
	x.out.begin(http.StatusOK)
	separator := "["
	for _, p := range parts {
		x.out.str(separator)
		x.out.raw(p.answer.body.Bytes())
		separator = ","
	}
	x.out.str("]")
	_ = x.out.finish() // the connection's error; there is nobody left to tell
	return nil
}

// unpack takes a batch apart. It is good as a whole or not at all.
func unpack(body []byte) (messages []envelope, fault *Error) {
	ids := make(map[string]bool)
	i := 0
	for element := range jsonscan.Elements(bytes.TrimSpace(body)) {
		if len(messages) == maxBatch {
			return nil, invalidRequest("a batch has at most %d messages", maxBatch)
		}
		e, err := openMessage(element)
		switch {
		case e.response:
		case err != nil:
			return nil, &Error{Code: err.Code, Message: fmt.Sprintf("message %d of the batch: %s", i+1, err.Message)}
		case string(e.method) == `"initialize"`: // 2025-03-26 lifecycle, Initialization
			return nil, invalidRequest("message %d of the batch: initialize is sent alone", i+1)
		case e.id != nil:
			id := newCallKey(&session{}, e.id).id
			if ids[id] {
				return nil, invalidRequest("message %d of the batch: its id is that of another", i+1)
			}
			ids[id] = true
		case !bytes.HasPrefix(e.method, []byte(`"notifications/`)):
			return nil, invalidRequest("message %d of the batch: method %q needs an id", i+1, clip(jsonscan.Unquote(e.method)))
		}
		messages = append(messages, e)
		i++
	}
	if len(messages) == 0 {
		return nil, invalidRequest("a batch has at least one message")
	}
	return messages, nil
}

// hearAll asks for the messages that want no answer, as those behind the requests.
func (x *exchange) hearAll(messages []envelope, requests int) *Error {
	defer func() { x.req.Part = 0 }()
	n := requests
	for i := range messages {
		e := &messages[i]
		if e.id != nil && !e.response {
			continue
		}
		n++
		x.req.Part = uint8(n) //nolint:gosec // there are maxBatch at most
		if err := x.hear(e.said()); err != nil {
			return err
		}
	}
	return nil
}

// take takes a message that wants no answer. The error is told where there are no answers.
func (x *exchange) take(e *envelope) *Error {
	switch {
	case e.response:
		return x.answers(e.whole)
	case e.id == nil:
		x.cancels(e)
	}
	return nil
}

// part is one request of a batch, with its answer in memory.
type part struct {
	x      *exchange
	e      *envelope
	m      entry
	fault  *Error
	answer *memory
}

// part prepares a request of the batch.
func (x *exchange) part(e *envelope) *part {
	w := &memory{header: make(http.Header)}
	y := x.h.newExchange(w, x.req.HTTP)
	y.batched = true
	y.req.Era, y.req.Principal, y.req.ID, y.req.Params = Legacy, x.req.Principal, e.id, e.params
	y.enter(x.session)
	y.event.RequestBytes = int64(len(e.whole))
	p := &part{x: y, e: e, answer: w}
	p.m, p.fault = y.lookup(e)
	return p
}

// serve answers the request. It runs in a goroutine of its own, so a panic must not
// leave it.
func (p *part) serve() {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		p.answer.body.Reset()
		y := p.x.h.newExchange(p.answer, p.x.req.HTTP)
		y.req.ID, y.req.Era = p.x.req.ID, Legacy
		y.fail(y.internal("panic while answering", 0, slog.String("panic", fmt.Sprintf("%T", v)), slog.String("stack", string(debug.Stack()))))
	}()
	p.x.run(func(y *exchange) *Error {
		if p.fault != nil {
			return p.fault
		}
		return y.sessionCall(p.e, p.m)
	})
}

// memory keeps an answer.
type memory struct {
	header http.Header
	body   bytes.Buffer
}

func (m *memory) Header() http.Header         { return m.header }
func (m *memory) WriteHeader(int)             {}
func (m *memory) Write(b []byte) (int, error) { return m.body.Write(b) }

// BatchFunc decides on the requests of a batch before any of them is executed: nil lets
// them run, an *Error refuses all of them and is the answer (a 403 whose challenge names
// what all of them need). Methods that do not exist are not among them. It must not keep
// the requests.
type BatchFunc func(ctx context.Context, requests []*Request) error
