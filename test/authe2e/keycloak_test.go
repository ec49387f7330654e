package authe2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// The columns of the table, in the order of the run.
const (
	cellLogin    = "log in"
	cellList     = "list"
	cellCall     = "call"
	cellExchange = "exchange"
	cellStepUp   = "step up"
	cellAtOnce   = "all scopes at once"
	cellRotation = "key rotation"
	cellWithdraw = "key withdrawn"
	cellOutage   = "outage"
	cellBack     = "back, new key"
	cellRefresh  = "refresh"
	cellReuse    = "refresh token reused"
)

// The ways in which a client becomes known to Keycloak.
const (
	byRegistration = "DCR"
	byDocument     = "CIMD"
	registered     = "client id"
)

// registeredClient is a client of the realm file.
const registeredClient = "mcp-client"

// keycloakRow is a client that became known to Keycloak in one way, with what it has when the run goes on.
type keycloakRow struct {
	client, way string
	session     session
	first       state               // after its login, or after what it did later
	stop        func() (int, error) // ends its calls during the key rotation
}

func (r *keycloakRow) name() string { return r.client + ", " + r.way }

// keycloakRun is the run of docs/start/keycloak.md. Its phases follow each other, because the realm has one set of keys;
// within a phase all rows run at the same time.
type keycloakRun struct {
	*world
	keycloak *keycloak
	service  *tokenService
	user     *user
	broad    string // the endpoint of a gateway that asks for all scopes at once
	rows     []*keycloakRow
	cells    cells

	// browsing is held by who logs in: all rows have the same user, and Keycloak answers with an error when it keeps two
	// consents of a user, or two fetched documents of a client, at the same moment.
	browsing sync.Mutex
}

// phase is a part of the run: before, then all rows at the same time, then after. Each of the three may be nil.
type phase struct {
	name   string
	before func(context.Context) error
	row    func(context.Context, *testing.T, *keycloakRow)
	after  func(context.Context) error
}

// TestKeycloak runs the page with the official TypeScript clients against a real Keycloak, and prints a table.
func TestKeycloak(t *testing.T) {
	home, folder := os.Getenv(keycloakVariable), os.Getenv(clientsVariable)
	if home == "" || folder == "" {
		t.Skipf("%s or %s is not set; make keycloak-e2e installs Keycloak and the clients, and sets them", keycloakVariable, clientsVariable)
	}
	k := newKeycloakRun(t, home, folder)
	t.Cleanup(func() { k.cells.print(t) })
	t.Run("tokens", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		k.tokens(ctx, t)
	})
	if !k.play(t, phase{name: "log in", row: k.logIn}) {
		return
	}
	for _, p := range []phase{
		{name: "step up", row: k.stepUp},
		{name: "all scopes at once", row: k.atOnce},
		{name: "key rotation", before: k.rotateUnderLoad, row: k.rotation, after: k.stopCalls},
		{name: "key withdrawn", before: k.replaceKeys, row: k.withdrawn},
		{name: "outage", before: k.goDown, row: k.outage, after: k.comeBack},
		{name: "back", row: k.back},
		{name: "refresh", before: k.shorten, row: k.refresh},
	} {
		k.play(t, p)
	}
	for _, complaint := range k.service.complaints() {
		t.Errorf("the service refused a request: %s", complaint)
	}
	k.searchSecrets(t)
}

// play runs a phase and reports whether all of it worked.
func (k *keycloakRun) play(t *testing.T, p phase) bool {
	return t.Run(p.name, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		began := time.Now()
		if p.before != nil {
			if err := p.before(ctx); err != nil {
				t.Fatal(err)
			}
		}
		t.Run("clients", func(t *testing.T) {
			for _, r := range k.rows {
				t.Run(r.name(), func(t *testing.T) {
					t.Parallel()
					p.row(ctx, t, r)
				})
			}
		})
		if p.after != nil {
			if err := p.after(ctx); err != nil {
				t.Error(err)
			}
		}
		t.Logf("%.0f s", time.Since(began).Seconds())
	})
}

// choices are those of a row's client.
func (k *keycloakRun) choices(way string, refresh bool) choices {
	c := choices{refresh: refresh, user: k.user}
	switch {
	case way == registered:
		c.client = registeredClient
	case way == byDocument && refresh:
		c.document = k.suite.documents.server.URL + refreshingDocument
	case way == byDocument:
		c.document = k.suite.documents.server.URL + "/client.json"
	}
	return c
}

// cell runs f as a cell of the table. An error is a failure.
func (k *keycloakRun) cell(t *testing.T, r *keycloakRow, column string, f func() error) bool {
	t.Helper()
	err := f()
	if err != nil {
		t.Errorf("%s: %v", column, err)
	}
	k.cells.enter(r.name(), column, err)
	return err == nil
}

// logIn goes from the endpoint's address to a call: 401, metadata, registration, the login form, consent, a token.
func (k *keycloakRun) logIn(ctx context.Context, t *testing.T, r *keycloakRow) {
	var tools []string
	_ = k.cell(t, r, cellLogin, func() (err error) {
		k.browsing.Lock()
		defer k.browsing.Unlock()
		if r.session, err = k.open(ctx, r.client, k.choices(r.way, true)); err != nil {
			return err
		}
		if err := r.session.connect(ctx); err != nil {
			return err
		}
		r.first = k.look(ctx, t, r.session)
		return k.checkToken(t, r)
	}) && k.cell(t, r, cellList, func() (err error) {
		if tools, err = r.session.tools(ctx); err == nil && !slices.Contains(tools, reading.tool) {
			err = fmt.Errorf("%s is not among %q", reading.tool, tools)
		}
		return err
	}) && k.cell(t, r, cellCall, func() error { return try(ctx, r.session, reading) }) && k.cell(t, r, cellExchange, func() error {
		_, claims := decode(t, r.first.Access)
		session, _ := claims["sid"].(string)
		switch seen, ok := k.service.seen(session); {
		case !ok:
			return fmt.Errorf("the service has seen no token of the session %q", session)
		case seen.token == r.first.Access:
			return errors.New("the service got the caller's own token")
		case seen.Subject != claims["sub"] || seen.Client != "drawbridge":
			return fmt.Errorf("the service's token has sub %q, azp %q; want those of the caller and of the gateway", seen.Subject, seen.Client)
		default:
			k.secrets.add("an exchanged token", seen.token)
			return nil
		}
	})
}

