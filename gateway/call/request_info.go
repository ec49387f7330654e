package call

import (
	"context"
	"net/http"
	"sync/atomic"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/telemetry"
)

// RequestInfo is the part of a request's state that calls need. It is carried in the context of the request. Only the
// request's goroutine uses it, except for the atomic fields.
type RequestInfo struct {
	EndpointName  string       // "" for all tools, and before the request was screened
	Operator      bool         // called by the operator of the process, who may call every tool
	Cause         error        // why the operator's call failed
	Trial         *Trial       // shows what the operator's call sends; nil if nothing is shown
	Header        http.Header  // of the request; nil if there is none
	Address       clientip.Key // that the request is counted for; zero if none
	MemoryChecked bool         // before the token was verified
	Dispatched    bool         // the dispatcher ends the reservation when the response is sent
	Identifier    requestID
	Check         telemetry.PendingCheck
	Reservation   atomic.Pointer[admission.Reservation] // for the large responses to its calls; nil if there are none
}

// InfoKey is the key of a *[RequestInfo] in the context of its request.
type InfoKey struct{}

// InfoFrom returns the state of the context's request. It panics if there is none.
func InfoFrom(ctx context.Context) *RequestInfo {
	return ctx.Value(InfoKey{}).(*RequestInfo) //nolint:errcheck // every path to the MCP handler puts it there
}

// InfoOf is [InfoFrom] for code that may run without a request; it returns nil then.
func InfoOf(ctx context.Context) *RequestInfo {
	v, _ := ctx.Value(InfoKey{}).(*RequestInfo)
	return v
}

// PendingCheckOf returns the token check of the context's request, or nil if there is no request.
func PendingCheckOf(ctx context.Context) *telemetry.PendingCheck {
	if v := InfoOf(ctx); v != nil {
		return &v.Check
	}
	return nil
}
