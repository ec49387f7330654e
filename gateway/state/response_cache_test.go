package state

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"drawbridge/gateway/mcp"
	"drawbridge/test/timebox"
)

// answersOf is two replicas that share answers, and what the second hears of the first.
func answersOf(t testing.TB, m *miniredis.Miniredis, bytes int64) (a, b *SharedAnswers, heard func() []string) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	pair(t, m, func(first, second *Shared) {
		a = first.Answers(bytes, func(string, []string) {}, func() {})
		b = second.Answers(bytes, func(group string, places []string) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, group+" "+strings.Join(places, " "))
		}, func() {})
	})
	return a, b, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// put puts a value as who has asked for it now, and waits until it is there.
func put(t testing.TB, a *SharedAnswers, key, owner, place, value string) {
	t.Helper()
	_, _, mark := a.Get(t.Context(), key, "group", place)
	a.Put(key, owner, mark, []byte(value), time.Hour)
	eventually(t, "it is put", func() bool {
		got, _, _ := a.Get(t.Context(), key, "group", place)
		return string(got) == value
	})
}

// TestSharedAnswers: what one replica keeps another finds, for as long as it is good, until something at its place is changed, also when
// that was while it was asked for.
func TestSharedAnswers(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	a, b, heard := answersOf(t, m, 1<<20)
	put(t, a, "key", "alice", "/orders", "answer")
	got, left, mark := b.Get(t.Context(), "key", "group", "/orders")
	if string(got) != "answer" || left <= 0 || left > time.Hour || mark == "" {
		t.Errorf("%q for %v, %q", got, left, mark)
	}
	for _, other := range [][3]string{{"another", "group", "/orders"}, {"key", "group", "/changed"}} {
		if other[2] == "/changed" {
			a.Changed(t.Context(), "group", []string{"/changed"})
		}
		if got, _, mark := b.Get(t.Context(), other[0], other[1], other[2]); got != nil || mark == "" {
			t.Errorf("%v: %q %q", other, got, mark)
		}
	}
	_, _, before := b.Get(t.Context(), "late", "group", "/orders")
	a.Changed(t.Context(), "group", []string{"/orders", "/"})
	if got, _, _ := b.Get(t.Context(), "key", "group", "/orders"); got != nil {
		t.Errorf("it is stale: %q", got)
	}
	b.Put("late", "alice", before, []byte("on its way when it was changed"), time.Hour)
	put(t, b, "then", "alice", "/elsewhere", "x")
	if got, _, _ := a.Get(t.Context(), "late", "group", "/orders"); got != nil {
		t.Errorf("%q", got)
	}
	eventually(t, "the change is heard", func() bool { return slices.Contains(heard(), "group /orders /") })
	put(t, a, "key", "alice", "/orders", "next")
	if got, _, _ := b.Get(t.Context(), "key", "group", "/orders"); string(got) != "next" {
		t.Errorf("%q", got)
	}
	for _, name := range m.Keys() {
		if strings.HasPrefix(name, "gate:answer") && (m.TTL(name) <= 0 || m.TTL(name) > markTTL) {
			t.Errorf("%s lives for %v", name, m.TTL(name))
		}
		if v, _ := m.Get(name); strings.Contains(v, "answer") || strings.Contains(name, "orders") || strings.Contains(name, "alice") {
			t.Errorf("%s tells of something: %q", name, v)
		}
	}
	m.FastForward(2 * time.Hour)
	if got, _, _ := b.Get(t.Context(), "key", "group", "/orders"); got != nil {
		t.Errorf("after its time: %q", got)
	}
}

