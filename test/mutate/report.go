package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// reasons say why a change that survives is none that a test should notice, by the name of its point.
type reasons map[string]string

// readReasons reads a file with two lines for each survivor that is known: its name, and the reason, indented.
func readReasons(name string) (reasons, error) {
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return reasons{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	known, point := reasons{}, ""
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '\t' && point != "":
			known[point] = strings.TrimSpace(line)
			point = ""
		case line[0] != '\t' && point == "":
			point = line
		default:
			return nil, fmt.Errorf("%s:%d: expected the name of a change, and its reason, indented by a tab, on the next line", name, n)
		}
	}
	return known, lines.Err()
}

func report(w io.Writer, results []result, known reasons, goal float64) error {
	var missed []string
	for _, r := range results {
		for _, name := range r.left {
			fmt.Fprintf(w, "not asked: %s\n", name)
		}
	}
	used := map[string]bool{}
	for _, r := range results {
		for _, s := range r.survived {
			reason, ok := known[s.point.name()]
			switch {
			case ok:
				used[s.point.name()] = true
			case s.reached:
				reason = "NO REASON KNOWN"
			default:
				reason = "no test reaches it"
			}
			fmt.Fprintf(w, "survived: %s\n\tline %d: %s\n", s.point.name(), s.point.line, reason)
		}
	}
	fmt.Fprintf(w, "\n%-10s %8s %8s %10s %10s %8s %8s\n", "group", "changes", "noticed", "by time", "survived", "reasons", "score")
	for _, r := range results {
		score := 100 * float64(r.killed) / float64(max(r.points, 1))
		explained := 0
		for _, s := range r.survived {
			if known[s.point.name()] != "" {
				explained++
			}
		}
		fmt.Fprintf(w, "%-10s %8d %8d %10d %10d %8d %7.1f%%  (%.0f s)\n", r.group.name, r.points, r.killed, r.late, len(r.survived), explained, score, r.took.Seconds())
		if score < goal {
			missed = append(missed, fmt.Sprintf("%s %.1f %%", r.group.name, score))
		}
		for name := range known {
			if slices.ContainsFunc(r.survived, func(s survivor) bool { return s.point.name() == name }) {
				continue
			}
			if strings.HasPrefix(name, r.group.dir+"/") && !strings.Contains(strings.TrimPrefix(name, r.group.dir+"/"), "/") && r.group.files == nil {
				fmt.Fprintf(w, "a reason is given for what does not survive: %s\n", name)
			}
		}
	}
	if missed != nil {
		return fmt.Errorf("tests notice less than %.0f %%: %s", goal, strings.Join(missed, ", "))
	}
	return nil
}
