package audit

import (
	"net/netip"
	"time"
)

const (
	// refusalSpan is for how long refusals are counted after the first of a kind.
	refusalSpan = time.Minute
	// maxRefusals is how many kinds of refusals have lines in that time. Anybody can be refused as often as he likes, and from many
	// addresses: what he can write is bounded.
	maxRefusals = 128
)

// refusal is what refusals have in common that are counted together.
type refusal struct {
	outcome, reason string
	address         netip.Prefix // an IPv4 address, or a /64 network; zero: not known
	issuer, subject string
	client          string
}

// refusals are those since the first of a time.
type refusals struct {
	since time.Time // zero: there was none
	seen  map[refusal]*counted
	// others are those for which there was no place in seen, by outcome and reason. Both are of closed sets.
	others map[refusal]*counted
}

// counted is the line of the first, and how many came after it.
type counted struct {
	line Line
	more int64
}

// Refuse tells of a request that was refused before it was known what it wants, or of a connection: its answer, and what is known of the caller. The first
// of a kind has a line, and those that follow within a minute are counted in one at its end. A kind is an outcome with its reason, an
// address, of IPv6 a /64 network, and a caller. There are 128 in a minute at most; what is beyond is counted by outcome and reason
// alone. Lines are lost as [Log.Write] loses those of calls that asked no service. Nothing is written with [Options].NoRefusals.
func (l *Log) Refuse(line *Line) {
	if l.o.NoRefusals {
		return
	}
	if l.refuse(line) {
		l.Write(line)
	}
}

// refuse counts a refusal. True: it is the first of its kind.
func (l *Log) refuse(line *Line) bool {
	kind := refusal{outcome: line.Outcome, reason: line.Reason, issuer: line.Issuer, subject: line.Subject, client: line.Client}
	if line.Address.IsValid() {
		bits := 32
		if line.Address.Is6() {
			bits = 64
		}
		kind.address, _ = line.Address.Prefix(bits) // of a valid address with so many bits
	}
	l.refusedMu.Lock()
	defer l.refusedMu.Unlock()
	r := &l.refused
	if r.since.IsZero() {
		*r = refusals{since: time.Now(), seen: map[refusal]*counted{}, others: map[refusal]*counted{}}
		defer signal(l.wake) // who waits for lines has to know when to look again
	}
	if c := r.seen[kind]; c != nil {
		c.more++
		return false
	}
	if len(r.seen) < maxRefusals {
		r.seen[kind] = &counted{line: *line}
		return true
	}
	kind = refusal{outcome: line.Outcome, reason: line.Reason}
	if r.others[kind] == nil {
		r.others[kind] = &counted{line: Line{Decision: line.Decision, Outcome: line.Outcome, Reason: line.Reason, Answered: line.Answered, Connection: line.Connection}}
	}
	r.others[kind].more++
	return false
}

// refusalsDue sets a timer to when the refusals that were counted are to be written, and returns what it tells that on; nil: there are none.
func (l *Log) refusalsDue(timer *time.Timer) <-chan time.Time {
	l.refusedMu.Lock()
	defer l.refusedMu.Unlock()
	if l.refused.since.IsZero() {
		return nil
	}
	timer.Reset(time.Until(l.refused.since.Add(refusalSpan)))
	return timer.C
}

// sum writes the lines with the numbers of refusals, if their time is over, or anyhow.
func (l *Log) sum(anyhow bool) {
	now := time.Now()
	l.refusedMu.Lock()
	r := l.refused
	if r.since.IsZero() || !anyhow && now.Before(r.since.Add(refusalSpan)) {
		l.refusedMu.Unlock()
		return
	}
	l.refused = refusals{}
	l.refusedMu.Unlock()
	for _, all := range []map[refusal]*counted{r.seen, r.others} {
		for _, c := range all {
			if c.more == 0 {
				continue
			}
			line := c.line
			// Requests differ in these.
			line.Request, line.Trace, line.Endpoint, line.RPC = "", "", "", ""
			line.Time, line.Duration, line.More = r.since, now.Sub(r.since), c.more
			l.put(&line, true) // there are few, and none while lines can't be written
		}
	}
}
