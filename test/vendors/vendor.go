package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"time"
)

// vendor is a client, and what it made of all endpoints.
type vendor struct {
	name    string
	command []string

	tools, converted, calls int
	lost, failed            map[string]int // by reason
	example                 map[string]string
	took                    time.Duration
}

// outcome is the line that a client's script prints of an endpoint.
type outcome struct {
	Tools, Converted, Calls int
	Lost, Failed            [][2]string // tool and reason
}

// run runs the client on the endpoints.
func (v *vendor) run(ctx context.Context, endpoints []endpoint) error {
	began := time.Now()
	args := slices.Clone(v.command[1:])
	for _, e := range endpoints {
		args = append(args, e.url)
	}
	var stderr bytes.Buffer
	c := exec.CommandContext(ctx, v.command[0], args...)
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", v.name, err, stderr.Bytes())
	}
	v.took = time.Since(began)
	return v.read(out, endpoints)
}

// read reads a line for each endpoint.
func (v *vendor) read(out []byte, endpoints []endpoint) error {
	v.lost, v.failed, v.example = map[string]int{}, map[string]int{}, map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 16<<20)
	n := 0
	for ; lines.Scan(); n++ {
		var o outcome
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil || n >= len(endpoints) {
			return fmt.Errorf("%s: the line %.200q: %w", v.name, lines.Text(), errors.Join(err, errUnexpected))
		}
		v.tools += o.Tools
		v.converted += o.Converted
		v.calls += o.Calls
		for _, l := range o.Lost {
			v.lost[l[1]]++
			v.example[l[1]] = endpoints[n].document + " " + l[0]
		}
		for _, f := range o.Failed {
			v.failed[f[1]]++
			v.example[f[1]] = endpoints[n].document + " " + f[0]
		}
		if o.Tools == 0 && len(o.Lost) == 0 && !endpoints[n].empty {
			v.lost["no tools are listed"]++
			v.example["no tools are listed"] = endpoints[n].document
		}
	}
	if n < len(endpoints) {
		return fmt.Errorf("%s: %d lines of %d endpoints: %w", v.name, n, len(endpoints), errUnexpected)
	}
	return lines.Err()
}

var errUnexpected = errors.New("the script prints something else than a line for each endpoint")

// report prints the table; an error tells that tools are lost or calls fail.
func report(all []vendor) error {
	fmt.Println("| client | tools | converted | lost | calls | failed | s |\n|---|---|---|---|---|---|---|")
	bad := 0
	for _, v := range all {
		lost, failed := sum(v.lost), sum(v.failed)
		bad += lost + failed
		if v.tools == 0 {
			bad++
		}
		fmt.Printf("| %s | %d | %d | %d | %d | %d | %.0f |\n", v.name, v.tools, v.converted, lost, v.calls, failed, v.took.Seconds())
	}
	for _, v := range all {
		for what, reasons := range map[string]map[string]int{"lost": v.lost, "failed": v.failed} {
			for _, reason := range slices.Sorted(maps.Keys(reasons)) {
				fmt.Printf("%s, %s %d: %s (%s)\n", v.name, what, reasons[reason], reason, v.example[reason])
			}
		}
	}
	if bad > 0 {
		return errors.New("tools are lost, or calls fail")
	}
	return nil
}

func sum(reasons map[string]int) (n int) {
	for _, count := range reasons {
		n += count
	}
	return n
}
