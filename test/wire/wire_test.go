package wire

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
			c := New(near)
			a, err := c.Exchange([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
			got := fmt.Sprintf("%d %q", a.Status, a.Body)
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("exchange = %s, want %s", got, test.want)
			}
		})
	}
}
