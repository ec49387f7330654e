package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"drawbridge/gateway/call"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi/jsonscan"
)

// CallInProcess calls a tool of an endpoint, for the operator of the process, as a client of the newest protocol revision does.
// The arguments are a JSON object. trial, if not nil, shows what is sent, and has the conditions of the tool hold for a caller
// without claims. The cause is why the service did not answer, or nil if it did.
func CallInProcess(ctx context.Context, h http.Handler, e *Endpoint, tool string, args json.RawMessage, trial *call.Trial) (result json.RawMessage, cause, err error) {
	revision := mcp.Revisions()[0]
	body := jsonscan.AppendString([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`), tool)
	body = append(body, `,"arguments":`...)
	body = append(body, args...)
	body = append(body, `,"_meta":{"io.modelcontextprotocol/protocolVersion":"`+revision+`","io.modelcontextprotocol/clientCapabilities":{}}}}`...)
	v := &Request{RequestInfo: call.RequestInfo{Operator: true, Trial: trial}, Endpoint: e}
	ctx = WithRequest(ctx, v)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/mcp", bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", revision)
	r.Header.Set("Mcp-Method", "tools/call")
	r.Header.Set("Mcp-Name", tool)
	w := &recorder{header: http.Header{}}
	h.ServeHTTP(w, r)
	var answer struct {
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := json.Unmarshal(w.body.Bytes(), &answer); err != nil {
		return nil, nil, fmt.Errorf("answer of the endpoint: %w", err)
	}
	if answer.Error != nil {
		return nil, nil, errors.New(answer.Error.Message)
	}
	return answer.Result, v.Cause, nil
}

// recorder is a response writer that keeps the response in memory.
type recorder struct {
	header http.Header
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(int)             {}
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }
