package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
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
	n := 1
	for ; lines.Scan(); n++ {
		line := lines.Text()
		switch {
		case line == "" || line[0] == '#':
		case line[0] != '\t' && known[line] != "":
			return nil, fmt.Errorf("%s:%d: the change has a reason already", name, n)
		case line[0] == '\t' && point != "":
			known[point] = strings.TrimSpace(line)
			point = ""
		case line[0] != '\t' && point == "":
			point = line
		default:
			return nil, fmt.Errorf("%s:%d: expected the name of a change, and its reason, indented by a tab, on the next line", name, n)
		}
	}
	if point != "" {
		return nil, fmt.Errorf("%s:%d: the change has no reason", name, n-1)
	}
	return known, lines.Err()
}

// placed fails if a reason is of a file that no group has.
func (k reasons) placed(groups []group) error {
	var none []error
	for _, name := range slices.Sorted(maps.Keys(k)) {
		file, _, _ := strings.Cut(name, " ")
		if !slices.ContainsFunc(groups, func(g group) bool { return g.has(file) }) {
			none = append(none, fmt.Errorf("a reason is given for %q, and no group has that file", name))
		}
	}
	return errors.Join(none...)
}

// report prints what survived, with the reasons, and a line of figures for each group. It fails if tests notice less than the goal,
// if a change survives for which no reason is known, and if one is known for a change that does not survive. chosen matches the
// names of the changes that were taken; nil: some of them, and reasons may be of others.
func report(w io.Writer, results []result, known reasons, chosen *regexp.Regexp, goal float64) error {
	var wrong []error
	for _, r := range results {
		for _, name := range r.left {
			fmt.Fprintf(w, "not asked: %s\n", name)
		}
	}
	explained := make([]int, len(results))
	for i, r := range results {
		survived := make(map[string]bool)
		for _, s := range r.survived {
			name := s.point.name()
			survived[name] = true
			reason, ok := known[name]
			switch {
			case ok:
				explained[i]++
			case s.reached:
				reason = "NO REASON KNOWN"
			default:
				reason = "NO REASON KNOWN, and no test reaches it"
			}
			fmt.Fprintf(w, "survived: %s\n\tline %d: %s\n", name, s.point.line, reason)
		}
		if n := len(r.survived) - explained[i]; n > 0 {
			wrong = append(wrong, fmt.Errorf("%s: %d survive without a reason", r.group.name, n))
		}
		for _, name := range slices.Sorted(maps.Keys(known)) {
			file, _, _ := strings.Cut(name, " ")
			if chosen != nil && chosen.MatchString(name) && r.group.has(file) && !survived[name] {
				wrong = append(wrong, fmt.Errorf("a reason is given for what does not survive: %s", name))
			}
		}
	}
	fmt.Fprintf(w, "\n%-10s %8s %8s %10s %10s %8s %8s\n", "group", "changes", "noticed", "by time", "survived", "reasons", "score")
	for i, r := range results {
		score := 100 * float64(r.killed) / float64(max(r.points, 1))
		fmt.Fprintf(w, "%-10s %8d %8d %10d %10d %8d %7.1f%%  (%.0f s)\n", r.group.name, r.points, r.killed, r.late, len(r.survived), explained[i], score, r.took.Seconds())
		if score < goal {
			wrong = append(wrong, fmt.Errorf("%s: tests notice %.1f %%, less than %.0f %%", r.group.name, score, goal))
		}
	}
	return errors.Join(wrong...)
}
