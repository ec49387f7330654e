package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPayloadIsJSONOfItsSize(t *testing.T) {
	for _, p := range []payload{small, large, prose} {
		body := p.body(sample)
		if len(body) != p.bytes || !json.Valid([]byte(body)) || strings.Count(body, sample) != 1 {
			t.Errorf("%s: %d bytes, valid JSON %t, number %d times; want %d bytes of JSON with the number once",
				p.name, len(body), json.Valid([]byte(body)), strings.Count(body, sample), p.bytes)
		}
	}
}

// A call through the proxy to the upstream, with the lean client; chunked and counted bodies both.
func TestCallVerifiesEachAnswer(t *testing.T) {
	up := httptest.NewServer(upstream())
	defer up.Close()
	target, err := url.Parse(up.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(reverseProxy(target))
	defer proxy.Close()
	defer http.DefaultClient.CloseIdleConnections()
	for _, p := range []payload{small, large, prose} {
		host := strings.TrimPrefix(proxy.URL, "http://")
		tg, err := newTarget("proxy", host, nil, get("/"+p.name+"/"+sample, host), verifyPlain(p))
		if err != nil {
			t.Fatal(err)
		}
		c, err := tg.newCall(3)
		if err != nil {
			t.Fatal(err)
		}
		defer c.conn.Close()
		for range 3 {
			if err := c.do(); err != nil {
				t.Errorf("%s: %v", p.name, err)
			}
		}
		tg.answer[1] = append(tg.answer[1][:len(tg.answer[1])-1:len(tg.answer[1])-1], ']')
		if err := c.do(); err == nil || !strings.HasPrefix(err.Error(), "the answer to call 130000004 is not what it should be: ") {
			t.Errorf("%s: a wrong answer gave %v", p.name, err)
		}
	}
}

func TestRatiosCompareRoundsThatRanSideBySide(t *testing.T) {
	base := []Round{{Rate: 100}, {Rate: 50}, {Rate: 200}}
	got := ratios([]Round{{Rate: 90}, {Rate: 60}, {Rate: 200}}, base, func(r Round) float64 { return r.Rate })
	if want := "1.00 (0.90 to 1.20)"; got != want {
		t.Errorf("ratios = %q, want %q", got, want)
	}
}
