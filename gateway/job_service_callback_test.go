package gateway_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"drawbridge/gateway/plan"
	"drawbridge/gateway/task"
	"drawbridge/gateway/telemetry"
	"drawbridge/test/gatewaytest"
)

// TestCallbackRefusals: the status says whether calling again may help, and a flood of what is not signed has ten lines in a minute.
func TestCallbackRefusals(t *testing.T) {
	api := strings.Replace(gatewaytest.ReportsAPI, "year: {type: integer}", "year: {type: integer}, notify: {type: string}", 1)
	g := gatewaytest.StartJobs(t, api, `server: {public_url: "https://gateway.test"}
auth: {anonymous: true}
apis: [{name: reports, spec: $SPEC, base_url: $BASE}]
rules: [{match: {operation: makeReport}, set: {job: {callback: {argument: notify, max_body: 1KiB, signature: {header: X-Signature, secret: a-secret-of-the-test-of-32-bytes}}}}}]
`, gatewaytest.NewJobService("404"))
	log := &strings.Builder{}
	g.Tasks().Log = slog.New(slog.NewTextHandler(log, nil))
	payload, err := json.Marshal(task.CallbackPayload{Key: "k", Tool: "makeReport"})
	if err != nil {
		t.Fatal(err)
	}
	url := "https://gateway.test" + plan.CallbackPath + g.Tasks().Callbacks.Seal(payload, time.Now().Add(time.Hour))
	send := func(body io.Reader) (int, string) {
		w := httptest.NewRecorder()
		g.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, url, body))
		return w.Code, w.Body.String()
	}
	for _, tt := range []struct {
		name string
		body io.Reader
		code int
		text string
	}{
		{"large", strings.NewReader(strings.Repeat("x", 1025)), http.StatusRequestEntityTooLarge, "the body is too large\n"},
		{"slow", iotest.ErrReader(os.ErrDeadlineExceeded), http.StatusRequestTimeout, "the body came too slowly\n"},
		{"cut off", iotest.ErrReader(io.ErrUnexpectedEOF), http.StatusBadRequest, "the body was not sent whole\n"},
		{"not signed", strings.NewReader("{}"), http.StatusUnauthorized, "the signature is missing or wrong\n"},
	} {
		if code, text := send(tt.body); code != tt.code || text != tt.text {
			t.Errorf("%s: %d %q, want %d %q", tt.name, code, text, tt.code, tt.text)
		}
	}
	for range 3 * telemetry.MaxLines {
		send(strings.NewReader("{}"))
	}
	if n := strings.Count(log.String(), "a service callback has a missing or wrong signature"); n != telemetry.MaxLines {
		t.Errorf("%d lines, want %d:\n%s", n, telemetry.MaxLines, log)
	}
}
