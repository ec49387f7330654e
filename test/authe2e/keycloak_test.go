package authe2e

import (
	"context"
	"errors"
	"fmt"
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
