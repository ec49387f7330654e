package discovery

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/config"
)

// unknown returns a service whose document is looked for.
func unknown(name string) Target {
	t := target(name)
	t.Document = ""
	return t
}

// hanging are services that answer no request for their documents.
func (s *services) hanging(provider string, count int) (all []Target) {
	for i := range count {
		name := fmt.Sprintf("hang-%d", i)
		s.set(fmt.Sprintf("%s-%s.discovered.invalid/.well-known/api-catalog", provider, name), "HANG")
		all = append(all, unknown(name))
	}
	return all
}

// servedAfter returns how long it takes until the API is served.
func servedAfter(m *Manager, api string) time.Duration {
	start := time.Now()
	for time.Since(start) < time.Hour {
		if slices.ContainsFunc(m.Snapshot().APIs, func(a config.API) bool { return a.Name == api }) {
			return time.Since(start)
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
	}
	return time.Hour
}

// Services that hang delay no service of another provider, and one of their own provider by a few seconds, though it is the last that is
// looked for; later ones not at all.
func TestServicesThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := &services{}
		registries := map[string]*registry{"shop": {make(chan answer)}, "other": {make(chan answer)}}
		m := New(Options{
			Logger:      slog.New(slog.DiscardHandler),
			NewProvider: func(d *config.Discovery) (Provider, error) { return registries[d.Name], nil },
			NewClient:   func(_ *config.API, instances []string) (Client, error) { return probe{all, instances}, nil },
			Keep:        func(_ context.Context, _ string, f func()) { f() },
			Step:        survive,
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); m.Run(ctx) }()
		defer func() { cancel(); <-done }()
		m.Use(configuration(t, files+"  - {name: other, file: {paths: [y.json]}}\n"))
		hanging := all.hanging("shop", 40)
		for _, api := range []string{"shop-z", "shop-zz", "other-z"} {
			all.set(api+".discovered.invalid/openapi.json", document)
		}
		registries["shop"].answers <- answer{targets: append(slices.Clone(hanging), unknown("z"))}
		registries["other"].answers <- answer{targets: []Target{unknown("z")}}
		if took := servedAfter(m, "other-z"); took > longest {
			t.Errorf("a service of another provider is served after %v", took)
		}
		if took := servedAfter(m, "shop-z"); took > 4*time.Second {
			t.Errorf("a service of the same provider is served after %v", took)
		}
		time.Sleep(20 * time.Second)
		registries["shop"].answers <- answer{targets: append(slices.Clone(hanging), unknown("z"), unknown("zz"))}
		if took := servedAfter(m, "shop-zz"); took > longest {
			t.Errorf("a service that comes later is served after %v", took)
		}
	})
}

// A lookup of a service that is gone, or that says something else now, ends: its slot is free, and its result is not used.
func TestLookupEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", "  - {name: shop, file: {paths: [x.json]}, max_loss: 100}\n")
		defer b.end()
		var asked atomic.Int64
		b.services.asked = func([]string) { asked.Add(1) }
		for round := range 50 {
			all := b.services.hanging("shop", 100)
			for i := range all {
				all[i].BasePath = fmt.Sprintf("/v%d", round)
			}
			b.registry.answers <- answer{targets: all}
			synctest.Wait()
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		b.registry.answers <- answer{targets: []Target{}}
		synctest.Wait()
		if n := len(b.providers[0].slots.first) + len(b.providers[0].slots.slow); n > 0 {
			t.Errorf("%d searches for services that are gone", n)
		}
		if n := asked.Load(); n > 2*50*slotsOfProvider { // of 5,000 lookups
			t.Errorf("%d requests", n)
		}
	})
}

// A service that answers slowly is found all the same.
func TestSlowLookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := newLookupSlots()
		find := func(takes time.Duration) error {
			_, _, err := slots.run(t.Context(), true, func(ctx context.Context) (string, string, error) {
				select {
				case <-time.After(takes):
					return "/o.json", byPath, nil
				case <-ctx.Done():
					return "", "", fmt.Errorf("the service did not respond: %w", ctx.Err())
				}
			})
			return err
		}
		if err := find(5 * time.Second); err != nil {
			t.Error(err)
		}
		if err := find(time.Minute); fmt.Sprint(err) != "the service did not respond: context deadline exceeded" {
			t.Error(err)
		}
	})
}
