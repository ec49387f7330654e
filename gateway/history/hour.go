package history

import "time"

const (
	// slotMinutes is how many minutes the latencies of an API are counted in together.
	slotMinutes = 10
	slots       = Minutes / slotMinutes
)

// counts is what happened in a minute.
type counts struct {
	minute        int64 // since the Unix epoch
	calls, failed uint32
	result        int64 // bytes of the texts of results
}

func (n *counts) add(c *Call) {
	n.calls++
	if !c.OK {
		n.failed++
	}
	n.result += c.Result
}

// minute is what happened in a minute, with latencies.
type minute struct {
	counts
	latency latencies
}

// apiHour is the last hour of an API.
type apiHour struct {
	last    int64 // the minute of the last call
	minutes [Minutes]counts
	slots   [slots]struct {
		slot    int64 // slotMinutes since the Unix epoch
		latency latencies
	}
}

func (a *apiHour) add(c *Call, at int64, bucket int) {
	a.last = at
	m := &a.minutes[at%Minutes]
	if m.minute != at {
		*m = counts{minute: at}
	}
	m.add(c)
	s := &a.slots[at/slotMinutes%slots]
	if slot := at / slotMinutes; s.slot != slot {
		s.slot, s.latency = slot, latencies{}
	}
	s.latency[bucket]++
}

// Sum is what happened within the last hour.
type Sum struct {
	Calls, Failed int
	Result        int64 // bytes of the texts of results
	// P50 and P99 are of the last 50 to 60 minutes; 0 without calls.
	P50, P99 time.Duration
}

func (a *apiHour) sum(at int64) (sum Sum) {
	for i := range a.minutes {
		if m := &a.minutes[i]; m.minute > at-Minutes {
			sum.Calls += int(m.calls)
			sum.Failed += int(m.failed)
			sum.Result += m.result
		}
	}
	var all latencies
	for i := range a.slots {
		if s := &a.slots[i]; s.slot > at/slotMinutes-slots {
			all.addAll(&s.latency)
		}
	}
	sum.P50, sum.P99 = all.percentile(0.5), all.percentile(0.99)
	return sum
}

// Minute is what happened in one minute.
type Minute struct {
	Begin         time.Time
	Calls, Failed int
	P50, P99      time.Duration // 0 without calls
	Result        int64         // bytes of the texts of results
}

func minuteOf(t time.Time) int64 { return t.Unix() / 60 }

// recent returns the last n minutes before now, and all of them.
func recent(from *[Minutes]minute, now time.Time, n int) (minutes []Minute, total Minute) {
	minutes = make([]Minute, 0, n)
	at := minuteOf(now)
	var all latencies
	for i := at - int64(n) + 1; i <= at; i++ {
		one := Minute{Begin: time.Unix(i*60, 0).In(now.Location())}
		if m := &from[i%Minutes]; m.minute == i {
			one.Calls, one.Failed, one.Result = int(m.calls), int(m.failed), m.result
			one.P50, one.P99 = m.latency.percentile(0.5), m.latency.percentile(0.99)
			all.addAll(&m.latency)
		}
		minutes = append(minutes, one)
		total.Calls, total.Failed, total.Result = total.Calls+one.Calls, total.Failed+one.Failed, total.Result+one.Result
	}
	total.Begin, total.P50, total.P99 = minutes[0].Begin, all.percentile(0.5), all.percentile(0.99)
	return minutes, total
}
