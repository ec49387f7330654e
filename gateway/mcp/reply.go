package mcp

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"drawbridge/openapi/jsonscan"
)

// Reply writes the response to one request. It belongs to the method's goroutine, except for [Reply.Notify],
// [Reply.Progress], [Reply.Log] and [Reply.KeepAlive], which several goroutines may call at once. They must have ended
// when the method returns.
type Reply struct {
	x        *exchange
	cache    Cache
	answered bool
	notified *notificationState // nil if there were no notifications
}

var errAnswered = errors.New("the request was answered before")

// Cache sets the caching hints of the result for stateless clients; legacy results have none. It is called before the
// result is sent. Results for which the hints are mandatory (mcp-R3) default to private and 0 ms.
func (r *Reply) Cache(c Cache) { r.cache, r.x.cacheable = c, true }

// Called tells which tool the request has called, for [Options].Observe. It is safe for concurrent use.
func (r *Reply) Called(c Called) {
	r.x.out.sse.mu.Lock()
	defer r.x.out.sse.mu.Unlock()
	r.notificationState().called = &c
}

// called returns what Called was told; nil if that is nothing.
func (r *Reply) called() *Called {
	r.x.out.sse.mu.Lock()
	defer r.x.out.sse.mu.Unlock()
	if r.notified == nil {
		return nil
	}
	return r.notified.called
}

// Result answers with a result object. The chunks are the members of the object without its braces and without
// resultType, ttlMs, cacheScope and _meta, which the reply adds where the revision has them: `"content":[...]`. Without
// chunks the object is empty. Escaped text is escaped once, straight into the output; chunks are not kept. An error is
// the connection's, and the method returns it.
func (r *Reply) Result(chunks ...Chunk) error { return r.ResultMeta(nil, chunks...) }

// ResultMeta is Result with further members of the result's _meta, as JSON text without braces. Their keys follow the
// grammar of 2026-07-28 basic, _meta.
func (r *Reply) ResultMeta(meta []byte, chunks ...Chunk) error {
	return r.result(resultComplete, meta, chunks...)
}

// Header returns the header of the HTTP response, which may be changed until the response begins. It is dropped for a
// request of a batch.
func (r *Reply) Header() http.Header { return r.x.out.rw.Header() }

// SetHeader sets a header of the HTTP response unless the header has been sent. It ends notifications and keep-alive
// comments, which could send the header concurrently, so only the response may follow. It has no effect for a request
// of a batch.
func (r *Reply) SetHeader(name, value string) {
	w := &r.x.out
	if w.endEvents(); !w.sse.started && !w.headerSent {
		w.rw.Header().Set(name, value)
	}
}

// resultComplete is the resultType of an ordinary result (mcp-R2).
const resultComplete = "complete"

// result answers with a result of the given resultType.
func (r *Reply) result(kind string, meta []byte, chunks ...Chunk) error {
	if r.answered {
		return errAnswered
	}
	r.answered = true
	r.flushProgress()
	w := &r.x.out
	w.begin(http.StatusOK)
	size := 1 << 10
	for _, c := range chunks {
		if c.Escape {
			size += len(c.Bytes) + len(c.Bytes)/4 + escapeRoom
		} else if len(c.Bytes) < minBorrowed {
			size += len(c.Bytes)
		}
	}
	w.grow(size)
	w.buf = r.appendHead(w.buf, kind, meta)
	for _, c := range chunks {
		if c.Escape {
			w.writeEscaped(c.Bytes)
		} else {
			w.writeJSON(c.Bytes)
		}
	}
	if len(chunks) == 0 {
		w.buf = trimComma(w.buf)
	}
	w.writeString("}}")
	return w.finish()
}

// appendHead appends the response up to the first member of the result, including a comma if the reply adds members of
// its own.
func (r *Reply) appendHead(dst []byte, kind string, meta []byte) []byte {
	x := r.x
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, x.req.ID...)
	dst = append(dst, `,"result":{`...)
	if x.req.Family != Stateless {
		if len(meta) > 0 {
			dst = append(dst, `"_meta":{`...)
			dst = append(dst, meta...)
			dst = append(dst, `},`...)
		}
		return dst
	}
	dst = append(dst, `"resultType":"`...)
	dst = append(dst, kind...)
	dst = append(dst, `",`...)
	info := x.h.serverInfo.Load()
	own := info.meta
	if x.req.Method == "server/discover" {
		own = info.whole
	}
	dst = appendMeta(dst, own, meta)
	if x.cacheable {
		dst = append(dst, `"ttlMs":`...)
		dst = strconv.AppendInt(dst, max(0, int64(r.cache.TTL/time.Millisecond)), 10)
		if r.cache.Scope == Public {
			dst = append(dst, `,"cacheScope":"public",`...)
		} else {
			dst = append(dst, `,"cacheScope":"private",`...)
		}
	}
	return dst
}

// appendMeta appends the member _meta, of the server's own members and further ones, and a comma.
func appendMeta(dst, own, meta []byte) []byte {
	dst = append(append(dst, `"_meta":{`...), own...)
	if len(meta) > 0 {
		dst = append(append(dst, ','), meta...)
	}
	return append(dst, `},`...)
}

// Result returns a result as clients of the stateless revisions get it, for a caller in the process. The arguments are those of
// [Reply.ResultMeta].
func (h *Handler) Result(meta []byte, chunks ...Chunk) json.RawMessage {
	dst := appendMeta([]byte(`{"resultType":"`+resultComplete+`",`), h.serverInfo.Load().meta, meta)
	for _, c := range chunks {
		if c.Escape {
			dst = jsonscan.AppendEscaped(dst, c.Bytes)
		} else {
			dst = append(dst, c.Bytes...)
		}
	}
	return append(trimComma(dst), '}')
}

func trimComma(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == ',' {
		return b[:n-1]
	}
	return b
}

// writeError answers with an error, unless the response has begun or its reader has left.
func (x *exchange) writeError(e *Error) {
	x.event.setError(e)
	w := &x.out
	w.endEvents()
	if w.complete || w.headerSent && !w.sse.started {
		return
	}
	if !w.sse.started { // else the header has been sent
		h := w.rw.Header()
		for name, values := range e.Header {
			for _, v := range values {
				h.Add(name, v)
			}
		}
		if named := x.h.o.RequestID; named != nil {
			h[RequestIDHeader] = []string{named(x.req.HTTP.Context())}
		}
	}
	w.begin(e.status(x.req.Family))
	if w.status != http.StatusOK { // only a response with status 200 is an event
		w.event, w.buf = false, w.buf[:0]
	}
	w.writeString(`{"jsonrpc":"2.0"`)
	if x.req.ID != nil { // the id is absent, not null, if it is not known (2026-07-28 basic, Error Responses)
		w.writeString(`,"id":`)
		w.writeJSON(x.req.ID)
	}
	w.writeString(`,"error":`)
	w.writeJSON(e.append(nil))
	w.writeString(`}`)
	_ = w.finish() // the error stays in the writer; it can't be reported to anyone
}
