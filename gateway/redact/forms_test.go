package redact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// TestEchoes checks that no form of a secret remains in any context, and that JSON stays JSON.
func TestEchoes(t *testing.T) {
	for _, secret := range []string{"secret-1", "ZZZZZZZZ", `a"b\c/d+e<f>&'`, "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"} {
		e := newForms([]*config.Credential{{Type: config.CredentialBearer, Token: config.NewSecret(secret)}})
		quoted, _ := json.Marshal(secret)
		for _, form := range []string{string(quoted), string(jsonscan.AppendString(nil, secret)), strings.ReplaceAll(string(jsonscan.AppendString(nil, secret)), "/", `\/`)} {
			text := `{"a":` + form + `,"b":[` + form[:1] + `x` + form[1:len(form)-1] + form[1:] + `]}`
			p := answer.Part{Kind: answer.JSON, Data: []byte(text)}
			if !e.Part(&p) || p.Kind != answer.JSON || string(p.Data) != `{"a":"[redacted]","b":["x[redacted][redacted]"]}` {
				t.Errorf("%s\n→ %s", text, p.Data)
			}
		}
		p := answer.Part{Kind: answer.Text, Data: []byte(secret[:len(secret)-1])}
		if e.Part(&p) || string(p.Data) != secret[:len(secret)-1] {
			t.Errorf("%q: the beginning alone became %q", secret, p.Data)
		}
	}
	if e := newForms([]*config.Credential{nil, {Type: config.CredentialBearer}}); e != nil {
		t.Error("no secret has echoes")
	}
}

// BenchmarkEcho measures the search for a credential in a response of 256 KiB that does not have it.
func BenchmarkEcho(b *testing.B) {
	var text strings.Builder
	for i := 0; text.Len() < 256<<10; i++ {
		fmt.Fprintf(&text, `{"id":%d,"name":"order number %d","note":"left at the \"back\" door"},`, i, i)
	}
	data := []byte(text.String())
	for name, secret := range map[string]string{
		"jwt":    "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiYWRtaW4iOnRydWV9.abcdefghijk",
		"hex":    "0123456789abcdef0123456789abcdef",
		"letter": "nnnnnnnnnnnnnnnnnnnn",
	} {
		b.Run(name, func(b *testing.B) {
			e := &Forms{}
			e.add(secret)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				p := answer.Part{Kind: answer.JSON, Data: data}
				if e.Part(&p) {
					b.Fatal("found")
				}
			}
		})
	}
}
