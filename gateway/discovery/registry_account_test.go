package discovery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"drawbridge/test/timebox"
)

var errRefused = errors.New("refused")

// TestAccount: a token is used until it is refused; many requests at a time that are refused cost few logins, and end.
func TestAccount(t *testing.T) {
	var logins, valid atomic.Int64
	a := Account{Refused: errRefused, Login: func(context.Context) (string, error) { return fmt.Sprint(logins.Add(1)), nil }}
	send := func(token string) error {
		if token != fmt.Sprint(valid.Load()) {
			return fmt.Errorf("403: %w", errRefused)
		}
		return nil
	}
	all := func() (failed int64) {
		var n atomic.Int64
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if a.Do(t.Context(), send) != nil {
					n.Add(1)
				}
			})
		}
		timebox.Done(t, wg.Wait)
		return n.Load()
	}
	valid.Store(1)
	if failed := all(); failed != 0 || logins.Load() != 1 {
		t.Errorf("at first: %d failed, %d logins", failed, logins.Load())
	}
	valid.Store(2)
	if failed := all(); failed != 0 || logins.Load() != 2 {
		t.Errorf("after the token has expired: %d failed, %d logins", failed, logins.Load())
	}
	valid.Store(-1)
	before := logins.Load()
	if failed := all(); failed != 20 || logins.Load() > before+20 {
		t.Errorf("without a right: %d failed, %d logins", failed, logins.Load()-before)
	}
}

func TestAccountErrors(t *testing.T) {
	failure := errors.New("away")
	none := Account{Refused: errRefused}
	if err := none.Do(t.Context(), func(token string) error { return errors.New("token " + token) }); err == nil || err.Error() != "token " {
		t.Error(err)
	}
	a := Account{Refused: errRefused, Login: func(context.Context) (string, error) { return "", failure }}
	if err := a.Do(t.Context(), func(string) error { t.Error("sent"); return nil }); !errors.Is(err, failure) {
		t.Error(err)
	}
	a.Login = func(context.Context) (string, error) { return "t", nil }
	if err := a.Do(t.Context(), func(string) error { return failure }); !errors.Is(err, failure) {
		t.Error(err)
	}
	a.Logout()
	if token, fresh, err := a.current(t.Context()); token != "t" || !fresh || err != nil {
		t.Error(token, fresh, err)
	}
}
