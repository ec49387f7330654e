package console

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"drawbridge/gateway/history"
)

const (
	chartWidth  = 240
	chartHeight = 48
)

// chart is a small chart of the last hour, a value for each minute.
type chart struct {
	Title string
	Now   string // the value of the whole hour
	Lines []chartLine
	Most  string // the value at the upper edge
	Text  string // what the chart shows, in words; the table has its values
}

// chartLine is a line of a chart.
type chartLine struct {
	Class  string // of the style sheet
	Points string // of an SVG polyline
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

// chartsOf returns the charts of the last hour.
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
	count := func(v float64) string { return number(int(math.Round(v))) }
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
		newChart("Calls", number(total.Calls), count, series{"one", calls}),
		newChart("Errors", number(total.Failed)+share, count, series{"bad", failed}),
		newChart("Latency, p50 and p99 (dashed)", milliseconds(total.P50)+" and "+milliseconds(total.P99), latency, series{"one", p50}, series{"two", p99}),
		newChart("Tokens of results, estimated", number(tokensOf(total.Result, tokensPerByte)), count, series{"one", tokens}),
	}
}

// series is a line with its values, the oldest first.
type series struct {
	class  string
	values []float64
}

// newChart returns a chart of lines on one scale.
func newChart(title, now string, format func(float64) string, lines ...series) chart {
	most := 0.0
	for _, l := range lines {
		for _, v := range l.values {
			most = max(most, v)
		}
	}
	c := chart{Title: title, Now: now, Most: format(most)}
	c.Text = title + ", a chart of the last hour by minute: " + now + " for the hour, peak " + c.Most + "/min"
	for _, l := range lines {
		c.Lines = append(c.Lines, chartLine{l.class, points(l.values, most)})
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
