package main

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"testing"

	"drawbridge/test/timebox"
)

// TestGrowth: the heap may grow to five times of what is alive while that is little, and by less the more it is.
func TestGrowth(t *testing.T) {
	for _, c := range []struct {
		alive, spare uint64
		want         int
	}{
		{0, 0, 400}, {1, 0, 400}, {8 << 20, 0, 400}, {10 << 20, 0, 320}, {16 << 20, 0, 200}, {40 << 20, 0, 80}, {50 << 20, 0, 64}, {80 << 20, 0, 40}, {1 << 40, 0, 40},
		{0, 64 << 20, 400}, {16 << 20, 64 << 20, 400}, {32 << 20, 64 << 20, 200}, {160 << 20, 64 << 20, 40}, {40 << 20, 16 << 20, 80},
	} {
		if got := growth(c.alive, c.spare); got != c.want {
			t.Errorf("%d bytes alive, %d to spare: %d, want %d", c.alive, c.spare, got, c.want)
		}
	}
	// Between the two bounds garbage has growthBytes, and no more.
	for alive := uint64(1 << 20); alive <= 80<<20; alive += 1 << 20 {
		if garbage := alive * uint64(growth(alive, 0)) / 100; garbage > growthBytes {
			t.Errorf("%d bytes alive: %d of garbage", alive, garbage)
		}
	}
}

// TestGrowthIsSetSeldom: one that is nearly right stays, since setting it stops all goroutines.
func TestGrowthIsSetSeldom(t *testing.T) {
	var set []int
	f := growthFollower{limit: math.MaxInt64, set: func(percent int) { set = append(set, percent) }}
	for _, mib := range []uint64{6, 8, 9, 16, 17, 18, 200, 300, 8, 7} {
		f.follow(mib << 20)
	}
	if want := []int{400, 200, 40, 400}; !slices.Equal(set, want) {
		t.Errorf("%v, want %v", set, want)
	}
}

// TestGrowthBesideReading: documents make garbage of the memory that there is, where it is known how much that is.
func TestGrowthBesideReading(t *testing.T) {
	for _, c := range []struct {
		limit   uint64
		reading bool
		want    int
	}{{math.MaxInt64, true, 80}, {256 << 20, true, 283}, {256 << 20, false, 80}, {128 << 20, true, 91}, {64 << 20, true, 80}} {
		got := 0
		f := growthFollower{reading: func() bool { return c.reading }, limit: c.limit, set: func(percent int) { got = percent }}
		if f.follow(40 << 20); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// TestFollowMemory: the growth follows what is alive from one collection to the next, and never where the operator has set GOGC.
func TestFollowMemory(t *testing.T) {
	was := debug.SetGCPercent(100)
	defer debug.SetGCPercent(was)
	inUse := func() uint64 {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	if followMemory(t.Context(), func(string) string { return "77" }, nil); inUse() != 100 {
		t.Errorf("GOGC was set, and now it is %d", inUse())
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		followMemory(ctx, func(string) string { return "" }, func() bool { return false })
	}()
	until := func(what string, ok func(percent uint64) bool) {
		for n := 0; !ok(inUse()); n++ {
			if n > 1000 {
				t.Fatalf("%s: the growth is %d", what, inUse())
			}
			runtime.GC()
		}
	}
	until("little is alive", func(percent uint64) bool { return percent > 100 })
	much := make([]byte, 300<<20)
	until("much is alive", func(percent uint64) bool { return percent == growthLeast })
	runtime.KeepAlive(much)
	much = nil
	until("little is alive again", func(percent uint64) bool { return percent > 100 })
	cancel()
	timebox.Wait(t, ended)
}
