package history

import (
	"math"
	"time"
)

const (
	// shortest is the upper bound of the first bucket.
	shortest = 100 * time.Microsecond
	// perOctave is the number of buckets between a latency and its double.
	perOctave = 4
	// buckets reach to 100 µs · 2^20, which is 105 s. Longer calls are in the last.
	buckets = 20*perOctave + 1
)

// latencies counts latencies in buckets whose bounds grow by 19 %, so that a percentile is at most 9 % from the true one,
// between 100 µs and 105 s.
type latencies [buckets]uint32

func (l *latencies) add(d time.Duration) { l[bucketOf(d)]++ }

func (l *latencies) addAll(other *latencies) {
	for i, n := range other {
		l[i] += n
	}
}

func bucketOf(d time.Duration) int {
	if d <= shortest {
		return 0
	}
	return min(int(math.Ceil(math.Log2(float64(d)/float64(shortest))*perOctave)), buckets-1)
}

// percentile returns the latency that a share p of the calls, from 0 to 1, is not longer than; 0 if there are none.
func (l *latencies) percentile(p float64) time.Duration {
	total := uint64(0)
	for _, n := range l {
		total += uint64(n)
	}
	if total == 0 {
		return 0
	}
	rank := uint64(math.Ceil(p * float64(total)))
	seen := uint64(0)
	for i, n := range l {
		if seen += uint64(n); n > 0 && seen >= rank {
			return middle(i)
		}
	}
	return middle(buckets - 1)
}

// middle returns the geometric mean of a bucket's bounds.
func middle(bucket int) time.Duration {
	if bucket == 0 {
		return shortest
	}
	return time.Duration(float64(shortest) * math.Exp2((float64(bucket)-0.5)/perOctave))
}
