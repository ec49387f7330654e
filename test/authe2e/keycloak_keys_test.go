package authe2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// rotateUnderLoad makes a new key sign while each row calls. The rows log in again before stopCalls ends the calls.
func (k *keycloakRun) rotateUnderLoad(ctx context.Context) error {
	for _, r := range k.rows {
		r.stop = callOn(ctx, r.session)
	}
	return k.keycloak.rotate(ctx)
}

func (k *keycloakRun) stopCalls(context.Context) error {
	var all []error
	for _, r := range k.rows {
		n, err := r.stop()
		if err == nil && n == 0 {
			err = errors.New("no call was made")
		}
		if err != nil {
			err = fmt.Errorf("%s: after %d calls: %w", r.name(), n, err)
		}
		k.cells.enter(r.name(), cellRotation, err)
		all = append(all, err)
	}
	return errors.Join(all...)
}

// pace of the calls of a row: all rows together stay below the rate limit of their user.
const pace = 2 * time.Second

// callOn has a session call until stop is called or a call fails.
func callOn(ctx context.Context, s session) (stop func() (int, error)) {
	done, ended, n := make(chan struct{}), make(chan struct{}), 0
	var err error
	go func() {
		defer close(ended)
		tick := time.NewTicker(pace)
		defer tick.Stop()
		for {
			if err = try(ctx, s, reading); err != nil {
				return
			}
			n++
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	return func() (int, error) {
		close(done)
		select {
		case <-ended:
			return n, err
		case <-time.After(2 * time.Minute):
			return 0, errors.New("a call does not end")
		}
	}
}

// rotation logs in with a token that the new key signs, while the session with the old one goes on.
func (k *keycloakRun) rotation(ctx context.Context, t *testing.T, r *keycloakRow) {
	k.cell(t, r, cellRotation, func() error {
		s, st, err := k.enterKeycloak(ctx, t, r)
		if err != nil {
			return err
		}
		before, _ := decode(t, r.first.Access)
		after, _ := decode(t, st.Access)
		if before["kid"] == after["kid"] {
			return errors.New("the key is that of before")
		}
		return s.close(ctx)
	})
}

// replaceKeys publishes a new key alone, as after a theft of the old ones.
func (k *keycloakRun) replaceKeys(ctx context.Context) error {
	if err := k.keycloak.rotate(ctx); err != nil {
		return err
	}
	return k.keycloak.withdraw(ctx)
}

// withdrawn: the old key is no longer published. The client gets a token of the new key with its refresh token.
func (k *keycloakRun) withdrawn(ctx context.Context, t *testing.T, r *keycloakRow) {
	k.cell(t, r, cellWithdraw, func() error {
		// The gateway fetches the keys when it sees the new one, and otherwise every five minutes.
		s, _, err := k.enterKeycloak(ctx, t, r)
		if err == nil {
			err = s.close(ctx)
		}
		if err != nil {
			return err
		}
		if err := k.awaitStatus(ctx, r.first.Access, http.StatusUnauthorized); err != nil {
			return err
		}
		return k.renewed(ctx, t, r)
	})
}

// renewed makes a call with a session whose token is refused, and sees that it has been refreshed.
func (k *keycloakRun) renewed(ctx context.Context, t *testing.T, r *keycloakRow) error {
	if err := try(ctx, r.session, reading); err != nil {
		return err
	}
	st := k.look(ctx, t, r.session)
	if st.Access == r.first.Access || st.Refresh == r.first.Refresh || st.Refresh == "" {
		return errors.New("the tokens are those of before")
	}
	if len(st.Asked) != len(r.first.Asked) {
		return fmt.Errorf("the user was asked again: %q", st.Asked)
	}
	r.first = st
	return nil
}

// awaitStatus makes raw calls until one is answered with a status.
func (k *keycloakRun) awaitStatus(ctx context.Context, token string, want int) error {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		status, err := k.try(ctx, token)
		if err != nil || status == want {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("status %d, want %d: %w", status, want, ctx.Err())
		}
	}
}

func (k *keycloakRun) goDown(context.Context) error { return k.keycloak.stop() }

// outage: Keycloak is stopped. The gateway has its keys, and calls go on; a token that it can't judge gets 503.
func (k *keycloakRun) outage(ctx context.Context, t *testing.T, r *keycloakRow) {
	k.cell(t, r, cellOutage, func() error {
		for range 5 {
			if err := try(ctx, r.session, reading); err != nil {
				return err
			}
		}
		status, err := k.try(ctx, k.forge(t))
		if err == nil && status != http.StatusServiceUnavailable {
			err = fmt.Errorf("a token of an unknown key: status %d, want 503", status)
		}
		return err
	})
}

// comeBack starts Keycloak again, with a new key.
func (k *keycloakRun) comeBack(ctx context.Context) error {
	if err := k.keycloak.start(ctx); err != nil {
		return err
	}
	return k.keycloak.rotate(ctx)
}

// back: the session goes on, a new login works, and the token that could not be judged is refused.
func (k *keycloakRun) back(ctx context.Context, t *testing.T, r *keycloakRow) {
	k.cell(t, r, cellBack, func() error {
		s, _, err := k.enterKeycloak(ctx, t, r)
		if err != nil {
			return err
		}
		return errors.Join(s.close(ctx), try(ctx, r.session, reading), k.awaitStatus(ctx, k.forge(t), http.StatusUnauthorized))
	})
}

// life of access tokens for the cells of refreshing. The gateway's skew is its default, a minute.
const keycloakLife = 15 * time.Second

func (k *keycloakRun) shorten(ctx context.Context) error {
	return k.keycloak.tokenLife(ctx, keycloakLife)
}

// refresh: a token ends, the client gets another one with its refresh token, and Keycloak takes each of those once.
func (k *keycloakRun) refresh(ctx context.Context, t *testing.T, r *keycloakRow) {
	k.cell(t, r, cellRefresh, func() error {
		s, st, err := k.enterKeycloak(ctx, t, r)
		if err != nil {
			return err
		}
		r.session, r.first = s, st
		if err := k.awaitStatus(ctx, st.Access, http.StatusUnauthorized); err != nil {
			return err
		}
		if r.client == sdkV1 {
			k.awaitRefresh(ctx, t, r.session, st.Access) // a call at the same moment would refresh too, with the same token
		}
		return k.renewed(ctx, t, r)
	})
	k.cell(t, r, cellReuse, func() error {
		form := url.Values{"grant_type": {"refresh_token"}, "client_id": {r.first.ClientID}, "refresh_token": {r.first.Refresh}}
		got, err := k.keycloak.token(ctx, "acme", form)
		if err != nil {
			return err
		}
		for _, name := range []string{"access_token", "refresh_token", "id_token"} {
			if token, _ := got[name].(string); token != "" {
				k.secrets.add(name, token)
			}
		}
		if _, err := k.keycloak.token(ctx, "acme", form); err == nil || !strings.Contains(err.Error(), "invalid_grant") {
			return fmt.Errorf("a refresh token that was used: %w", errors.Join(err, errors.New("want invalid_grant")))
		}
		return nil
	})
}
