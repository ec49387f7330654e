package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"drawbridge/auth/authtest"
	"drawbridge/test/openload"
	"drawbridge/test/process"
	"drawbridge/test/wire"
)

var added = figure{
	number: 26, name: "time that the gateway adds to a call",
	conditions: [3]string{
		scaled: "one connection, 1 KiB of JSON of a service in a process of its own, a token, rates that nobody reaches and an audit log: 5 rounds, in each 0.5 s to the service itself, through a program that only passes bytes on, through net/http/httputil.ReverseProxy and through the gateway, one call after the other, and the same with 1 ms of rest before each",
		full:   "one connection, 1 KiB of JSON of a service in a process of its own, a token, rates that nobody reaches and an audit log: 30 rounds, in each 5 s to the service itself, through a program that only passes bytes on, through net/http/httputil.ReverseProxy and through the gateway, one call after the other, and the same with 1 ms of rest before each",
	},
	run: runAdded,
}

// rhythm is how calls of one connection follow each other.
type rhythm struct {
	name string
	rest time.Duration // before each call
	goal bool
}

// The goal is for calls that follow each other. After a rest the processors sleep and their caches are cold: a call of the service itself
// takes several times as long then, which says more of the machine than of what stands between.
var rhythms = []rhythm{{"one call after the other", 0, true}, {"1 ms of rest before each", time.Millisecond, false}}

// oneKiB is the document of what the service of the bench answers with a kibibyte.
const oneKiB = `{"openapi":"3.1.0","info":{"title":"One","version":"1"},"paths":{"/small/{id}":{
"get":{"operationId":"get_small","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}}}}`

