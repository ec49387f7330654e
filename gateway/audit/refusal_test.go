package audit

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/test/race"
)

// refused returns what the log tells of refusals, in short, sorted, when each line fits the schema. It runs the log while tell tells it of some.
func refused(t *testing.T, o Options, tell func(l *Log)) (told []string) {
	t.Helper()
	out := &stream{room: -1}
	o.Output, o.Subject = out, PlainSubject
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	tell(l)
	synctest.Wait()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	schema := lineSchema(t)
	for line := range strings.Lines(out.String()) {
		v := holds(t, schema, []byte(line))
		told = append(told, fmt.Sprintf("%v %v %v %v +%v", v["outcome"], v["reason"], v["address"], v["subject"], v["more"]))
		if v["decision"] != "refused" || fmt.Sprint(v["answered"]) != "401" || (v["more"] == nil) != (v["request"] != nil) {
			t.Errorf("%s", line)
		}
	}
	slices.Sort(told)
	return told
}

func refusalOf(reason, address, subject string) *Line {
	l := &Line{Time: time.Now(), Request: "r", Decision: Refused, Outcome: "unauthenticated", Reason: reason, Answered: 401, Subject: subject}
	if address != "" {
		l.Address = netip.MustParseAddr(address)
	}
	return l
}

// TestRefusals: the first of a kind has its line at once, the others of its minute one at its end, and the next minute begins again.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var early string
		got := refused(t, Options{}, func(l *Log) {
			tell := func(times int, reason, address, subject string) {
				for range times {
					l.Refuse(refusalOf(reason, address, subject))
				}
			}
			tell(5, "expired", "192.0.2.1", "")
			tell(1, "expired", "192.0.2.2", "")
			tell(1, "signature", "192.0.2.1", "")
			tell(2, "expired", "", "")
			tell(2, "expired", "192.0.2.1", "alice")
			tell(1, "expired", "2001:db8::1", "")
			tell(2, "expired", "2001:db8::2", "") // of one network
			tell(1, "expired", "2001:db8:0:1::1", "")
			time.Sleep(refusalSpan - time.Millisecond)
			synctest.Wait()
			early = l.out.stream.(*stream).String()
			tell(1, "expired", "192.0.2.1", "")
			time.Sleep(time.Second)
			tell(2, "expired", "192.0.2.1", "")
		})
		want := []string{
			"unauthenticated expired 192.0.2.1 <nil> +1", // of the second minute, at the end
			"unauthenticated expired 192.0.2.1 <nil> +5",
			"unauthenticated expired 192.0.2.1 <nil> +<nil>", "unauthenticated expired 192.0.2.1 <nil> +<nil>",
			"unauthenticated expired 192.0.2.1 alice +1", "unauthenticated expired 192.0.2.1 alice +<nil>",
			"unauthenticated expired 192.0.2.2 <nil> +<nil>",
			"unauthenticated expired 2001:db8:0:1::1 <nil> +<nil>",
			"unauthenticated expired 2001:db8::1 <nil> +2", "unauthenticated expired 2001:db8::1 <nil> +<nil>",
			"unauthenticated expired <nil> <nil> +1", "unauthenticated expired <nil> <nil> +<nil>",
			"unauthenticated signature 192.0.2.1 <nil> +<nil>",
		}
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if strings.Contains(early, `"more"`) || strings.Count(early, "\n") != 7 {
			t.Errorf("before the minute was over:\n%s", early)
		}
	})
}

// TestRefusalFlood: however many are refused, from however many addresses, a minute has a bounded number of lines, and all are counted.
func TestRefusalFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const addresses, times = 5000, 3
		reasons := []string{"expired", "signature"}
		var remembered int
		got := refused(t, Options{Buffer: 64}, func(l *Log) {
			for range times {
				for n := range addresses {
					l.Refuse(refusalOf(reasons[n%2], fmt.Sprintf("10.0.%d.%d", n>>8, n&255), ""))
					if n%32 == 0 {
						time.Sleep(gatherTime) // so that none is lost for want of room
					}
				}
			}
			remembered = len(l.refused.seen)
		})
		if most := 2*maxRefusals + len(reasons); len(got) != most {
			t.Errorf("%d lines, want %d", len(got), most)
		}
		if remembered != maxRefusals {
			t.Errorf("%d are remembered", remembered)
		}
		counted := 0
		for _, line := range got {
			more := 1
			_, _ = fmt.Sscanf(line[strings.IndexByte(line, '+')+1:], "%d", &more)
			counted += more
		}
		if counted != addresses*times {
			t.Errorf("%d refusals are told, want %d", counted, addresses*times)
		}
	})
}

// TestNoRefusals: they are left out where that is asked for.
func TestNoRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if got := refused(t, Options{NoRefusals: true}, func(l *Log) { l.Refuse(refusalOf("expired", "192.0.2.1", "")) }); len(got) > 0 {
			t.Errorf("told %q", got)
		}
	})
}

// TestRefusalsDueAllocate nothing: while refusals wait to be told, lines of calls may be written a hundred times a second.
func TestRefusalsDueAllocate(t *testing.T) {
	l, err := New(Options{Output: &stream{room: -1}})
	if err != nil {
		t.Fatal(err)
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	if l.refusalsDue(timer) != nil {
		t.Error("none was told, and they are due")
	}
	l.Refuse(refusalOf("expired", "192.0.2.1", ""))
	if n := testing.AllocsPerRun(100, func() {
		if l.refusalsDue(timer) == nil {
			t.Error("they are never due")
		}
	}); n > 0 && !race.Enabled {
		t.Errorf("%v allocations for each batch", n)
	}
}
