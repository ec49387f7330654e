package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"

	"drawbridge/auth/authtest"
	"drawbridge/test/figures"
	"drawbridge/test/process"
)

// issue makes a good token.
func (w *world) issue() (string, error) {
	return w.issuer.Issue(authtest.Token{Audience: []string{w.endpoint}, Scopes: []string{"mcp:tools"}, Life: time.Hour})
}

// rotation changes keys under load. A key stays published for one more turn, and its tokens are used for half of that.
func (w *world) rotation(ctx context.Context) ([]figures.Figure, error) {
	before := w.issuer.Requests(authtest.KeySet)
	l, err := w.startLoad(ctx)
	if err != nil {
		return nil, err
	}
	rotations := 0
	for end := time.Now().Add(w.phase); time.Now().Before(end); rotations++ {
		if err = w.issuer.RotateKeys(); err != nil {
			break
		}
		if err = pause(ctx, w.rotate/2); err != nil { // tokens of the old key are good still
			break
		}
		if err = l.renew(); err != nil {
			break
		}
		if err = pause(ctx, w.rotate/4); err != nil {
			break
		}
		w.issuer.DropOldKeys()
		if err = pause(ctx, w.rotate/4); err != nil {
			break
		}
	}
	counts, p50, p99 := l.stop()
	if err != nil {
		return nil, err
	}
	failed, words := failures(counts)
	fetches := w.issuer.Requests(authtest.KeySet) - before
	refreshes := int(w.phase/(5*time.Minute)) + 1
	return []figures.Figure{
		figures.New(
			"rotation: good tokens refused", "0", fmt.Sprintf("%d of %d calls, %d rotations%s", failed, failed+counts["ok"], rotations, words),
			failed == 0 && counts["ok"] > 0,
		),
		figures.New("rotation: fetches of keys", fmt.Sprintf("at most %d (rotations and refreshes)", rotations+refreshes), fmt.Sprint(fetches), fetches <= rotations+refreshes),
		figures.New("rotation: time of a call", "", fmt.Sprintf("p50 %s, p99 %s", round(p50), round(p99)), true),
	}, nil
}

// unknownKeys floods the gateway with tokens that name keys nobody has, while good tokens are used.
func (w *world) unknownKeys(ctx context.Context) ([]figures.Figure, error) {
	strangers, err := w.strangers(w.kids)
	if err != nil {
		return nil, err
	}
	before := w.issuer.Requests(authtest.KeySet)
	l, err := w.startLoad(ctx)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	early, err := w.flood(ctx, strangers[:len(strangers)/2], 10*time.Second)
	if err != nil {
		return nil, err
	}
	first := w.issuer.Requests(authtest.KeySet) - before
	late, err := w.flood(ctx, strangers[len(strangers)/2:], w.phase-time.Since(start))
	if err != nil {
		return nil, err
	}
	all := w.issuer.Requests(authtest.KeySet) - before
	// One in ten seconds, and of the six at the start those that fell just behind the first ten.
	most := 1 + int((time.Since(start)-10*time.Second)/(10*time.Second)) + max(0, 6-first)
	counts, _, _ := l.stop()
	failed, words := failures(counts)
	for outcome, n := range late {
		early[outcome] += n
	}
	_, refused := failures(early)
	calm, flooded, err := w.byTurns(ctx, strangers)
	if err != nil {
		return nil, err
	}
	more := 100 * (float64(flooded)/float64(calm) - 1)
	return []figures.Figure{
		figures.New("random key ids: fetches in the first 10 s", "at most 6", fmt.Sprintf("%d, of tokens:%s", first, refused), first <= 6 && early["ok"] == 0),
		figures.New("random key ids: fetches after that", fmt.Sprintf("at most %d (1 in 10 s)", most), fmt.Sprint(all-first), all-first <= most),
		figures.New("random key ids: good tokens refused", "0", fmt.Sprintf("%d of %d%s", failed, failed+counts["ok"], words), failed == 0 && counts["ok"] > 0),
		figures.New("random key ids: p99 of good tokens", "< +10 %", fmt.Sprintf("%+.0f %% (%s, then %s beside %d others a second)", more, round(calm), round(flooded), w.others), more < 10),
	}, nil
}

// byTurns measures the time of calls with good tokens without and with the others, and returns the medians of p99.
func (w *world) byTurns(ctx context.Context, strangers []string) (calm, flooded time.Duration, err error) {
	const turns, length = 5, 2 * time.Second
	var times [2][]time.Duration
	for n := range 2 * turns {
		l, err := w.startLoad(ctx)
		if err != nil {
			return 0, 0, err
		}
		if n%2 == 0 {
			err = pause(ctx, length)
		} else {
			_, err = w.flood(ctx, strangers, length)
		}
		_, _, p99 := l.stop()
		if err != nil {
			return 0, 0, err
		}
		times[n%2] = append(times[n%2], p99)
	}
	for _, t := range times {
		slices.Sort(t)
	}
	return times[0][turns/2], times[1][turns/2], nil
}

// strangers are tokens that look right, signed with a key that nobody publishes under ids that nobody knows.
func (w *world) strangers(n int) ([]string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	claims, err := json.Marshal(map[string]any{
		"iss": w.issuer.Issuer(), "aud": w.endpoint, "sub": "mallory", "client_id": "m", "scope": "mcp:tools",
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	})
	if err != nil {
		return nil, err
	}
	tokens := make([]string, 0, n)
	for range n {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: rand.Text()}},
			(&jose.SignerOptions{}).WithType("at+jwt"))
		if err != nil {
			return nil, err
		}
		signed, err := signer.Sign(claims)
		if err != nil {
			return nil, err
		}
		token, err := signed.CompactSerialize()
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, token)
	}
	return tokens, nil
}

// outage makes the authorization server hang: known keys go on, others are told to come again.
func (w *world) outage(ctx context.Context) ([]figures.Figure, error) {
	l, err := w.startLoad(ctx)
	if err != nil {
		return nil, err
	}
	if outcome := w.call(ctx, l.client, *l.token.Load()); outcome != "ok" { // which makes its key known
		l.stop()
		return nil, fmt.Errorf("the first call of the outage: %s", outcome)
	}
	for _, e := range []authtest.Endpoint{authtest.Metadata, authtest.KeySet} {
		w.issuer.Fail(e, &authtest.Failure{Hang: true})
		defer w.issuer.Fail(e, nil)
	}
	strangers, err := w.strangers(20)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Timeout: 30 * time.Second}
	defer client.CloseIdleConnections()
	outcomes := map[string]int{}
	unready := 0
	for _, token := range strangers {
		outcomes[w.call(ctx, client, token)]++
		if process.Ready(ctx, w.admin) != nil {
			unready++
		}
		if err := pause(ctx, w.phase/2/time.Duration(len(strangers))); err != nil {
			return nil, err
		}
	}
	counts, _, p99 := l.stop()
	failed, words := failures(counts)
	_, told := failures(outcomes)
	return []figures.Figure{
		figures.New("outage: tokens of known keys refused", "0", fmt.Sprintf("%d of %d, p99 %s%s", failed, failed+counts["ok"], round(p99), words), failed == 0 && counts["ok"] > 0),
		figures.New("outage: tokens of unknown keys", "503 with Retry-After", "of 20:"+told, outcomes["503+retry"] == len(strangers)),
		figures.New("outage: not ready", "0", fmt.Sprintf("%d of %d times", unready, len(strangers)), unready == 0),
	}, nil
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

// pause waits, or returns the context's error.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
