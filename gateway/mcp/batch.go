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

// maxBatch limits the messages of a batch (H6).
const maxBatch = 16

// batch serves several messages in one body. Only 2025-03-26 has batches, and servers of that revision must accept them
// (2025-03-26 basic, Batching). The batch is checked, and allowed or refused, as a whole before any of it runs. The
// requests run concurrently; the response is one array in their order, without notifications before it, since the
// stream of a batch would belong to no single request.
func (x *exchange) batch(body []byte) *Error {
	r, h := x.req.HTTP, x.h
	x.event.Method = "batch"
	version, _ := headerValue(r.Header, headerVersion)
	x.req.Family = classify(version, &envelope{})
	refused := invalidRequest("a batch is not accepted: send each message in a POST of its own")
	if _, err := jsonscan.Scan(body, jsonscan.Options{MaxDepth: h.reloadable.Load().MaxDepth + 1, Unique: true}); err != nil {
		return scanError(err)
	}
	if x.req.Family == Stateless || h.o.Batch == nil {
		return refused
	}
	if err := checkLegacyVersion(r.Header); err != nil {
		return err
	}
	x.req.Principal = h.o.Principal(r.Context())
	ss, fault := h.openSession(r.Context(), r.Header, x.req.Principal)
	if fault != nil {
		return fault
	}
	x.useSession(ss)
	if x.req.Revision != revision20250326 || version != "" && version != revision20250326 {
		return refused // also if the header names a revision without batches
	}
	messages, fault := parseBatch(body)
	if fault != nil {
		return fault
	}
	// Messages without a response are handled when nothing can refuse the batch any more.
	parts, requests := x.newBatchParts(messages)
	if err := h.o.Batch(r.Context(), requests); err != nil {
		var e *Error
		if errors.As(err, &e) {
			return e
		}
		return x.internalError("a batch could not be decided on", 0, slog.Any("error", err))
	}
	if err := x.admitBatchMessages(messages, len(parts)); err != nil {
		return err
	}
	var deliveryErr *Error
	for i := range messages {
		deliveryErr = cmp.Or(x.handleBatchMessage(&messages[i]), deliveryErr)
	}
	if len(parts) == 0 {
		if deliveryErr == nil {
			x.out.writeStatus(http.StatusAccepted)
		}
		return deliveryErr
	}
	x.runBatch(parts)
	return nil
}

// newBatchParts returns a part for each message that gets a response, and the requests of those that are not refused already.
func (x *exchange) newBatchParts(messages []envelope) (parts []*batchPart, requests []*Request) {
	for i := range messages {
		if e := &messages[i]; e.id != nil && !e.isResponse {
			p := x.newBatchPart(e)
			p.x.req.BatchIndex = uint8(len(parts) + 1) //nolint:gosec // there are maxBatch at most
			if p.fault == nil {
				requests = append(requests, &p.x.req)
			}
			parts = append(parts, p)
		}
	}
	return parts, requests
}

// runBatch runs the requests of a batch concurrently and writes their responses in order.
func (x *exchange) runBatch(parts []*batchPart) {
	var running sync.WaitGroup
	for _, p := range parts {
		running.Go(p.serve)
	}
	running.Wait()
	x.out.event = prefersEventStream(x.req.HTTP.Header)
	x.out.begin(http.StatusOK)
	separator := "["
	for _, p := range parts {
		x.out.writeString(separator)
		x.out.writeJSON(p.response.body.Bytes())
		separator = ","
	}
	x.out.writeString("]")
	_ = x.out.finish() // a connection error; it can't be reported to anyone
}

// parseBatch splits a batch, which is valid as a whole or not at all.
func parseBatch(body []byte) (messages []envelope, fault *Error) {
	ids := make(map[string]bool)
	i := 0
	for element := range jsonscan.Elements(bytes.TrimSpace(body)) {
		if len(messages) == maxBatch {
			return nil, invalidRequest("a batch has at most %d messages", maxBatch)
		}
		e, err := parseScanned(element)
		switch {
		case e.isResponse:
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
			return nil, invalidRequest("message %d of the batch: method %q needs an id", i+1, shorten(jsonscan.Unquote(e.method)))
		}
		messages = append(messages, e)
		i++
	}
	if len(messages) == 0 {
		return nil, invalidRequest("a batch has at least one message")
	}
	return messages, nil
}

// admitBatchMessages asks for admission of the messages without a response. Their indices follow those of the requests.
func (x *exchange) admitBatchMessages(messages []envelope, requests int) *Error {
	defer func() { x.req.BatchIndex = 0 }()
	n := requests
	for i := range messages {
		e := &messages[i]
		if e.id != nil && !e.isResponse {
			continue
		}
		n++
		x.req.BatchIndex = uint8(n) //nolint:gosec // there are maxBatch at most
		if err := x.admitMessage(e.admissionName()); err != nil {
			return err
		}
	}
	return nil
}

// handleBatchMessage handles a message without a response. Its error is sent if the batch has no requests.
func (x *exchange) handleBatchMessage(e *envelope) *Error {
	switch {
	case e.isResponse:
		return x.deliverResponse(e.message)
	case e.id == nil:
		x.handleCancelled(e)
	}
	return nil
}

// batchPart is one request of a batch, with its response in memory.
type batchPart struct {
	x        *exchange
	message  *envelope
	method   *servedMethod
	fault    *Error
	response *bufferedResponse
}

// newBatchPart prepares a request of the batch.
func (x *exchange) newBatchPart(e *envelope) *batchPart {
	w := &bufferedResponse{header: make(http.Header)}
	y := x.h.newExchange(w, x.req.HTTP)
	y.batched = true
	y.req.Family, y.req.Principal, y.req.ID, y.req.Params = Legacy, x.req.Principal, e.id, e.params
	y.useSession(x.session)
	y.event.RequestBytes = int64(len(e.message))
	p := &batchPart{x: y, message: e, response: w}
	p.method, p.fault = y.lookupMethod(e)
	return p
}

// serve answers the request. It runs in its own goroutine, so no panic may leave it.
func (p *batchPart) serve() {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		p.response.body.Reset()
		y := p.x.h.newExchange(p.response, p.x.req.HTTP)
		y.req.ID, y.req.Family = p.x.req.ID, Legacy
		y.writeError(y.internalError("panic while answering", 0, slog.String("panic", fmt.Sprintf("%T", v)), slog.String("stack", string(debug.Stack()))))
	}()
	p.x.run(func(y *exchange) *Error {
		if p.fault != nil {
			return p.fault
		}
		return y.callLegacy(p.message, p.method)
	})
}

// bufferedResponse is an http.ResponseWriter that keeps the body in memory.
type bufferedResponse struct {
	header http.Header
	body   bytes.Buffer
}

func (m *bufferedResponse) Header() http.Header         { return m.header }
func (m *bufferedResponse) WriteHeader(int)             {}
func (m *bufferedResponse) Write(b []byte) (int, error) { return m.body.Write(b) }

// BatchFunc decides on the requests of a batch before any of them runs. It returns nil to run them, or an *Error that
// refuses all of them and becomes the response (such as a 403 whose challenge names the scopes of all). Requests for
// unknown methods are not included. It must not keep the requests.
type BatchFunc func(ctx context.Context, requests []*Request) error
