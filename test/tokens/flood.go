package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"drawbridge/test/openload"
	"drawbridge/test/process"
)

// Those who flood are a process of their own, with the least priority: they have machines of their own, and what they take of this one's processors is
// not to be in the way of the calls that are measured.

// strangers make tokens that look right and name keys that nobody has, another with each token. What stands for the signature is random: there is no key
// that could tell.
type strangers struct{ payload string }

func newStrangers(issuer, audience string) (*strangers, error) {
	now := time.Now()
	claims, err := json.Marshal(map[string]any{
		"iss": issuer, "aud": audience, "sub": "mallory", "client_id": "m", "scope": "mcp:tools",
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	})
	if err != nil {
		return nil, err
	}
	return &strangers{base64.RawURLEncoding.EncodeToString(claims)}, nil
}

func (s *strangers) token() string {
	signature := make([]byte, 64)
	_, _ = rand.Read(signature) // which never fails
	header := `{"alg":"ES256","typ":"at+jwt","kid":"` + rand.Text() + `"}`
	return base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + s.payload + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// The kinds of requests that a flood makes.
const (
	unknownKeys = "keys"   // with tokens of strangers
	noToken     = "nobody" // without a token: what it costs to refuse anything
)

// bystander is a flood of unknownKeys that is not the gateway's: another program refuses them.
const bystander = "elsewhere"

// floodOrder is what the process is told.
type floodOrder struct {
	Kind, Host, Issuer, Audience string
	Rate                         int // requests a second
}

// floodReport is what it tells at its end.
type floodReport struct {
	Due    int
	Counts outcomes
}

const floodBegun = "begun" // the line that it prints when it has its first answer

// flood is one that runs.
type flood struct{ child *process.Child }

// startFlood returns when its first answer has come.
func (w *world) startFlood(ctx context.Context, kind string) (*flood, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	host := w.host
	if kind == bystander {
		host = w.refuser.host
	}
	order, err := json.Marshal(floodOrder{kind, host, w.issuer.Issuer(), w.endpoint, w.others})
	if err != nil {
		return nil, err
	}
	child, err := process.Start(ctx, "nice", "-n", "19", program, "-flood", string(order))
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	err = child.Await(waiting, func(context.Context) error {
		if !strings.Contains(child.Log(), floodBegun) {
			return errors.New("no answer has come")
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, child.Stop())
	}
	return &flood{child}, nil
}

// stop ends it, and returns what came of it.
func (f *flood) stop() (r floodReport, err error) {
	if err := f.child.Stop(); err != nil {
		return r, err
	}
	_, report, _ := strings.Cut(f.child.Log(), floodBegun)
	if err := json.Unmarshal([]byte(report), &r); err != nil {
		return r, fmt.Errorf("the report of a flood: %w: %.300s", err, report)
	}
	return r, nil
}

// beFlood is the process.
func beFlood(ctx context.Context, order string, out io.Writer) error {
	var o floodOrder
	if err := json.Unmarshal([]byte(order), &o); err != nil {
		return fmt.Errorf("-flood: %w", err)
	}
	token := func() string { return "" }
	if o.Kind != noToken {
		s, err := newStrangers(o.Issuer, o.Audience)
		if err != nil {
			return err
		}
		token = s.token
	}
	var callers [workers]caller
	var mu sync.Mutex
	r := floodReport{Counts: outcomes{}}
	first := sync.OnceFunc(func() { fmt.Fprintln(out, floodBegun) })
	l := openload.Start(ctx, o.Rate, workers, func(worker, _ int, _ time.Time) {
		outcome := callers[worker].call(o.Host, token())
		first()
		mu.Lock()
		defer mu.Unlock()
		r.Counts[outcome]++
	})
	<-ctx.Done()
	r.Due = l.Stop()
	return json.NewEncoder(out).Encode(r)
}
