package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// world is a gateway in front of a registry.
type world struct {
	*options
	name     string // of the registry
	registry registry
	gateway  *gateway
}

func (w *world) printf(format string, args ...any) { fmt.Printf(w.name+": "+format+"\n", args...) }

// tool returns the name of the tool of a service's operation.
func (w *world) tool(service string, operation int) string {
	if r, ok := w.registry.(interface{ schema() string }); ok {
		service += "-" + r.schema()
	}
	return fmt.Sprintf("shop-%s_op%d", service, operation)
}

// mostP95 is the most that 95 of 100 services may take until they are callable, or gone.
const mostP95 = 2 * time.Second

// step changes the registry and returns how long it takes, from the moment that it shows the change, until calls of each tool
// succeed, or fail if the name begins with "-".
func (w *world) step(ctx context.Context, services map[string]*service, tools ...string) (time.Duration, error) {
	if err := w.registry.set(ctx, services); err != nil {
		return 0, err
	}
	began := time.Now()
	for _, tool := range tools {
		name, gone := strings.CutPrefix(tool, "-")
		if _, err := w.gateway.until(ctx, name, !gone); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

func (w *world) newService(name string, operations int) (*service, error) {
	return newService(w.address, name, operations)
}

// followed measures services that come and go.
func (w *world) followed(ctx context.Context) error {
	var came, gone []time.Duration
	for i := range w.changes {
		name := fmt.Sprintf("s%d", i)
		s, err := w.newService(name, 3)
		if err != nil {
			return err
		}
		tool := w.tool(name, 1)
		took, err := w.step(ctx, map[string]*service{name: s}, tool)
		if err != nil {
			return err
		}
		came = append(came, took)
		if took, err = w.step(ctx, map[string]*service{name: nil}, "-"+tool); err != nil {
			return err
		}
		gone = append(gone, took)
		s.server.Close()
	}
	w.printf("callable after %s; gone after %s; %d services each", spread(came), spread(gone), w.changes)
	if p95(came) > mostP95 || p95(gone) > mostP95 {
		return fmt.Errorf("expected at most %v at the 95th percentile", mostP95)
	}
	return nil
}

// changed measures services that get another name, another port and another document.
func (w *world) changed(ctx context.Context) error {
	var renamed, moved, described []time.Duration
	for i := range max(w.changes/3, 1) {
		old, name := fmt.Sprintf("old%d", i), fmt.Sprintf("new%d", i)
		s, err := w.newService(old, 3)
		if err != nil {
			return err
		}
		if _, err = w.step(ctx, map[string]*service{old: s}, w.tool(old, 1)); err != nil {
			return err
		}
		took, err := w.step(ctx, map[string]*service{old: nil, name: s}, w.tool(name, 1), "-"+w.tool(old, 1))
		if err != nil {
			return err
		}
		renamed = append(renamed, took)
		next, err := w.newService(name, 3)
		if err != nil {
			return err
		}
		if err := w.registry.set(ctx, map[string]*service{name: next}); err != nil {
			return err
		}
		if took, err = next.awaitCalls(ctx, w.gateway, w.tool(name, 1)); err != nil {
			return err
		}
		moved = append(moved, took)
		s.server.Close()
		if _, ok := w.registry.(unlocated); !ok {
			next.describe("/v2.json", 5)
			if took, err = w.step(ctx, map[string]*service{name: next}, w.tool(name, 4)); err != nil {
				return err
			}
			described = append(described, took)
		}
		if err := w.registry.set(ctx, map[string]*service{name: nil}); err != nil {
			return err
		}
		next.server.Close()
	}
	if described == nil {
		w.printf("another name after %s; another port after %s; %d each", spread(renamed), spread(moved), len(renamed))
		return nil
	}
	w.printf("another name after %s; another port after %s; another document after %s; %d each", spread(renamed), spread(moved), spread(described), len(renamed))
	return nil
}

// away measures calls while the registry is away.
func (w *world) away(ctx context.Context) error {
	s, err := w.newService("stays", 3)
	if err != nil {
		return err
	}
	if _, err := w.step(ctx, map[string]*service{"stays": s}, w.tool("stays", 1)); err != nil {
		return err
	}
	stop := w.gateway.load(ctx, w.tool("stays", 1))
	if err := w.registry.down(); err != nil {
		return err
	}
	time.Sleep(w.outage)
	if err := w.registry.up(ctx); err != nil {
		return err
	}
	late, err := w.newService("late", 3)
	if err != nil {
		return err
	}
	back, err := w.step(ctx, map[string]*service{"late": late}, w.tool("late", 1))
	calls, failed, first := stop()
	w.printf("registry away for %v: %d calls, %d failed; a new service is callable %v after it is back", w.outage, calls, failed, back.Round(time.Millisecond))
	return errors.Join(err, first)
}

// moves measures calls while their service moves from instance to instance.
func (w *world) moves(ctx context.Context) error {
	s, err := w.newService("stays", 3)
	if err != nil {
		return err
	}
	if err := w.registry.set(ctx, map[string]*service{"stays": s}); err != nil {
		return err
	}
	if _, err := s.awaitCalls(ctx, w.gateway, w.tool("stays", 1)); err != nil {
		return err
	}
	stop := w.gateway.load(ctx, w.tool("stays", 1))
	for range 10 {
		next, err := w.newService("stays", 3)
		if err != nil {
			return err
		}
		if err := w.registry.set(ctx, map[string]*service{"stays": next}); err != nil {
			return err
		}
		time.Sleep(3 * time.Second) // longer than the registry and the gateway take together
		if err := s.server.Shutdown(ctx); err != nil {
			return err
		}
		s = next
	}
	calls, failed, first := stop()
	w.printf("a service moves 10 times: %d calls, %d failed", calls, failed)
	return first
}

// many measures the start of many services, and what a change of one of them costs.
func (w *world) many(ctx context.Context) error {
	var last string
	all := map[string]*service{}
	for i := range w.services {
		name := fmt.Sprintf("m%03d", i)
		s, err := w.newService(name, w.operations)
		if err != nil {
			return err
		}
		all[name], last = s, name
	}
	began := time.Now()
	if err := w.registry.set(ctx, all); err != nil {
		return err
	}
	shown := time.Since(began)
	want := fmt.Sprintf(`"tools": %d,`, w.services*w.operations+6) // and those of two services before
	for !strings.Contains(w.gateway.status(ctx), want) {
		if time.Since(began) > 5*time.Minute {
			return fmt.Errorf("after five minutes not all tools are served: %.200s", w.gateway.status(ctx))
		}
		time.Sleep(20 * time.Millisecond)
	}
	took := time.Since(began)
	resident := residentMiB(w.gateway.PID())
	then := ""
	if _, ok := w.registry.(unlocated); !ok {
		changed := all[last]
		changed.describe("/v2.json", w.operations+1)
		described, err := w.step(ctx, map[string]*service{last: changed}, w.tool(last, w.operations))
		if err != nil {
			return err
		}
		then = fmt.Sprintf("then another document of one after %v, and ", described.Round(time.Millisecond))
	}
	var alone []time.Duration
	for i := range 5 {
		name := fmt.Sprintf("one%d", i)
		one, err := w.newService(name, 3)
		if err != nil {
			return err
		}
		took, err := w.step(ctx, map[string]*service{name: one}, w.tool(name, 1))
		if err != nil {
			return err
		}
		alone = append(alone, took)
	}
	w.printf("%d services with %d operations each: shown after %v, served after %v, %d MiB resident; %sone more service is callable after %s",
		w.services, w.operations, shown.Round(time.Millisecond), took.Round(time.Millisecond), resident, then, spread(alone))
	return nil
}

// spread shows the median and the 95th percentile of times.
func spread(times []time.Duration) string {
	return fmt.Sprintf("%v (p95 %v)", percentile(times, 0.5).Round(time.Millisecond), p95(times).Round(time.Millisecond))
}

func p95(times []time.Duration) time.Duration { return percentile(times, 0.95) }

func percentile(times []time.Duration, share float64) time.Duration {
	times = slices.Sorted(slices.Values(times))
	return times[min(int(share*float64(len(times))), len(times)-1)]
}
