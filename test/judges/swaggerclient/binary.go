package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"drawbridge/openapi"
)

// handful is how many calls go through the binary.
const handful = 8

// checkBinary sends a few of the calls through "drawbridge call --dry-run" and demands the request that was compared: the
// judge builds requests in its own process, and this shows that it is the same code.
func checkBinary(ctx context.Context, o *options, subjects []subject) (checked int, err error) {
	dir, err := os.MkdirTemp("", "judge")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	step := max(len(subjects)/handful, 1)
	for i := 0; i < len(subjects) && checked < handful; i += step {
		s := subjects[i]
		config := filepath.Join(dir, fmt.Sprintf("%d.yaml", i))
		more := ""
		if overlays := overlaysOf(o.overlays, s.file); overlays != nil {
			more = fmt.Sprintf(", overlays: [%q]", overlays[0])
		}
		text := fmt.Sprintf("apis:\n  - {spec: %q, base_url: %q%s}\n", absolute(s.file), base, more)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			return checked, err
		}
		all, _, err := calls(ctx, o, s)
		if err != nil {
			continue
		}
		tool, err := toolName(ctx, o, config, s.op)
		if err != nil {
			return checked, err
		}
		for _, c := range all {
			if len(c.Arguments) > 60_000 {
				continue // more than a command line takes
			}
			have, err := output(ctx, o.binary, "call", "--dry-run", "--config", config, tool, string(c.Arguments))
			if err != nil {
				return checked, fmt.Errorf("%s %s %s: %w", s.document, s.op.Method, s.op.Path, err)
			}
			r, err := s.op.NewRequest(ctx, nil, c.Arguments)
			if err != nil {
				return checked, err
			}
			want, err := printed(r)
			if err != nil {
				return checked, err
			}
			if sameBoundary(have) != sameBoundary(want) {
				return checked, fmt.Errorf("%s %s %s: the binary makes another request:\n%s\nnot\n%s", s.document, s.op.Method, s.op.Path, have, want)
			}
		}
		checked++
	}
	return checked, nil
}

// toolName finds the tool of an operation in what "drawbridge tools" prints.
func toolName(ctx context.Context, o *options, config string, op *openapi.Operation) (string, error) {
	text, err := output(ctx, o.binary, "tools", "--config", config)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 2 && f[1] == op.Method && f[2] == op.Path {
			return f[0], nil
		}
	}
	return "", fmt.Errorf("the binary has no tool for %s %s", op.Method, op.Path)
}

// boundary is the one of a multipart body in the head of a printed request.
var boundary = regexp.MustCompile(`(?m)^Content-Type: multipart/.*; boundary=(\S+)$`)

// sameBoundary gives a printed request a boundary that doesn't change: the gateway draws another one for each body.
func sameBoundary(request string) string {
	found := boundary.FindStringSubmatch(request)
	if found == nil {
		return request
	}
	return strings.ReplaceAll(request, found[1], "BOUNDARY")
}

func output(ctx context.Context, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(name), args[0], err, stderr.String())
	}
	return string(out), nil
}

// printed is a request as the command prints it.
func printed(r *http.Request) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", r.Method, r.URL)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, v := range r.Header[name] {
			fmt.Fprintf(&b, "%s: %s\n", name, v)
		}
	}
	if r.Body == nil || r.Body == http.NoBody {
		return b.String(), nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "\n%s\n", body)
	return b.String(), nil
}
