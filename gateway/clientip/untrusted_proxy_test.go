package clientip

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"drawbridge/test/race"
)

// TestUnlistedProxy tells the operator of a proxy that was forgotten, once, and again after a reload that did not list it.
func TestUnlistedProxy(t *testing.T) {
	var log bytes.Buffer
	u := NewUntrustedProxies(slog.New(slog.NewTextHandler(&log, nil)), prometheus.NewRegistry())
	clients := trusting("10.0.0.0/8")
	arrive := func(peer string, h http.Header) {
		r := httptest.NewRequest(http.MethodPost, "/mcp", http.NoBody)
		r.RemoteAddr, r.Header = peer, h
		if _, _, untrusted := clients.Classify(r); untrusted {
			u.Observe(r)
		}
	}
	list, forwarded := http.Header{"X-Forwarded-For": {"198.51.100.77"}}, http.Header{"Forwarded": {"for=198.51.100.77"}}
	told := func(want ...string) {
		t.Helper()
		var got []string
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "198.51.100.77") {
				t.Errorf("what a header said is in the log: %s", line)
			}
			if _, peer, ok := strings.Cut(strings.TrimSpace(line), `leave it out" peer=`); ok && strings.Contains(line, "level=WARN") {
				got = append(got, peer)
			} else {
				t.Errorf("unexpected line %s", line)
			}
		}
		log.Reset()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("told of %v, want %v", got, want)
		}
	}
	arrive("10.0.0.1:80", list) // it is listed
	arrive("192.0.2.9:80", http.Header{})
	arrive("@", list)
	told()
	arrive("192.0.2.9:80", list)
	arrive("192.0.2.9:81", forwarded)
	arrive("192.0.2.200:80", list) // another one of the same
	told("192.0.2.9")
	arrive("[::ffff:192.168.1.1]:80", forwarded)
	arrive("[2001:db8::7]:80", list)
	arrive("[2001:db8::8]:80", list)
	arrive("[2001:db8:0:1::8]:80", list)
	arrive("127.0.0.1:80", list)
	told("192.168.1.1", "2001:db8::7", "2001:db8:0:1::8", "127.0.0.1")
	for kind, want := range map[peerKind]float64{peerLoopback: 1, peerPrivate: 1, peerPublic: 6} {
		if got := testutil.ToFloat64(u.requests[kind]); got != want {
			t.Errorf("%s: counted %v, want %v", kind, got, want)
		}
	}
	u.Reset()
	arrive("192.0.2.9:80", list)
	told("192.0.2.9")
}

// TestUnlistedProxyFlood: strangers from everywhere who send the headers fill neither the log nor the memory.
func TestUnlistedProxyFlood(t *testing.T) {
	var log bytes.Buffer
	u := NewUntrustedProxies(slog.New(slog.NewTextHandler(&log, nil)), prometheus.NewRegistry())
	for n := range 5000 {
		r := httptest.NewRequest(http.MethodPost, "/mcp", http.NoBody)
		r.RemoteAddr = fmt.Sprintf("192.%d.%d.1:80", n>>8, n&255)
		u.Observe(r)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if last := lines[len(lines)-1]; len(lines) != maxWarned+1 || !strings.Contains(last, "further peers that are not in server.trusted_proxies are counted, but not logged for a while") {
		t.Errorf("%d lines, the last is %s", len(lines), last)
	}
	if n := len(u.warned[peerPublic].at); n != maxWarned {
		t.Errorf("%d networks are remembered", n)
	}
	if got := testutil.ToFloat64(u.requests[peerPublic]); got != 5000 {
		t.Errorf("counted %v", got)
	}
	log.Reset()
	r := httptest.NewRequest(http.MethodPost, "/mcp", http.NoBody)
	if n := testing.AllocsPerRun(100, func() { u.Observe(r) }); n > 0 && !race.Enabled {
		t.Errorf("%v allocations for a peer that is not told of", n)
	}
}

// TestUnlistedProxyAmongStrangers: strangers without end keep neither a proxy of the house nor, for long, one out there from being told of. Who is told of is
// told of again each hour, and the log stays bounded.
func TestUnlistedProxyAmongStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		u := NewUntrustedProxies(slog.New(slog.NewTextHandler(&log, nil)), prometheus.NewRegistry())
		arrive := func(peer string) {
			r := httptest.NewRequest(http.MethodPost, "/mcp", http.NoBody)
			r.RemoteAddr = peer
			u.Observe(r)
		}
		const hours = 6
		stranger, most := 0, 0
		for minute := range hours * 60 {
			for n := range 40 { // half of all requests are the proxy's
				if (n+minute)%2 == 0 {
					stranger++
					arrive(fmt.Sprintf("198.%d.%d.1:80", stranger>>8&255, stranger&255))
				} else if minute > 0 { // and the strangers were first
					arrive("203.0.113.9:80")
				}
			}
			arrive("10.1.2.3:80")
			most = max(most, len(u.warned[peerPublic].at))
			time.Sleep(time.Minute)
		}
		told := func(what string) int { return strings.Count(log.String(), what) }
		if n := told("peer=10.1.2.3"); n != hours {
			t.Errorf("the proxy of the house was told of %d times in %d hours", n, hours)
		}
		if n := told("peer=203.0.113.9"); n == 0 || n > hours {
			t.Errorf("the proxy out there was told of %d times in %d hours", n, hours)
		}
		if n := told("\n"); n > hours*(maxWarned+2)+maxWarned {
			t.Errorf("%d lines in %d hours", n, hours)
		}
		if n := told("are counted, but not logged for a while"); n == 0 || n > hours {
			t.Errorf("that there are more was told %d times", n)
		}
		if most > 2*maxWarned {
			t.Errorf("%d networks were remembered", most)
		}
	})
}