// runAdded compares, with all checks on as in the bench, calls of the service itself, through a relay of bytes, through a bare proxy and through the gateway, each on one
// connection, in windows by turns.
// Service, proxy and gateway are processes of their own: within one, an answer comes without any of them being woken, as it never does.
func runAdded(ctx context.Context, s *suite) (rows []row, err error) {
	bench := filepath.Join(s.dir, "bench")
	if printed, well, err := s.borrow(ctx, "go", "build", "-o", bench, "./test/bench"); err != nil || !well {
		return nil, fmt.Errorf("build service and proxy: %w\n%s", err, printed)
	}
	upstream, err := startRole(ctx, bench, "upstream", "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, upstream.child.Stop()) }()
	relay, err := startRole(ctx, bench, "relay", "http://"+upstream.host)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, relay.child.Stop()) }()
	proxy, err := startRole(ctx, bench, "proxy", "http://"+upstream.host)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, proxy.child.Stop()) }()
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
	spec, err := s.write("one.json", oneKiB)
	if err != nil {
		return nil, err
	}
	lines := filepath.Join(s.dir, "audit") // a folder of its own: the gateway looks at all that is done in that of its configuration
	if err := os.MkdirAll(lines, 0o700); err != nil {
		return nil, err
	}
	const boundless = "{rate: 1000000/s, burst: 1000000}"
	g, err := s.serve(ctx, setup{
		addresses: []string{host, admin},
		apis:      fmt.Sprintf("[{spec: %q, name: one, base_url: %q, rate: %s}]", spec, "http://"+upstream.host, boundless),
		rates:     "principal_rate: " + boundless,
		more:      fmt.Sprintf("auth: {issuers: [{issuer: %q}], default_scopes: [mcp:tools]}\naudit: {file: %q}\n", issuer.Issuer(), filepath.Join(lines, "audit.jsonl")),
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
	const id = "000000001" // the service asks for so many digits
	call := through.client.Call("get_small", "1", `{"id":"`+id+`"}`)
	routes := make([]*route, ways)
	for i, host := range []string{itself: upstream.host, relayed: relay.host, proxied: proxy.host} {
		conn, err := wire.Dial(host)
		if err != nil {
			return nil, err
		}
		defer conn.Close()
		request := []byte("GET /small/" + id + " HTTP/1.1\r\nHost: " + host + "\r\nAccept: application/json\r\n\r\n")
		// A connection that says nothing for five seconds is closed.
		if routes[i], err = newRoute(func() (wire.Answer, error) { return conn.Exchange(request) }); err != nil {
			return nil, fmt.Errorf("%s: %w", host, err)
		}
		if text, err := through.call("get_small", 1, `{"id":"`+id+`"}`); err != nil || text != string(routes[i].answer) {
			return nil, fmt.Errorf("a call gives %.100q, not %.100q: %w", text, routes[i].answer, err)
		}
	}
	if routes[checked], err = newRoute(func() (wire.Answer, error) { a, _, err := through.exchange(call); return a, err }); err != nil {
		return nil, fmt.Errorf("the gateway: %w", err)
	}
	for _, r := range rhythms {
		more, err := r.compare(ctx, s, routes)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// The ways to the service that are compared.
const (
	itself  = iota
	relayed // through a program that only passes bytes on
	proxied // through net/http/httputil.ReverseProxy
	checked // through the gateway
	ways
)

// route is one way to the same answer: the same call each time.
type route struct {
	call   func() (wire.Answer, error)
	answer []byte // to the first call
}

// newRoute makes the first call.
func newRoute(call func() (wire.Answer, error)) (*route, error) {
	a, err := call()
	if err != nil || a.Status != http.StatusOK {
		return nil, fmt.Errorf("the first call gives status %d: %w", a.Status, err)
	}
	return &route{call, bytes.Clone(a.Body)}, nil
}

// compare gives what stands between adds to calls of the service itself.
func (r rhythm) compare(ctx context.Context, s *suite, routes []*route) ([]row, error) {
	length := by(s, [3]time.Duration{100 * time.Millisecond, 500 * time.Millisecond, 5 * time.Second})
	var p50, p99 [ways][]float64 // in µs: the service itself, and what the others add
	for range by(s, [3]int{1, 5, 30}) {
		var middle, late [ways]float64
		for i, to := range routes {
			times, err := r.window(ctx, length, to)
			if err != nil {
				return nil, err
			}
			middle[i], late[i] = float64(quantile(times, 0.5))/1e3, float64(quantile(times, 0.99))/1e3
		}
		for i := range routes {
			if i != itself {
				middle[i], late[i] = middle[i]-middle[itself], late[i]-late[itself]
			}
			p50[i], p99[i] = append(p50[i], middle[i]), append(p99[i], late[i])
		}
	}
	result := func(quantile, goal string, values [ways][]float64, met func(added, byProxy float64) bool) row {
		service, _, _ := median(values[itself])
		copied, _, _ := median(values[relayed])
		bare, _, _ := median(values[proxied])
		middle, least, above := median(values[checked])
		v := shown
		if r.goal {
			v = verdictOf(met(middle, bare))
		} else {
			goal = ""
		}
		return row{
			fmt.Sprintf("%s, %s", quantile, r.name), goal,
			fmt.Sprintf("+%.0f µs (%.0f to %.0f); httputil.ReverseProxy +%.0f, a relay of bytes +%.0f, the service itself %.0f", middle, least, above, bare, copied, service), v,
		}
	}
	return []row{
		result("p50", "<= 1.5 × httputil.ReverseProxy", p50, func(added, byProxy float64) bool { return added <= 1.5*byProxy }),
		result("p99", "<= 1 ms", p99, func(added, _ float64) bool { return added <= 1000 }),
	}, nil
}

// window calls for that long, and returns the sorted times. A failed call is quick, and status 200 as well: each answer must be what the first was.
func (r rhythm) window(ctx context.Context, length time.Duration, to *route) ([]time.Duration, error) {
	var times []time.Duration
	for end := time.Now().Add(length); time.Now().Before(end); {
		if r.rest > 0 && !openload.Pause(ctx, r.rest) || ctx.Err() != nil {
			return nil, ctx.Err()
		}
		start := time.Now()
		a, err := to.call()
		took := time.Since(start)
		if err != nil || a.Status != http.StatusOK {
			return nil, fmt.Errorf("status %d: %w", a.Status, err)
		}
		if !bytes.Equal(a.Body, to.answer) {
			return nil, fmt.Errorf("a call gives %.200q, and the first gave %.200q", a.Body, to.answer)
		}
		times = append(times, took)
	}
	slices.Sort(times)
	return times, nil
}

// role is a part of the bench in a process of its own: its service, or net/http/httputil's proxy.
type role struct {
	child *process.Child
	host  string
}

func startRole(ctx context.Context, bench, name, target string) (role, error) {
	child, err := process.StartPiped(ctx, bench, "-role", name, "-target", target)
	if err != nil {
		return role{}, err
	}
	r := role{child: child}
	err = child.Await(ctx, func(context.Context) error {
		line, _, whole := strings.Cut(child.Log(), "\n")
		if !whole {
			return fmt.Errorf("the %s has not printed its address", name)
		}
		r.host = strings.TrimPrefix(line, "http://")
		return nil
	})
	return r, err
}

var tokenCost = figure{
	number: 25, name: "what a token costs",
	conditions: [3]string{scaled: "benchmarks of auth, 3 × 0.5 s each", full: "benchmarks of auth, 10 × 3 s each"},
	run: func(ctx context.Context, s *suite) ([]row, error) {
		count, length := "3", "0.5s"
		if s.size == full {
			count, length = "10", "3s"
		}
		printed, well, err := s.borrow(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkCachedToken$|^BenchmarkP256$|^BenchmarkColdToken$/^ES256$", "-count", count, "-benchtime", length, "./auth")
		if err != nil || !well {
			return nil, errors.Join(err, fmt.Errorf("the benchmarks failed:\n%s", printed))
		}
		var rows []row
		for _, b := range []struct {
			what, line string
			most       float64 // µs; 0: no goal
		}{
			{"that was seen before", `BenchmarkCachedToken\S*\s+\d+\s+([\d.]+) ns/op`, 2},
			{"that is new, ES256", `BenchmarkColdToken/ES256\S*\s+\d+\s+([\d.]+) ns/op`, 150},
			{"of it crypto/ecdsa, by itself", `BenchmarkP256\S*\s+\d+\s+([\d.]+) ns/op`, 0},
		} {
			var values []float64
			for _, found := range regexp.MustCompile(b.line).FindAllStringSubmatch(printed, -1) {
				if v, err := strconv.ParseFloat(found[1], 64); err == nil {
					values = append(values, v/1e3)
				}
			}
			middle, least, most := median(values)
			goal, v := fmt.Sprintf("<= %.0f µs", b.most), verdictOf(len(values) > 0 && middle <= b.most)
			if b.most == 0 {
				goal, v = "", shown
			}
			rows = append(rows, row{b.what, goal, fmt.Sprintf("%.2f µs (%.2f to %.2f)", middle, least, most), v})
		}
		more, err := s.tests(ctx, "opaque tokens are asked about once a minute", "^TestIntrospect", "./auth")
		return append(rows, more...), err
	},
}
