package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"drawbridge/test/openload"
)

const (
	firesWithin    = 2 * time.Minute // the goal
	mendedWithin   = time.Minute     // after the last step
	resolvedWithin = 3 * time.Minute // the longest window of these alerts is two minutes
)

// look is a command of the page, and what it has to print for somebody to know the cause.
type look struct{ command, shows string }

// fault is something that breaks, and what the page says of it.
type fault struct {
	name  string
	pair  *pair
	at    []*replica // where commands are run; both replicas if it is empty
	alert string
	api   string   // label of the alert; "": it has none
	cause []string // what its text holds
	also  []string // alerts of the same cause, which may fire as well

	strike func(context.Context) error
	looks  []look
	// repair does what the page says in words, outside the gateway; nil: nothing.
	repair   func(context.Context) error
	repaired string // what repair does
	mend     []string
	values   map[string]string // of the words in capitals on the page
	calls    calls
	well     func(context.Context) error // what else holds when it is mended; nil: nothing
}

// outcome is what became of a fault.
type outcome struct {
	summary                 string
	fired, mended, resolved time.Duration
	err                     error
}

// night is what faults need.
type night struct {
	program string
	monitor *monitor
}

// play breaks, waits for the alert, and does what the page says.
func (n *night) play(ctx context.Context, f *fault, t *traffic) (o outcome) {
	began := time.Now()
	if o.err = f.strike(ctx); o.err != nil {
		return o
	}
	o.err = await(ctx, firesWithin+30*time.Second, func() error {
		a, err := n.find(ctx, f)
		if err == nil && a == nil {
			return fmt.Errorf("%s does not fire", f.alert)
		}
		if err == nil {
			o.summary = a.Annotations["summary"]
		}
		return err
	})
	o.fired = time.Since(began)
	if o.err != nil {
		return o
	}
	for _, word := range f.cause {
		if !strings.Contains(o.summary, word) {
			o.err = fmt.Errorf("the text of %s does not name %q: %s", f.alert, word, o.summary)
			return o
		}
	}
	if o.err = n.follow(ctx, f); o.err != nil {
		return o
	}
	began = time.Now()
	t.reset()
	o.err = await(ctx, mendedWithin, func() error {
		if f.well != nil {
			if err := f.well(ctx); err != nil {
				return err
			}
		}
		return t.succeeds()
	})
	o.mended = time.Since(began)
	if o.err != nil {
		return o
	}
	o.err = await(ctx, resolvedWithin, func() error {
		a, err := n.find(ctx, f)
		if err == nil && a != nil {
			return fmt.Errorf("%s still fires", f.alert)
		}
		return err
	})
	o.resolved = time.Since(began)
	return o
}

// follow does what the page says, at each replica.
func (n *night) follow(ctx context.Context, f *fault) error {
	at := f.at
	if len(at) == 0 {
		at = f.pair.replicas[:]
	}
	shellAt := func(r *replica) shell {
		values := map[string]string{"/etc/drawbridge": r.dir, "/tmp/edited.yaml": r.dir + "/edited.yaml"}
		for word, value := range f.values {
			values[word] = value
		}
		return shell{n.program, values}
	}
	for _, l := range f.looks {
		for _, r := range at {
			out, err := shellAt(r).run(ctx, l.command, r.admin)
			if !strings.Contains(out, l.shows) && (err == nil || !strings.Contains(err.Error(), l.shows)) {
				return fmt.Errorf("%s: the command %s does not show %q: %s (%w)", f.alert, l.command, l.shows, out, err)
			}
		}
	}
	if f.repair != nil {
		if err := f.repair(ctx); err != nil {
			return err
		}
	}
	for _, command := range f.mend {
		for _, r := range at {
			if _, err := shellAt(r).run(ctx, command, r.admin); err != nil {
				return fmt.Errorf("%s: %w", f.alert, err)
			}
		}
	}
	return nil
}

// find returns the alert of a fault; nil if it does not fire.
func (n *night) find(ctx context.Context, f *fault) (*alert, error) {
	firing, err := n.monitor.firing(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range firing {
		if a.Labels["alertname"] == f.alert && a.Labels["job"] == f.pair.name && a.Labels["api"] == f.api {
			return &a, nil
		}
	}
	return nil, nil //nolint:nilnil // it does not fire
}

// await calls a function until it returns nil, at most so long.
func await(ctx context.Context, most time.Duration, ready func() error) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		if !openload.Pause(ctx, 250*time.Millisecond) {
			return errors.Join(err, fmt.Errorf("after %s: %w", most, ctx.Err()))
		}
	}
}
