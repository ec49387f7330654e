package console

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"drawbridge/gateway/history"
)

const (
	chartWidth  = 240
	chartHeight = 64
)

// chartMinutes are the ranges that charts can show, in minutes.
var chartMinutes = []int{15, 30, history.Minutes}

// chartRange is a choice of how far back the charts go.
type chartRange struct {
	Minutes int
	Chosen  bool
}

// rangeOf returns the range that a request asks for; all that is kept without a choice.
func rangeOf(minutes string) int {
	n, err := strconv.Atoi(minutes)
	if err != nil || !slices.Contains(chartMinutes, n) {
		return history.Minutes
	}
	return n
}

// chartRanges returns the ranges with the chosen one marked.
func chartRanges(chosen int) (all []chartRange) {
	for _, n := range chartMinutes {
		all = append(all, chartRange{n, n == chosen})
	}
	return all
}

// chart is a small chart with a value for each minute.
type chart struct {
	Title   string
	Now     string // the value of the whole range
	Lines   []chartLine
	Minutes []chartMinute
	Most    string // the value at the upper edge; "" if all are 0
	Begin   string // the first minute
	Text    string // the chart in words; the table has its values
}

// chartLine is a line of a chart.
type chartLine struct {
	Class  string // of the style sheet
	Points string // of an SVG polyline
}

// chartMinute is a minute of a chart: the column that the pointer is over, and its values in words.
type chartMinute struct {
	X, Width string // in SVG units
	Text     string
}

// viewBox returns the size of the chart, in SVG units.
func (chart) viewBox() string { return fmt.Sprintf("0 0 %d %d", chartWidth, chartHeight) }

// chartRow is the values of a minute with calls, as text.
type chartRow struct {
	Minute, Calls, Failed, P50, P99, Tokens string
}

// chartRowsOf returns the table of the charts: the minutes with calls, the newest first.
func chartRowsOf(minutes []history.Minute, tokensPerByte float64) (rows []chartRow) {
	for _, m := range slices.Backward(minutes) {
		if m.Calls > 0 {
			rows = append(rows, chartRow{
				m.Begin.Format("15:04"), number(m.Calls), number(m.Failed), milliseconds(m.P50), milliseconds(m.P99), number(tokensOf(m.Result, tokensPerByte)),
			})
		}
	}
	return rows
}

// tokensOf returns the tokens of texts of results, as estimated.
func tokensOf(bytes int64, tokensPerByte float64) int {
	return int(math.Round(float64(bytes) * tokensPerByte))
}

// chartsOf returns the charts of some minutes, and of all of them.
func chartsOf(minutes []history.Minute, total history.Minute, tokensPerByte float64) []chart {
	if len(minutes) == 0 {
		return nil
	}
	values := func(of func(*history.Minute) float64) []float64 {
		all := make([]float64, len(minutes))
		for i := range minutes {
			all[i] = of(&minutes[i])
		}
		return all
	}
	count := func(v float64) string { return number(int(math.Round(v))) + "/min" }
	latency := func(v float64) string { return milliseconds(time.Duration(v)) }
	calls := values(func(m *history.Minute) float64 { return float64(m.Calls) })
	failed := values(func(m *history.Minute) float64 { return float64(m.Failed) })
	p50 := values(func(m *history.Minute) float64 { return float64(m.P50) })
	p99 := values(func(m *history.Minute) float64 { return float64(m.P99) })
	tokens := values(func(m *history.Minute) float64 { return float64(m.Result) * tokensPerByte })
	share := ""
	if total.Calls > 0 {
		share = fmt.Sprintf(" (%.1f %%)", 100*float64(total.Failed)/float64(total.Calls))
	}
	return []chart{
		newChart("Calls", number(total.Calls), minutes, count, series{"one", calls}),
		newChart("Errors", number(total.Failed)+share, minutes, count, series{"bad", failed}),
		newChart("Latency, p50 and p99 (dashed)", milliseconds(total.P50)+" and "+milliseconds(total.P99), minutes, latency, series{"one", p50}, series{"two", p99}),
		newChart("Tokens of results, estimated", number(tokensOf(total.Result, tokensPerByte)), minutes, count, series{"one", tokens}),
	}
}

// series is a line with its values, the oldest first.
type series struct {
	class  string
	values []float64
}

// newChart returns a chart of lines on one scale.
func newChart(title, now string, minutes []history.Minute, format func(float64) string, lines ...series) chart {
	most := 0.0
	for _, l := range lines {
		most = max(most, slices.Max(l.values))
	}
	c := chart{Title: title, Now: now, Begin: minutes[0].Begin.Format("15:04")}
	if most > 0 {
		c.Most = format(most)
	}
	c.Text = fmt.Sprintf("%s, a chart of the last %d minutes: %s in all, peak %s", title, len(minutes), now, format(most))
	for _, l := range lines {
		c.Lines = append(c.Lines, chartLine{l.class, points(l.values, most)})
	}
	step := float64(chartWidth) / float64(len(minutes))
	for i := range minutes {
		text := minutes[i].Begin.Format("15:04")
		for _, l := range lines {
			text += ", " + format(l.values[i])
		}
		c.Minutes = append(c.Minutes, chartMinute{fmt.Sprintf("%.1f", float64(i)*step), fmt.Sprintf("%.1f", step), text})
	}
	return c
}

// points returns the points of a line, the value most at the upper edge.
func points(values []float64, most float64) string {
	var b strings.Builder
	for i, v := range values {
		y := float64(chartHeight - 1)
		if most > 0 {
			y -= v / most * (chartHeight - 2)
		}
		fmt.Fprintf(&b, "%.1f,%.1f ", float64(i)*chartWidth/float64(max(1, len(values)-1)), y)
	}
	return strings.TrimSuffix(b.String(), " ")
}
