package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"drawbridge/auth/authtest"
	"drawbridge/test/process"
	"drawbridge/test/wire"
)

var added = figure{
	number: 26, name: "time that the gateway adds to a call",
	conditions: [3]string{
		scaled: "one connection, 1 KiB of JSON, a token: 5 windows of 1 s through the gateway, each between two of 1 s to the service itself",
		full:   "one connection, 1 KiB of JSON, a token: 30 windows of 5 s through the gateway, each between two of 5 s to the service itself",
	},
	run: runAdded,
}

// runAdded compares calls with and without the gateway, one after the other on one connection, in windows that lie between each
// other.
func runAdded(ctx context.Context, s *suite) (rows []row, err error) {
	body := `{"id":"a","pad":"` + string(slices.Repeat([]byte("x"), 1000)) + `"}`
	upstream, err := newService(func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, body) })
	if err != nil {
		return nil, err
	}
	defer upstream.close()
	host, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	admin, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	issuer, err := authtest.Start(authtest.Options{Resources: []string{"http://" + host + "/mcp"}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, issuer.Close()) }()
	token, err := issuer.Issue(authtest.Token{Subject: "tester", Audience: []string{"http://" + host + "/mcp"}, Scopes: []string{"mcp:tools"}, Life: 3 * time.Hour})
	if err != nil {
		return nil, err
	}
	g, err := s.serveThings(ctx, upstream.host, "", setup{
		addresses: []string{host, admin},
		more:      fmt.Sprintf("auth: {issuers: [{issuer: %q}], default_scopes: [mcp:tools]}\n", issuer.Issuer()),
	})
	if err != nil {
		return nil, err
	}
	defer g.stopInto(&err)
	through, err := newCaller(host, wire.Modern, token)
	if err != nil {
		return nil, err
	}
	defer through.close()
	direct, err := wire.Dial(upstream.host)
	if err != nil {
		return nil, err
	}
	defer direct.Close()
	plain := []byte("GET /things/a HTTP/1.1\r\nHost: " + upstream.host + "\r\nAccept: application/json\r\n\r\n")
	request := through.client.Call("get_thing", "1", `{"id":"a"}`)
	if text, err := through.call("get_thing", 1, `{"id":"a"}`); err != nil || text != body {
		return nil, fmt.Errorf("a call gives %.100q, %w", text, err)
	}
	length := by(s, [3]time.Duration{time.Second, time.Second, 5 * time.Second})
	window := func(call func() (wire.Answer, error)) (p50, p99 float64, err error) {
		var times []time.Duration
		for end := time.Now().Add(length); time.Now().Before(end); {
			start := time.Now()
			if a, err := call(); err != nil || a.Status != http.StatusOK {
				return 0, 0, fmt.Errorf("status %d: %w", a.Status, err)
			}
			times = append(times, time.Since(start))
			if !pause(ctx, time.Millisecond) { // the time of one call is looked for, and not how many can be made
				return 0, 0, ctx.Err()
			}
		}
		slices.Sort(times)
		return float64(quantile(times, 0.5)) / 1e3, float64(quantile(times, 0.99)) / 1e3, nil
	}
	itself := func() (wire.Answer, error) { return direct.Exchange(plain) }
	gateway := func() (wire.Answer, error) { a, _, err := through.exchange(request); return a, err }
	var more50, more99 []float64
	before50, before99, err := window(itself)
	if err != nil {
		return nil, err
	}
	for range by(s, [3]int{1, 5, 30}) {
		p50, p99, err := window(gateway)
		if err != nil {
			return nil, err
		}
		after50, after99, err := window(itself)
		if err != nil {
			return nil, err
		}
		more50, more99 = append(more50, p50-(before50+after50)/2), append(more99, p99-(before99+after99)/2)
		before50, before99 = after50, after99
	}
	tell := func(values []float64) (float64, string) {
		middle, least, most := median(values)
		return middle, fmt.Sprintf("+%.0f µs (%.0f to %.0f)", middle, least, most)
	}
	p50, words50 := tell(more50)
	p99, words99 := tell(more99)
	return []row{
		{"p50", "<= 150 µs", words50, verdictOf(p50 <= 150)},
		{"p99", "<= 1 ms", words99, verdictOf(p99 <= 1000)},
	}, nil
}

var tokenCost = figure{
	number: 25, name: "what a token costs",
	conditions: [3]string{scaled: "benchmarks of auth, 3 × 0.5 s each", full: "benchmarks of auth, 10 × 3 s each"},
	run: func(ctx context.Context, s *suite) ([]row, error) {
		count, length := "3", "0.5s"
		if s.size == full {
			count, length = "10", "3s"
		}
		printed, well, err := s.borrow(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkCachedToken$|^BenchmarkColdToken$/^ES256$", "-count", count, "-benchtime", length, "./auth")
		if err != nil || !well {
			return nil, errors.Join(err, fmt.Errorf("the benchmarks failed:\n%s", printed))
		}
		var rows []row
		for _, b := range []struct {
			what, line string
			most       float64 // µs
		}{{"that was seen before", `BenchmarkCachedToken\S*\s+\d+\s+([\d.]+) ns/op`, 2}, {"that is new, ES256", `BenchmarkColdToken/ES256\S*\s+\d+\s+([\d.]+) ns/op`, 150}} {
			var values []float64
			for _, found := range regexp.MustCompile(b.line).FindAllStringSubmatch(printed, -1) {
				if v, err := strconv.ParseFloat(found[1], 64); err == nil {
					values = append(values, v/1e3)
				}
			}
			middle, least, most := median(values)
			rows = append(rows, row{b.what, fmt.Sprintf("<= %.0f µs", b.most), fmt.Sprintf("%.2f µs (%.2f to %.2f)", middle, least, most), verdictOf(len(values) > 0 && middle <= b.most)})
		}
		more, err := s.tests(ctx, "opaque tokens are asked about once a minute", "^TestIntrospect", "./auth")
		return append(rows, more...), err
	},
}
