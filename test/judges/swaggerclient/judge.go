package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"drawbridge/openapi"
	"drawbridge/test/judges/generate"
)

// base is where both send.
var base = &url.URL{Scheme: "http", Host: "judge.invalid", Path: "/base"}

// A subject is an operation that both are asked about.
type subject struct {
	document string // short name
	file     string
	url      string // where swagger-client reads the document
	op       *openapi.Operation
}

// An outcome is what came of one subject.
type outcome struct {
	subject     subject
	notMade     string // why there are no arguments or no request of ours, "" when there are
	judge       string // swagger-client's own words for building nothing, "" when it built something
	comparisons []comparison
	failures    []string // what went wrong in the judge itself
}

// A comparison is of one call.
type comparison struct {
	plain       bool // its arguments are
	differences []difference
}

// tally is a document with the operations that didn't become tools.
type tally struct {
	name       string
	operations int    // in the document
	skipped    int    // of them, no tools
	problem    string // of a document that could not be read
	outcomes   []outcome
}

// judge compares all operations, or a sample of them.
func judge(ctx context.Context, o *options, log io.Writer) ([]tally, error) {
	var files []string
	for _, pattern := range o.documents {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			return nil, fmt.Errorf("no document %q", pattern)
		}
		for _, name := range names {
			if slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(name)) {
				files = append(files, name)
			}
		}
	}
	root, origin, err := serve(ctx, files)
	if err != nil {
		return nil, err
	}
	var tallies []tally
	var subjects []subject
	for _, file := range files {
		t := tally{name: shortName(file)}
		ops, skipped, err := load(ctx, file, overlaysOf(o.overlays, file))
		if err != nil {
			t.problem = err.Error()
		}
		t.operations, t.skipped = len(ops)+skipped, skipped
		path, err := filepath.Rel(root, absolute(file))
		if err != nil {
			return nil, err
		}
		where := (&url.URL{Scheme: "http", Host: origin, Path: "/" + filepath.ToSlash(path)}).String()
		for _, op := range ops {
			if o.operation == "" || o.operation == op.Method+" "+op.Path {
				subjects = append(subjects, subject{document: t.name, file: file, url: where, op: op})
			}
		}
		tallies = append(tallies, t)
	}
	if o.sample > 0 && o.sample < len(subjects) {
		r := source(o.seed)
		r.Shuffle(len(subjects), func(i, j int) { subjects[i], subjects[j] = subjects[j], subjects[i] })
		subjects = subjects[:o.sample]
	}
	if o.binary != "" {
		n, err := checkBinary(ctx, o, subjects)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(log, "%d operations make the same requests in call --dry-run\n", n)
	}
	outcomes, err := compareAll(ctx, o, subjects, log)
	if err != nil {
		return nil, err
	}
	for _, oc := range outcomes {
		i := slices.IndexFunc(tallies, func(t tally) bool { return t.name == oc.subject.document })
		tallies[i].outcomes = append(tallies[i].outcomes, oc)
	}
	return tallies, nil
}

func shortName(file string) string {
	if dir := filepath.Base(filepath.Dir(file)); strings.Contains(dir, "--") {
		return dir
	}
	return filepath.Base(file)
}

func absolute(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		return abs
	}
	return file
}

// overlaysOf returns the overlay of a document that a folder has.
func overlaysOf(folder, file string) []string {
	overlay := filepath.Join(folder, filepath.Base(file)+".overlay.yaml")
	if _, err := os.Stat(overlay); folder == "" || err != nil {
		return nil
	}
	return []string{absolute(overlay)}
}

// load compiles a document as the gateway does.
func load(ctx context.Context, file string, overlays []string) (ops []*openapi.Operation, skipped int, err error) {
	doc, err := openapi.Load(ctx, file, openapi.LoadOptions{Overlays: overlays})
	if err != nil {
		return nil, 0, err
	}
	api, err := doc.Compile(ctx, openapi.CompileOptions{BaseURL: base})
	if err != nil {
		return nil, 0, err
	}
	return api.Operations, len(api.Skipped), nil
}

