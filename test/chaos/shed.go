package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"drawbridge/test/openload"
	"drawbridge/test/process"
	"drawbridge/test/wire"
)

// notes is a document with a POST that takes a name and a text, as the tool keep_note.
const notes = `{"openapi":"3.1.0","info":{"title":"Notes","version":"1"},"paths":{"/notes":{"post":{"operationId":"keep_note",
"requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"object","properties":{"id":{"type":"string"},"text":{"type":"string"}}}}}},
"responses":{"200":{"description":"ok"}}}}}}`

// runShed has many callers send long texts to a slow service. Nothing else bounds what calls hold together that wait for their answers than the
// memory that there is: beyond a part of it no more are let in.
func runShed(ctx context.Context, s *suite) (rows []row, err error) {
	const takes = 2 * time.Second
	upstream, err := newService(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		openload.Pause(r.Context(), takes)
		answerJSON(w, `{"ok":true}`)
	})
	if err != nil {
		return nil, err
	}
	defer upstream.close()
	spec, err := s.write("notes.json", notes)
	if err != nil {
		return nil, err
	}
	g, err := s.serve(ctx, setup{
		apis:        fmt.Sprintf("[{spec: %q, name: notes, base_url: %q, max_in_flight: 500}]", spec, "http://"+upstream.host),
		environment: []string{"GOMEMLIMIT=217MiB"},
	})
	if err != nil {
		return nil, err
	}
	defer g.stopInto(&err)
	if err := errors.Join(g.until(ctx, "keep_note"), process.ClearPeak(g.child.PID())); err != nil {
		return nil, err
	}
	callers := make([]*caller, by(s, [3]int{0, 150, 150}))
	for i := range callers {
		callers[i] = &caller{client: &wire.Client{Host: g.host, Revision: wire.Modern}, from: net.IPv4(127, 0, 12, byte(1+i))}
	}
	listers := make([]*caller, 8)
	for i := range listers {
		listers[i] = &caller{client: &wire.Client{Host: g.host, Revision: wire.Modern}}
	}
	defer func() {
		for _, c := range slices.Concat(callers, listers) {
			c.close()
		}
	}()
	text := `{"id":"a","text":"` + strings.Repeat("x", 900<<10) + `"}`
	call := func(worker, n int) error {
		_, err := callers[worker].call("keep_note", n, text)
		return err
	}
	long := closedLoad(ctx, len(callers), 0, func(worker, n int) error {
		err := shedOf(call(worker, n))
		if err != nil {
			openload.Pause(ctx, time.Second) // as it was told
		}
		return err
	})
	others := openLoad(ctx, 20, len(listers), func(worker, n int) error {
		if n%2 == 0 {
			return healthy(ctx, g.admin)
		}
		a, body, err := listers[worker].exchange(listers[worker].client.List(""))
		if err == nil && (a.Status != http.StatusOK || !strings.Contains(string(body), "keep_note")) {
			err = fmt.Errorf("the list is answered with %d", a.Status)
		}
		return err
	})
	openload.Pause(ctx, by(s, [3]time.Duration{0, 6 * time.Second, time.Minute}))
	during := others.stop()
	usage, usageErr := g.child.Usage()
	many, ended := long.stop(), time.Now()
	later := openLoad(ctx, 5, len(callers), func(worker, n int) error { return shedOf(call(worker, n)) })
	openload.Pause(ctx, 4*time.Second)
	after := later.stop()
	if err := errors.Join(usageErr, ctx.Err()); err != nil {
		return nil, err
	}
	return shedRows(s, len(callers), many, during, after, ended, float64(usage.PeakRSS)/(1<<20)), nil
}

// errShed is the error of a call that was refused in words for want of memory.
var errShed = errors.New("no room")

// shedOf is errShed for a call that was refused so; any other error stays as it is.
func shedOf(err error) error {
	var r *refusal
	if errors.As(err, &r) && r.status == http.StatusServiceUnavailable && r.after != "" && strings.Contains(r.body, "there is no room for") {
		return errShed
	}
	return err
}

// healthy is an error if a gateway does not say that it lives.
func healthy(ctx context.Context, admin string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+admin+"/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		err = errors.New("/healthz: " + strconv.Itoa(resp.StatusCode))
	}
	return errors.Join(err, resp.Body.Close())
}

// shedRows judges calls with long texts, what else was asked for meanwhile, and calls after them.
func shedRows(s *suite, callers int, many, during, after *tally, ended time.Time, rss float64) []row {
	shed, unlike := many.words[errShed.Error()], ""
	if shed < many.failed {
		unlike = "; " + many.failures()
	}
	again, well := after.recovered(ended, time.Hour)
	return []row{
		{fmt.Sprintf("900 KiB from each of %d callers to a slow service: refused for want of memory, in words", callers), ">= 1, and all that are refused",
			fmt.Sprintf("%d of %d refused, %d whole%s", shed, many.failed, many.made-many.failed, unlike),
			verdictOf(shed > 0 && shed == many.failed && many.made > shed)},
		{"lists and /healthz meanwhile: failed", "0", fmt.Sprintf("%d of %d, %s (p99)%s", during.failed, during.made, round(during.quantile(0.99)), orNothing("; ", during.failures())),
			verdictOf(during.failed == 0 && during.made > 0)},
		{"resident memory at most", "<= 256 MiB", fmt.Sprintf("%.0f MiB", rss), verdictOf(rss <= 256)},
		{"the same calls are served again after", "< 2 s", fmt.Sprintf("%s, %d of %d refused%s", round(again), after.failed, after.made, orNothing("; ", after.failures())), recovery(s, again, well)},
	}
}
