package endpoint_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"drawbridge/gateway"
	"drawbridge/gateway/audit"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/logbuffer"
)

// TestPrincipalInTheLog holds that the line of a failed call in the program's log tells as much of its caller as the audit log does, with
// the same hash.
func TestPrincipalInTheLog(t *testing.T) {
	for name, o := range map[string]audit.Options{
		"hash": {Key: []byte("key")}, "plain": {Subject: audit.PlainSubject}, "none": {Subject: audit.NoSubject},
	} {
		t.Run(name, func(t *testing.T) {
			log := &logbuffer.Buffer{}
			a := gatewaytest.AccountedWith(t, o, gateway.Options{Logger: slog.New(slog.NewTextHandler(log, nil))},
				func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
			gatewaytest.NewClient(t, a.Handler(), gatewaytest.Eras[0], a.I.Token(t, map[string]any{"sub": "alice@example.com"})).Call("stock")
			line := a.Lines(1)[0]
			want := a.I.URL
			switch name {
			case "hash":
				want += "|" + line["subject_hash"].(string)
			case "plain":
				want += "|" + line["subject"].(string)
			}
			if text := log.String(); !strings.Contains(text, "principal="+want+" ") || strings.Contains(text, "alice") != (name == "plain") {
				t.Errorf("want principal %s in\n%s", want, text)
			}
		})
	}
	if got := (*audit.Log)(nil).Principal("https://idp.example.com|alice"); got != "https://idp.example.com|alice" {
		t.Errorf("without an audit log: %s", got)
	}
}
