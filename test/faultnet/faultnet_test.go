package faultnet

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"drawbridge/test/timebox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service answers everything it reads until the end with the same text, then closes.
func service(t *testing.T, answer string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			line := make([]byte, 4)
			if _, err := io.ReadFull(c, line); err == nil {
				_, _ = io.WriteString(c, answer)
				_, _ = c.Write(line)
			}
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); timebox.Wait(t, done) })
	return l.Addr().String()
}

func relay(t *testing.T, answer string, script func(int, *rand.Rand) Script) *Relay {
	t.Helper()
	r, err := Listen(service(t, answer), 1, script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// ask sends four bytes and returns all that comes, and how it ended.
func ask(t *testing.T, address string) (string, error) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		return "", err // some systems see a reset so early
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, sent := io.WriteString(c, "ping")
	answer, err := io.ReadAll(c)
	if err == nil && errors.Is(sent, syscall.ECONNRESET) {
		err = sent // a socket tells of a reset once; the read after it sees an end
	}
	return string(answer), err
}

func TestRelay(t *testing.T) {
	const text = "a long answer "
	for _, test := range []struct {
		name   string
		script Script
		want   string
		err    error
	}{
		{"nothing", Script{}, text + "ping", nil},
		{"slices", Script{Answers: Way{Slice: 1, Latency: time.Microsecond, Jitter: time.Microsecond}}, text + "ping", nil},
		{"rate", Script{Answers: Way{Rate: 1000}}, text + "ping", nil},
		{"corrupt answer", Script{Answers: Way{Corrupt: 3}}, "a mong answer ping", nil},
		{"corrupt request", Script{Requests: Way{Corrupt: 1}}, text + "qing", nil},
		{"closed", Script{Answers: Way{End: Close, After: 6}}, "a long", nil},
		{"half closed", Script{Answers: Way{End: HalfClose, After: 6}}, "a long", nil},
		{"nothing after a request that is cut", Script{Requests: Way{End: HalfClose, After: 2}}, "", nil},
		{"refused", Script{Greeting: Refuse}, "", syscall.ECONNRESET},
		{"alert", Script{Greeting: Alert}, "\x15\x03\x03\x00\x02\x02\x28", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := relay(t, text, func(int, *rand.Rand) Script { return test.script })
			got, err := ask(t, r.Addr())
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("got %q, %v; want %q, %v", got, err, test.want, test.err)
			}
			if r.Taken() != 1 {
				t.Errorf("%d connections", r.Taken())
			}
		})
	}
}

func TestResetIsAReset(t *testing.T) {
	ended := make(chan time.Time, 1)
	r := relay(t, strings.Repeat("x", 1000), func(int, *rand.Rand) Script {
		return Script{Answers: Way{End: Reset, After: 10, Ended: func(at time.Time) { ended <- at }}}
	})
	got, err := ask(t, r.Addr())
	if len(got) > 10 || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %q, %v", got, err)
	}
	if at := timebox.Receive(t, ended); time.Since(at) > 10*time.Second {
		t.Errorf("it ended at %v", at)
	}
}

func TestBlackHoleAndStallEndWithTheRelay(t *testing.T) {
	for _, script := range []Script{{Greeting: BlackHole}, {Answers: Way{End: Stall, After: 3}}} {
		r, err := Listen(service(t, "answer"), 1, func(int, *rand.Rand) Script { return script })
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("tcp", r.Addr())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, "ping")
		want := ""
		if script.Greeting == Accept {
			want = "ans"
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
			t.Errorf("got %q, %v", got, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, net.ErrClosed) {
			t.Errorf("after the end: %d bytes, %v", n, err)
		}
		c.Close()
	}
}

func TestScriptsAreRepeated(t *testing.T) {
	draw := func() (all []uint64) {
		for n := range 5 {
			all = append(all, random(42, n).Uint64())
		}
		return all
	}
	first, second := draw(), draw()
	for n := range first {
		if first[n] != second[n] || n > 0 && first[n] == first[n-1] {
			t.Errorf("connection %d: %d, then %d", n, first[n], second[n])
		}
	}
}

// The wrapper works where time is made up.
func TestWrapInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		c := Wrap(near, Way{Slice: 1, Latency: time.Minute, Corrupt: 2}, 7)
		var got bytes.Buffer
		done := make(chan struct{})
		go func() { _, _ = io.Copy(&got, far); close(done) }()
		start := time.Now()
		if _, err := io.WriteString(c, "abc"); err != nil {
			t.Error(err)
		}
		c.Close()
		<-done
		far.Close()
		if took := time.Since(start); took != 3*time.Minute || got.String() != "acc" {
			t.Errorf("%q in %s", got.String(), took)
		}
		if _, err := io.WriteString(c, "d"); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}
