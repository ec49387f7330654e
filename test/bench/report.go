package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"
)

// Report is everything that was measured.
type Report struct {
	Go        string      `json:"go"`
	Cores     int         `json:"cores"`
	Rounds    int         `json:"rounds"`
	Duration  string      `json:"round_duration"`
	Short     bool        `json:"short,omitempty"` // the figures mean nothing
	Scenarios []*Scenario `json:"scenarios,omitempty"`
	Lists     []List      `json:"lists,omitempty"`
	Starts    []Start     `json:"starts,omitempty"`
	LeftOut   []string    `json:"left_out,omitempty"`     // scenarios that had no documents
	Missed    []string    `json:"goals_missed,omitempty"` // which goals were missed
}

// Scenario is one payload through several targets; the first target is what the others are compared with.
type Scenario struct {
	Title     string   `json:"title"`
	Targets   []Target `json:"targets"`
	RSSBefore int64    `json:"gateway_rss_before_bytes"`
	RSSAfter  int64    `json:"gateway_rss_after_bytes"`
	RSSPeak   int64    `json:"gateway_rss_peak_bytes"`
}

// Target is the rounds of one target.
type Target struct {
	Name    string   `json:"name"`
	Rounds  []Round  `json:"rounds"`
	Verdict *Verdict `json:"verdict,omitempty"`

	goal Goal // for calls a second, as a multiple of those of the first target
}

func newReport(s settings) *Report {
	return &Report{Go: runtime.Version(), Cores: runtime.NumCPU(), Rounds: s.rounds, Duration: s.duration.String(), Short: s.short}
}

func (r *Report) scenario(title string, targets []*target) *Scenario {
	s := &Scenario{Title: title}
	for _, t := range targets {
		s.Targets = append(s.Targets, Target{Name: t.name, goal: t.goal})
	}
	r.Scenarios = append(r.Scenarios, s)
	return s
}

func (s *Scenario) add(name string, r Round) {
	i := slices.IndexFunc(s.Targets, func(t Target) bool { return t.Name == name })
	s.Targets[i].Rounds = append(s.Targets[i].Rounds, r)
}

// print writes the tables of docs/contributing/performance.md.
func (r *Report) print(w io.Writer) {
	fmt.Fprintf(w, "%s, %d cores shared by load generator, servers and upstream; %d rounds of %s each\n", r.Go, r.Cores, r.Rounds, r.Duration)
	for _, s := range r.Scenarios {
		fmt.Fprintf(w, "\n%s\n", s.Title)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "target\tcalls/s\tp50 ms\tp99 ms\tserver ms per 1,000 calls\t× calls/s (spread)\tgoal\tverdict\t× p99 (spread)\t")
		base := s.Targets[0].Rounds
		for _, target := range s.Targets {
			rounds := target.Rounds
			fmt.Fprintf(t, "%s\t%.0f\t%.2f\t%.2f\t%.1f\t%s\t%s\t%s\t%s\t\n", target.Name,
				median(rounds, func(r Round) float64 { return r.Rate }),
				median(rounds, func(r Round) float64 { return ms(r.P50) }),
				median(rounds, func(r Round) float64 { return ms(r.P99) }),
				median(rounds, func(r Round) float64 { return r.CPUPerCall }),
				ratios(rounds, base, rate), target.Verdict.goal(), target.Verdict,
				ratios(rounds, base, func(r Round) float64 { return ms(r.P99) }))
		}
		t.Flush()
		fmt.Fprintf(w, "gateway: resident %.1f MiB before, %.1f MiB after (at most %.1f MiB)\n", mib(s.RSSBefore), mib(s.RSSAfter), mib(s.RSSPeak))
	}
	if len(r.Lists) > 0 {
		fmt.Fprintln(w, "\ntools/list, one connection")
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "document\tera\tencoding\ttools\tKiB\tuser µs\tsystem µs\tfirst byte µs\tallocated bytes\tallocations\t")
		for _, l := range r.Lists {
			fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.1f\t\n", l.Document, l.Era, l.Encoding, l.Tools, float64(l.Bytes)/1024,
				l.UserUS, l.SystemUS, float64(l.FirstByte.Nanoseconds())/1000, l.Allocated, l.Allocations)
		}
		t.Flush()
	}
	if len(r.Starts) > 0 {
		fmt.Fprintln(w, "\nstart to first tools/list")
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "document\ttools\tlist KiB\tseconds (spread)\tgoal\tverdict\tprocessor s\tresident MiB\tgoal\tverdict\tat most MiB\t")
		for _, s := range r.Starts {
			fmt.Fprintf(t, "%s\t%d\t%.0f\t%s\t%s\t%s\t%.2f\t%.0f\t%s\t%s\t%.0f\t\n", s.Document, s.Tools, float64(s.Bytes)/1024,
				spread(numbers(s.Took, time.Duration.Seconds)), s.TookVerdict.goal(), s.TookVerdict,
				median(s.CPU, time.Duration.Seconds), median(s.RSS, mib), s.RSSVerdict.goal(), s.RSSVerdict, median(s.Peak, mib))
		}
		t.Flush()
	}
}

// ratios is the median of the ratios of rounds that ran side by side, and their spread.
func ratios(rounds, base []Round, of func(Round) float64) string {
	return spread(sideBySide(rounds, base, of))
}

func sideBySide(rounds, base []Round, of func(Round) float64) (all []float64) {
	for i := range min(len(rounds), len(base)) {
		all = append(all, of(rounds[i])/of(base[i]))
	}
	return all
}

// spread is the median of figures, with the least and the most of them.
func spread(all []float64) string {
	if len(all) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", median(all, func(f float64) float64 { return f }), slices.Min(all), slices.Max(all))
}

func rate(r Round) float64 { return r.Rate }

func median[T any](values []T, of func(T) float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := make([]float64, len(values))
	for i, v := range values {
		sorted[i] = of(v)
	}
	slices.SortFunc(sorted, cmp.Compare[float64])
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }
