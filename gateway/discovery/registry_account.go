package discovery

import (
	"context"
	"errors"
	"sync"
)

// Account is an account at a registry: its token is fetched when it is needed, and again when the registry refuses it. It is safe for
// concurrent use.
type Account struct {
	// Login fetches a token; nil if the registry is asked without an account.
	Login func(ctx context.Context) (token string, err error)
	// Refused is the error of a request whose token the registry refuses.
	Refused error

	mu    sync.Mutex
	token string // "" before the first login
}

// Do calls send with the token, "" without an account, and once more with a new one if the token is refused. A new token that is
// refused is an account without the right.
func (a *Account) Do(ctx context.Context, send func(token string) error) error {
	for {
		token, fresh, err := a.current(ctx)
		if err != nil {
			return err
		}
		err = send(token)
		if a.Login == nil || !errors.Is(err, a.Refused) {
			return err
		}
		a.forget(token)
		if fresh {
			return err
		}
	}
}

// current returns the token, and whether it was fetched for this.
func (a *Account) current(ctx context.Context) (token string, fresh bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.token == "" && a.Login != nil {
		a.token, err = a.Login(ctx)
		return a.token, true, err
	}
	return a.token, false, nil
}

// forget drops a token, unless another has replaced it.
func (a *Account) forget(token string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.token == token {
		a.token = ""
	}
}

// Logout drops the token.
func (a *Account) Logout() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.token = ""
}
