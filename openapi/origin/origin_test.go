package origin

import (
	"net/url"
	"testing"
)

func TestOf(t *testing.T) {
	for text, want := range map[string]string{
		"https://app.example.com":         "https://app.example.com",
		"HTTPS://App.Example.com:443/a?b": "https://app.example.com",
		"https://app.example.com:0443":    "https://app.example.com:0443",
		"https://app.example.com:":        "https://app.example.com",
		"https://a@app.example.com":       "https://app.example.com",
		"http://app.example.com:443":      "http://app.example.com:443",
		"https://app.example.com:80":      "https://app.example.com:80",
		"http://app.example.com:080":      "http://app.example.com:080",
		"http://[::1]:8080/":              "http://[::1]:8080",
		"http://[2001:DB8::1]:80/":        "http://[2001:db8::1]",
		"http://[fe80::1%25eth0]/":        "http://[fe80::1%25eth0]",
		"https://bücher.example":          "https://bücher.example",
		"https://\u212aicro.example":      "https://\u212aicro.example",
		"tauri://localhost":               "tauri://localhost",
		"chrome-extension://ABC:0":        "",
		"app://Notes:1":                   "app://notes:1",
		"ws://app.example.com:80":         "ws://app.example.com:80",
		"https://app.example.com:0":       "",
		"https://app.example.com:65536":   "",
		"https://app.example.com:a":       "",
		"https://":                        "",
		"https://:443":                    "",
		"https:app.example.com":           "",
		"//app.example.com":               "",
		"/a":                              "",
		"mailto:a@app.example.com":        "",
		"null":                            "",
		"":                                "",
		"%":                               "",
	} {
		o, ok := Parse(text)
		if o.String() != want || ok != (want != "") {
			t.Errorf("%q: %q, %t; want %q", text, o, ok, want)
		}
		if again, _ := Parse(want); again != o {
			t.Errorf("%q: %q is read as %q", text, want, again)
		}
	}
	if _, ok := Of(nil); ok {
		t.Error("no URL has an origin")
	}
}

func TestSame(t *testing.T) {
	const here = "https://micro.example.com/openapi.json"
	for other, want := range map[string]bool{
		"https://micro.example.com":            true,
		"HTTPS://MICRO.example.com:443/x":      true,
		"https://micro.example.com:/x":         true,
		"https://micro.example.com:00443/":     false, // a port is compared as spelled
		"https://micro.example.com./x":         false, // another host in TLS, in cookies and in browsers
		"https://m\u0130cro.example.com/":      false, // strings.ToLower turns the dotted I into an i
		"https://micro.example.\u212aom/":      false,
		"https://micro.example.com:8443/":      false,
		"https://micro.example.com:80/":        false,
		"http://micro.example.com/":            false,
		"http://micro.example.com:443/":        false,
		"wss://micro.example.com/":             false,
		"//micro.example.com/":                 false,
		"https:micro.example.com":              false,
		"https://micro.example.com@evil.test/": false,
		"https://micro.example.com%25.evil/":   false,
		"https://micro.example。com/":           false,
		"https://a.micro.example.com/":         false,
	} {
		a, _ := url.Parse(here)
		b, err := url.Parse(other)
		if err != nil {
			t.Fatal(err)
		}
		if Same(a, b) != want || Same(b, a) != want {
			t.Errorf("%+q: same origin: %t, want %t", other, !want, want)
		}
	}
	for _, text := range []string{"", "/a", "mailto:a@b.test", "https://a.test:99999"} {
		if u, err := url.Parse(text); err == nil && Same(u, u) {
			t.Errorf("%q has no origin, and the same as itself", text)
		}
	}
	if Same(nil, nil) {
		t.Error("two nil URLs have the same origin")
	}
}

func TestLower(t *testing.T) {
	for text, want := range map[string]string{"AZ[@az": "az[@az", "\u212a\u0130Ü": "\u212a\u0130Ü", "": ""} {
		if got := Lower(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.255.0.9": true, "::1": true, "0:0:0:0:0:0:0:1": true, "::ffff:127.0.0.1": true, "::FFFF:7f00:1": true,
		"": false, "localhost.": false, "a.localhost": false, "localhost.evil.test": false, "127.0.0.1.evil.test": false, "local\u017fost": false, "localho\u017ft": false,
		"127.1": false, "0177.0.0.1": false, "0x7f.0.0.1": false, "2130706433": false, "127.0.0.1.": false, "①②⑦.0.0.1": false,
		"0.0.0.0": false, "::": false, "10.0.0.1": false, "128.0.0.1": false, "::2": false, "::1%lo": false, "[::1]": false, "[127.0.0.1]": false, "::127.0.0.1": false,
		"localhost:80": false, "ip6-localhost": false, "localhost.localdomain": false,
	} {
		if Loopback(host) != want {
			t.Errorf("%q: loopback: %t, want %t", host, !want, want)
		}
	}
}
