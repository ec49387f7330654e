package gateway

import (
	"context"
	"net/http"
	"sync/atomic"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/telemetry"
)

// requestInfo is the part of a request's state that calls need. It is carried in the context of the request. Only the
// request's goroutine uses it, except for the atomic fields.
type requestInfo struct {
	name          string       // of the endpoint; "" for all tools, and before the request was screened
	operator      bool         // called by the operator of the process, who may call every tool
	cause         error        // why the operator's call failed
	header        http.Header  // of the request; nil if there is none
	address       clientip.Key // that the request is counted for; zero if none
	memoryChecked bool         // before the token was verified
	dispatched    bool         // the dispatcher ends the reservation when the response is sent
	id            requestID
	check         telemetry.PendingCheck
	reservation   atomic.Pointer[admission.Reservation] // for the large responses to its calls; nil if there are none
}

type requestInfoKey struct{}

func requestInfoFrom(ctx context.Context) *requestInfo {
	return ctx.Value(requestInfoKey{}).(*requestInfo) //nolint:errcheck // every path to the MCP handler puts it there
}

// requestInfoOf is requestInfoFrom for code that may run without a request; it returns nil then.
func requestInfoOf(ctx context.Context) *requestInfo {
	v, _ := ctx.Value(requestInfoKey{}).(*requestInfo)
	return v
}

// pendingCheckOf returns the token check of the context's request, or nil if there is no request.
func pendingCheckOf(ctx context.Context) *telemetry.PendingCheck {
	if v := requestInfoOf(ctx); v != nil {
		return &v.check
	}
	return nil
}
