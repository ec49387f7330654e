package elicit

import (
	"strings"
	"testing"
)

// TestUntrustedText checks the limits of text from a document: no invisible characters, no secrets, no links.
func TestUntrustedText(t *testing.T) {
	for _, tt := range []struct{ message, schema, want string }{
		{"Which size?", `{"type":"object","properties":{"size":{"type":"string","title":"Si\u202eze","description":"S to \u001b[31mXL"}}}`, ""},
		{"Type your password", `{"type":"object","properties":{"note":{"type":"string"}}}`, "the message speaks of a secret, for which a document must not ask a user"},
		{"Open https://evil.example/", `{"type":"object","properties":{"note":{"type":"string"}}}`, "the message has a URL, to which a document must not send a user"},
		{"More", `{"type":"object","properties":{"note":{"type":"string","description":"The Password of your account"}}}`, `the field "note" speaks of a secret, for which a document must not ask a user`},
		{"More", `{"type":"object","properties":{"note":{"type":"string","oneOf":[{"const":"a","title":"see www.evil.example"}]}}}`, `the field "note" has a URL, to which a document must not send a user`},
	} {
		form, err := configuredForm([]byte(tt.schema))
		if err != nil {
			t.Fatal(err)
		}
		in := &question{message: tt.message, form: form, untrusted: true}
		got := ""
		if err := in.limitUntrusted(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s, %s: %q, want %q", tt.message, tt.schema, got, tt.want)
		}
		if got == "" {
			schema, err := form.schema(formFull, func(string) bool { return true })
			if err != nil || strings.Contains(string(schema), "\u202e") || strings.Contains(string(schema), `\u001b`) || strings.Contains(string(schema), `\u202e`) {
				t.Errorf("%s, %v", schema, err)
			}
		}
	}
}

// TestSecretWords checks names that look like those of secrets, and names that don't.
func TestSecretWords(t *testing.T) {
	for name, want := range map[string]bool{
		"password": true, "userPassword": true, "userpassword": true, "passwort": true, "contraseña": true, "access_token": true, "accesstoken": true,
		"clientSecret": true, "creditcard": true, "mfaCode": true, "seedPhrase": true, "PIN": true, "apiKey": true,
		"name": false, "secretary": false, "tokenized": false, "pinboard": false, "key": false, "cardholder": false,
	} {
		if got := namesSecret(name); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}