// TestLyingAnswers: a value that was moved to another key, altered or made up is none, one without an end neither, and a mark that no
// replica has made is not taken.
func TestLyingAnswers(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	a, b, _ := answersOf(t, m, 1<<20)
	put(t, a, "alice", "alice", "/", "for alice")
	put(t, a, "bob", "bob", "/", "for bob")
	alice, bob := a.valueName("alice"), a.valueName("bob")
	theirs, _ := m.Get(alice)
	none := func(what string) {
		t.Helper()
		if got, _, _ := b.Get(t.Context(), "bob", "group", "/"); got != nil {
			t.Errorf("%s: %q", what, got)
		}
	}
	before := testutil.ToFloat64(b.s.failures[useAnswers])
	for _, value := range []string{theirs, theirs[:20], "x", strings.Repeat("A", 2*maxAnswer)} {
		_ = m.Set(bob, value)
		m.SetTTL(bob, time.Hour)
		none(fmt.Sprintf("%.40q", value))
	}
	if n := testutil.ToFloat64(b.s.failures[useAnswers]) - before; n != 4 {
		t.Errorf("%v lies are counted", n)
	}
	put(t, a, "bob", "bob", "/", "for bob again")
	own, _ := m.Get(bob)
	m.Del(bob)
	_ = m.Set(bob, own)
	none("without an end")
	m.Del(bob)
	_, _ = m.Lpush(bob, "a list")
	none("of another type")
	m.Del(bob)
	_ = m.Set(a.markName("group", "/"), strings.Repeat("x", 4*maxMark))
	if got, _, mark := b.Get(t.Context(), "alice", "group", "/"); got != nil || mark != "" {
		t.Errorf("%q with the mark %q", got, mark)
	}
}

// TestAnswersOfOne: no owner takes more than a quarter of what a replica puts, nor all more than all, nor large ones anything; marks of
// very many places become one.
func TestAnswersOfOne(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	a, b, _ := answersOf(t, m, 400_000)
	value := bytes.Repeat([]byte("x"), 5000)
	for i := range 200 {
		a.put(t.Context(), fmt.Sprint("m", i), "mallory", "m.", value, time.Hour)
	}
	a.put(t.Context(), "alice", "alice", "m.", value, time.Hour)
	a.Put("large", "alice", "m.", make([]byte, maxAnswer), time.Hour)
	if got, _, _ := b.Get(t.Context(), "alice", "group", "/"); len(got) != len(value) {
		t.Errorf("another has no room: %d bytes", len(got))
	}
	stored := 0
	for _, name := range m.Keys() {
		if strings.HasPrefix(name, "gate:answer:") {
			v, _ := m.Get(name)
			stored += len(v)
		}
	}
	if stored > 110_000 || stored < 80_000 {
		t.Errorf("%d bytes are in Redis", stored)
	}
	a.marks.resize(10_000, 10_000)
	for i := range 200 {
		a.Changed(t.Context(), "group", []string{fmt.Sprint("/", i)})
	}
	if n := strings.Count(strings.Join(m.Keys(), "\n"), "gate:answer-at:"); n > 100 {
		t.Errorf("%d marks", n)
	}
	if got, _, _ := b.Get(t.Context(), "alice", "group", "/"); got != nil {
		t.Error("what could not be marked one by one is not stale")
	}
}

// TestAnswersAway: with Redis slow or gone nothing is there, nothing waits for longer than once, and a change that could not be told keeps
// this replica from what it may have made stale until it was.
func TestAnswersAway(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	hole := newHole(t, m.Addr())
	seal, _ := mcp.NewSealer([][]byte{[]byte("common")}, "test")
	s := NewShared(SharedOptions{Network: "tcp", Address: hole.address(), Prefix: "gate", Timeout: 200 * time.Millisecond, Seal: seal})
	a := s.Answers(1<<20, func(string, []string) {}, func() {})
	if _, _, mark := a.Get(t.Context(), "key", "group", "/"); mark != "" {
		t.Error("before it has begun")
	}
	a.Changed(t.Context(), "group", []string{"/"})
	begin(t, s)
	eventually(t, "it is reached", func() bool { return s.Status().Up })
	put(t, a, "key", "alice", "/", "answer")
	hole.swallow(true)
	a.Changed(t.Context(), "group", []string{"/"})
	waited := time.Now()
	for range 200 {
		if got, _, mark := a.Get(t.Context(), "key", "group", "/"); got != nil || mark != "" {
			t.Fatalf("%q %q", got, mark)
		}
		a.Put("other", "alice", "m.", []byte("x"), time.Hour)
	}
	if took := time.Since(waited); took > time.Second {
		t.Errorf("200 looks have taken %v", took)
	}
	hole.swallow(false)
	eventually(t, "it sees again", func() bool { return !a.isPending("group") })
	if got, _, mark := a.Get(context.Background(), "key", "group", "/"); got != nil || mark == "" {
		t.Errorf("after a change that could not be told: %q %q", got, mark)
	}
	m.Close()
	if got, _, mark := a.Get(t.Context(), "key", "group", "/"); got != nil || mark != "" {
		t.Errorf("%q %q", got, mark)
	}
}

