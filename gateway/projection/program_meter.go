package projection

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"math/bits"
	"regexp"
)

// The work of an evaluation is counted, not timed, so that an answer is projected or not whatever else the machine does. A unit
// is about what one instruction of the interpreter takes, some 20 ns. Instructions are counted one by one; a function of jq is one
// instruction that may take as long as its input is large, so it is given its input through a guard (program_guard.go), which
// counts the units that it will take.

const (
	// baseWork and workPerByte are the units that an evaluation may use: baseWork, and more by the length of the answer. An answer
	// has about one value for ten bytes, so that a hundred instructions are left for each.
	baseWork, workPerByte = 2 << 20, 6
	// unitBytes is how many bytes of text are copied, compared or hashed in one unit.
	unitBytes = 4
)

// errTooMuch is the error of an evaluation that has used its units.
var errTooMuch = errors.New("needs more work than an answer of this size allows")

// charge is the way in which the units of one step are derived from the size of its input.
type charge uint8

const (
	free       charge = iota
	bySize            // the input is read once
	byWidth           // the members of the input, or the characters of a string, are read; not what is in them
	byDigits          // the input is compared with something
	bySorting         // the elements of the input are compared with each other
	byKeys            // the input is compared with others of its kind, to sort them
	byParsing         // the input is a text that is parsed
	byPairs           // the parts of the input are combined with those of the argument
	byPaths           // the paths in the argument are followed in the input
	byPicks           // as byPaths, for pick with [], which copies the array of the result for each element
	byMatch           // a regular expression is looked for in the input
	byMatches         // as byMatch, for all its matches
	lastCharge = byMatches
)

// keyComparisons is how often a key is compared at the most: the logarithm of the number of elements of the longest answer.
const keyComparisons = 20

// pathWork is what a path costs more than reading its input: containers are copied before they are changed.
const pathWork = 4

// parsingWork is what parsing costs more than reading.
const parsingWork = 8

// meter counts the work of one evaluation. It is the context of the evaluation, too: the interpreter looks at Done before each
// instruction, whereby instructions are counted. Unlike the error of a guard, which an expression can catch, it ends the evaluation
// in any case. Only the goroutine of the evaluation uses it.
type meter struct {
	context.Context // of the call
	left            int
	asked           int   // instructions since the context of the call was looked at
	err             error // why the evaluation ends; nil as long as it goes on
	matchers        []matcher
}

// matcher is a regular expression of a program.
type matcher struct {
	pattern *regexp.Regexp
	work    int // units for each byte of a text, in quarters of an instruction of the matcher
}

func newMeter(ctx context.Context, size int, matchers []matcher) *meter {
	return &meter{Context: ctx, left: baseWork + workPerByte*size, asked: lookEvery, matchers: matchers}
}

// lookEvery is after how many instructions the context of the call is looked at.
const lookEvery = 1024

// closed is the channel of an evaluation that has ended.
var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Done counts one instruction. See [meter].
func (m *meter) Done() <-chan struct{} {
	if m.asked++; m.asked >= lookEvery {
		m.asked = 0
		if err := m.Context.Err(); err != nil && m.err == nil {
			m.err = err
		}
	}
	if !m.spend(1) {
		return closed
	}
	return nil
}

// Err implements [context.Context].
func (m *meter) Err() error { return m.err }

// spend takes units off what is left. It returns false if the evaluation must end.
func (m *meter) spend(units int) bool {
	if m.err == nil {
		if units > m.left {
			m.err = errTooMuch
		} else {
			m.left -= units
		}
	}
	return m.err == nil
}

// spendTimes is spend for a product, which may be beyond an int.
func (m *meter) spendTimes(units, times int) bool {
	if high, low := bits.Mul64(uint64(units), uint64(times)); high > 0 || low > uint64(m.left) {
		return m.spend(m.left + 1)
	}
	return m.spend(units * times)
}

// size returns the units for reading a value once, and at most a little more than are left. A value may hold another many times,
// so it may be much larger than its memory.
func (m *meter) size(v any) int { return measure(v, m.left, 0) }

// digits is size for a value that is compared with others: jq converts the numbers to binary at each comparison.
func (m *meter) digits(v any) int { return measure(v, m.left, 1) }

// measure returns the units for reading a value, with those of conversions for each time that its numbers are converted.
func measure(v any, most, conversions int) int {
	units := 1
	switch v := v.(type) {
	case string:
		units += len(v) / unitBytes
	case json.Number:
		units += len(v)/unitBytes + conversions*conversionWork(len(v))
	case *big.Int:
		units += v.BitLen() / 8 / unitBytes
	case []any:
		for _, element := range v {
			if units > most {
				return units
			}
			units += measure(element, most-units, conversions)
		}
	case map[string]any:
		for name, member := range v {
			if units > most {
				return units
			}
			units += 1 + len(name)/unitBytes + measure(member, most-units, conversions)
		}
	}
	return units
}

// conversionWork returns the units for the conversion of a number of that many characters: above the length of machine numbers the
// time grows with the square.
func conversionWork(length int) int {
	if length <= 24 {
		return 2
	}
	return length + length*length/4096
}

// width returns the units for reading the members of a value without what is in them.
func width(v any) int {
	switch v := v.(type) {
	case string:
		return 1 + len(v)/unitBytes
	case []any:
		return 1 + len(v)
	case map[string]any: // the names are sorted
		return 1 + len(v)*(1+bits.Len(uint(len(v)))/4)
	default:
		return 1
	}
}

// take counts the units of a step, with the other side of the step if it has two, and a number that belongs to the charge. It
// returns false if they are not left.
func (m *meter) take(c charge, v, other any, n int) bool {
	switch c {
	case bySize:
		return m.spend(m.size(v))
	case byWidth:
		return m.spend(width(v))
	case byDigits:
		return m.spend(m.digits(v))
	case bySorting:
		elements, _ := v.([]any)
		return m.spendTimes(m.digits(v), 1+bits.Len(uint(len(elements))))
	case byKeys:
		return m.spendTimes(m.digits(v), keyComparisons)
	case byParsing:
		return m.spendTimes(m.size(v), parsingWork)
	case byPairs:
		return m.spendTimes(m.digits(v), m.digits(other))
	case byPaths:
		return m.spendTimes(m.size(v), pathWork*n)
	case byPicks:
		size := m.size(v)
		return m.spendTimes(size, pathWork*n+size/1024)
	case byMatch:
		return m.match(v, n, false)
	case byMatches:
		return m.match(v, n, true)
	default:
		return true
	}
}

// match takes the units for looking for a regular expression in a text. For each of all matches, gojq counts the characters of the
// text before it again.
func (m *meter) match(v any, n int, all bool) bool {
	text, ok := v.(string)
	if !ok || n >= len(m.matchers) {
		return m.err == nil // the function says so
	}
	r := m.matchers[n]
	if !m.spendTimes(1+len(text), r.work) {
		return false
	}
	if !all || r.pattern == nil {
		return true
	}
	each := 8 + len(text)/unitBytes
	most := m.left / each
	return m.spendTimes(each, len(r.pattern.FindAllStringIndex(text, most+1)))
}
