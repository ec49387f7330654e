package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"drawbridge/test/openload"
	"drawbridge/test/process"
)

// options are the flags.
type options struct {
	program    string
	nginx      string
	prometheus string
	only       string
}

func main() {
	var o options
	flag.StringVar(&o.program, "gateway", "bin/drawbridge", "the gateway's program")
	flag.StringVar(&o.nginx, "nginx", "nginx", "nginx's program")
	flag.StringVar(&o.prometheus, "prometheus", "prometheus", "Prometheus' program")
	flag.StringVar(&o.only, "only", "", "faults whose alert has this in its name")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "night:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	began := time.Now()
	if o.program, err = filepath.Abs(o.program); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "night")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	page, err := readRunbook()
	if err != nil {
		return err
	}
	s, err := startServices()
	defer func() { err = errors.Join(err, s.close()) }()
	if err != nil {
		return err
	}
	redis, err := process.StartRedis(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, redis.Stop()) }()
	pairs, err := s.pairs(ctx, o, dir, redis)
	defer func() {
		for _, p := range pairs {
			err = errors.Join(err, p.close())
		}
	}()
	if err != nil {
		return err
	}
	faults := slices.DeleteFunc(s.faults(o, dir, pairs, redis), func(f *fault) bool { return !strings.Contains(f.alert, o.only) })
	if !pairs["audit"].replicas[0].disk.Mounted() {
		fmt.Println("not run: the disk of an audit log: this process may not mount one")
		faults = slices.DeleteFunc(faults, func(f *fault) bool { return f.pair.name == "audit" })
	}
	for _, f := range faults {
		if err := page.has(f); err != nil {
			return err
		}
	}
	calling, stop := context.WithCancel(ctx)
	defer stop()
	traffic := make([]*traffic, len(faults))
	for i, f := range faults {
		traffic[i] = f.pair.call(calling, f.calls)
	}
	m, err := startMonitor(ctx, o.prometheus, dir, slices.Collect(maps.Values(pairs)))
	if m != nil && m.child != nil {
		defer func() { err = errors.Join(err, m.child.Stop()) }()
	}
	if err != nil {
		return err
	}
	n := &night{program: o.program, monitor: m}
	outcomes := make([]outcome, len(faults))
	var all sync.WaitGroup
	for i, f := range faults {
		all.Go(func() { outcomes[i] = n.play(ctx, f, traffic[i]) })
	}
	others, watching := n.others(ctx, faults)
	all.Wait()
	watching()
	stop()
	for _, t := range traffic {
		t.load.Stop()
	}
	report(faults, outcomes)
	fmt.Printf("\nPrometheus scrapes and evaluates each %s, with the rules of deploy/prometheus as they are.\n%s in all\n", interval, time.Since(began).Round(time.Second))
	return errors.Join(failures(faults, outcomes), others())
}

// others watches for alerts that fire and belong to no fault. found is an error that names them; stop ends it.
func (n *night) others(ctx context.Context, faults []*fault) (found func() error, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	seen := map[string]bool{}
	var watching sync.WaitGroup
	watching.Go(func() {
		for openload.Pause(ctx, interval/3) {
			firing, err := n.monitor.firing(ctx)
			if err != nil {
				continue // play reports it
			}
			for _, a := range firing {
				own := slices.ContainsFunc(faults, func(f *fault) bool {
					return (f.alert == a.Labels["alertname"] || slices.Contains(f.also, a.Labels["alertname"])) && f.pair.name == a.Labels["job"] && f.api == a.Labels["api"]
				})
				if !own {
					seen[strings.Join(strings.Fields(a.Labels["alertname"]+" "+a.Labels["api"]+" at "+a.Labels["job"]), " ")] = true
				}
			}
		}
	})
	return func() error {
			if len(seen) == 0 {
				return nil
			}
			return fmt.Errorf("alerts fire that no fault explains: %s", strings.Join(slices.Sorted(maps.Keys(seen)), ", "))
		}, func() {
			cancel()
			watching.Wait()
		}
}

// report prints what became of each fault.
func report(faults []*fault, outcomes []outcome) {
	const layout = "%-51s  %-34s  %6s  %6s  %6s  %s\n"
	fmt.Printf(layout, "fault", "alert", "fires", "mended", "ends", "")
	for i, f := range faults {
		o := outcomes[i]
		mark := ""
		if o.missed() != nil {
			mark = "MISSED"
		}
		fmt.Printf(layout, f.name, f.alert, seconds(o.fired), seconds(o.mended), seconds(o.resolved), mark)
		fmt.Printf("    text: %s\n", o.summary)
		for _, l := range f.looks {
			fmt.Printf("    look: %s\n", l.command)
		}
		if f.repaired != "" {
			fmt.Printf("    do:   (%s)\n", f.repaired)
		}
		for _, command := range f.mend {
			fmt.Printf("    do:   %s\n", command)
		}
	}
}

// seconds is a duration in whole seconds; – for one that is unknown.
func seconds(d time.Duration) string {
	if d == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// missed is what an outcome misses.
func (o *outcome) missed() error {
	if o.err == nil && o.fired > firesWithin {
		return fmt.Errorf("the alert fires after %s, more than %s", o.fired.Round(time.Second), firesWithin)
	}
	return o.err
}

// failures are those of all faults.
func failures(faults []*fault, outcomes []outcome) error {
	var errs []error
	for i, f := range faults {
		if err := outcomes[i].missed(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.name, err))
		}
	}
	return errors.Join(errs...)
}
