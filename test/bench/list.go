package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"drawbridge/test/process"
	"drawbridge/test/wire"
)

// List is what tools/list costs, in one string and one encoding.
type List struct {
	Document    string        `json:"document"`
	Era         string        `json:"era"`
	Encoding    string        `json:"encoding"`
	Tools       int           `json:"tools"`
	Bytes       int           `json:"bytes"`
	Lists       int           `json:"lists"`
	UserUS      float64       `json:"user_us"`       // processor time outside the kernel, per list
	SystemUS    float64       `json:"system_us"`     // in the kernel: reading, and above all writing, the socket
	FirstByte   time.Duration `json:"first_byte_ns"` // median time until the answer begins to arrive
	Allocated   float64       `json:"allocated_bytes"`
	Allocations float64       `json:"allocations"`
}

// lists measures tools/list of a big document: one connection, one request after the other.
func (b *bench) lists(ctx context.Context, report *Report, spec string) (err error) {
	b.progress("tools/list of %s", filepath.Base(spec))
	g, err := startGateway(ctx, b.gateway, b.dir, b.issuer, api{spec: spec, baseURL: "http://127.0.0.1:9", output: "loose"})
	if err != nil {
		return err
	}
	defer stopInto(&err, g.child)
	if _, err := g.ready(ctx, wire.Modern); err != nil {
		return err
	}
	for _, e := range revisions {
		for _, encoding := range []string{"", "gzip"} {
			l, err := b.list(ctx, g, e, encoding)
			if err != nil {
				return err
			}
			l.Document = filepath.Base(spec)
			report.Lists = append(report.Lists, l)
			b.progress("  %s %-5s %d tools, %d bytes: user %.0f µs, system %.0f µs, first byte %v, %.0f bytes in %.1f allocations a list",
				l.Era, l.Encoding, l.Tools, l.Bytes, l.UserUS, l.SystemUS, l.FirstByte, l.Allocated, l.Allocations)
		}
	}
	return nil
}

func (b *bench) list(ctx context.Context, g *gateway, e string, encoding string) (List, error) {
	c := &wire.Client{Host: g.host, Revision: e, Token: g.token}
	if err := c.Connect(); err != nil {
		return List{}, err
	}
	conn, err := wire.Dial(g.host)
	if err != nil {
		return List{}, err
	}
	defer conn.Close()
	request := []byte(c.List(encoding))
	a, err := conn.Exchange(request)
	if err != nil {
		return List{}, err
	}
	if a.Status != http.StatusOK || a.Gzip != (encoding == "gzip") {
		return List{}, fmt.Errorf("tools/list: status %d, gzip %t: %.300s", a.Status, a.Gzip, a.Body)
	}
	want := bytes.Clone(a.Body)
	plain := want
	if a.Gzip {
		if plain, err = unzip(want); err != nil {
			return List{}, err
		}
	}
	l := List{Era: e, Encoding: encoding, Tools: countTools(plain), Bytes: len(want)}
	if l.Encoding == "" {
		l.Encoding = "plain"
	}
	if l.Tools == 0 {
		return List{}, fmt.Errorf("tools/list: no tools: %.300s", plain)
	}

	var firsts []time.Duration
	usage, err := g.child.Usage()
	if err != nil {
		return List{}, err
	}
	heap := g.heap(ctx)
	for end := time.Now().Add(b.duration); time.Now().Before(end) && ctx.Err() == nil; {
		began := time.Now()
		a, err := conn.Exchange(request)
		if err != nil {
			return List{}, err
		}
		if !bytes.Equal(a.Body, want) {
			return List{}, fmt.Errorf("tools/list: the list changed from one request to the next: %.300s", a.Body)
		}
		firsts = append(firsts, a.First.Sub(began))
	}
	heapAfter := g.heap(ctx)
	after, err := g.child.Usage()
	if err != nil {
		return List{}, err
	}
	if len(firsts) == 0 {
		return List{}, fmt.Errorf("tools/list: ended before there was one: %w", context.Cause(ctx))
	}
	n := float64(len(firsts))
	slices.Sort(firsts)
	l.Lists = len(firsts)
	l.UserUS = float64((after.User - usage.User).Microseconds()) / n
	l.SystemUS = float64((after.System - usage.System).Microseconds()) / n
	l.FirstByte = firsts[len(firsts)/2]
	l.Allocated = (heapAfter.bytes - heap.bytes) / n
	l.Allocations = (heapAfter.objects - heap.objects) / n
	return l, nil
}

// heap is what the gateway has allocated since it started, as its metrics tell. The metrics page itself allocates,
// once for all lists between two readings.
type heap struct{ bytes, objects float64 }

func (g *gateway) heap(ctx context.Context) (h heap) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+g.admin+"/metrics", nil)
	if err != nil {
		return h
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return h
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return h
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name {
		case "go_memstats_alloc_bytes_total":
			h.bytes, _ = strconv.ParseFloat(value, 64)
		case "go_memstats_mallocs_total":
			h.objects, _ = strconv.ParseFloat(value, 64)
		}
	}
	return h
}

// countTools parses a tools/list answer, and returns 0 for anything else.
func countTools(body []byte) int {
	var reply struct {
		Result struct {
			Tools []struct{ Name string }
		}
	}
	if json.Unmarshal(body, &reply) != nil {
		return 0
	}
	return len(reply.Result.Tools)
}

func unzip(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read gzip: %w", err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("read gzip: %w", err)
	}
	return plain, nil
}

// firstLine returns the first line of text, and whether all of it is there.
func firstLine(text string) (line string, complete bool) {
	line, _, complete = strings.Cut(text, "\n")
	return line, complete
}

// Start is how long a big document takes from the start of the program to its first list.
type Start struct {
	Document string          `json:"document"`
	Tools    int             `json:"tools"`
	Bytes    int             `json:"bytes"`
	Took     []time.Duration `json:"took_ns"`
	RSS      []int64         `json:"rss_bytes"`
	Peak     []int64         `json:"peak_rss_bytes"`
	CPU      []time.Duration `json:"cpu_ns"`

	TookVerdict *Verdict `json:"took_verdict,omitempty"`
	RSSVerdict  *Verdict `json:"rss_verdict,omitempty"`

	took, memory Goal // in seconds and MiB
}

// starts starts the gateway anew for each round.
func (b *bench) starts(ctx context.Context, report *Report, spec string, took, memory Goal) error {
	b.progress("start with %s", filepath.Base(spec))
	s := Start{Document: filepath.Base(spec), took: took, memory: memory}
	for range b.rounds {
		err := func() (err error) {
			began := time.Now()
			g, err := startGateway(ctx, b.gateway, b.dir, b.issuer, api{spec: spec, baseURL: "http://127.0.0.1:9", output: "loose"})
			if err != nil {
				return err
			}
			defer stopInto(&err, g.child)
			list, err := g.ready(ctx, wire.Modern)
			if err != nil {
				return err
			}
			took := time.Since(began)
			usage, err := process.ReadUsage(g.child.PID())
			if err != nil {
				return err
			}
			s.Tools, s.Bytes = countTools(list), len(list)
			s.Took, s.RSS, s.Peak, s.CPU = append(s.Took, took), append(s.RSS, usage.RSS), append(s.Peak, usage.PeakRSS), append(s.CPU, usage.CPU())
			b.progress("  %v, %d tools, resident %d MiB (at most %d MiB)", took.Round(time.Millisecond), s.Tools, usage.RSS>>20, usage.PeakRSS>>20)
			return nil
		}()
		if err != nil {
			return err
		}
	}
	report.Starts = append(report.Starts, s)
	return nil
}
