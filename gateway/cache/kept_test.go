package cache

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestStallPanics: a panic at the timer of an answer that nobody reads is told, and ends nothing.
func TestStallPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		c := New(1<<20, nil, func(string, any) { told++ })
		c.keep(nil, nil, &http.Response{Body: http.NoBody}, &Rule{}, &entry{}) // without a flight that could be ended
		time.Sleep(2 * stallTime)
		synctest.Wait()
		if told != 1 {
			t.Errorf("told of %d panics, want 1", told)
		}
	})
}
