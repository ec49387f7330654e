package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"drawbridge/test/openload"
	"drawbridge/test/wire"
)

var badDocuments = figure{
	number: 7, name: "ten documents, four bad",
	conditions: [3]string{
		"one start: a dead and a hanging server, a YAML bomb and an HTML page beside six good documents",
		"5 starts: a dead and a hanging server, a YAML bomb and an HTML page beside six good documents",
		"50 starts: a dead and a hanging server, a YAML bomb and an HTML page beside six good documents",
	},
	run: runBadDocuments,
}

// runBadDocuments starts the gateway with ten documents, and waits until a client sees the tools of the six good ones.
func runBadDocuments(ctx context.Context, s *suite) (rows []row, err error) {
	hanging, err := net.Listen("tcp", "127.0.0.1:0") // the system takes the connection, and nobody answers
	if err != nil {
		return nil, err
	}
	defer hanging.Close()
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_ = dead.Close()
	bomb := "openapi: 3.0.3\ninfo: {title: Bomb, version: \"1\"}\na0: &a0 [lol]\n"
	for n := 1; n < 40; n++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", n, n, strings.Repeat(fmt.Sprintf("*a%d, ", n-1), 9), n-1)
	}
	documents, err := newService(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/bomb.yaml":
			w.Header().Set("Content-Type", "application/yaml")
			fmt.Fprint(w, bomb)
		case r.URL.Path == "/page":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<!doctype html>\n<html><head><title>Sign in</title></head>\n<body>\n<form action=login></form></body></html>")
		case strings.HasPrefix(r.URL.Path, "/good"):
			answerJSON(w, strings.ReplaceAll(things, "_thing", strings.TrimSuffix(r.URL.Path[1:], ".json")))
		default:
			answerJSON(w, `{}`)
		}
	})
	if err != nil {
		return nil, err
	}
	defer documents.close()
	urls := map[string]string{"dead": "http://" + dead.Addr().String(), "hanging": "http://" + hanging.Addr().String(), "bomb": "http://" + documents.host + "/bomb.yaml", "page": "http://" + documents.host + "/page"}
	list := ""
	for name, u := range urls {
		list += fmt.Sprintf("{spec: %q, name: %s, spec_timeout: 2s}, ", u, name)
	}
	for n := range 6 {
		list += fmt.Sprintf("{spec: %q, name: good%d}, ", fmt.Sprintf("http://%s/good%d.json", documents.host, n), n)
	}
	var times []float64
	explained := map[string]string{}
	starts := by(s, [3]int{1, 5, 50})
	for n := range starts {
		err := func() (err error) {
			began := time.Now()
			g, err := s.start(ctx, setup{apis: "[" + list + "]"})
			if err != nil {
				return err
			}
			defer g.stopInto(&err)
			if err := g.child.Await(ctx, func(context.Context) error { return g.lists(12) }); err != nil {
				return err
			}
			times = append(times, float64(time.Since(began))/1e6)
			if n < starts-1 {
				return nil // one that hangs has its reason when its time is over, and each start gives the same
			}
			return g.explain(ctx, explained, len(urls))
		}()
		if err != nil {
			return nil, err
		}
	}
	middle, _, most := median(times)
	rows = []row{{"six are served after", "< 1 s", fmt.Sprintf("%.0f ms (median of %d), %.0f ms (most)", middle, starts, most), s.timed(most < 1000)}}
	for _, bad := range []struct {
		name  string
		wants []string
	}{{"dead", []string{"connect"}}, {"hanging", []string{"time"}}, {"bomb", []string{"/bomb.yaml:5:50: ", "alias"}}, {"page", []string{"/page:1:1: ", "HTML"}}} {
		met := true
		for _, want := range bad.wants {
			met = met && strings.Contains(explained[bad.name], want)
		}
		goal := "in words"
		if strings.Contains(bad.wants[0], ":") {
			goal = "in words, with line and column"
		}
		rows = append(rows, row{bad.name + " is explained", goal, strings.ReplaceAll(explained[bad.name], "\n", " "), verdictOf(met)})
	}
	return rows, nil
}

// lists tells whether the gateway lists that many tools.
func (g *gateway) lists(tools int) error {
	c := &caller{client: &wire.Client{Host: g.host, Revision: wire.Modern}}
	defer c.close()
	a, body, err := c.exchange(c.client.List(""))
	if err != nil {
		return err
	}
	var reply struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal(body, &reply); err != nil || a.Status != http.StatusOK {
		return fmt.Errorf("status %d: %.200s", a.Status, body)
	}
	if len(reply.Result.Tools) < tools {
		return fmt.Errorf("%d tools", len(reply.Result.Tools))
	}
	return nil
}

// explain waits until the gateway says of so many APIs what is wrong with them.
func (g *gateway) explain(ctx context.Context, into map[string]string, apis int) error {
	ctx, cancel := context.WithTimeout(ctx, 40*time.Second)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+g.admin+"/apis", nil)
		if err != nil {
			return err
		}
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			return err
		}
		var status struct {
			APIs []struct{ Name, State, Error string } `json:"apis"`
		}
		err = json.NewDecoder(resp.Body).Decode(&status)
		resp.Body.Close()
		if err != nil {
			return err
		}
		clear(into)
		for _, a := range status.APIs {
			if a.Error != "" {
				into[a.Name] = a.Error
			}
		}
		if len(into) >= apis {
			return nil
		}
		if !openload.Pause(ctx, 50*time.Millisecond) {
			return fmt.Errorf("%d of %d APIs have a reason: %v", len(into), apis, into)
		}
	}
}
