package config

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

// TestSecretIsNeverPrinted prints a secret in every way there is: by itself, behind a pointer, inside exported and
// unexported fields, in lists and maps (E8).
func TestSecretIsNeverPrinted(t *testing.T) {
	const canary = "hunter2-canary"
	s := NewSecret(canary)
	type hidden struct{ s Secret }
	type shown struct{ S Secret }
	values := []any{
		s, &s, []Secret{s}, map[string]Secret{"k": s}, hidden{s}, &hidden{s}, shown{s}, &shown{s}, [1]hidden{{s}},
		&Config{Admin: Admin{Token: s}, APIs: []API{{Credential: &Credential{Token: s, Password: s, Value: s}}}},
	}
	var out bytes.Buffer
	for _, v := range values {
		for verb := ' '; verb < 0x7f; verb++ {
			for _, flags := range []string{"", "+", "#", "-", "0", " ", "+#", "40.30"} {
				fmt.Fprintf(&out, "%"+flags+string(verb), v)
			}
		}
		for _, print := range []func() ([]byte, error){
			func() ([]byte, error) { return json.Marshal(v) },
			func() ([]byte, error) { return yaml.Marshal(v) },
			func() ([]byte, error) { return xml.Marshal(v) },
		} {
			text, _ := print() // XML knows no maps
			out.Write(text)
		}
		for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(h).Info("secret", "value", v, "any", []any{v})
		}
	}
	func() {
		defer func() { fmt.Fprint(&out, recover()) }()
		panic(s)
	}()
	// Also as numbers: %x, %q, %U, %d of the bytes.
	hex := fmt.Sprintf("%x", canary)
	decimal := strings.Trim(fmt.Sprint([]byte(canary[:6])), "[]")
	for _, leak := range []string{canary, canary[:7], hex[:12], strings.ToUpper(hex[:12]), decimal} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("found %q in what was printed", leak)
		}
	}
	if !strings.Contains(fmt.Sprintf("%v %+v %#v %s", s, s, shown{s}, &s), "[redacted] [redacted] ") {
		t.Error("a secret does not print as [redacted]")
	}
	if s.Reveal() != canary || s.IsZero() || !(Secret{}).IsZero() || (Secret{}).Reveal() != "" {
		t.Error("Reveal or IsZero is wrong")
	}
}

// TestSecretTypes holds that every field of the configuration that is a secret by its name is one by its type.
func TestSecretTypes(t *testing.T) {
	for _, typ := range structs() {
		for _, f := range fieldsOf(typ) {
			ft := typ.Field(f.index).Type
			if ft.Kind() == reflect.Slice {
				ft = ft.Elem()
			}
			secret := ft == reflect.TypeFor[Secret]()
			if _, beside := typ.FieldByName("Secret"); beside && f.name == "value" {
				continue // a secret has a key of its own
			}
			if typ == reflect.TypeFor[ServerVariable]() {
				continue // a part of a URL, which is shown
			}
			switch f.name {
			case "token", "password", "value", "client_secret", "secret_access_key", "session_token", "seal_keys", "secret", "callback_secret", "hash_key":
				if !secret {
					t.Errorf("%s.%s is a %s", typ.Name(), f.name, ft)
				}
			default:
				if secret {
					t.Errorf("%s.%s is a secret: name it here", typ.Name(), f.name)
				}
			}
		}
	}
}

func TestByteSizeRoundTrip(t *testing.T) {
	for range 10_000 {
		want := ByteSize(rand.Int64() >> rand.IntN(63))
		if rand.IntN(2) == 0 {
			want = want >> 30 << 30 // a whole number of GiB
		}
		var got ByteSize
		if err := got.parse(want.String()); err != nil || got != want {
			t.Fatalf("%q is read as %d, %v; want %d", want, got, err, want)
		}
	}
}