// serve hands the documents out on the loopback interface: swagger-client reads by http alone.
func serve(ctx context.Context, files []string) (root, origin string, err error) {
	for i, file := range files {
		dir := filepath.Dir(absolute(file))
		for i > 0 && dir != root && !strings.HasPrefix(dir+"/", strings.TrimSuffix(root, "/")+"/") {
			root = filepath.Dir(root)
		}
		if i == 0 {
			root = dir
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	server := &http.Server{Handler: http.FileServerFS(os.DirFS(root)), ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(listener) //nolint:errcheck // ends with the program
	return root, listener.Addr().String(), nil
}

// compareAll spreads the subjects over processes of swagger-client, each document in one of them.
func compareAll(ctx context.Context, o *options, subjects []subject, log io.Writer) ([]outcome, error) {
	byDocument := make(map[string][]int)
	var order []string
	for i, s := range subjects {
		if byDocument[s.url] == nil {
			order = append(order, s.url)
		}
		byDocument[s.url] = append(byDocument[s.url], i)
	}
	outcomes := make([]outcome, len(subjects))
	p := printer{w: log, o: o}
	work := make(chan string)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(work)
		for _, name := range order {
			select {
			case work <- name:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range max(o.workers, 1) {
		group.Go(func() error {
			c := &client{node: o.node, packages: o.packages}
			defer c.stop()
			for name := range work {
				for _, i := range byDocument[name] {
					if err := ctx.Err(); err != nil {
						return err
					}
					outcomes[i] = examine(ctx, o, c, subjects[i])
					p.print(&outcomes[i])
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	p.end()
	return outcomes, nil
}

// examine compares the calls of one operation.
func examine(ctx context.Context, o *options, c *client, s subject) (out outcome) {
	out.subject = s
	calls, requests, err := calls(ctx, o, s)
	if err != nil {
		out.notMade = err.Error()
		return out
	}
	problem, err := c.open(ctx, s.url)
	if err != nil || problem != "" {
		out.judge = problem
		if err != nil {
			out.judge = err.Error()
		}
		return out
	}
	q := question{Method: s.op.Method, Path: s.op.Path, Base: base.String(), Names: argumentNames(s.op, calls), Calls: calls}
	var a answer
	if err := c.ask(ctx, q, &a); err != nil {
		out.judge = err.Error()
		return out
	}
	if a.Error != "" {
		out.judge = a.Error
		return out
	}
	table := rules()
	for i := range a.Results {
		b := &a.Results[i]
		if strings.HasPrefix(b.Error, "NO PLACE") {
			out.failures = append(out.failures, b.Error)
			continue
		}
		if b.Error != "" {
			out.judge = b.Error
			continue
		}
		x, err := newExchange(s.op.Path, &a.Operation, calls[i], b, requests[i])
		if err != nil {
			out.failures = append(out.failures, err.Error())
			continue
		}
		out.comparisons = append(out.comparisons, comparison{calls[i].plain, x.compare(table)})
	}
	return out
}

// calls makes argument sets that the gateway builds requests from, with those requests.
func calls(ctx context.Context, o *options, s subject) (all []call, requests []request, err error) {
	values, err := generate.New(s.op.Input)
	if err != nil {
		return nil, nil, err
	}
	r := source(o.seed, s.document, s.op.Method, s.op.Path)
	for i := range o.calls {
		plain := i < (o.calls+1)/2
		var last error
		// A value may be one that the gateway refuses to send, a slash in a path above all: then another is made.
		for range 8 {
			args, err := values.Instance(r, generate.Options{Plain: plain, NoEmpty: plain})
			if err != nil {
				last = err
				continue
			}
			sent, err := s.op.NewRequest(ctx, base, args)
			if err != nil {
				last = err
				continue
			}
			normal, err := ofGateway(sent)
			if err != nil {
				return nil, nil, err
			}
			all = append(all, call{plain: plain, Arguments: args, Media: sent.Header.Get("Content-Type")})
			requests = append(requests, normal)
			last = nil
			break
		}
		if last != nil {
			err = last
		}
	}
	if len(all) == 0 {
		return nil, nil, err
	}
	return all, requests, nil
}

// argumentNames lists the arguments that an operation publishes, and those that were given.
func argumentNames(op *openapi.Operation, calls []call) []string {
	names := []string{}
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(op.Input, &schema) == nil {
		for name := range schema.Properties {
			add(name)
		}
	}
	for _, c := range calls {
		var given map[string]json.RawMessage
		if json.Unmarshal(c.Arguments, &given) == nil {
			for name := range given {
				add(name)
			}
		}
	}
	slices.Sort(names)
	return names
}
