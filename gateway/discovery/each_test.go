package discovery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

func TestEach(t *testing.T) {
	var called [100]atomic.Int32
	if err := Each(t.Context(), len(called), func(_ context.Context, i int) error { called[i].Add(1); return nil }); err != nil {
		t.Error(err)
	}
	for i := range called {
		if n := called[i].Load(); n != 1 {
			t.Errorf("%d: %d calls", i, n)
		}
	}
	failure := errors.New("away")
	if err := Each(t.Context(), 100, func(ctx context.Context, i int) error {
		if i == 0 {
			return failure
		}
		<-ctx.Done()
		return ctx.Err()
	}); !errors.Is(err, failure) {
		t.Errorf("%v instead of the first error", err)
	}
}

// TestEachPanics: a panic is one of the caller, after all calls have ended.
func TestEachPanics(t *testing.T) {
	defer func() {
		if v := fmt.Sprint(recover()); !strings.HasPrefix(v, "bug\n") || !strings.Contains(v, "each_test.go") {
			t.Errorf("recovered %s", v)
		}
	}()
	_ = Each(t.Context(), 20, func(_ context.Context, i int) error {
		if i == 3 {
			panic("bug")
		}
		return nil
	})
	t.Error("no panic")
}