func TestByteSize(t *testing.T) {
	for text, want := range map[string]ByteSize{
		"0": 0, "1": 1, "512B": 512, "1KB": 1000, "1 KiB": 1024, "3MB": 3e6, "8MiB": 8 << 20, "1GB": 1e9, "2GiB": 2 << 30,
	} {
		var got ByteSize
		if err := got.parse(text); err != nil || got != want {
			t.Errorf("%q is read as %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "B", "-1", "1.5MiB", "1kb", "1K", "1iB", "9223372036854775807KiB", "0x10", "1e3"} {
		var got ByteSize
		if err := got.parse(text); err == nil {
			t.Errorf("%q is read as %d; want an error", text, got)
		}
	}
}

func TestDurationRoundTrip(t *testing.T) {
	for _, text := range []string{"0s", "1ns", "250ms", "30s", "5m", "1h", "1h30m", "1h0m1s", "1m30s", "100h", "10m", "20h"} {
		var d Duration
		if err := d.parse(text); err != nil || d.String() != text {
			t.Errorf("%q is read as %q, %v", text, d, err)
		}
	}
	for range 10_000 {
		want := Duration(rand.Int64N(int64(1000*time.Hour)) / 1e9 * 1e9)
		var got Duration
		if err := got.parse(want.String()); err != nil || got != want {
			t.Fatalf("%q is read as %d, %v; want %d", want, got, err, want)
		}
	}
}

func TestAddress(t *testing.T) {
	for text, loopback := range map[string]bool{
		"127.0.0.1:8080": true, "127.1.2.3:0": true, "localhost:80": true, "LocalHost:80": true, "[::1]:80": true,
		"[::ffff:127.0.0.1]:80": true,
		":80":                   false, "0.0.0.0:80": false, "[::]:80": false, "10.0.0.1:80": false, "gateway:80": false,
		"localhost.example.com:80": false, "127.0.0.1.example.com:80": false,
	} {
		var a Address
		if err := a.parse(text); err != nil || a.Loopback() != loopback {
			t.Errorf("%q: loopback %t, %v; want %t", text, a.Loopback(), err, loopback)
		}
	}
	// What is not quite an address of loopback must not be taken for one, nor for a host name.
	for _, text := range []string{
		"", "80", "localhost", "127.1:80", "2130706433:80", "0177.0.0.1:80", "127.0.0.1:080", "127.0.0.1:-1", "127.0.0.1:65536",
		"127.0.0.1:http", "::1:80", "a b:80", "-a:80", "a..b:80", "127.0.0.1 :80",
	} {
		var a Address
		if err := a.parse(text); err == nil {
			t.Errorf("%q is taken for an address, loopback %t", text, a.Loopback())
		}
	}
}

func TestURL(t *testing.T) {
	for text, origin := range map[string]string{
		"https://Example.com":           "https://example.com",
		"https://example.com:443/a/":    "https://example.com",
		"http://example.com:443/a":      "http://example.com:443",
		"HTTP://example.com:80":         "http://example.com",
		"https://[::1]:8443/":           "https://[::1]:8443",
		"https://example.com/a%2Fb/ä":   "https://example.com",
		"https://xn--bcher-kva.example": "https://xn--bcher-kva.example",
	} {
		u, err := ParseURL(text)
		if err != nil || u.String() != text || u.Origin() != origin {
			t.Errorf("%q: %q with origin %q, %v; want origin %q", text, u, u.Origin(), err, origin)
		}
	}
	for _, text := range []string{
		"", "example.com", "//example.com", "/a", "https://", "https:///a", "https:a", "ftp://example.com", "https://a@example.com",
		"https://a:b@example.com", "https://example.com?", "https://example.com/?a=b", "https://example.com#", "https://example.com/#a",
		"https://example.com:", "https://example.com:0", "https://example.com:99999", "https://example.com:a", "https://exa mple.com",
		"https://example.com\\@evil.example", "https://example.com/\n", "https://example.com/%zz", "https://[::1",
	} {
		if u, err := ParseURL(text); err == nil {
			t.Errorf("%q is taken for a URL: %q", text, u)
		}
	}
	u, _ := ParseURL("https://example.com/a")
	u.URL().Host = "evil.example"
	if u.URL().Host != "example.com" {
		t.Error("a URL can be changed through its copy")
	}
}

func TestLogLevel(t *testing.T) {
	for _, text := range LogLevel("").values() {
		if got := strings.ToLower(LogLevel(text).Level().String()); got != text {
			t.Errorf("%q is the level %q", text, got)
		}
	}
}

func TestPointer(t *testing.T) {
	for _, text := range []string{"/", "/a", "/a/0/b", "/a~1b~0c", "//", "/ä b"} {
		var p Pointer
		if err := p.parse(text); err != nil || p.String() != text {
			t.Errorf("%q: %q, %v", text, p, err)
		}
	}
	for _, text := range []string{"", "a", "#/a", "$.a", "/a~", "/a~2", "/~0~", "/" + strings.Repeat("a", maxPointer)} {
		var p Pointer
		if err := p.parse(text); err == nil {
			t.Errorf("%q is taken for a JSON Pointer", text)
		}
	}
}
