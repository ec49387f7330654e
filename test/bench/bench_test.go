package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
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
		defer c.conn.close()
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

func TestExchangeReadsEveryFraming(t *testing.T) {
	for _, test := range []struct{ name, raw, want string }{
		{"length", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", `200 "abc"`},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", `200 "abc"`},
		{"accepted", "HTTP/1.1 202 Accepted\r\nMcp-Session-Id: s\r\n\r\n", `202 ""`},
		{"no framing", "HTTP/1.1 200 OK\r\n\r\nabc", "read body: answer has neither length nor chunks"},
		{"bad chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", `read body: chunk size "zz": strconv.ParseUint: parsing "zz": invalid syntax`},
	} {
		t.Run(test.name, func(t *testing.T) {
			near, far := net.Pipe()
			defer near.Close()
			go func() {
				defer far.Close()
				if _, err := http.ReadRequest(bufio.NewReader(far)); err != nil {
					t.Error(err)
				}
				fmt.Fprint(far, test.raw)
			}()
			c := &conn{net: near, in: bufio.NewReader(near)}
			a, err := c.exchange([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
			got := fmt.Sprintf("%d %q", a.status, a.body)
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("exchange = %s, want %s", got, test.want)
			}
		})
	}
}

func TestRatiosCompareRoundsThatRanSideBySide(t *testing.T) {
	base := []Round{{Rate: 100}, {Rate: 50}, {Rate: 200}}
	got := ratios([]Round{{Rate: 90}, {Rate: 60}, {Rate: 200}}, base, func(r Round) float64 { return r.Rate })
	if want := "1.00 (0.90 to 1.20)"; got != want {
		t.Errorf("ratios = %q, want %q", got, want)
	}
}