// checkToken compares what Keycloak issues with what the preset expects.
func (k *keycloakRun) checkToken(t *testing.T, r *keycloakRow) error {
	header, claims := decode(t, r.first.Access)
	audience, _ := claims["aud"].([]any)
	switch {
	case header["typ"] != "JWT" || claims["typ"] != "Bearer" || claims["iss"] != k.issuer:
		return fmt.Errorf("the token has typ %v, claim typ %v, iss %v", header["typ"], claims["typ"], claims["iss"])
	case !slices.Contains(audience, any(k.endpoint)) || !slices.Contains(audience, any("drawbridge")):
		return fmt.Errorf("the token is for %v", claims["aud"])
	case claims["azp"] != r.first.ClientID:
		return fmt.Errorf("the token is of client %v, not %s", claims["azp"], r.first.ClientID)
	case r.first.Refresh == "":
		return errors.New("there is no refresh token")
	case r.way == byRegistration && r.first.Registrations != 1, r.way == byDocument && r.first.ClientID != k.choices(r.way, true).document:
		return fmt.Errorf("%d registrations, client id %q", r.first.Registrations, r.first.ClientID)
	}
	return nil
}

// stepUp makes calls that need more than the token has.
func (k *keycloakRun) stepUp(ctx context.Context, t *testing.T, r *keycloakRow) {
	k.browsing.Lock()
	defer k.browsing.Unlock()
	s, fresh := r.session, r.client == sdkV1 && r.way != registered
	if fresh { // version 1 asks for more only without a refresh token
		var err error
		if s, err = k.open(ctx, r.client, k.choices(r.way, false)); err == nil {
			err = s.connect(ctx)
		}
		if err != nil {
			k.cell(t, r, cellStepUp, func() error { return err })
			return
		}
	}
	err := try(ctx, s, writing)
	if err == nil {
		err = try(ctx, s, cancelling)
	}
	st := k.look(ctx, t, s)
	switch {
	case r.way == byRegistration && err != nil && strings.Contains(err.Error(), "invalid_scope"):
		k.cells.unsupported(r.name(), cellStepUp, "Keycloak grants a client that registered itself only the scopes of its registration, which are those of the first challenge (invalid_scope)")
	case r.client == sdkV1 && !fresh && err != nil && slices.Contains(st.Grants, "refresh_token"):
		k.cells.unsupported(r.name(), cellStepUp, "version 1 of the client refreshes its token where it should ask for more, and gives up; mcp-client always has refresh tokens")
	default:
		k.cell(t, r, cellStepUp, func() error {
			if err == nil && (len(st.Asked) != 3 || !strings.Contains(st.Scope, "orders:admin")) {
				err = fmt.Errorf("asked for %q, got %q", st.Asked, st.Scope)
			}
			return err
		})
	}
	if !fresh {
		r.first = st
	}
}

// atOnce is the remedy of the page for clients that register themselves: a gateway whose first challenge has all scopes.
func (k *keycloakRun) atOnce(ctx context.Context, t *testing.T, r *keycloakRow) {
	if r.way != byRegistration {
		return
	}
	k.browsing.Lock()
	defer k.browsing.Unlock()
	k.cell(t, r, cellAtOnce, func() error {
		s, err := newNodeSession(ctx, k.suite.clients, r.client, k.broad, k.choices(r.way, true))
		if err == nil {
			err = s.connect(ctx)
		}
		for _, c := range []call{reading, writing, cancelling} {
			if err == nil {
				err = try(ctx, s, c)
			}
		}
		if err != nil {
			return err
		}
		if st := k.look(ctx, t, s); len(st.Asked) != 1 || st.Asked[0] != strings.Join(scopes, " ") {
			return fmt.Errorf("asked for %q", st.Asked)
		}
		return s.close(ctx)
	})
}

// open makes a client for the endpoint; it ends with the run.
func (k *keycloakRun) open(ctx context.Context, client string, c choices) (session, error) {
	return newNodeSession(ctx, k.suite.clients, client, k.endpoint, c)
}

// try makes a call that has to work.
func try(ctx context.Context, s session, c call) error {
	o, err := s.call(ctx, c.tool, c.arguments)
	if err == nil && o.IsError != c.isError {
		err = fmt.Errorf("%s: isError %t, %.300s", c.tool, o.IsError, o.text())
	}
	return err
}

// enterKeycloak logs a new session of a row's client in.
func (k *keycloakRun) enterKeycloak(ctx context.Context, t *testing.T, r *keycloakRow) (session, state, error) {
	k.browsing.Lock()
	defer k.browsing.Unlock()
	s, err := k.open(ctx, r.client, k.choices(r.way, true))
	if err == nil {
		err = s.connect(ctx)
	}
	if err == nil {
		err = try(ctx, s, reading)
	}
	if err != nil {
		return nil, state{}, fmt.Errorf("a new login: %w", err)
	}
	return s, k.look(ctx, t, s), nil
}

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