// TestChangesDoNotQueue: a change is told though what is put waits, and one that can't be told makes all of its service stale elsewhere
// when it can.
func TestChangesDoNotQueue(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	a, _, heard := answersOf(t, m, 1<<20)
	hold := make(chan struct{})
	defer close(hold)
	for a.enqueue(func(context.Context) { timebox.Wait(t, hold) }) {
	}
	a.Changed(t.Context(), "group", []string{"/orders", "/"})
	for end := time.Now().Add(time.Second); !slices.Contains(heard(), "group /orders /"); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("within a second only this is heard: %q", heard())
		}
	}
	a.mu.Lock()
	a.pending["group"]++
	a.mu.Unlock()
	a.publishPending(t.Context())
	eventually(t, "the whole group is told", func() bool { return slices.Contains(heard(), "group ") })
	if a.isPending("group") {
		t.Error("it is blind still")
	}
}

// TestMarksThatRedisHasLost: what was made stale does not count again at a Redis that has lost that it was, as one that lagged behind has; what
// nobody has changed does.
func TestMarksThatRedisHasLost(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	a, b, _ := answersOf(t, m, 1<<20)
	put(t, a, "key", "alice", "/orders", "answer")
	_, _, mark := a.Get(t.Context(), "other", "another group", "/orders")
	a.put(t.Context(), "other", "alice", mark, []byte("unchanged"), time.Hour)
	a.Changed(t.Context(), "group", []string{"/orders"})
	m.Close()
	m.Del(a.markName("group", "/orders"))
	if err := m.Restart(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is stale again", func() bool {
		got, _, mark := b.Get(t.Context(), "key", "group", "/orders")
		return got == nil && mark != ""
	})
	if got, _, _ := b.Get(t.Context(), "other", "another group", "/orders"); string(got) != "unchanged" {
		t.Errorf("nobody has changed it: %q", got)
	}
	a.mu.Lock()
	a.changed["group"] = time.Now().Add(-markTTL)
	a.mu.Unlock()
	a.recordChange("another group")
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.changed["group"]; known || len(a.changed) != 1 {
		t.Errorf("these changes are remembered: %v", a.changed)
	}
}

// TestChangeThatWasMissed: who could not hear for a while is told so when it hears again, since it may have missed a change.
func TestChangeThatWasMissed(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	var deaf atomic.Bool
	m.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
		if command != "SUBSCRIBE" || !deaf.Load() {
			return false
		}
		c.Close()
		return true
	})
	hole := newHole(t, m.Addr())
	a, b := newShared(t, m.Addr(), nil, nil), newShared(t, hole.address(), nil, nil)
	var changes, misses atomic.Int64
	answers := a.Answers(1<<20, func(string, []string) {}, func() {})
	b.Answers(1<<20, func(string, []string) { changes.Add(1) }, func() { misses.Add(1) })
	listens := func() bool { _, ok := b.bus.subscription(); return ok }
	begin(t, a)
	begin(t, b)
	eventually(t, "both are there", func() bool { return a.Status().Up && listens() })
	eventually(t, "nothing is known of the time before", func() bool { return misses.Load() == 1 })
	deaf.Store(true)
	hole.cut()
	eventually(t, "nobody listens", func() bool { return !listens() })
	answers.Changed(t.Context(), "group", []string{"/"})
	if n := misses.Load(); n != 1 {
		t.Errorf("%d breaks have ended", n)
	}
	deaf.Store(false)
	eventually(t, "it knows that it may have missed something", func() bool { return misses.Load() == 2 })
	if n := changes.Load(); n != 0 {
		t.Errorf("%d changes were heard", n)
	}
}
