package audit

import (
	"net/netip"
	"time"

	"drawbridge/gateway/signal"
)

const (
	// refusalSpan is the time for which further refusals of a kind are counted after the first.
	refusalSpan = time.Minute
	// maxRefusals is the number of kinds of refusals with lines of their own in that time. It
	// limits the lines that unauthenticated clients can cause from many addresses.
	maxRefusals = 128
)

// refusal is the key by which refusals are counted together.
type refusal struct {
	outcome, reason string
	address         netip.Prefix // an IPv4 address, or a /64 network; zero if unknown
	issuer, subject string
	client          string
}

// refusals are the refusals of the current time span.
type refusals struct {
	since time.Time // zero if there was none
	seen  map[refusal]*counted
	// others counts those beyond maxRefusals, by outcome and reason, which are closed sets.
	others map[refusal]*counted
}

// counted is the line of the further refusals of a kind, and their number.
type counted struct {
	line Line
	more int64
}

// ofKind returns the line of further refusals of the kind of one, without the members in which requests of one kind differ.
func (l *Line) ofKind() Line {
	return Line{
		Credential: l.Credential, Issuer: l.Issuer, Subject: l.Subject, Client: l.Client, Scopes: l.Scopes, Operator: l.Operator,
		Protocol: l.Protocol, Address: l.Address, Reason: l.Reason, Answered: l.Answered, Connection: l.Connection,
		Decision: l.Decision, Outcome: l.Outcome,
	}
}

// Refuse records a denied request or connection: the response, and what is known of the caller. The
// first of a kind gets a line, and those that follow within a minute are counted in one line at its
// end. A kind is an outcome with its reason, an address (for IPv6 a /64 network), and a caller. At
// most 128 kinds are distinguished per minute; further ones are counted by outcome and reason only.
// Lines are lost under the same conditions as those of [Log.Write] for calls without requests. With
// [Options].NoRefusals nothing is written.
func (l *Log) Refuse(line *Line) {
	if !l.o.NoRefusals {
		l.WriteCounted(line)
	}
}

// WriteCounted writes the line of a call that is refused because lines can't be written, as [Log.Refuse] does and whatever
// [Options].NoRefusals is: a line for each such call would fill the buffer, and leave no space for other lines.
func (l *Log) WriteCounted(line *Line) {
	if l.count(line) {
		l.Write(line)
	}
}

// count counts a refusal, and reports whether it is the first of its kind.
func (l *Log) count(line *Line) bool {
	kind := refusal{outcome: line.Outcome, reason: line.Reason, issuer: line.Issuer, subject: line.Subject, client: line.Client}
	if line.Address.IsValid() {
		bits := 32
		if line.Address.Is6() {
			bits = 64
		}
		kind.address, _ = line.Address.Prefix(bits) // valid for such an address
	}
	l.refusedMu.Lock()
	defer l.refusedMu.Unlock()
	r := &l.refused
	if r.since.IsZero() {
		*r = refusals{since: time.Now(), seen: map[refusal]*counted{}, others: map[refusal]*counted{}}
		defer signal.Raise(l.wake) // the writer has to reset its timer
	}
	if c := r.seen[kind]; c != nil {
		c.more++
		return false
	}
	if len(r.seen) < maxRefusals {
		r.seen[kind] = &counted{line: line.ofKind()}
		return true
	}
	kind = refusal{outcome: line.Outcome, reason: line.Reason}
	if r.others[kind] == nil {
		r.others[kind] = &counted{line: Line{Decision: line.Decision, Outcome: line.Outcome, Reason: line.Reason, Answered: line.Answered, Connection: line.Connection}}
	}
	r.others[kind].more++
	return false
}

// refusalsDue sets a timer to the time at which the counted refusals are to be written, and returns
// its channel; nil if there are none.
func (l *Log) refusalsDue(timer *time.Timer) <-chan time.Time {
	l.refusedMu.Lock()
	defer l.refusedMu.Unlock()
	if l.refused.since.IsZero() {
		return nil
	}
	timer.Reset(time.Until(l.refused.since.Add(refusalSpan)))
	return timer.C
}

// writeCounts writes the lines with the numbers of refusals if their time is over, or always if
// force is set.
func (l *Log) writeCounts(force bool) {
	now := time.Now()
	l.refusedMu.Lock()
	r := l.refused
	if r.since.IsZero() || !force && now.Before(r.since.Add(refusalSpan)) {
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
			c.line.Time, c.line.Duration, c.line.More = r.since, now.Sub(r.since), c.more
			l.put(&c.line, true) // there are few, and none while lines can't be written
		}
	}
}
