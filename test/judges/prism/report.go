package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// report collects outcomes and prints them.
type report struct {
	out      io.Writer
	markdown bool
	verbose  bool
	all      []outcome
}

func (r *report) add(o outcome) {
	r.all = append(r.all, o)
	if r.markdown {
		return
	}
	c := count(o)
	fmt.Fprintf(r.out, "%s: %d tools, %d served, %d refused, %d with isError, %d explained %s\n", o.document, o.tools, c.served, c.refused, c.failed, c.explained, o.problem)
	for _, f := range o.findings {
		if f.verdict == refused || f.verdict == failed || r.verbose && f.verdict != answered {
			fmt.Fprintf(r.out, "  %s: %s%.600s\n    all:       %.600s\n    arguments: %.600s\n    sent:      %.600s\n", f.operation, f.rule, f.open, f.reason, f.arguments, f.request)
		}
	}
}

// counts are one row of the table.
type counts struct{ tools, sampled, served, refused, failed, explained, unanswered, answered int }

func count(o outcome) counts {
	c := counts{tools: o.tools, sampled: o.sampled}
	for _, f := range o.findings {
		switch f.verdict {
		case refused:
			c.refused++
		case failed:
			c.failed++
		case explained:
			c.explained++
		case unanswered:
			c.unanswered++
		case answered:
			c.answered++
		case unable:
			continue
		}
		c.served++
	}
	return c
}

// print prints the table. The error says that less than the share were accepted, or answered without isError.
func (r *report) print(share float64) error {
	table := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	row := func(cells ...any) {
		texts := make([]string, len(cells))
		for i, c := range cells {
			texts[i] = fmt.Sprint(c)
		}
		if r.markdown {
			fmt.Fprintf(r.out, "| %s |\n", strings.Join(texts, " | "))
		} else {
			fmt.Fprintln(table, strings.Join(texts, "\t"))
		}
	}
	fmt.Fprintln(r.out)
	row("document", "operations", "called", "served by Prism", "refused", "isError", "explained", "no answer", "answered", "remarks")
	if r.markdown {
		fmt.Fprintln(r.out, "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|")
	}
	var total counts
	ruled, unserved := map[string]int{}, map[string]int{}
	for _, o := range r.all {
		c := count(o)
		row(o.document, c.tools, c.sampled, c.served, c.refused, c.failed, c.explained, c.unanswered, c.answered, remarks(o))
		total.tools += c.tools
		total.sampled += c.sampled
		total.served += c.served
		total.refused += c.refused
		total.failed += c.failed
		total.explained += c.explained
		total.unanswered += c.unanswered
		total.answered += c.answered
		for _, f := range o.findings {
			switch f.verdict {
			case explained:
				ruled[f.rule]++
			case unable, unanswered:
				unserved[kindOf(f.reason)]++
			case refused, failed, answered:
			}
		}
	}
	row("all", total.tools, total.sampled, total.served, total.refused, total.failed, total.explained, total.unanswered, total.answered, "")
	table.Flush()
	if total.served == 0 {
		return fmt.Errorf("%w: Prism served nothing", errMissed)
	}
	answerable := max(total.served-total.unanswered, 1)
	fmt.Fprintf(r.out, "\n%d of %d operations called are served by Prism (%.1f %%). It accepts %.2f %% of them, %.2f %% without what rules explain; of those that it answers, %.2f %% are results without isError, %.2f %% without what rules explain.\n",
		total.served, total.sampled, percent(total.served, total.sampled), percent(total.served-total.refused, total.served),
		percent(total.served-total.refused-total.explained, total.served), percent(answerable-total.refused-total.failed, answerable),
		percent(total.answered, answerable))
	r.reasons(ruled, unserved)
	if percent(total.served-total.refused, total.served) < share || percent(answerable-total.refused-total.failed, answerable) < share {
		return errMissed
	}
	return nil
}

// reasons prints what rules explain, and why operations were not judged.
func (r *report) reasons(ruled, unserved map[string]int) {
	rule, other := "- %[3]d × %[1]s: %[2]s\n", "- not served or not answered, %[2]d × %[1]s\n"
	if r.markdown {
		rule, other = "| %s | %s | %d |\n", "| %s | %d |\n"
		fmt.Fprint(r.out, "\n| rule | what decides | operations |\n|---|---|---:|\n")
	}
	for _, known := range rules {
		if n := ruled[known.name]; n > 0 {
			fmt.Fprintf(r.out, rule, known.name, known.clause, n)
		}
	}
	if r.markdown {
		fmt.Fprint(r.out, "\n| not served or not answered, in the words of Prism | operations |\n|---|---:|\n")
	}
	for _, reason := range slices.Sorted(maps.Keys(unserved)) {
		fmt.Fprintf(r.out, other, reason, unserved[reason])
	}
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(max(whole, 1)) }

// kindOf is the beginning of a reason.
func kindOf(reason string) string {
	kind, _, _ := strings.Cut(reason, ":")
	return kind
}

func remarks(o outcome) string {
	var all []string
	if o.problem != "" {
		text := strings.Join(strings.Fields(o.problem), " ")
		all = append(all, fmt.Sprintf("%.160s", strings.ReplaceAll(text, "|", "\\|")))
	}
	if o.removed > 0 {
		all = append(all, fmt.Sprintf("%d references that lead nowhere taken out of Prism's copy", o.removed))
	}
	if o.opened > 0 {
		all = append(all, fmt.Sprintf("security taken from %d operations", o.opened))
	}
	return strings.Join(all, "; ")
}
